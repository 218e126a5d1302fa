"""What churn did to an overlay: degrees as it went on, what repairs changed, and how long they took."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from meshwright.report.figures import lines
from meshwright.report.markup import Html, count, decimal, figure, percent, section, table, tag
from meshwright.report.page import header, making, page
from meshwright.runtime.arrays import Floats

Series = tuple[str, npt.NDArray[Any], npt.NDArray[Any]]

_EXPLANATION = (
    "A repair changes links: it opens links that reconnect topics, and closes links of nodes that left, or "
    "of topics that were given up. For a rebuild, a link counts if only one of the two overlays has it."
)


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
        maximum: the most links of a node after it.
        average: links per node after it.
        cost: what links cost; None where they have no costs.
        steps: links opened and closed at the start, and by events.
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


def run_of(policy: str, repairs: pa.Table) -> Run:
    """Build from a table like `repairs/`; the start counts for `cost` and `steps` alone."""
    steps, cost = changes_by_step(repairs), _costs(repairs)
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
        maximum=columns["maximum_degree"],
        average=columns["average_degree"],
        cost=cost,
        steps=steps,
    )


def _costs(repairs: pa.Table) -> CostSeries | None:
    """The costs at the start and after each repair; None unless all rows have them."""
    counted = pa.compute.or_(
        pa.compute.equal(repairs["revision"], 0), pa.compute.greater(repairs["events"], 0)
    )
    repairs = repairs.filter(counted)
    if repairs["cost"].null_count or not len(repairs):
        return None
    total = repairs["cost"].to_numpy()
    return CostSeries(total, total / np.maximum(repairs["links"].to_numpy(), 1))


_COLUMNS = (
    "opened",
    "closed",
    "links",
    "repair_seconds",
    "backup_seconds",
    "maximum_degree",
    "average_degree",
)


def churn_page(title: str, runs: Sequence[Run], parameters: Mapping[str, Any]) -> str:
    """What churn did to an overlay; the first run is what it is about."""
    ours = runs[0]
    numbers = [(count(len(ours.changes)), "repairs")]
    if len(ours.changes):
        numbers += [
            (decimal(float(ours.changes.mean())), "links changed by one, on average"),
            (_milliseconds(np.median(ours.repair_seconds)), "until topics are connected, in the median"),
            (decimal(ours.average[-1]), "links per node at the end"),
            (count(int(ours.maximum[-1])), "the most links of a node"),
        ]
    if ours.cost is not None:
        numbers.append((decimal(float(ours.cost.total[-1])), "cost of all links at the end"))
    if ours.steps["start"].opened:
        numbers.append((count(ours.steps["start"].opened), "links opened at the start, to connect topics"))
    there = [run for run in runs if len(run.changes)]
    body = {**(_sections(there) if there else {}), "links": _links(runs), **_cost_section(runs)}
    return page(title, header("churn", title, numbers), {**body, "making": making(parameters)})


def _links(runs: Sequence[Run]) -> Html:
    """How many links were opened and closed at the start, and by events."""
    costs = any(run.cost is not None for run in runs)
    headings = ("policy, when", "opened", "closed", *(("cost of opened", "saved by closed") if costs else ()))
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


def _cost_section(runs: Sequence[Run]) -> dict[str, Html]:
    """The cost of links as it went on, if links cost."""
    priced = [(run.policy, run.cost) for run in runs if run.cost is not None]
    if not priced:
        return {}
    total = _cost_figure("total", "cost of all links", [(policy, cost.total) for policy, cost in priced])
    each = _cost_figure("link", "average cost of a link", [(policy, cost.a_link) for policy, cost in priced])
    return {"costs": section("costs", "Costs", tag("div", total, each, class_="pair"))}


def _cost_figure(key: str, words: str, values: Sequence[tuple[str, Floats]]) -> Html:
    told = "; ".join(f"{policy} from {decimal(own[0])} to {decimal(own[-1])}" for policy, own in values)
    series = [(policy, np.arange(len(own)), own) for policy, own in values]
    picture = lines(f"cost-{key}", f"Lines: the {words}. {told}.", series, ("repairs", words))
    return figure(picture, f"The {words} at the start, and after each repair: {told}.")


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
            (run.policy, np.arange(1, len(own) + 1), own) for run, own in zip(runs, values, strict=True)
        ]
        ends = "; ".join(f"{policy} ends at {decimal(own[-1])}" for policy, _, own in series)
        picture = lines(f"degree-{key}", f"Lines: {words}. {ends}.", series, ("repairs", words))
        yield figure(picture, f"{words[0].upper()}{words[1:]} after each repair: {ends}.")


def _sizes(runs: Sequence[Run]) -> Html:
    series = [_cumulative(run.policy, np.maximum(run.changes, 0.5)) for run in runs]
    means = "; ".join(f"{run.policy} {decimal(float(run.changes.mean()))}" for run in runs)
    words = ("links changed, on a logarithmic scale", "share of repairs, %")
    picture = lines("sizes", f"Shares of repairs. On average {means}.", series, words, log_x=True)
    return figure(picture, f"The share of repairs that change at most this many links. On average: {means}.")


def _times(runs: Sequence[Run]) -> Html:
    series = [_cumulative(run.policy, 1e3 * np.maximum(run.repair_seconds, 1e-6)) for run in runs]
    medians = "; ".join(f"{run.policy} {_milliseconds(np.median(run.repair_seconds))}" for run in runs)
    words = ("milliseconds, on a logarithmic scale", "share of repairs, %")
    picture = lines("times", f"Shares of repairs. In the median {medians}.", series, words, log_x=True)
    caption = "The share of repairs that take at most this long until every topic is connected"
    return figure(picture, f"{caption}. In the median: {medians}.")


def _cumulative(policy: str, values: Floats) -> Series:
    return policy, np.sort(values), 100 * np.arange(1, len(values) + 1) / len(values)


def _numbers(runs: Sequence[Run]) -> Iterator[Html]:
    headings = ("policy, event", "repairs", "links changed", "of all links", "median", "99%", "backups")
    rows = []
    for run in runs:
        rows += [(f"{run.policy}, {kind}", *_row(run, run.kinds == kind)) for kind in np.unique(run.kinds)]
    yield table("Repairs by policy and event", headings, rows, {1, 2, 3, 4, 5, 6})
    yield tag(
        "p",
        "The number of links changed, and its share of all links, are means. The median and 99% are times "
        "until every topic is connected again. Backups are chosen afterwards; the mean time is shown.",
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


def _milliseconds(seconds: float) -> str:
    return f"{decimal(1e3 * float(seconds))} ms"
