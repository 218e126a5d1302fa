"""Find the algorithms that installed packages offer, without importing those packages."""

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import NamedTuple

from meshwright.runtime.errors import PluginError

GROUP = "meshwright.algorithms"
"""The group of entry points in which a package names its algorithms."""

_LONGEST_ERROR = 500


class Origin(NamedTuple):
    """Who offers an algorithm: the package, with its version where known, and how it was offered."""

    package: str
    offered: str

    def __str__(self) -> str:
        return f"{self.offered} of {self.package}"


@cache
def installed() -> Mapping[str, tuple[EntryPoint, ...]]:
    """The entry points of all installed packages by the name of the algorithm, each name's sorted by package.

    Reads the metadata of installed packages once, and imports none of them.
    """
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, str(origin_of(entry)))):
        found[entry.name] = (*found.get(entry.name, ()), entry)
    return found


def origin_of(entry: EntryPoint) -> Origin:
    """The package of an entry point, and the line that offers the algorithm."""
    dist = entry.dist
    package = "an unknown package" if dist is None else f"{dist.name} {dist.version}"
    return Origin(package, f"entry point {entry.name!r} ({entry.value})")


def load(entry: EntryPoint) -> object:
    """What an entry point names; a function is called, for what it returns.

    Whatever goes wrong in the other package becomes a PluginError that names it. What it prints goes to
    stderr.
    """
    try:
        with redirect_stdout(sys.stderr):
            found = entry.load()
            return found() if callable(found) else found
    except (Exception, SystemExit) as error:
        raise PluginError(
            f"{origin_of(entry)} can't be loaded: {described(error)}; repair or uninstall that package"
        ) from error


def described(error: BaseException) -> str:
    """An exception of another package in one line, cut where it would fill a screen."""
    said = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
    return said if len(said) <= _LONGEST_ERROR else f"{said[:_LONGEST_ERROR]}…"
