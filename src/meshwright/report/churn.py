"""What churn did to an overlay: degrees as it went on, what repairs changed, and how long they took."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from meshwright.report.figures import lines
from meshwright.report.markup import (
    Html,
    amount,
    count,
    decimal,
    figure,
    legible,
    name,
    percent,
    section,
    table,
    tag,
)
from meshwright.report.page import header, making, page
from meshwright.runtime.arrays import Floats

Series = tuple[str, npt.NDArray[Any], npt.NDArray[Any]]

_EXPLANATION = (
    "A repair changes links: it opens links that reconnect topics, and closes links of nodes that left, or "
    "of topics that were given up. For a rebuild, a link counts if only one of the two overlays has it."
)


class Happened(NamedTuple):
    """An event, and why it was refused; None if it was applied."""

    at: int
    event: str
    node: str
    topics: Sequence[str]
    refused: str | None


class Story(NamedTuple):
    """What happened, by name.

    Attributes:
        dataset: what the overlay is called.
        events: in the order of time.
        changes: a table like `changes/`.
        unit: what costs are counted in; empty where that is not known.
        unprotected: the topics that lack spares at the end; None unless topics are to survive failures.
        over: the nodes that have more links than they may at the end; None where there are no caps.
    """

    dataset: str
    events: Sequence[Happened]
    changes: pa.Table
    unit: str = ""
    unprotected: Sequence[str] | None = None
    over: Sequence[str] | None = None

    @property
    def title(self) -> str:
        """The dataset, and how many events of each kind were applied: "mesh: 1 leave, 2 joins"."""
        kinds = Counter(event.event for event in self.events if event.refused is None)
        told = ", ".join(count(number, kind) for kind, number in kinds.items())
        return f"{self.dataset}: {told or 'no events'}"


class LinkChanges(NamedTuple):
    """How many links were opened and closed, and what these cost; None where links have no costs."""

    opened: int
    closed: int
    opened_cost: float | None
    closed_cost: float | None


def link_changes(repairs: pa.Table) -> LinkChanges:
    """Sum up a table like `repairs/`, or some of its rows."""
    opened, closed = (sum(repairs[name].to_pylist()) for name in ("opened", "closed"))
    costs = [repairs[name].to_pylist() for name in ("opened_cost", "closed_cost")]
    opened_cost, closed_cost = (None if None in own else fsum(own) for own in costs)
    return LinkChanges(opened, closed, opened_cost, closed_cost)


def changes_by_step(repairs: pa.Table) -> dict[str, LinkChanges]:
    """What was opened and closed to connect the overlay at the start, and what by events."""
    is_start = pa.compute.equal(repairs["revision"], 0)
    events = link_changes(repairs.filter(pa.compute.invert(is_start)))
    return {"start": link_changes(repairs.filter(is_start)), "events": events}


class CostSeries(NamedTuple):
    """What all links cost together, and a link on average, at the start and after each repair."""

    total: Floats
    a_link: Floats


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one policy did, a number for each repair.

    Attributes:
        policy: its name.
        kinds: what was repaired: join, leave, subscribe, unsubscribe, or batch.
        changes: links opened and closed.
        before: links before it.
        repair_seconds: until all topics were connected again.
        backup_seconds: for choosing backups afterwards.
        maximum: the most links of a node at the start, and after each repair.
        average: links per node at the start, and after each repair.
        cost: what links cost; None where they have no costs.
        steps: links opened and closed at the start, and by events.
        unprotected: topics without a spare at the start, and after each repair.
        over: nodes over max_links at the start, and after each repair.
    """

    policy: str
    kinds: npt.NDArray[np.str_]
    changes: Floats
    before: Floats
    repair_seconds: Floats
    backup_seconds: Floats
    maximum: Floats
    average: Floats
    cost: CostSeries | None
    steps: Mapping[str, LinkChanges]
    unprotected: Floats
    over: Floats


def run_of(policy: str, repairs: pa.Table) -> Run:
    """Build from a table like `repairs/`; the start counts for degrees, `cost` and `steps` alone."""
    steps, states = changes_by_step(repairs), _states(repairs)
    repairs = repairs.filter(pa.compute.greater(repairs["events"], 0))
    columns = {field: repairs[field].to_numpy().astype(np.float64) for field in _COLUMNS}
    causes = zip(repairs["cause"].to_pylist(), repairs["events"].to_pylist(), strict=True)
    return Run(
        policy=policy,
        kinds=np.array(
            [cause.partition(" ")[0] if events == 1 else "batch" for cause, events in causes], np.str_
        ),
        changes=columns["opened"] + columns["closed"],
        before=columns["links"] - columns["opened"] + columns["closed"],
        repair_seconds=columns["repair_seconds"],
        backup_seconds=columns["backup_seconds"],
        maximum=states["maximum_degree"].to_numpy().astype(np.float64),
        average=states["average_degree"].to_numpy().astype(np.float64),
        cost=_costs(states),
        steps=steps,
        unprotected=_counts(states, "unprotected"),
        over=_counts(states, "over_max_links"),
    )


