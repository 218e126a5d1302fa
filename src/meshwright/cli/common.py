"""What the commands share: options, output, and the reading of `--set name=value`."""

import json
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from meshwright.runtime.errors import OptionError, shortened, visible
from meshwright.runtime.interrupts import is_interruption
from meshwright.runtime.places import is_local_address, local_path
from meshwright.runtime.progress import Progress, ProgressBar, ProgressLines, stage
from meshwright.runtime.wording import choose, count

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from meshwright.model.overlay import Overlay

Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="The dataset to write.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite, but only what Meshwright wrote.")]
Json = Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same result.")]
ReverseDelete = Annotated[
    bool, typer.Option("--reverse-delete", help="After building, remove links that no topic needs.")
]
Bound = Annotated[
    str,
    typer.Option(
        metavar="quick|tight",
        help="The lower bound on the links of any topic-connected overlay: quick, or tight, which is "
        "nearer to the optimum and takes half a minute at 10,000 nodes.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Set an option of the algorithm or policy. Repeatable."),
]
Master = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="URL",
        help="Where Spark runs; by default on this machine (local[*]), or where spark-submit says.",
        show_default=False,
    ),
]
Conf = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark. Repeatable."),
]

_WORDS = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}


def print_version(
    context: typer.Context,
    show: Annotated[bool, typer.Option("--version", is_eager=True, help="Print the version.")] = False,
) -> None:
    """Print the version where it is asked for, and the help where nothing is."""
    if show:
        print(f"meshwright {version('meshwright')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def fail(message: str, code: int) -> int:
    """Say in one line on stderr what is wrong; return the exit code."""
    print("meshwright: " + shortened(visible(" ".join(message.split()))), file=sys.stderr)
    return code


class InterruptionError(Exception):
    """Ctrl-C, with what was kept and how to go on. typer would swallow a KeyboardInterrupt with its words."""


@contextmanager
def on_interrupt(kept: Callable[[], str | None]) -> Iterator[None]:
    """Let Ctrl-C say what was kept, and how to go on, if there is something to say."""
    try:
        yield
    except BaseException as error:
        words = kept() if is_interruption(error) else None
        if words is None:
            raise
        raise InterruptionError(words) from None


def progress_bar() -> Progress:
    """The progress of a command: a bar on stderr, or dated lines where that is no terminal.

    Without rich, which a log does not need, a command starts 0.05 s earlier.
    """
    return ProgressBar() if sys.stderr.isatty() else ProgressLines()


def print_json(value: Mapping[str, Any] | list[Any]) -> None:
    """Print a value for machines."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def print_table(columns: Iterable[str], rows: Iterable[Iterable[object]], title: str = "") -> None:
    """Print a table for people: numbers to the right, and only the last column may wrap."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    names, lines = list(columns), [list(row) for row in rows]
    table = Table(
        title=Text(visible(title)) if title else None,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for at, name in enumerate(names):
        number = any(isinstance(line[at], int | float) and not isinstance(line[at], bool) for line in lines)
        wraps = at == len(names) - 1 and not number
        table.add_column(name, justify="right" if number else "left", overflow="fold", no_wrap=not wraps)
    for line in lines:
        table.add_row(*(Text(shown(value)) for value in line))
    Console().print(table)


def print_distributions(found: Mapping[str, dict[str, Any]], title: str) -> None:
    """Print distributions (`metrics.statistics`) one below the other, without their histograms."""
    from meshwright.metrics.statistics import PERCENTILES, SUMMARY

    words = {"maximum": "most", **{key: f"{own}%" for key, own in PERCENTILES.items()}}
    rows = [(name.replace("_", " "), *(own[key] for key in SUMMARY)) for name, own in found.items()]
    print_table((title, *(words.get(key, key) for key in SUMMARY)), rows)


def shown(value: object) -> str:
    """A value as people read it; what a name may hold to steer a terminal is made visible."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.3g}" if isinstance(value, float) and abs(value) < 100 else _long(value)


def with_unit(number: str, unit: str | None) -> str:
    """A number for people, with what it counts behind it, if that is known."""
    return number if unit is None else f"{number} {visible(unit)}"


def _long(value: object) -> str:
    return f"{value:,.0f}" if isinstance(value, float) else visible(str(value))


def sizes(overlay: "Overlay") -> str:
    """How large an overlay is: "120 nodes, 621 links, with costs"."""
    costs = "" if overlay.costs is None else ", with costs"
    return f"{count(overlay.interests.node_count, 'node')}, {count(len(overlay), 'link')}{costs}"


def parse_settings(settings: list[str] | None, annotations: Mapping[str, Any]) -> dict[str, Any]:
    """The values of `--set name=value`, each read as the type that its option is annotated with."""
    values = {}
    for setting in settings or []:
        name, equals, text = setting.partition("=")
        if not equals:
            raise OptionError(f"--set got {setting!r}; write --set name=value", option="--set")
        if name not in annotations:
            rule = choose(name, sorted(annotations))
            raise OptionError(f"there is no option {name!r} to --set; {rule}", option=name)
        if name in values:
            raise OptionError(f"--set gives {name!r} twice; give it once", option="--set")
        values[name] = _parsed(name, text, annotations[name])
    return values


def parse_conf(settings: list[str] | None) -> dict[str, str]:
    """The values of `--conf key=value`."""
    values: dict[str, str] = {}
    for setting in settings or []:
        name, equals, text = setting.partition("=")
        if not equals or not name.startswith("spark."):
            raise OptionError(f"--conf got {setting!r}; write --conf spark.name=value", option="--conf")
        if name in values:
            raise OptionError(f"--conf gives {name!r} twice; give it once", option="--conf")
        values[name] = text
    return values


def check_target(text: str, force: bool, inputs: Iterable[str] = ()) -> None:
    """Refuse where a dataset can't be written before Spark is started, if it is on this machine.

    None of the inputs may be replaced.
    """
    from meshwright.model.storage.dataset import check_free

    if is_local_address(text):
        check_free(local_path(text), force, [local_path(own) for own in inputs if is_local_address(own)])


@contextmanager
def spark_command(
    master: str | None, conf: list[str] | None, short: bool = False
) -> Iterator["SparkSession"]:
    """A Spark session for one command, for little work if `short`; errors of Spark come out as ours."""
    from meshwright.pipeline.spark.settings import short_settings

    settings = (short_settings(master) if short else {}) | parse_conf(conf)
    with ExitStack() as opened:
        with stage(progress_bar(), "starting Spark"):
            from meshwright.pipeline.spark.failures import translated
            from meshwright.pipeline.spark.session import spark_session

            session = opened.enter_context(spark_session(master, settings))
            opened.enter_context(translated())
        yield session


@contextmanager
def engine_session(
    where: str, master: str | None, conf: list[str] | None, short: bool = False
) -> Iterator["SparkSession | None"]:
    """A Spark session for the engine `spark`, for little work if `short`; none for `local`."""
    if where == "local":
        yield None
        return
    with spark_command(master, conf, short) as session:
        yield session


def _parsed(name: str, text: str, annotation: Any) -> Any:
    kinds = set(typing.get_args(annotation)) if isinstance(annotation, types.UnionType) else {annotation}
    if type(None) in kinds and text == "none":
        return None
    kinds.discard(type(None))
    kinds = {kind for kind in kinds if kind in (bool, int, float, str)} or kinds
    try:
        if kinds == {bool}:
            return _WORDS[text.lower()]
        if kinds == {int, str}:
            return int(text) if text.isdecimal() else text
        if kinds <= {int, float, str}:
            return next(iter(kinds))(text)
    except (KeyError, ValueError):
        legal = {bool: "yes or no", int: "a whole number", float: "a number"}[next(iter(kinds))]
        raise OptionError(f"--set {name} got {text!r}; give {legal}") from None
    raise OptionError(f"{name!r} can't be set on the command line; use the Python interface", option=name)
