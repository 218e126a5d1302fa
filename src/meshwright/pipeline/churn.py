"""Maintain a local dataset's overlay through churn, in this process, and sum up what the repairs did.

Events come from files, from a law, or from the sessions of a real network.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from meshwright.maintain.event_batches import check_remembered
from meshwright.maintain.journal.journal import Journal, Recovery
from meshwright.maintain.journal.ledger import copy_parts, drop_ledger
from meshwright.maintain.journal.recording import (
    SCHEMAS,
    RecordedMaintainer,
    Recording,
    read_recorded,
    repairs_table,
)
from meshwright.maintain.maintainer import Maintainer
from meshwright.maintain.options import MaintainOptions
from meshwright.maintain.repairs import Step
from meshwright.maintain.warm_up import rehearse
from meshwright.model.events import Event, read_events, with_ids
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay, overlay_counts, overlay_tables
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.model.sessions import read_sessions
from meshwright.model.storage.dataset import LEFT_BEHIND, draft, write_tables, writing
from meshwright.model.storage.manifest import make_manifest, write_manifest
from meshwright.report.churn import Run, churn_page, run_of
from meshwright.report.page import write_page
from meshwright.runtime.checks import make_options
from meshwright.runtime.errors import InputError, OptionError
from meshwright.runtime.owned import remove_own_folder
from meshwright.runtime.progress import Progress, StageTimer, stage
from meshwright.workloads.traces import churn, session_churn


class Trace(NamedTuple):
    """Events in the order of their times, and what is to be said about where they came from."""

    events: list[Event]
    facts: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ChurnSource:
    """One of: files of events; a number of rounds, in each of which a node joins or leaves; sessions.

    What is read of files has limits.
    """

    events: Path | None = None
    rounds: int | None = None
    sessions: Path | None = None
    snapshots: Path | None = None
    limits: ReadLimits = READ_LIMITS

    def __post_init__(self) -> None:
        given = [way for way in (self.events, self.rounds, self.sessions) if way is not None]
        if len(given) != 1:
            raise OptionError(
                "give exactly one of --events PATH, --rounds N, --sessions PATH and --stream PATH"
            )
        if self.snapshots is not None and self.sessions is None:
            raise OptionError("--snapshots gives the times for --sessions; leave it out, or give both")

    def load(self, interests: Interests, seed: int) -> Trace:
        """The events for an overlay of these interests; each has an id."""
        if self.events is not None:
            log = read_events(self.events, limits=self.limits)
            torn = [f"{torn.path}, line {torn.line}" for torn in log.torn]
            return Trace(with_ids(log.events), {"out_of_order": log.out_of_order, "torn": torn})
        if self.sessions is not None:
            sessions = read_sessions(self.sessions, self.snapshots, limits=self.limits)
            return Trace(with_ids(session_churn(interests, sessions, seed=seed)), {"sessions": len(sessions)})
        return Trace(with_ids(churn(interests, self.rounds or 0, seed=seed)), {})


def batches(events: list[Event], together: bool) -> list[list[Event]]:
    """Each event by itself, or those of equal times together."""
    if not together:
        return [[event] for event in events]
    return [list(group) for _, group in groupby(events, key=lambda event: event.at)]


def summary(repairs: pa.Table) -> dict[str, Any]:
    """Sum up a table like `repairs/`: links opened and closed; by kind of event, how many and how long."""
    run = run_of("", repairs)
    return {
        "events": int(pa.compute.sum(repairs["events"]).as_py() or 0),
        "opened": int(pa.compute.sum(repairs["opened"]).as_py() or 0),
        "closed": int(pa.compute.sum(repairs["closed"]).as_py() or 0),
        "repairs": {str(kind): _of_kind(run, run.kinds == kind) for kind in np.unique(run.kinds)},
    }


def _of_kind(run: Run, own: Any) -> dict[str, float]:
    milliseconds = 1e3 * run.repair_seconds[own]
    return {
        "count": int(own.sum()),
        "mean_changes": round(float(run.changes[own].mean()), 3),
        "median_milliseconds": round(float(np.median(milliseconds)), 3),
        "p99_milliseconds": round(float(np.quantile(milliseconds, 0.99)), 3),
    }


def _plain(parameters: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Options one by one, and without what the tables of the page tell."""
    for key, value in parameters.items():
        if key == "options":
            yield from value.items()
        elif key != "repairs":
            yield key, value


def tried(
    overlay: Overlay,
    groups: Sequence[Sequence[Event]],
    options: Mapping[str, Any],
    seed: int,
    progress: Progress | None,
) -> pa.Table:
    """The repairs that a maintainer with these options makes of these events."""
    rehearse(options, progress)
    live = Maintainer(overlay, seed=seed, progress=progress, **options)
    steps = []
    with stage(progress, f"churn with {live.options.policy}", len(groups)) as advance:
        for at, events in enumerate(groups, 1):
            steps.append((Step(tuple(events)), live.apply(events, lenient=True)))
            advance(at)
    return repairs_table(steps)


_ROWS_AT_ONCE = 50_000


@dataclass(frozen=True, kw_only=True)
class ChurnPlan:
    """How events are applied.

    Attributes:
        options: of the maintainer, `policy` among them.
        seed: for the maintainer, and for events that are made up.
        together: whether events of equal times are one batch, with one repair.
        strict: whether an event that can't be applied ends it all, or is put aside.
        journal: the folder of the journal; without one, what is not finished leaves no trace.
        journal_options: `sync`, `compact_after` and `accept_loss`.
        report: where to write a page with pictures, if anywhere.
        compare: policies that are tried on the same events for that page.
    """

    options: Mapping[str, Any]
    seed: int = 0
    together: bool = False
    strict: bool = False
    journal: Path | None = None
    journal_options: Mapping[str, Any] = field(default_factory=dict)
    report: Path | None = None
    compare: Sequence[str] = ()