def _counts(states: pa.Table, column: str) -> Floats:
    """A column, with 0 for what an earlier Meshwright did not write."""
    found: Floats = states[column].fill_null(0).to_numpy().astype(np.float64)
    return found


def longest_row(flags: npt.NDArray[np.bool_]) -> int:
    """How many in a row are set, at most."""
    ends = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]])))
    return int(np.diff(ends)[::2].max(initial=0))


def _states(repairs: pa.Table) -> pa.Table:
    """The rows of the start and of repairs; what was refused, or relinked, has none."""
    is_start = pa.compute.equal(repairs["revision"], 0)
    return repairs.filter(pa.compute.or_(is_start, pa.compute.greater(repairs["events"], 0)))


def _costs(states: pa.Table) -> CostSeries | None:
    """The costs at the start and after each repair; None unless all rows have them."""
    if states["cost"].null_count or not len(states):
        return None
    total = states["cost"].to_numpy()
    return CostSeries(total, total / np.maximum(states["links"].to_numpy(), 1))


_COLUMNS = (
    "opened",
    "closed",
    "links",
    "repair_seconds",
    "backup_seconds",
)


def churn_page(story: Story, runs: Sequence[Run], parameters: Mapping[str, Any]) -> str:
    """What churn did to an overlay; the first run is what it is about."""
    there = [run for run in runs if len(run.changes)]
    body = {
        "events": _events(story.events),
        "changes": _changes(story),
        **(_sections(there) if there else {}),
        "links": _links(runs, story.unit),
        **_cost_section(runs, story.unit),
        **_robust_section(runs, story),
        "making": making(parameters),
    }
    return page(story.title, header("churn", story.title, _headline(runs[0], story)), body)


def _headline(ours: Run, story: Story) -> Iterator[tuple[str, str]]:
    yield count(len(ours.changes)), "repair" if len(ours.changes) == 1 else "repairs"
    refused = sum(event.refused is not None for event in story.events)
    if refused:
        yield count(refused), "event refused" if refused == 1 else "events refused"
    yield count(sum(changes.opened for changes in ours.steps.values())), "links opened"
    yield count(sum(changes.closed for changes in ours.steps.values())), "links closed"
    if len(ours.changes):
        yield decimal(ours.average[-1]), "links per node at the end"
        yield count(int(ours.maximum[-1])), "the most links of a node"
    if ours.cost is not None:
        yield amount(float(ours.cost.total[-1]), story.unit), "cost of all links at the end"
    if ours.steps["start"].opened:
        yield count(ours.steps["start"].opened), "links opened at the start, to connect topics"
    if len(ours.changes):
        yield _milliseconds(np.median(ours.repair_seconds)), "to compute a repair, in the median"


_SHOWN_EVENTS = 50
_SHOWN_CHANGES = 200
_SHOWN_TOPICS = 5


def _events(events: Sequence[Happened]) -> Html:
    """The first events by name."""
    if not events:
        return Html("")
    has_refused = any(event.refused is not None for event in events)
    headings = ["time", "event", "node", "topics", *(["refused, because"] if has_refused else [])]
    rows = [
        [
            str(event.at),
            event.event,
            name(event.node),
            _topics(event.topics),
            *([event.refused or ""] if has_refused else []),
        ]
        for event in events[:_SHOWN_EVENTS]
    ]
    listed = table("Events", headings, rows, {0})
    return section("events", "Events", listed, *_more(len(events), _SHOWN_EVENTS, "events"))


def _topics(topics: Sequence[str]) -> str:
    more = f", … ({count(len(topics))} in all)" if len(topics) > _SHOWN_TOPICS else ""
    return ", ".join(legible(topic, 40) for topic in topics[:_SHOWN_TOPICS]) + more


