"""Maintain a local dataset's overlay through churn, in this process, and sum up what the repairs did.

Events come from files, from a law, or from the sessions of a real network.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from math import fsum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from meshwright.maintain.event_batches import check_remembered
from meshwright.maintain.filters import filters_as_topics
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
from meshwright.maintain.prices import DROP, Start, start_with
from meshwright.maintain.repairs import Step
from meshwright.maintain.warm_up import rehearse
from meshwright.metrics.evaluation import unit_of
from meshwright.model.costs.costs import Costs
from meshwright.model.events import Event, as_line, read_events, with_ids
from meshwright.model.filtered import dialect_of_topics
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay, overlay_counts, overlay_tables
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.model.sessions import read_sessions
from meshwright.model.storage.dataset import LEFT_BEHIND, draft, write_csv, write_tables, writing
from meshwright.model.storage.manifest import make_manifest, write_manifest
from meshwright.pipeline.cost_files import CostFiles
from meshwright.pipeline.name_files import names_given, read_names
from meshwright.report.churn import (
    Happened,
    LinkChanges,
    Run,
    Story,
    churn_page,
    link_changes,
    longest_row,
    run_of,
)
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

    def load(self, interests: Interests, seed: int, costs: Costs | None = None) -> Trace:
        """The events for an overlay of these interests; each has an id.

        Where topics are classes of filters, events that are made up name filters of other nodes.
        Where links cost, nodes that are made up could not join, so those of `rounds` are nodes with costs.
        """
        if self.events is not None:
            log = read_events(self.events, limits=self.limits)
            torn = [f"{torn.path}, line {torn.line}" for torn in log.torn]
            return Trace(with_ids(log.events), {"out_of_order": log.out_of_order, "torn": torn})
        if dialect_of_topics(interests) is not None:
            interests = filters_as_topics(interests)
        if self.sessions is not None:
            sessions = read_sessions(self.sessions, self.snapshots, limits=self.limits)
            return Trace(with_ids(session_churn(interests, sessions, seed=seed)), {"sessions": len(sessions)})
        among = None if costs is None else costs.nodes.to_pylist()
        return Trace(with_ids(churn(interests, self.rounds or 0, among=among, seed=seed)), {})


def batches(events: list[Event], together: bool) -> list[list[Event]]:
    """Each event by itself, or those of equal times together."""
    if not together:
        return [[event] for event in events]
    return [list(group) for _, group in groupby(events, key=lambda event: event.at)]


def summary(repairs: pa.Table) -> dict[str, Any]:
    """Sum up a table like `repairs/`: links opened and closed; by kind of event, how many and how long.

    `changes` tells what the start did apart from what events did.
    """
    run, every = run_of("", repairs), link_changes(repairs)
    return {
        "events": int(pa.compute.sum(repairs["events"]).as_py() or 0),
        "opened": every.opened,
        "closed": every.closed,
        "changes": changes_told(run.steps),
        "repairs": {str(kind): _of_kind(run, run.kinds == kind) for kind in np.unique(run.kinds)},
    }


def changes_told(steps: Mapping[str, LinkChanges]) -> dict[str, dict[str, float]]:
    """What steps opened and closed, in JSON's types; costs only where links have some."""
    return {
        step: {name: number for name, number in changes._asdict().items() if number is not None}
        for step, changes in steps.items()
    }


def cost_told(overlay: Overlay) -> dict[str, float]:
    """The sum of an overlay's cost column, if it has one."""
    return {} if overlay.costs is None else {"cost": fsum(overlay.costs.tolist())}


def robust_told(repairs: pa.Table, live: Maintainer) -> dict[str, Any]:
    """After how many repairs topics lacked spares, and nodes had too many links; only what is asked for."""
    run, told = run_of("", repairs), {}
    if live.options.resilience > 1:
        told["unprotected"] = _lacking(run.unprotected[1:], live.unprotected)
    if live.options.max_links is not None:
        told["over_max_links"] = _lacking(run.over[1:], live.over_max_links)
    return told


_NAMED = 100


