"""What is written, and what may be read after the power was lost in between: scenarios to replay.

A scenario names what a reader finds ("old", "new", "none", the revision of a journal) and says which of these
are legal at a cut. A `DatasetError` beside a manifest is never legal: it names data that is not there.
"""

import os
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import meshwright as mw
from meshwright.maintain.journal.recording import Recording, read_recorded
from tests.crash_disk import Disk, Trace, Write
from tests.crash_recorder import Recorder

NONE, OLD, NEW, REFUSED = "none", "old", "new", "refused"
DAMAGED, STUCK, OTHER = "damaged", "in the way", "something else"


class Scenario(NamedTuple):
    """Recorded writes, what a reader finds in a folder, and which of that is legal after so many steps."""

    trace: Trace
    read: Callable[[Path], str]
    legal: Callable[[int], Collection[str]]


@dataclass
class Tally:
    """How many cuts were made, how many states came of them (so many of them different), what was read."""

    cuts: int = 0
    states: int = 0
    found: dict[bytes, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


def between_writes(trace: Trace) -> list[int]:
    """The cuts before which something was written and after which something else is done; and the last."""
    return [at for at, step in enumerate(trace.steps) if not isinstance(step, Write)] + [len(trace.steps)]


def replay(scenario: Scenario, work: Path, count: int, seed: int = 0, cuts: Iterable[int] = ()) -> Tally:
    """Read every state that is drawn for every cut, or for the given ones; equal states are read once."""
    tally = Tally()
    for cut in cuts or range(len(scenario.trace.steps) + 1):
        tally.cuts += 1
        for number, disk in enumerate(scenario.trace.states(cut, count, seed)):
            tally.states += 1
            found = _read(disk, scenario.read, work, tally.found)
            if found not in scenario.legal(cut):
                tally.wrong.append(f"cut {cut}, state {number}, seed {seed}: {found}")
    return tally


def _read(disk: Disk, read: Callable[[Path], str], work: Path, known: dict[bytes, str]) -> str:
    digest = blake2b(repr(disk.listing()).encode(), digest_size=16).digest()
    if digest not in known:
        with tempfile.TemporaryDirectory(dir=work) as place, _nothing_synced():
            known[digest] = read(disk.lay_out(Path(place) / "disk"))
    return known[digest]


@contextmanager
def _nothing_synced() -> Iterator[None]:
    """Reading may write; that this is forced to disk takes most of its time, and is not looked at."""
    with patch.object(os, "fsync", lambda _: None), patch.object(os, "fdatasync", lambda _: None):
        yield


def _until(returned: int, before: Collection[str]) -> Callable[[int], Collection[str]]:
    """What is legal before a call has returned; from then on it is the new thing alone."""
    return lambda cut: before if cut < returned else [NEW]


def _named(value: Any, old: Any, new: Any) -> str:
    return next((name for name, known in ((NEW, new), (OLD, old)) if value == known), OTHER)


def overlays() -> tuple[mw.Overlay, mw.Overlay]:
    """Two small overlays of as many nodes, topics and links; only one of them has costs and fingers."""
    pairs = [("b1", "news"), ("b2", "news"), ("b3", "news"), ("b3", "art"), ("b1", "art")]
    interests = mw.Interests.from_pairs(pairs)
    fingers = mw.build(interests, "chord", seed=1)
    old = mw.Overlay.from_arrays(interests, [[0, 1], [0, 2]])
    new = mw.Overlay.from_arrays(interests, [[0, 1], [1, 2]], [2, 3.5], {"p": 3}, fingers.tables)
    return old, new


def dataset(folder: Path, force: bool) -> Scenario:
    """An overlay is written, with `force` in place of another one."""
    old, new = overlays()
    if force:
        old.write(folder / "out")
    with Recorder(folder) as recorder:
        new.write(folder / "out", force=force)
    before = [OLD, NEW, NONE] if force else [NEW, NONE]
    return Scenario(recorder.trace, partial(_read_overlay, old, new), _until(recorder.position, before))


def _read_overlay(old: mw.Overlay, new: mw.Overlay, disk: Path) -> str:
    try:
        return _named(mw.Overlay.read(disk / "out"), old, new)
    except mw.DatasetError:
        return DAMAGED if (disk / "out" / "manifest.json").exists() else _written_again(new, disk / "out")


def _written_again(overlay: mw.Overlay, folder: Path) -> str:
    """What a loss of power has left is no obstacle to whoever tries again."""
    try:
        overlay.write(folder, force=True)
    except mw.DatasetError:
        return STUCK
    return NONE if mw.Overlay.read(folder) == overlay else OTHER


WRITERS: dict[str, Callable[[Path, bool], None]] = {
    "overlay.json": lambda path, force: mw.export(overlays()[1], path, force=force),
    "overlay.graphml": lambda path, force: mw.export(overlays()[1], path, force=force),
    "events.jsonl": lambda path, force: mw.write_events(_EVENTS, path, force=force),
    "events.parquet": lambda path, force: mw.write_events(_EVENTS, path, force=force),
}
"""Who writes a file of this name."""

_FORMER = b'{"at":0,"event":"leave","node":"b0"}\n'
_EVENTS = [mw.Event(1, "join", "b9", ("news", "ключ")), mw.Event(2, "leave", "b1")]


def file(folder: Path, name: str, force: bool) -> Scenario:
    """A file of `WRITERS` is written, with `force` in place of another one."""
    if force:
        (folder / name).write_bytes(_FORMER)
    with Recorder(folder, native=True) as recorder:
        WRITERS[name](folder / name, force)
    new = (folder / name).read_bytes()
    legal = _until(recorder.position, [OLD, NEW] if force else [NONE, NEW])
    return Scenario(recorder.trace, partial(_read_file, name, new), legal)


def _read_file(name: str, new: bytes, disk: Path) -> str:
    return _named((disk / name).read_bytes(), _FORMER, new) if (disk / name).exists() else NONE


class Steps(NamedTuple):
    """Events for a journal: each state by revision, from the start on."""

    overlay: mw.Overlay
    events: list[mw.Event]
    states: list[bytes]


def steps(overlay: mw.Overlay, events: list[mw.Event]) -> Steps:
    """What a maintainer that nobody ever stopped comes to, event by event."""
    live = mw.Maintainer(overlay)
    states = [live.snapshot()]
    for event in events:
        live.apply([event])
        states.append(live.snapshot())
    return Steps(overlay, events, states)


def journal(folder: Path, given: Steps, sync: str | int, compact_after: int) -> Scenario:
    """A recorded journal is begun, takes half of the events, is closed, opened again, and takes the rest."""
    half = len(given.events) // 2
    taken: list[tuple[int, int]] = []
    with Recorder(folder) as recorder:
        for start, events in ((0, given.events[:half]), (half, given.events[half:])):
            with _opened(folder, given.overlay, sync=sync, compact_after=compact_after) as opened:
                taken.append((recorder.position, start))
                for revision, event in enumerate(events, start + 1):
                    opened.live.apply([event])
                    taken.append((recorder.position, revision))
            taken.append((recorder.position, start + len(events)))
    synced = taken if sync == "always" else [taken[0], taken[half + 1], taken[-1]]
    legal = partial(_legal_revisions, recorder.trace, taken, synced, sync == "always")
    return Scenario(recorder.trace, partial(_read_journal, given.states), legal)


def _opened(disk: Path, overlay: mw.Overlay | None = None, **options: Any) -> mw.Journal:
    return mw.Journal(disk / "j", overlay, follower=Recording(disk / "recorded"), **options)


def _legal_revisions(
    trace: Trace, taken: list[tuple[int, int]], synced: list[tuple[int, int]], always: bool, cut: int
) -> Collection[str]:
    """From what was promised to what was begun; where less was promised than written, a loss may be told.

    Whether a step that is written, but not yet taken, is ever cut off depends on when its log is synced.
    """
    promised = [revision for position, revision in synced if position <= cut]
    done = [(position, revision) for position, revision in taken if position <= cut]
    if not done:
        return [NONE, REFUSED, "0"]
    position, last = done[-1]
    written = any(
        isinstance(step, Write) and b'"events":[' in step.data for step in trace.steps[position:cut]
    )
    found = [str(revision) for revision in range(promised[-1], last + 2)]
    return found if always or (promised[-1] == last and not written) else [*found, REFUSED]


def _read_journal(states: list[bytes], disk: Path) -> str:
    """The revision that a journal comes back to, if all before it is recorded once."""
    try:
        with _opened(disk) as opened:
            opened.settle()
            revision = opened.live.revision
            same = opened.live.snapshot() == states[revision]
        recorded = read_recorded(disk / "recorded", "repairs")["revision"].to_pylist()
        return str(revision) if same and recorded == list(range(revision + 1)) else OTHER
    except mw.InputError:
        return NONE
    except mw.DatasetError:
        return REFUSED