def _changes(story: Story) -> Html:
    """The first links opened and closed, by name."""
    changes = story.changes
    if not changes.num_rows:
        return Html("")
    priced = changes["cost"].null_count < changes.num_rows
    in_unit = f", {story.unit}" if story.unit else ""
    headings = ["time", "action", "from", "to", "because of", *([f"cost{in_unit}"] if priced else [])]
    rows = [
        [
            "start" if row["at"] is None else str(row["at"]),
            row["action"],
            name(row["source"]),
            name(row["target"]),
            legible(row["cause"]),
            *(["" if row["cost"] is None else decimal(row["cost"])] if priced else []),
        ]
        for row in changes.slice(0, _SHOWN_CHANGES).to_pylist()
    ]
    listed = table("Changes", headings, rows, {0, 5})
    more = _more(changes.num_rows, _SHOWN_CHANGES, "changes; changes.csv has all of them")
    return section("changes", "Changes", listed, *more)


def _more(number: int, shown: int, what: str) -> Iterator[Html]:
    if number > shown:
        yield tag("p", f"The first {count(shown)} of {count(number)} {what}.")


def _links(runs: Sequence[Run], unit: str) -> Html:
    """How many links were opened and closed at the start, and by events."""
    costs = any(run.cost is not None for run in runs)
    in_unit = f", {unit}" if unit else ""
    spent = (f"cost of opened{in_unit}", f"saved by closed{in_unit}") if costs else ()
    headings = ("policy, when", "opened", "closed", *spent)
    rows = [
        (f"{run.policy}, {_WHEN[step]}", *_cells(changes, costs))
        for run in runs
        for step, changes in run.steps.items()
    ]
    found = table("Links opened and closed", headings, rows, set(range(1, len(headings))))
    return section("links", "Links opened and closed", tag("p", _START), found)


_WHEN = {"start": "at the start", "events": "by events"}
_START = "If the overlay does not connect every topic, links are opened at the start, before the first event."


def _cells(changes: LinkChanges, costs: bool) -> tuple[str, ...]:
    counts = count(changes.opened), count(changes.closed)
    spent = (changes.opened_cost, changes.closed_cost) if costs else ()
    return *counts, *("" if cost is None else decimal(cost) for cost in spent)


def _cost_section(runs: Sequence[Run], unit: str) -> dict[str, Html]:
    """The cost of links as it went on, if links cost."""
    priced = [(run.policy, run.cost) for run in runs if run.cost is not None]
    if not priced:
        return {}
    totals = [(policy, cost.total) for policy, cost in priced]
    means = [(policy, cost.a_link) for policy, cost in priced]
    total = _cost_figure("total", "cost of all links", totals, unit)
    each = _cost_figure("link", "average cost of a link", means, unit)
    return {"costs": section("costs", "Costs", tag("div", total, each, class_="pair"))}


def _cost_figure(key: str, words: str, values: Sequence[tuple[str, Floats]], unit: str) -> Html:
    told = "; ".join(
        f"{policy} from {amount(own[0], unit)} to {amount(own[-1], unit)}" for policy, own in values
    )
    series = [(policy, np.arange(len(own)), own) for policy, own in values]
    axis = f"{words}, {unit}" if unit else words
    picture = lines(f"cost-{key}", f"Lines: the {words}. {told}.", series, ("repairs", axis))
    return figure(picture, f"The {words} at the start, and after each repair: {told}.")


def _robust_section(runs: Sequence[Run], story: Story) -> dict[str, Html]:
    """Who lacked spares, and who had too many links, as it went on; only what was asked for."""
    asked = (
        ("unprotected", "topics without a spare", story.unprotected, [run.unprotected for run in runs]),
        ("over", "nodes over max_links", story.over, [run.over for run in runs]),
    )
    pictures, lists = [], []
    for key, words, names, values in asked:
        if names is None:
            continue
        pictures.append(_lack_figure(key, words, [run.policy for run in runs], values))
        if names:
            listed = ", ".join(legible(one, 40) for one in names[:_SHOWN_NAMES])
            more = f", … ({count(len(names))} in all)" if len(names) > _SHOWN_NAMES else ""
            lists.append(tag("p", f"{words[0].upper()}{words[1:]} at the end: {listed}{more}."))
    if not pictures:
        return {}
    shown = tag("div", *pictures, class_="pair")
    return {"robust": section("robust", "Spares and caps", tag("p", _SPARES), shown, *lists)}


_SHOWN_NAMES = 20
_SPARES = (
    "A topic of three or more subscribers without a spare is cut if a certain node fails. A repair connects "
    "topics first, then keeps to max_links, and then adds spares."
)


