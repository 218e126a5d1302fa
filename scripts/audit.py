"""Checks every version of `uv.lock` against advisories in OSV's format, without a network.

The database is a folder or a zip file of JSON files, as OSV exports it for PyPI. Exit code 0: nothing is
known against what is locked; 1: something is; 2: the call is wrong or there is no database, and nothing was
checked. What an advisory affects is decided as OSV's schema has it (https://ossf.github.io/osv-schema,
"Evaluation"), with versions compared by PEP 440.
"""

import argparse
import json
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from zipfile import BadZipFile, ZipFile

from packaging.version import InvalidVersion, Version

LOCK = Path(__file__).parents[1] / "uv.lock"
VARIABLE = "MESHWRIGHT_ADVISORIES"
SOURCE = "https://osv-vulnerabilities.storage.googleapis.com/PyPI/all.zip"


class Locked(NamedTuple):
    """A package of the lock file, its name as PEP 503 spells it."""

    name: str
    version: str


class Finding(NamedTuple):
    """An advisory that affects a locked package."""

    package: Locked
    advisory: dict[str, Any]

    def line(self) -> str:
        """For people: what, which version, by which names it is known, and what it is about."""
        names = " ".join([self.advisory["id"], *self.advisory.get("aliases", [])])
        about = self.advisory.get("summary") or self.advisory.get("details") or "no summary"
        return f"{self.package.name} {self.package.version}: {names}: {' '.join(about.split()):.120}"


def main(arguments: list[str], lock: Path = LOCK) -> int:
    """Say what is known against the locked packages; the exit code."""
    parser = argparse.ArgumentParser(prog="scripts/audit", description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument(
        "--database", type=Path, default=os.environ.get(VARIABLE) or None,
        help=f"a folder or zip file of advisories in OSV's format; unless given, what {VARIABLE} names",
    )  # fmt: skip
    database = parser.parse_args(arguments).database
    if database is None:
        fail(
            f"there is no database of advisories, so nothing was checked; fetch {SOURCE} and name it with "
            f"--database PATH or {VARIABLE}"
        )
    packages = locked_packages(lock)
    advisories = [advisory for advisory in read_database(Path(database)) if is_of_pypi(advisory)]
    if not advisories:
        fail(f"{database} holds no advisory on a package of PyPI, so nothing was checked; fetch {SOURCE}")
    found = audit(packages, advisories)
    for finding in found:
        print(finding.line())
    newest = max(str(advisory.get("modified", "")) for advisory in advisories)[:10]
    print(
        f"{len(packages)} locked packages, {len(advisories)} advisories up to {newest or 'no date'}: "
        f"{len(found) or 'nothing'} known against them"
    )
    return 1 if found else 0


def locked_packages(lock: Path) -> list[Locked]:
    """What comes from a package index; what is in this checkout has no advisories."""
    try:
        entries = tomllib.loads(lock.read_text("utf-8"))["package"]
        return [
            Locked(normalised(entry["name"]), entry["version"])
            for entry in entries
            if "registry" in entry["source"]
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        fail(f"{lock} is no lock file of uv: {type(error).__name__} {error}; make it with `uv lock`")


def read_database(database: Path) -> Iterator[dict[str, Any]]:
    """All advisories of a folder or zip file; a file that is none ends the check, which would have a gap."""
    try:
        if database.is_dir():
            for path in sorted(database.rglob("*.json")):
                yield read_advisory(path.read_bytes(), str(path))
            return
        with ZipFile(database) as archive:
            for name in archive.namelist():
                if name.endswith(".json"):
                    yield read_advisory(archive.read(name), f"{name} in {database}")
    except (OSError, BadZipFile) as error:
        fail(f"{database} can't be read: {error}; give a folder or a zip file, such as {SOURCE}")


def read_advisory(data: bytes, place: str) -> dict[str, Any]:
    """One advisory, tried on a version, so that one with a gap is not met later."""
    try:
        advisory = json.loads(data)
        valid = isinstance(advisory["id"], str)
        for part in advisory.get("affected", []):
            pypi_name(part), affects(part, "1")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        valid = False
    if not valid:
        fail(f"{place} is no advisory in OSV's format, so nothing was checked; fetch {SOURCE} again")
    return advisory  # type: ignore[no-any-return]


def is_of_pypi(advisory: dict[str, Any]) -> bool:
    """Whether it holds, and is on a package of PyPI."""
    return not advisory.get("withdrawn") and any(pypi_name(part) for part in advisory.get("affected", []))


def audit(packages: list[Locked], advisories: list[dict[str, Any]]) -> list[Finding]:
    """What is known against the packages, by package and advisory."""
    return sorted(
        (
            Finding(package, advisory)
            for advisory in advisories
            if not advisory.get("withdrawn")
            for package in packages
            if any(
                affects(part, package.version)
                for part in advisory.get("affected", [])
                if pypi_name(part) == package.name
            )
        ),
        key=lambda finding: (finding.package, finding.advisory["id"]),
    )


def pypi_name(part: dict[str, Any]) -> str:
    """The package of PyPI that a part of an advisory is on; nothing where it is on another one."""
    package = part.get("package") or {}
    return normalised(package.get("name", "")) if package.get("ecosystem") == "PyPI" else ""


def normalised(name: str) -> str:
    """As PEP 503 has it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def affects(part: dict[str, Any], version: str) -> bool:
    """Whether a version is listed, or lies in a range of versions."""
    listed = part.get("versions") or []
    return any(is_same(version, other) for other in listed) or any(
        lies_in(version, found.get("events", []))
        for found in part.get("ranges") or []
        if found.get("type") in ("ECOSYSTEM", "SEMVER")
    )


def is_same(version: str, other: str) -> bool:
    """Equal by PEP 440, or in spelling where that knows no such version."""
    try:
        return Version(version) == Version(other)
    except InvalidVersion:
        return version == other


def lies_in(version: str, events: list[dict[str, str]]) -> bool:
    """Whether the events up to a version leave it affected; what can't be compared is taken to affect."""
    steps = [step for event in events for step in event.items()]
    affected = False
    try:
        this = Version(version)
        for kind, at in sorted(steps, key=place_of):
            if kind == "introduced" and (at == "0" or this >= Version(at)):
                affected = True
            elif (kind == "fixed" and this >= Version(at)) or (
                kind == "last_affected" and this > Version(at)
            ):
                affected = False
        limits = [at for kind, at in steps if kind == "limit"]
        return affected and (not limits or any(at == "*" or this < Version(at) for at in limits))
    except InvalidVersion:
        return True


def place_of(step: tuple[str, str]) -> tuple[bool, Version]:
    """Where an event stands among others: `introduced: 0` is before all versions."""
    kind, at = step
    return (False, Version("0")) if kind == "limit" or at == "0" else (True, Version(at))


def fail(text: str) -> NoReturn:
    """Give up with one line."""
    print(f"audit: {text}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