def _lacking(counts: Any, names: Sequence[str]) -> dict[str, Any]:
    return {
        "repairs": int((counts > 0).sum()),
        "of": len(counts),
        "most_in_a_row": longest_row(counts > 0),
        "at_the_end": len(names),
        "names": list(names[:_NAMED]),
    }


def _of_kind(run: Run, own: Any) -> dict[str, float]:
    milliseconds = 1e3 * run.repair_seconds[own]
    return {
        "count": int(own.sum()),
        "mean_changes": round(float(run.changes[own].mean()), 3),
        "median_milliseconds": round(float(np.median(milliseconds)), 3),
        "p99_milliseconds": round(float(np.quantile(milliseconds, 0.99)), 3),
    }


REFUSALS = "first_rejected"
_SHOWN_REFUSALS = 3


def first_refusals(rejected: pa.Table) -> list[dict[str, Any]]:
    """The first events that could not be applied, as lines of JSON, with the reasons."""
    rows = rejected.slice(0, _SHOWN_REFUSALS).to_pylist()
    return [{"at": row["at"], "event": row["text"], "reason": row["reason"]} for row in rows]


CHANGES_FILE = "changes.csv"


def _story(
    dataset: Path,
    events: Sequence[Event],
    recorded: Mapping[str, pa.Table],
    live: Maintainer,
    unit: str | None,
) -> Story:
    """What the page tells by name."""
    rejected = recorded[LEFT_BEHIND].select(["text", "reason"]).to_pylist()
    reasons = {row["text"]: row["reason"] for row in rejected}
    happened = [
        Happened(event.at, event.event, event.node, event.topics, reasons.get(as_line(event)))
        for event in events
    ]
    return Story(
        dataset.absolute().name,
        happened,
        recorded["changes"],
        unit or "",
        live.unprotected if live.options.resilience > 1 else None,
        live.over_max_links if live.options.max_links is not None else None,
    )


