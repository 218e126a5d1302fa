"""Today's overlay beside those that could take its place: what each saves, and what would have to change."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from meshwright.report.contents import Contents, Target, TopicPaths
from meshwright.report.markup import Html, amount, count, decimal, legible, name, percent, table, tag
from meshwright.report.words import IDLE_LINKS, LONGEST_PATH, MEAN_PATH, words_of


class _Measure(NamedTuple):
    """A row of the table: its key in an evaluation, and how its numbers are written."""

    key: str
    written: Callable[[Any], str]


_MEASURES = (
    _Measure("edges", count),
    _Measure("average_degree", decimal),
    _Measure("maximum_degree", count),
    _Measure("disconnected_topics", count),
)


def against(contents: Contents) -> Iterator[Html]:
    """What each target saves, in words, and all of them in a table; nothing where there is none."""
    for at, target in enumerate(contents.targets, 1):
        yield tag("h3", "With ", name(target.name))
        yield tag("p", *_saved_in_words(contents, target), *_paths_in_words(contents.paths, at))
        yield tag("p", *_changes_in_words(target))
    if contents.targets:
        yield tag("h3", "Side by side")
        yield _side_by_side(contents)
        yield from _about_the_table(contents)
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
    yield from _cut_in_words(today["disconnected_topics"], found["disconnected_topics"])


def _paths_in_words(paths: TopicPaths | None, at: int) -> Iterator[str]:
    """The longest paths of today's overlay and of target `at`, over the topics that all connect."""
    if paths is None:
        return
    today, found = paths.longest[0], paths.longest[at]
    if today is None or found is None:
        return
    where = "In the topics that are connected in all overlays, the" if paths.cut else "The"
    yield f" {where} longest path inside a topic has {count(found, 'link')} instead of {count(today)}."


def _costs_in_words(target: Target) -> Iterator[str]:
    if target.no_costs:
        yield f"{target.no_costs} "
    elif target.cost is not None and target.cost_today is not None:
        paid, paid_today = (amount(cost, target.unit) for cost in (target.cost, target.cost_today))
        yield f"They cost {paid} instead of {paid_today}: "
        yield tag("strong", change(target.cost_today, target.cost, "less", "more", target.unit))
        yield ". "


def _cut_in_words(today: int, target: int) -> Iterator[str]:
    if today and not target:
        yield f"It connects all topics; today {count(today, 'topic is', 'topics are')} cut."
    elif target:
        before = count(today, "is", "are") if today else "none is"
        words = f"It leaves {count(target, 'topic')} cut; today {before}."
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
        (words_of(measure.key), *(_cell(one, measure) for one in found)) for measure in _MEASURES
    ]
    if any(target.cost is not None or target.cost_today is not None for target in targets):
        rows.insert(1, ("cost", *_costs(contents)))
    rows += _path_rows(contents.paths)
    idle = [contents.idle_links, *(target.idle_links for target in targets)]
    if any(idle):
        rows.append((IDLE_LINKS, *("not counted" if one is None else count(one) for one in idle)))
    rows += [
        ("links to open", "", *(count(target.opened) for target in targets)),
        ("links to close", "", *(count(target.closed) for target in targets)),
        ("links that stay", "", *(count(target.kept) for target in targets)),
    ]
    heads = ("", legible(contents.name, 40), *(legible(target.name, 40) for target in targets))
    return table("Side by side", heads, rows, set(range(1, len(heads))))


def _path_rows(paths: TopicPaths | None) -> Iterator[tuple[str, ...]]:
    if paths is not None and paths.topics:
        yield (LONGEST_PATH, *("none" if one is None else count(one) for one in paths.longest))
        yield (MEAN_PATH, *("none" if one is None else decimal(one) for one in paths.mean))


def _about_the_table(contents: Contents) -> Iterator[Html]:
    """What does not compare as it stands there."""
    paths = contents.paths
    if paths is not None and paths.cut and paths.topics:
        topics = count(paths.topics, "topic that is", "topics that are")
        words = f"Paths are compared over the {topics} connected in all overlays; {count(paths.cut)} are not."
        yield tag("p", words, class_="note")
    if any(target.no_costs and target.cost is not None for target in contents.targets):
        words = "Costs were given differently; each overlay's are its own, and no difference is computed."
        yield tag("p", words, class_="note")


def _cell(found: Mapping[str, Any], measure: _Measure) -> str:
    value = found.get(measure.key)
    return "none" if value is None else measure.written(value)


def _costs(contents: Contents) -> Iterator[str]:
    """Today's cost, where it is the same beside all targets, and that of each of these."""
    today = {(one.cost_today, one.unit_today) for one in contents.targets if one.cost_today is not None}
    first = today.pop() if len(today) == 1 else (None, "")
    for cost, unit in (first, *((target.cost, target.unit) for target in contents.targets)):
        yield "not known" if cost is None else amount(cost, unit)
