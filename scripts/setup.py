"""Makes or mends the environment `.venv` of a checkout: a venv, the pinned uv in it, `uv sync`, bytecode.

Called by the launchers as `setup.py ROOT runtime|dev KEY` when the stamp in `.venv` does not hold KEY.
Standard library only. A failure is one line on stderr and exit code 2.
"""

import fcntl
import os
import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NoReturn

GROUPS = {"runtime": ("--all-extras", "--no-dev"), "dev": ("--all-extras", "--dev")}

OFFLINE = "the package index can't be reached; connect to the network, or set HTTPS_PROXY, and start again"
UNTRUSTED = (
    "the package index shows a certificate that is not trusted;"
    " set SSL_CERT_FILE and PIP_CERT to the file of your network's certificates and start again"
)
CAUSES = {
    "no space left|quota exceeded": "the disk is full; free 3 GB and start again",
    "certificate": UNTRUSTED,
    "name resolution|dns error|failed to lookup|new connection|connection refused|connection reset"
    "|unreachable|timed out|proxy|error sending request": OFFLINE,
}


class CommandError(Exception):
    """A command of the set-up failed; the message is the one line to show."""


def main(root: Path, group: str, key: str) -> None:
    """Bring `.venv` to the locked state, alone: who starts at the same time waits, and finds it done.

    The stamp goes before `.venv` is touched and comes back when it is whole. A set-up killed at any moment
    leaves none, and the next one starts from nothing, since uv takes a half-copied package for installed.
    """
    lock = wait_for_turn(root)
    venv = root / ".venv"
    stamp = venv / "meshwright-stamp"
    found = stamp.read_text() if stamp.exists() else ""
    usable = found.split(" ", 3)[3:] == [str(root)] and (venv / "bin" / "python").exists()
    if usable and found in (f"{group} {key}", f"dev {key}"):
        return
    stamp.unlink(missing_ok=True)
    try:
        install(root, group, lock, anew=not usable)
    except CommandError as error:
        # uv fetches everything before it changes anything: what was whole still is.
        if usable and str(error) == OFFLINE:
            write(stamp, found)
        fail(str(error))
    write(stamp, f"{group} {key}")


def install(root: Path, group: str, lock: int, *, anew: bool) -> None:
    """The steps in order; only `uv sync` needs a network where the pinned uv is there."""
    venv = root / ".venv"
    python = venv / "bin" / "python"
    pin = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["uv"]["required-version"]
    if anew:
        say(f"making the environment {venv} with uv {pin.lstrip('=')}")
        run(root, lock, sys.executable, "-m", "venv", "--clear", "--without-pip", venv)
    install_uv(root, lock, pin)
    tools = " and the test tools" if group == "dev" else ""
    # Spark alone is 456 MB; what uv has fetched before, it takes from its cache.
    say(f"installing the locked dependencies{tools}: up to 800 MB to fetch, which takes a minute or more")
    # Inexact: what the other launcher has installed stays.
    uv = venv / "bin" / "uv"
    sync = (uv, "sync", "--frozen", "--inexact", "--compile-bytecode", *GROUPS[group], "--python", python)
    try:
        run(root, lock, *sync)
    except CommandError as error:
        # A network that signs for itself is known to the system, not to the list that uv brings.
        if str(error) != UNTRUSTED:
            raise
        run(root, lock, *sync, "--system-certs")
    compile_sources(python, root / "src")
    if group == "dev":
        bring_programs(root, lock)


def compile_sources(python: Path, folder: Path) -> None:
    """Write the bytecode of our sources, which Python itself does not where PYTHONDONTWRITEBYTECODE is set.

    Every start checks it against a hash of the source, so an edited source is never served stale. Without
    bytecode, ours and that of the packages, `--version` takes 1.0 s of processor time instead of 0.45.
    A source that does not compile, or a folder that can't be written to, is no reason to stop.
    """
    said_by(python, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", folder)


def bring_programs(root: Path, lock: int) -> None:
    """Bring Mosquitto and Chromium, which tests start; what can't be had is told, and those tests fail.

    They are not in wheels, as the other brokers are.
    """
    script = root / "scripts" / "programs.py"
    subprocess.run([sys.executable, script, root / ".venv"], pass_fds=[lock], check=False)


def install_uv(root: Path, lock: int, pin: str) -> None:
    """The pinned uv, by the pip that Python brings, which is as old as that Python and goes again.

    So do the setuptools of Python 3.11; `uv sync` brings them back where something locked needs them.
    """
    python, uv = (root / ".venv" / "bin" / name for name in ("python", "uv"))
    if said_by(uv, "--version").split()[1:2] != [pin.lstrip("=")]:
        run(root, lock, python, "-m", "ensurepip")
        run(root, lock, python, "-m", "pip", "install", f"uv{pin}")
    run(root, lock, uv, "pip", "uninstall", "--python", python, "pip", "setuptools")


def said_by(*command: str | Path) -> str:
    """What a command says; nothing where it does not start."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""


def run(root: Path, lock: int, *command: str | Path) -> None:
    """Run a command silently, holding the lock; raise what it died of as one line."""
    env = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONHOME")}
    env |= {"UV_PROJECT_ENVIRONMENT": ".venv", "UV_PYTHON_DOWNLOADS": "never"}
    env.setdefault("PIP_RETRIES", "2")
    done = subprocess.run(
        command,
        cwd=root,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        pass_fds=[lock],
        check=False,
    )
    if done.returncode:
        log = root / ".venv" / "setup.log"
        if log.parent.is_dir():
            log.write_text(done.stdout)
        raise CommandError(cause(done.stdout, log))


def cause(output: str, log: Path) -> str:
    """One line that says what is missing and what to do."""
    for pattern, advice in CAUSES.items():
        if re.search(pattern, output, re.IGNORECASE):
            return advice
    lines = output.strip().splitlines() or ["no reason given"]
    # uv draws a tree of causes, whose branches are no words.
    told = [re.sub(r"^\W+", "", line) for line in lines]
    errors = [line for line in told if re.match(r"error|failed to", line, re.IGNORECASE)]
    return f"the set-up failed: {(errors or told)[-1]}; all that it said is in {log}"


def wait_for_turn(root: Path) -> int:
    """Lock the checkout until this process and the commands that it started have ended, however they end."""
    try:
        lock = os.open(root / ".venv.lock", os.O_CREAT | os.O_RDWR, 0o666)
    except OSError as error:
        fail(f"can't make the environment in {root}: {error.strerror}; use a copy that you can write to")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("another start is setting up; waiting for it")
        fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    part = path.with_suffix(".part")
    part.write_text(text)
    part.replace(path)


def say(text: str) -> None:
    """Tell the user, beside whatever goes to stdout."""
    print(f"meshwright: {text}", file=sys.stderr, flush=True)


def fail(text: str) -> NoReturn:
    """Give up with one line."""
    say(text)
    sys.exit(2)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        main(Path(sys.argv[1]), *sys.argv[2:])
    except KeyboardInterrupt:
        say("stopped; the next start begins again")
        sys.exit(130)