def _lack_figure(key: str, words: str, policies: Sequence[str], values: Sequence[Floats]) -> Html:
    told = "; ".join(
        f"{policy} after {count(int((own[1:] > 0).sum()))} of {count(max(len(own) - 1, 0))} repairs, "
        f"{count(longest_row(own[1:] > 0))} in a row at most"
        for policy, own in zip(policies, values, strict=True)
    )
    series = [(policy, np.arange(len(own)), own) for policy, own in zip(policies, values, strict=True)]
    picture = lines(f"robust-{key}", f"Lines: {words}. {told}.", series, ("repairs", words))
    return figure(picture, f"{words[0].upper()}{words[1:]} at the start, and after each repair: {told}.")


def _sections(runs: Sequence[Run]) -> dict[str, Html]:
    return {
        "degrees": section("degrees", "Degrees", tag("div", *_degrees(runs), class_="pair")),
        "repairs": section(
            "repairs",
            "Repairs",
            tag("p", _EXPLANATION),
            tag("div", _sizes(runs), _times(runs), class_="pair"),
            *_numbers(runs),
        ),
    }


def _degrees(runs: Sequence[Run]) -> Iterator[Html]:
    for key, values, words in (
        ("maximum", [run.maximum for run in runs], "the most links of a node"),
        ("average", [run.average for run in runs], "links per node"),
    ):
        series = [
            (run.policy, np.arange(len(own)) + len(run.changes) + 1 - len(own), own)
            for run, own in zip(runs, values, strict=True)
        ]
        ends = "; ".join(
            f"{policy} from {decimal(own[0])} to {decimal(own[-1])}" for policy, _, own in series
        )
        picture = lines(f"degree-{key}", f"Lines: {words}. {ends}.", series, ("repairs", words))
        yield figure(picture, f"{words[0].upper()}{words[1:]} at the start, and after each repair: {ends}.")


def _sizes(runs: Sequence[Run]) -> Html:
    series = [_cumulative(run.policy, np.maximum(run.changes, 0.5)) for run in runs]
    means = "; ".join(f"{run.policy} {decimal(float(run.changes.mean()))}" for run in runs)
    words = ("links changed, on a logarithmic scale", "share of repairs, %")
    picture = lines("sizes", f"Shares of repairs. On average {means}.", series, words, log_x=True)
    return figure(picture, f"The share of repairs that change at most this many links. On average: {means}.")


def _times(runs: Sequence[Run]) -> Html:
    series = [
        _cumulative(run.policy, np.maximum(1e3 * run.repair_seconds, _LEAST_MILLISECONDS)) for run in runs
    ]
    medians = "; ".join(f"{run.policy} {_milliseconds(np.median(run.repair_seconds))}" for run in runs)
    words = ("milliseconds of computing, on a logarithmic scale", "share of repairs, %")
    picture = lines("times", f"Shares of repairs. In the median {medians}.", series, words, log_x=True)
    caption = "The share of repairs that are computed within this time"
    return figure(picture, f"{caption}. In the median: {medians}.")


def _cumulative(policy: str, values: Floats) -> Series:
    return policy, np.sort(values), 100 * np.arange(1, len(values) + 1) / len(values)


def _numbers(runs: Sequence[Run]) -> Iterator[Html]:
    headings = (
        "policy, event",
        "repairs",
        "links changed, mean",
        "of all links, mean",
        "computed in, median",
        "99% within",
        "backups, mean",
    )
    rows = []
    for run in runs:
        rows += [(f"{run.policy}, {kind}", *_row(run, run.kinds == kind)) for kind in np.unique(run.kinds)]
    yield table("Repairs by policy and event", headings, rows, {1, 2, 3, 4, 5, 6})
    yield tag(
        "p",
        "Times are those of computing: the links that connect every topic again are known after the median "
        "time in half of all repairs, and after the next one in 99% of them. Backups are chosen afterwards.",
    )


def _row(run: Run, own: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    seconds, changes = run.repair_seconds[own], run.changes[own]
    return (
        count(int(own.sum())),
        decimal(float(changes.mean())),
        percent(float((changes / np.maximum(run.before[own], 1)).mean())),
        _milliseconds(np.median(seconds)),
        _milliseconds(np.quantile(seconds, 0.99)),
        _milliseconds(run.backup_seconds[own].mean()),
    )


_LEAST_MILLISECONDS = 0.01


def _milliseconds(seconds: float) -> str:
    """A time of computing; the clock does not tell what is below a hundredth from nothing."""
    taken = 1e3 * float(seconds)
    return f"{decimal(taken)} ms" if taken >= _LEAST_MILLISECONDS else "under 0.01 ms"
