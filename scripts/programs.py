"""Brings programs that tests start and no wheel has: the machine's own, or unpacked beside Python.

The distribution's packages are fetched with `apt-get download` and unpacked with `dpkg -x`, and so are the
libraries that the machine lacks. This needs no root and changes nothing outside the environment.

Standard library only.
Called by the set-up as `programs.py VENV`. A failure is one line on stderr and exit code 2.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

# Servers are often not on the PATH of those who are not root.
PLACES = ("/usr/local/sbin", "/usr/sbin", "/opt/homebrew/sbin")
# The C library has to fit the loader, which is the machine's.
NEVER_FETCHED = {"libc6", "libgcc-s1", "libcrypt1"}


class Program(NamedTuple):
    """A program: the variable that may name it, its commands, its packages, and where they have it."""

    name: str
    variable: str
    commands: tuple[str, ...]
    packages: tuple[str, ...]
    path: str

    @property
    def advice(self) -> str:
        """What to do where it can't be brought."""
        return f"install the package {self.commands[0]}, or set {self.variable} to the program"


MOSQUITTO = Program("Mosquitto", "MESHWRIGHT_MOSQUITTO", ("mosquitto",), ("mosquitto",), "usr/sbin/mosquitto")
CHROMIUM = Program(
    "Chromium",
    "MESHWRIGHT_CHROMIUM",
    ("chromium", "chromium-browser", "google-chrome"),
    # Without any font, it ends at the first page.
    ("chromium-headless-shell", "chromium-common", "fonts-dejavu-core"),
    "usr/lib/chromium/chromium-headless-shell",
)
FONTS = """<?xml version="1.0"?>
<fontconfig><dir>/usr/share/fonts</dir><dir>{home}/usr/share/fonts</dir><cachedir>{home}/fonts</cachedir></fontconfig>
"""


class NoProgramError(Exception):
    """There is no such program, and none can be brought; the message is the one line to show."""


def bring(program: Program, venv: Path) -> Path:
    """The program that its variable names, the machine's, or the one unpacked in the environment."""
    if named := os.environ.get(program.variable):
        if not shutil.which(named):
            raise NoProgramError(f"{program.variable} is {named}, which is no program; correct or unset it")
        return Path(named)
    places = os.pathsep.join([os.environ.get("PATH", ""), *PLACES])
    for command in program.commands:
        if found := shutil.which(command, path=places):
            return Path(found)
    launcher = venv / "bin" / program.commands[0]
    if not launcher.exists():
        try:
            unpack(program, launcher, venv / "share" / program.commands[0])
        except CommandError as error:
            raise NoProgramError(f"there is no {program.name}, and {error}; {program.advice}") from None
    return launcher


class CommandError(Exception):
    """A command failed; the message says which, and why."""


def unpack(program: Program, launcher: Path, home: Path) -> None:
    """Unpack the program and the libraries it lacks into `home`, and write its launcher last."""
    for tool in ("apt-get", "dpkg"):
        if not shutil.which(tool):
            raise CommandError(f"no {tool} to bring it")
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent) as scratch:
        tree = Path(scratch) / "tree"
        fetch_all(program, tree, Path(scratch))
        shutil.rmtree(home, ignore_errors=True)
        tree.rename(home)
    fonts = home / "fonts.conf"
    fonts.write_text(FONTS.format(home=home))
    part = launcher.with_suffix(".part")
    settings = f'FONTCONFIG_FILE="{fonts}" {libraries(home)}'
    part.write_text(f'#!/bin/sh\n{settings} exec "{home}/{program.path}" "$@"\n')
    part.chmod(0o755)
    part.replace(launcher)


def fetch_all(program: Program, tree: Path, scratch: Path) -> None:
    """Unpack the packages, then what they depend on, and so on, until no library is missing."""
    wanted, seen = set(program.packages), set(NEVER_FETCHED)
    while wanted:
        seen |= wanted
        needed: set[str] = set()
        for package in fetch(sorted(wanted), scratch):
            run("dpkg", "-x", package, tree)
            # Of alternatives, the first.
            needed |= set(re.findall(r"(?:^|,\s*)(lib[\w.+-]+)", run("dpkg", "-f", package, "Depends")))
            package.unlink()
        wanted = needed - seen if missing(program, tree) else set()
    if lacks := missing(program, tree):
        raise CommandError(f"its package needs {lacks[0]}, which can't be found")


def fetch(names: list[str], scratch: Path) -> list[Path]:
    """The packages as files. If the machine's list of packages is too old, a new one is fetched aside."""
    try:
        run("apt-get", "download", *names, cwd=scratch)
    except CommandError:
        for folder in ("lists/partial", "cache/archives/partial"):
            (scratch / folder).mkdir(parents=True, exist_ok=True)
        aside = ("-o", f"Dir::State::lists={scratch}/lists", "-o", f"Dir::Cache={scratch}/cache")
        run("apt-get", *aside, "update", cwd=scratch)
        run("apt-get", *aside, "download", *names, cwd=scratch)
    return sorted(scratch.glob("*.deb"))


def missing(program: Program, tree: Path) -> list[str]:
    """The libraries that the program does not find."""
    told = run("sh", "-c", f'{libraries(tree)} ldd "{tree}/{program.path}"')
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
        raise CommandError(f"{command[0]} can't bring it ({reason})")
    return done.stdout


def main(venv: Path) -> int:
    """Bring all programs; what can't be had is told, and the others are brought."""
    code = 0
    for program in (MOSQUITTO, CHROMIUM):
        try:
            bring(program, venv)
        except NoProgramError as error:
            print(f"meshwright: {error}", file=sys.stderr)
            code = 2
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
