"""Today's overlay beside those that could take its place: what each saves, and what would have to change."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from meshwright.report.contents import Contents, Target
from meshwright.report.markup import Html, amount, count, decimal, legible, name, percent, table, tag


class _Measure(NamedTuple):
    """A row of the table: its words, its key in an evaluation, and how its numbers are written."""

    words: str
    key: str
    written: Callable[[Any], str]


_MEASURES = (
    _Measure("links", "edges", count),
    _Measure("links per node", "average_degree", decimal),
    _Measure("most links of one node", "maximum_degree", count),
    _Measure("widest topic, in links", "maximum_topic_diameter", count),
    _Measure("mean diameter of a topic", "mean_topic_diameter", decimal),
    _Measure("topics in several pieces", "disconnected_topics", count),
)


def against(contents: Contents) -> Iterator[Html]:
    """What each target saves, in words, and all of them in a table; nothing where there is none."""
    for target in contents.targets:
        yield tag("h3", "With ", name(target.name))
        yield tag("p", *_saved_in_words(contents, target))
        yield tag("p", *_changes_in_words(target))
    if contents.targets:
        yield tag("h3", "Side by side")
        yield _side_by_side(contents)
        yield tag(
            "p",
            tag("code", "meshwright migrate TODAY TARGET --out DIR"),
            " lists the changes in an order that keeps every topic connected.",
            class_="note",
        )


def _saved_in_words(contents: Contents, target: Target) -> Iterator[str]:
    today, found = contents.evaluation, target.evaluation
    yield f"{count(found['edges'], 'link')} instead of {count(today['edges'])}: "
    yield tag("strong", change(today["edges"], found["edges"], "fewer", "more"))
    yield ". "
    yield from _costs_in_words(target)
    yield f"The busiest node has {count(found['maximum_degree'], 'link')} instead of "
    yield f"{count(today['maximum_degree'])}. "
    widest = today.get("maximum_topic_diameter"), found.get("maximum_topic_diameter")
    if widest[0] is not None and widest[1] is not None:
        yield f"The widest connected topic is {count(widest[1], 'link')} wide instead of {count(widest[0])}. "
    yield from _cut_in_words(today["disconnected_topics"], found["disconnected_topics"])


def _costs_in_words(target: Target) -> Iterator[str]:
    if target.cost is None or target.cost_today is None:
        yield f"{target.no_costs} " if target.no_costs else ""
        return
    paid, paid_today = (amount(cost, target.unit) for cost in (target.cost, target.cost_today))
    yield f"They cost {paid} instead of {paid_today}: "
    yield tag("strong", change(target.cost_today, target.cost, "less", "more", target.unit))
    yield ". "


def _cut_in_words(today: int, target: int) -> Iterator[str]:
    if today and not target:
        yield f"It connects all topics; today {count(today)} are in several pieces."
    elif target:
        before = f"{count(today)} are" if today else "none is"
        words = f"It leaves {count(target, 'topic')} in several pieces; today {before}."
        yield tag("strong", words, class_="bad-words")


def change(
    before: float, after: float, less: str = "less", more: str = "more", unit: str | None = None
) -> str:
    """How a number changes: "15 fewer (27.3%)"; `unit` is given for costs."""
    by = abs(after - before)
    if not by:
        return "no change"
    written = count(int(by)) if unit is None else amount(by, unit)
    share = f" ({percent(by / before)})" if before else ""
    return f"{written} {less if after < before else more}{share}"


def _changes_in_words(target: Target) -> Iterator[str]:
    if not target.opened and not target.closed:
        yield "The links are the same: nothing would have to change."
        return
    yield f"To get there, {count(target.opened, 'link')} would be opened and {count(target.closed)} closed; "
    yield f"{count(target.kept)} would stay."


def _side_by_side(contents: Contents) -> Html:
    targets = contents.targets
    found = [contents.evaluation, *(target.evaluation for target in targets)]
    rows: list[tuple[str, ...]] = [
        (measure.words, *(_cell(one, measure) for one in found)) for measure in _MEASURES
    ]
    if any(target.cost is not None for target in targets):
        rows.insert(1, ("cost", *_costs(contents)))
    rows += [
        ("links to open", "", *(count(target.opened) for target in targets)),
        ("links to close", "", *(count(target.closed) for target in targets)),
        ("links that stay", "", *(count(target.kept) for target in targets)),
    ]
    heads = ("", legible(contents.name, 40), *(legible(target.name, 40) for target in targets))
    return table("Side by side", heads, rows, set(range(1, len(heads))))


def _cell(found: Mapping[str, Any], measure: _Measure) -> str:
    value = found.get(measure.key)
    return "none" if value is None else measure.written(value)


def _costs(contents: Contents) -> Iterator[str]:
    """Today's cost, where it is the same beside all targets, and that of each of these."""
    today = {(target.cost_today, target.unit) for target in contents.targets if target.cost is not None}
    first = today.pop() if len(today) == 1 else (None, "")
    for cost, unit in (first, *((target.cost, target.unit) for target in contents.targets)):
        yield "not known" if cost is None else amount(cost, unit)
