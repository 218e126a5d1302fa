"""Lint: read a mesh, look for all that can be wrong, and sort what was found."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from meshwright.deploy.inventory import Entry
from meshwright.deploy.lint.findings import SEVERITIES, Finding, Stop
from meshwright.deploy.lint.interests import InterestSearch
from meshwright.deploy.lint.lines import overlapping
from meshwright.deploy.lint.links import LinkSearch, fresh_word_of, without_repeats
from meshwright.deploy.lint.suppressing import suppressed
from meshwright.deploy.lint.ways import Ways, ways_of
from meshwright.deploy.mesh import Broker, Note, Place
from meshwright.deploy.reading import Mesh, read_mesh


class Report(NamedTuple):
    """What lint found."""

    findings: list[Finding]
    """In the order of files and lines."""
    suppressed: list[Finding]
    brokers: int
    lines: int
    """How many lines, or what corresponds to them, say what crosses links."""

    @property
    def is_clean(self) -> bool:
        """Whether there is nothing but notes."""
        return all(finding.severity == "note" for finding in self.findings)


def lint(paths: Sequence[Path], inventory: Sequence[Entry] = ()) -> Report:
    """Find what is wrong with the mesh that configurations in files and folders describe.

    Raises:
        InputError: a path does not exist, or there is no configuration at all.
    """
    mesh = read_mesh(paths, inventory)
    found = sorted(suppressed(without_repeats(list(_found(mesh))), mesh.suppressions), key=_order)
    return Report(
        [finding for finding in found if finding.reason is None],
        [finding for finding in found if finding.reason is not None],
        len(mesh.brokers),
        len({flow.place for flow in mesh.flows}),
    )


def nothing_read(why: str, file: str) -> Report:
    """The report where no mesh can be read: nothing but the reason."""
    return Report([Finding("unreadable", "error", why, Place(file, 0))], [], 0, 0)


def _found(mesh: Mesh) -> Iterator[Finding]:
    """All findings of a mesh, in no special order."""
    ways = ways_of(mesh.brokers, mesh.flows)
    yield from map(_of_note, [*mesh.notes, *ways.notes])
    links = LinkSearch(ways)
    yield from links.findings
    fresh = fresh_word_of(ways.ways)
    told = {note.place for note in mesh.notes if note.rule == "useless-line"}
    yield from overlapping(ways, fresh, told)
    yield from overlapping(_leading_out(mesh), fresh, told)
    yield from InterestSearch(ways, fresh, links.looping).findings


def _leading_out(mesh: Mesh) -> Ways:
    """The ways of links to brokers that no file describes: their lines can still be compared."""
    known = {broker.name: broker for broker in mesh.brokers}
    flows = [flow for flow in mesh.flows if (flow.source in known) != (flow.target in known)]
    others = {}
    for flow in flows:
        own, other = (flow.source, flow.target) if flow.source in known else (flow.target, flow.source)
        others[other] = Broker(other, known[own].kind, flow.place, ())
    return ways_of([*mesh.brokers, *others.values()], flows)


def _of_note(note: Note) -> Finding:
    found = Finding(note.rule, note.severity, note.message, note.place)
    if note.witness is None:
        return found
    topic, *ways = note.witness
    paths = [tuple(Stop(broker, topic, place, account) for broker, account, place in way) for way in ways]
    return found._replace(topic=topic, path=paths[0], other_path=paths[1])


def _order(finding: Finding) -> tuple[str, int, int, str, str]:
    severity = SEVERITIES.index(finding.severity)
    return finding.place.file, finding.place.line, severity, finding.rule, finding.message