class _Work(NamedTuple):
    """A maintainer, where it takes down what it does, and how to put that on disk."""

    live: Maintainer
    recording: Recording
    settle: Callable[[], None]
    recovery: Recovery | None


def churn_here(
    dataset: Path,
    out: Path,
    source: ChurnSource,
    plan: ChurnPlan,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Apply events to the overlay of a dataset, and write the overlay as it is then; gives the manifest.

    Beside the tables of an overlay, `out` has `changes/` and `repairs/`, and `rejected/` where events were
    put aside. With a journal, events that it has applied before are passed over, and what came of them is in
    the tables as well: the same call, after whatever ended an earlier one, gives what that one would have.
    """
    timer = StageTimer(progress)
    with draft(out.absolute(), force) as folder:
        with stage(timer, "read"):
            overlay = Overlay.read(dataset)
            trace = source.load(overlay.interests, plan.seed)
        groups = batches(trace.events, plan.together)
        if plan.journal is not None:  # before there is one, whose options could not be changed any more
            events, remember = len(trace.events), make_options(MaintainOptions, plan.options).remember
            advice = f"give remember={events} or more (--set), or fewer events at a time"
            check_remembered(events, remember, advice)
        rehearse(plan.options, timer)
        with _working(overlay, plan, folder, timer) as work:
            repeated = _apply(work, groups, not plan.strict, timer)
            result = work.live.overlay
            recorded = _bring(work.recording, folder)
        repairs = recorded["repairs"]
        found = {"repeated": repeated, "rejected": recorded[LEFT_BEHIND].num_rows, **summary(repairs)}
        made_by = _made_by(dataset, source, plan)
        made_by["recovery"] = None if work.recovery is None else work.recovery.as_row()
        if plan.report is not None:
            others = {
                policy: tried(overlay, groups, {**plan.options, "policy": policy}, plan.seed, timer)
                for policy in plan.compare
            }
            policy = result.facts["maintained"]["policy"]
            runs = [run_of(name, table) for name, table in {policy: repairs, **others}.items()]
            parameters = dict(_plain({**made_by, **trace.facts, **found}))
            write_page(plan.report, churn_page("Churn", runs, parameters))
        sums = write_tables(folder, overlay_tables(result), timer)
        made_by["seconds"] = {name: round(seconds, 3) for name, seconds in timer.seconds.items()}
        extras = {name: recorded[name].num_rows for name in ("changes", "repairs")}
        facts = {**result.facts, **trace.facts, **found}
        counts = overlay_counts(result)
        manifest = make_manifest("overlay", counts, facts, extras, made_by)
        write_manifest(folder, manifest, sums)
    return manifest


@contextmanager
def _working(overlay: Overlay, plan: ChurnPlan, folder: Path, progress: Progress) -> Iterator[_Work]:
    if plan.journal is None:
        recording = Recording(folder)
        recording.open()
        live = RecordedMaintainer(overlay, seed=plan.seed, progress=progress, **plan.options)
        live.record_in(recording)
        yield _Work(live, recording, recording.settle, None)
        return
    recording = Recording(plan.journal)
    how: dict[str, Any] = {"seed": plan.seed, **plan.options, **plan.journal_options}
    with Journal(plan.journal, overlay, follower=recording, progress=progress, **how) as journal:
        yield _Work(journal.live, recording, journal.settle, journal.recovery)


def _apply(work: _Work, groups: Sequence[Sequence[Event]], lenient: bool, progress: Progress) -> int:
    """Apply all events; gives how many were passed over, since their ids were known."""
    repeated = done = 0
    with stage(progress, "churn", sum(map(len, groups))) as advance:
        for events in groups:
            with _told_of(events, done):
                repeated += work.live.apply(events, lenient=lenient).repeated
            done += len(events)
            advance(done)
            if work.recording.pending > _ROWS_AT_ONCE:
                work.settle()
        work.settle()
    return repeated


@contextmanager
def _told_of(events: Sequence[Event], before: int) -> Iterator[None]:
    """Say with an error which event it is about: its number in the order of times, its time and its id."""
    try:
        yield
    except InputError as error:
        first, last = before + 1, before + len(events)
        number = f"event {first:,}" if first == last else f"one of the events {first:,} to {last:,}"
        raise InputError(f"{number} in the order of time, at {events[0].at}: {error}") from None


def _bring(recording: Recording, folder: Path) -> dict[str, pa.Table]:
    """Put the files of a recording into a dataset, whose manifest vouches for them; gives its tables."""
    recorded = {name: read_recorded(recording.folder, name) for name in SCHEMAS}
    with writing(folder):
        for name in SCHEMAS:
            if recording.folder != folder:
                copy_parts(recording.folder / name, folder / name)
            else:
                drop_ledger(folder / name)
        if not recorded[LEFT_BEHIND].num_rows:
            remove_own_folder(folder / LEFT_BEHIND)
    return recorded


def _made_by(dataset: Path, source: ChurnSource, plan: ChurnPlan) -> dict[str, Any]:
    files = [dataset, source.events, source.sessions, source.snapshots]
    return {
        "command": "churn",
        "options": {
            **plan.options,
            "rounds": source.rounds,
            "together": plan.together,
            "strict": plan.strict,
        },
        "seed": plan.seed,
        "journal": None if plan.journal is None else str(plan.journal),
        "inputs": [str(path) for path in files if path is not None],
    }
