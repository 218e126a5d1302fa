"""The command line: one file per command, which parses, calls and prints.

A file has a function of its own name, which is the command, and `EPILOG`, which ends its help.
"""

import atexit
import gc
import io
import os
import re
import signal
import sys
import warnings
from functools import cache
from importlib import import_module
from typing import Any

import typer

from meshwright.cli.common import InterruptionError, fail, print_version
from meshwright.cli.flags import in_flags, without_python
from meshwright.cli.help import Command, Group
from meshwright.runtime.errors import InfeasibleError, MeshwrightError, MeshwrightWarning, OptionError
from meshwright.runtime.interrupts import is_interruption, noted_signals

EXIT_NO = 1
EXIT_WRONG_CALL = 2
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143  # what a shell shows for a program that SIGTERM ended
EXIT_BROKEN_PIPE = 141  # what a shell shows for a program that SIGPIPE ended
_NOTHING_KEPT = "nothing unfinished was kept"
_OUT_OF_MEMORY = "out of memory; take a smaller input or another algorithm"

# typer gives a public name to one kind of wrong call only; what it is derived from is all kinds.
_WrongCall = typer.BadParameter.__base__

# How typer ends the message of an unknown command or option, if it knows similar ones.
_NEAR_MISSES = re.compile(r"[.]? (?:Did you mean|[(]Possible options:) (?P<names>[^?)]+)[?)]$")

app = typer.Typer(
    name="meshwright",
    cls=Group,
    help="Designs the overlay of a topic-based publish/subscribe system: connects the "
    "subscribers of every topic with as few links as possible.",
    epilog="Start with: meshwright demo",
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.callback(invoke_without_command=True)(print_version)
for command in (
    "demo",
    "run",
    "generate",
    "ingest",
    "import_",
    "annotate",
    "profile",
    "sample",
    "build",
    "merge",
    "evaluate",
    "check_certificate",
    "compare",
    "suggest",
    "migrate",
    "report",
    "churn",
    "serve",
    "route",
    "gossip",
    "export",
    "verify",
    "lint",
    "study",
    "plan_capacity",
    "algorithms",
):
    module = import_module(f"{__name__}.{command}")
    register = app.command(
        command.rstrip("_").replace("_", "-"), cls=Command, epilog=getattr(module, "EPILOG", None)
    )
    register(getattr(module, command))
for group in ("deploy", "token"):
    app.add_typer(import_module(f"{__name__}.{group}").app, name=group)


def main() -> int:
    """Run the command line; 0 done, 1 the answer is no, 2 the call or the input is wrong, 130 on Ctrl-C."""
    _spare_the_collector()
    _spare_threads()
    _bear_any_terminal()
    with noted_signals() as received, warnings.catch_warnings():
        warnings.simplefilter("default", MeshwrightWarning)
        warnings.showwarning = _show_warning
        try:
            return _run()
        except InterruptionError as interruption:
            code = EXIT_TERMINATED if signal.SIGTERM in received else EXIT_INTERRUPTED
            return fail(f"interrupted; {interruption}", code)


def _bear_any_terminal() -> None:
    """Write letters that the terminal's encoding does not have as escapes, rather than fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _spare_the_collector() -> None:
    """Look for cyclic garbage less often, and not once more at the exit, which frees all memory anyway.

    Imported modules make so many objects that a small evaluation spends 0.1 s of processor time on this while
    it runs, and 0.25 s at its exit: a quarter of all that it takes.
    """
    gc.set_threshold(10_000)
    atexit.register(gc.freeze)


def _spare_threads() -> None:
    """Let OpenBLAS, which NumPy and SciPy bring along, start no threads, unless the caller has set how many.

    They spin until they get work. No command multiplies matrices for which they would pay, and with two cores
    they took 0.2 s of processor time of every command. NumPy must not be imported before.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _run() -> int:
    """Run the command. After a signal, whatever goes wrong is its doing: Java, too, may be gone already."""
    try:
        # typer turns Ctrl-C inside a command into an exit code.
        code: int = _commands()(prog_name="meshwright", standalone_mode=False) or 0
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        raise InterruptionError(_NOTHING_KEPT) from None
    except _WrongCall as error:  # type: ignore[misc]
        return fail(_wrong_call(error), EXIT_WRONG_CALL)
    except (MeshwrightError, MemoryError, OSError) as error:
        if is_interruption(error):
            raise InterruptionError(_NOTHING_KEPT) from None
        return _failed(error)
    except SystemError as error:  # what Numba makes of an interrupt while it loads a kernel
        if is_interruption(error):
            raise InterruptionError(_NOTHING_KEPT) from None
        raise
    if code == EXIT_INTERRUPTED:
        raise InterruptionError(_NOTHING_KEPT)
    return code


@cache
def _commands() -> Any:
    """All commands with their options: 20 ms of work, and some errors need them once more."""
    return typer.main.get_command(app)


def _failed(error: Exception) -> int:
    """Say what went wrong; gives the exit code."""
    if isinstance(error, MemoryError):
        return fail(_OUT_OF_MEMORY, EXIT_WRONG_CALL)
    if isinstance(error, InfeasibleError):
        return fail(without_python(str(error)), EXIT_NO)
    if isinstance(error, OptionError):
        return fail(without_python(in_flags(error, _flags())), EXIT_WRONG_CALL)
    if not isinstance(error, OSError):
        return fail(without_python(str(error)), EXIT_WRONG_CALL)
    _forget_stdout()
    if isinstance(error, BrokenPipeError):
        return EXIT_BROKEN_PIPE
    return fail(f"{error.filename or 'the output'} can't be read or written: {error}", EXIT_WRONG_CALL)


def _flags() -> dict[str, str]:
    """The flags of the command that was called, by parameter."""
    called = _commands().commands.get(sys.argv[1] if sys.argv[1:] else "")
    called = getattr(called, "commands", {}).get(sys.argv[2] if sys.argv[2:] else "", called)
    options = [one for one in called.params if one.param_type_name == "option"] if called else []
    return {one.opts[0].removeprefix("--").replace("-", "_"): one.opts[0] for one in options}


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """A warning of ours is one line, as an error is; those of others are for developers."""
    if issubclass(category, MeshwrightWarning):
        fail(without_python(str(message)), 0)


def _forget_stdout() -> None:
    """Python would complain at its exit about what it could not write."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _wrong_call(error: typer.BadParameter) -> str:
    command = error.ctx.command_path if error.ctx else "meshwright"
    message = _missing(error) or error.format_message().rstrip(".") or "give a command"
    message = message[0].lower() + message[1:]
    if near := _NEAR_MISSES.search(message):
        return f"{message[: near.start()]}; did you mean {' or '.join(near['names'].split(', '))}?"
    return f"{message}; see '{command} --help'"


def _missing(error: Any) -> str | None:
    """What to say where an argument or option is not given; None where that is not what is wrong."""
    parameter = getattr(error, "param", None)
    if type(error).__name__ != "MissingParameter" or parameter is None:
        return None
    name = parameter.metavar or parameter.name.upper()
    if parameter.param_type_name == "option":
        name = parameter.opts[0]
    return f"the {parameter.param_type_name} {name} is missing ({parameter.help.rstrip('.')})"
