"""Brings the broker Mosquitto, which tests start: the machine's own, or one that is unpacked beside Python.

The distribution's package is fetched with `apt-get download` and unpacked with `dpkg -x`, and so are the
libraries that the machine lacks. This needs no root and changes nothing outside the environment.

Standard library only.
Called by the set-up as `mosquitto.py VENV`. A failure is one line on stderr and exit code 2.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ADVICE = "install the package mosquitto, or set MESHWRIGHT_MOSQUITTO to the program"
# Servers are often not on the PATH of those who are not root.
PLACES = ("/usr/local/sbin", "/usr/sbin", "/opt/homebrew/sbin")
# The C library has to fit the loader, which is the machine's.
NEVER_FETCHED = {"libc6", "libgcc-s1", "libcrypt1"}


class NoMosquittoError(Exception):
    """There is no Mosquitto, and none can be brought; the message is the one line to show."""


def bring(venv: Path) -> Path:
    """The program that MESHWRIGHT_MOSQUITTO names, the machine's, or the one unpacked in the environment."""
    if named := os.environ.get("MESHWRIGHT_MOSQUITTO"):
        if not shutil.which(named):
            raise NoMosquittoError(
                f"MESHWRIGHT_MOSQUITTO is {named}, which is no program; correct or unset it"
            )
        return Path(named)
    if found := shutil.which("mosquitto", path=os.pathsep.join([os.environ.get("PATH", ""), *PLACES])):
        return Path(found)
    launcher = venv / "bin" / "mosquitto"
    if not launcher.exists():
        unpack(launcher, venv / "share" / "mosquitto")
    return launcher


def unpack(launcher: Path, home: Path) -> None:
    """Unpack the program and the libraries it lacks into `home`, and write its launcher last."""
    for tool in ("apt-get", "dpkg"):
        if not shutil.which(tool):
            raise NoMosquittoError(f"there is no Mosquitto, and no {tool} to bring it; {ADVICE}")
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent) as scratch:
        tree = Path(scratch) / "tree"
        fetch_all(tree, Path(scratch))
        shutil.rmtree(home, ignore_errors=True)
        tree.rename(home)
    part = launcher.with_suffix(".part")
    part.write_text(f'#!/bin/sh\n{libraries(home)} exec "{home}/usr/sbin/mosquitto" "$@"\n')
    part.chmod(0o755)
    part.replace(launcher)


def fetch_all(tree: Path, scratch: Path) -> None:
    """Unpack the package, then what it depends on, and so on, until no library is missing."""
    wanted, seen = {"mosquitto"}, set(NEVER_FETCHED)
    while wanted:
        seen |= wanted
        needed: set[str] = set()
        for package in fetch(sorted(wanted), scratch):
            run("dpkg", "-x", package, tree)
            # Of alternatives, the first.
            needed |= set(re.findall(r"(?:^|,\s*)(lib[\w.+-]+)", run("dpkg", "-f", package, "Depends")))
            package.unlink()
        wanted = needed - seen if missing(tree) else set()
    if lacks := missing(tree):
        raise NoMosquittoError(f"the package of Mosquitto needs {lacks[0]}, which can't be found; {ADVICE}")


def fetch(names: list[str], scratch: Path) -> list[Path]:
    """The packages as files. If the machine's list of packages is too old, a new one is fetched aside."""
    try:
        run("apt-get", "download", *names, cwd=scratch)
    except NoMosquittoError:
        for folder in ("lists/partial", "cache/archives/partial"):
            (scratch / folder).mkdir(parents=True, exist_ok=True)
        aside = ("-o", f"Dir::State::lists={scratch}/lists", "-o", f"Dir::Cache={scratch}/cache")
        run("apt-get", *aside, "update", cwd=scratch)
        run("apt-get", *aside, "download", *names, cwd=scratch)
    return sorted(scratch.glob("*.deb"))


def missing(tree: Path) -> list[str]:
    """The libraries that the program does not find."""
    told = run("sh", "-c", f'{libraries(tree)} ldd "{tree}/usr/sbin/mosquitto"')
    return re.findall(r"(\S+) => not found", told)


def libraries(tree: Path) -> str:
    """The setting by which the loader finds the libraries of a tree."""
    folders = sorted({str(path.parent) for path in tree.rglob("*.so*") if "lib" in path.parts})
    return f'LD_LIBRARY_PATH="{os.pathsep.join(folders)}"'


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """What a command says on stdout."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", cwd=cwd, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise NoMosquittoError(f"there is no Mosquitto, and {command[0]} can't bring it ({reason}); {ADVICE}")
    return done.stdout


if __name__ == "__main__":
    try:
        bring(Path(sys.argv[1]))
    except NoMosquittoError as error:
        print(f"meshwright: {error}", file=sys.stderr)
        sys.exit(2)
