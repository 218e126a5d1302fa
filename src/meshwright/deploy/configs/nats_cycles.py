"""Imports of NATS accounts that lead back to where they come from: nats-server does not start with them.

The server looks at imports of one kind, streams or services, and goes on from account to account by those
whose subjects meet. Where imports give new names, it may tell a cycle that is none, by the order in which it
happens to read the accounts.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from meshwright.deploy.configs.subjects import covers
from meshwright.deploy.mesh import Place

_MOST_STEPS = 1_000_000


class Import(NamedTuple):
    """One import: `subject` of the exporter, `local` in the importing account."""

    service: bool
    importer: str
    exporter: str
    subject: str
    local: str
    place: Place
    prefixed: bool = False

    @property
    def looked_for(self) -> set[str]:
        """The subjects with which the server looks for a cycle: by a prefix, that before it as well."""
        return {self.local, self.subject} if self.prefixed else {self.local}


class TooManyImportsError(Exception):
    """There are more imports than are looked at."""


def cycles(imports: Iterable[Import], exports: dict[str, list[str]]) -> Iterator[list[Import]]:
    """The cycles of imports, each account in one at most; `exports` are the streams of accounts.

    Raises:
        TooManyImportsError: there are too many to look at.
    """
    imports = list(imports)
    for service in (False, True):
        search = _Search([each for each in imports if each.service == service], exports)
        yield from search.cycles()


class _Search:
    """Follows imports of one kind."""

    def __init__(self, imports: list[Import], exports: dict[str, list[str]]) -> None:
        self._by_importer: dict[str, list[Import]] = {}
        self._exports = exports
        self._steps = 0
        for each in _leading_on(imports):
            self._by_importer.setdefault(each.importer, []).append(each)

    def cycles(self) -> Iterator[list[Import]]:
        told: set[str] = set()
        for own in self._by_importer.values():
            for start in own:
                found = [] if start.importer in told else self._back_from(start)
                if found:
                    told.update(each.importer for each in found)
                    yield found

    def _back_from(self, start: Import) -> list[Import]:
        """The first imports behind one that lead back to an account on the way; empty if there are none."""
        came = {(start.exporter, subject): [start] for subject in sorted(start.looked_for)}
        waiting = list(came)
        for account, subject in waiting:
            for each in self._following(account, subject, start):
                way = [*came[account, subject], each]
                passed = [before.importer for before in way]
                if each.exporter in passed:
                    return way[passed.index(each.exporter) :]
                narrowed = each.local if covers(subject, each.local, "nats") else subject
                if (each.exporter, narrowed) not in came:
                    came[each.exporter, narrowed] = way
                    waiting.append((each.exporter, narrowed))
        return []

    def _following(self, account: str, subject: str, start: Import) -> Iterator[Import]:
        """The imports of an account by which a subject goes on."""
        exported = self._exports.get(account, ())
        if not start.service and not any(covers(each, subject, "nats") for each in exported):
            return
        for each in self._by_importer.get(account, ()):
            self._steps += 1
            if self._steps > _MOST_STEPS:
                raise TooManyImportsError
            if each is not start and _meet(subject, each.subject if each.service else each.local):
                yield each


def _leading_on(imports: Sequence[Import]) -> list[Import]:
    """The imports without those that lead to no cycle, whatever their subjects."""
    left, before = list(imports), -1
    while len(left) != before:
        before = len(left)
        importers = {each.importer for each in left}
        left = [each for each in left if each.exporter in importers]
    return left


def _meet(one: str, other: str) -> bool:
    """Whether two subjects match a name in common."""
    words, others = one.split("."), other.split(".")
    for pair in zip(words, others, strict=False):
        if ">" in pair:
            return True
        if "*" not in pair and pair[0] != pair[1]:
            return False
    return len(words) == len(others)
