"""What churn did to an overlay: degrees as it went on, what repairs changed, and how long they took."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
    """

    policy: str
    kinds: npt.NDArray[np.str_]
    changes: Floats
    before: Floats
    repair_seconds: Floats
    backup_seconds: Floats
    maximum: Floats
    average: Floats


def run_of(policy: str, repairs: pa.Table) -> Run:
    """Build from a table like `repairs/`, leaving out what came before the first event."""
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
    )


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
    there = [run for run in runs if len(run.changes)]
    body = _sections(there) if there else {}
    return page(title, header("churn", title, numbers), {**body, "making": making(parameters)})


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