def _plain(parameters: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Options one by one, and without what the tables of the page tell."""
    for key, value in parameters.items():
        if key == "options":
            yield from value.items()
        elif key not in ("repairs", "changes", "unprotected", "over_max_links", REFUSALS):
            yield key, value


def tried(
    start: Start,
    groups: Sequence[Sequence[Event]],
    options: Mapping[str, Any],
    seed: int,
    progress: Progress | None,
    names: pa.StringArray | None = None,
) -> pa.Table:
    """The repairs that a maintainer with these options makes of these events."""
    rehearse(options, progress, with_costs=start.costs is not None)
    how: dict[str, Any] = {"costs": start.costs, "names": names, "seed": seed, "progress": progress}
    live = Maintainer(start.overlay, **how, **options)
    steps = [(Step(), live.start)]
    with stage(progress, f"churn with {live.options.policy}", len(groups)) as advance:
        for at, events in enumerate(groups, 1):
            steps.append((Step(tuple(events)), live.apply(events, lenient=True)))
            advance(at)
    return repairs_table(steps)


_ROWS_AT_ONCE = 50_000


class CostPlan(NamedTuple):
    """Where to read what new links cost, if anywhere; or whether to go on without costs."""

    files: CostFiles | None = None
    drop: bool = False

    def start(self, overlay: Overlay) -> Start:
        """The overlay as it is maintained, and the costs of new links."""
        if self.drop:
            return start_with(overlay, DROP)
        return start_with(overlay, None if self.files is None else self.files.load_all(overlay.interests))

    def told(self, overlay: Overlay) -> dict[str, Any]:
        """What the facts say if the overlay's cost column is dropped."""
        return {"costs_dropped": True} if self.drop and overlay.costs is not None else {}

    def given(self) -> dict[str, Any] | None:
        """What was given, for a manifest."""
        return None if self.files is None else self.files.given()


@dataclass(frozen=True, kw_only=True)
class ChurnPlan:
    """How events are applied.

    Attributes:
        options: of the maintainer, `policy` among them.
        costs: what new links cost; without them, what the overlay itself says.
        seed: for the maintainer, and for events that are made up.
        together: whether events of equal times are one batch, with one repair.
        strict: whether an event that can't be applied ends it all, or is put aside.
        names: a file of the names that exist, for filters whose classes were made with one.
        journal: the folder of the journal; without one, what is not finished leaves no trace.
        journal_options: `sync`, `compact_after` and `accept_loss`.
        report: where to write a page with pictures, if anywhere.
        compare: policies that are tried on the same events for that page.
    """

    options: Mapping[str, Any]
    costs: CostPlan = field(default_factory=CostPlan)
    seed: int = 0
    together: bool = False
    strict: bool = False
    names: Path | None = None
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

    Beside the tables of an overlay, `out` has `changes/` and `repairs/`, `changes.csv` with the rows of
    `changes/`, and `rejected/` where events were put aside. If the topics of the dataset are classes of
    filters, events name filters. With a journal, events that it has applied before are passed over, and what
    came of them is in the tables as well: the same call, after whatever ended an earlier one, gives what that
    one would have.
    """
    timer = StageTimer(progress)
    with draft(out.absolute(), force) as folder:
        with stage(timer, "read"):
            overlay = Overlay.read(dataset)
            start = plan.costs.start(overlay)
            trace = source.load(overlay.interests, plan.seed, start.costs)
            names = read_names(plan.names, source.limits)
        groups = batches(trace.events, plan.together)
        if plan.journal is not None:  # before there is one, whose options could not be changed any more
            events, remember = len(trace.events), make_options(MaintainOptions, plan.options).remember
            advice = f"give remember={events} or more (--set), or fewer events at a time"
            check_remembered(events, remember, advice)
        rehearse(plan.options, timer, with_costs=start.costs is not None)
        with _working(start, plan, names, folder, timer) as work:
            repeated = _apply(work, groups, not plan.strict, timer)
            result = work.live.overlay
            recorded = _bring(work.recording, folder)
        repairs = recorded["repairs"]
        found = {"repeated": repeated, "rejected": recorded[LEFT_BEHIND].num_rows, **summary(repairs)}
        found |= {REFUSALS: first_refusals(recorded[LEFT_BEHIND])}
        found |= {**cost_told(result), **plan.costs.told(overlay), **robust_told(repairs, work.live)}
        made_by = _made_by(dataset, source, plan)
        made_by["recovery"] = None if work.recovery is None else work.recovery.as_row()
        if plan.report is not None:
            others = {
                policy: tried(start, groups, {**plan.options, "policy": policy}, plan.seed, timer, names)
                for policy in plan.compare
            }
            policy = result.facts["maintained"]["policy"]
            runs = [run_of(name, table) for name, table in {policy: repairs, **others}.items()]
            parameters = dict(_plain({**made_by, **trace.facts, **found}))
            story = _story(dataset, trace.events, recorded, work.live, unit_of(result.facts))
            write_page(plan.report, churn_page(story, runs, parameters))
        with writing(out):
            sums = write_tables(folder, overlay_tables(result), timer)
            write_csv(recorded["changes"], folder / CHANGES_FILE)
        made_by["seconds"] = {name: round(seconds, 3) for name, seconds in timer.seconds.items()}
        tables = {**result.tables, **{name: recorded[name] for name in ("changes", "repairs")}}
        extras = {name: table.num_rows for name, table in tables.items()}
        facts = {**result.facts, **trace.facts, **found}
        counts = overlay_counts(result)
        manifest = make_manifest("overlay", counts, facts, extras, made_by)
        with writing(out):
            write_manifest(folder, manifest, sums)
    return manifest


@contextmanager
def _working(
    start: Start, plan: ChurnPlan, names: pa.StringArray | None, folder: Path, progress: Progress
) -> Iterator[_Work]:
    how: dict[str, Any] = {"costs": start.costs, "names": names, "seed": plan.seed, **plan.options}
    if plan.journal is None:
        recording = Recording(folder)
        recording.open()
        live = RecordedMaintainer(start.overlay, progress=progress, **how)
        live.record_in(recording)
        yield _Work(live, recording, recording.settle, None)
        return
    recording = Recording(plan.journal)
    how |= plan.journal_options
    with Journal(plan.journal, start.overlay, follower=recording, progress=progress, **how) as journal:
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
        "costs": plan.costs.given(),
        **names_given(plan.names),
        "seed": plan.seed,
        "journal": None if plan.journal is None else str(plan.journal),
        "inputs": [str(path) for path in files if path is not None],
    }
