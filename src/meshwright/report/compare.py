"""Algorithms side by side: means over seeds as bars, and every run in a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from meshwright.report.figures import bars
from meshwright.report.markup import Html, as_text, count, decimal, figure, section, table, tag
from meshwright.report.page import glossary, header, making, page
from meshwright.report.words import (
    GLOSSARY,
    LINKS_PER_NODE,
    LONGEST_PATH,
    MEAN_PATH,
    MOST_LINKS,
    TIMES_BOUND,
    TOPIC_CONNECTED,
)

if TYPE_CHECKING:
    from meshwright.comparing import Result


class _Measure(NamedTuple):
    """A number of a run that is worth a picture: where it is, its words, its unit, and what bounds it."""

    field: str
    heading: str
    unit: str
    scale: float = 1
    bound: str | None = None


_PICTURES = (
    _Measure("average_degree", "Links per node", LINKS_PER_NODE, bound="lower_bound_average_degree"),
    _Measure("maximum_degree", "Most links of a node", MOST_LINKS),
    _Measure("mean_topic_diameter", "Longest path inside a topic", "links, mean over topics"),
    _Measure("cost", "Cost of all links", "cost", bound="lower_bound_cost"),
    _Measure("seconds", "Time to build", "seconds"),
    _Measure("memory_bytes", "Memory to build", "MB added at the peak", scale=1e-6),
)
_COLUMNS = {
    "algorithm": "algorithm",
    "seed": "seed",
    "links": "links",
    "average_degree": LINKS_PER_NODE,
    "maximum_degree": MOST_LINKS,
    "topic_connected": "topic-connected",
    "maximum_topic_diameter": LONGEST_PATH,
    "mean_topic_diameter": MEAN_PATH,
    "times_lower_bound": TIMES_BOUND,
    "cost": "cost",
    "times_lower_bound_cost": f"cost, {TIMES_BOUND}",
    "seconds": "seconds",
    "processor_seconds": "CPU s",
    "memory_bytes": "MB",
}
_WORDS = {
    **{word: GLOSSARY[word] for word in ("Links per node", "Most links of a node")},
    "Topic-connected": TOPIC_CONNECTED,
    "Longest path inside a topic": f"{GLOSSARY['Longest path inside a topic']} The table has the longest of "
    "all, and the mean over topics.",
    "Times the lower bound": "The links, or the cost, divided by the proven lower bound for any "
    "topic-connected overlay. 1 is the least possible. An overlay with cut topics has no such number.",
    "Seconds, CPU s, MB": "Time on the clock and of all cores, and the most memory that this process "
    "held while it built, above what it held before. Work on other machines is not in the last two.",
}


def shown(columns: Mapping[str, str], results: Sequence[Result]) -> dict[str, str]:
    """Those of the columns, with their headings, that hold something."""
    return {
        field: words
        for field, words in columns.items()
        if any(getattr(row, field) is not None for row in results)
    }


def value_of(row: Result, field: str) -> Any:
    """A field of a run as tables for people show it: memory in MB."""
    value = getattr(row, field)
    return value / 1e6 if field == "memory_bytes" and value is not None else value


def compare_page(
    title: str, results: Sequence[Result], counts: Mapping[str, int], parameters: Mapping[str, Any]
) -> str:
    """Algorithms side by side, in the style of the report."""
    numbers = [(count(counts[what]), what) for what in ("nodes", "topics", "interests")]
    numbers.append((count(len({row.algorithm for row in results})), "algorithms"))
    built = [row for row in results if row.error is None]
    if len(built) < len(results):
        numbers.append((count(len(results) - len(built)), f"of {count(len(results), 'run')} failed"))
    pictures = section("pictures", "Side by side", tag("div", *_pictures(built), class_="pair"))
    body = {
        "pictures": pictures if built else Html(""),
        "numbers": section("numbers", "Every run", _table(built)) if built else Html(""),
        "failed": _failed(results),
        "making": making(parameters),
        "reading": glossary(_WORDS),
    }
    return page(title, header("compare", title, numbers), body)


def _pictures(built: Sequence[Result]) -> Iterator[Html]:
    for measure in _PICTURES:
        means = _means(built, measure)
        if not means:
            continue
        rows = [(f"{algorithm}: {decimal(mean)}", mean, "ours") for algorithm, mean in means.items()]
        bound = None if measure.bound is None else getattr(built[0], measure.bound)
        if bound is not None:
            rows.append((f"lower bound: {decimal(bound)}", bound, "bound"))
        best = min(means, key=lambda algorithm: means[algorithm])
        caption = f"Mean over the seeds: {measure.unit}. {best} has the least, {decimal(means[best])}."
        picture = bars(f"compare-{measure.field}", f"Bars. {caption}", rows, measure.unit)
        yield tag("div", tag("h3", measure.heading), figure(picture, caption))


def _means(built: Sequence[Result], measure: _Measure) -> dict[str, float]:
    """By algorithm, the mean over the seeds for which the number is known."""
    values: dict[str, list[float]] = {}
    for row in built:
        value = getattr(row, measure.field)
        if value is not None:
            values.setdefault(row.algorithm, []).append(value * measure.scale)
    return {algorithm: fmean(own) for algorithm, own in values.items()}


def _table(results: Sequence[Result]) -> Html:
    columns = shown(_COLUMNS, results)
    rows = [[_cell(value_of(row, field)) for field in columns] for row in results]
    return table("Every run", list(columns.values()), rows, set(range(1, len(columns))))


def _failed(results: Sequence[Result]) -> Html:
    """The runs without an overlay, with the reason; nothing where all have one."""
    rows = [
        (row.algorithm, "" if row.seed is None else count(row.seed), row.error)
        for row in results
        if row.error is not None
    ]
    if not rows:
        return Html("")
    return section("failed", "Failed runs", table("Failed runs", ("algorithm", "seed", "error"), rows, {1}))


def _cell(value: Any) -> str:
    return "" if value is None else as_text(value)
