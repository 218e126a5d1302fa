"""Who carries the load: the busiest nodes, and the topics with most links, subscribers or cost."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from meshwright.metrics.evaluation import Evaluation
from meshwright.metrics.statistics import greatest
from meshwright.report.contents import Busiest, BusyNode, Contents, Target, TopicLoad
from meshwright.report.markup import Html, amount, count, legible, name, percent, section, table, tag
from meshwright.runtime.arrays import Floats, Longs
from meshwright.runtime.columns import arrow_of

_MOST_TOPICS = 10
_LONGEST_WARNING = 600
_DIGITS = ".12g"
"""Of a sum of costs: the rest depends on the order of summation, which differs between engines."""

_HEADINGS = {
    "cost": "The most expensive topics",
    "links": "The topics with most links",
    "subscribers": "The topics with most subscribers",
}


def topic_loads(found: Evaluation, most: int = _MOST_TOPICS) -> dict[str, list[TopicLoad]]:
    """By measure, the topics that have most of it, falling; "cost" comes first, and only with costs.

    Ties go to the topic that comes first by name. Topics that have nothing of a measure are left out.
    """
    measures: dict[str, Longs | Floats | None] = {
        "cost": found.cost_per_topic,
        "links": found.links_per_topic,
        "subscribers": found.subscribers_per_topic,
    }
    return {
        measure: _loads(found, greatest(values, most))
        for measure, values in measures.items()
        if values is not None
    }


def _loads(found: Evaluation, topics: Longs) -> list[TopicLoad]:
    names = found.topic_names.take(arrow_of(topics)).to_pylist()
    costs, diameters = found.cost_per_topic, found.diameter_per_topic
    return [
        TopicLoad(
            name=words,
            subscribers=int(found.subscribers_per_topic[topic]),
            links=int(found.links_per_topic[topic]),
            cost=None if costs is None else float(f"{costs[topic]:{_DIGITS}}"),
            diameter=None if diameters is None or diameters[topic] < 0 else int(diameters[topic]),
            parts=int(found.components_per_topic[topic]),
        )
        for topic, words in zip(topics.tolist(), names, strict=True)
    ]


def warning_box(found: Busiest | None) -> Html:
    """What is wrong with the busiest nodes, where something is; it leads to their table."""
    if found is None or not found.warnings:
        return Html("")
    said = (tag("p", legible(words, _LONGEST_WARNING)) for words in found.warnings)
    return tag("div", *said, tag("a", "The busiest nodes", href="#busiest"), class_="warning", role="note")


def busiest(contents: Contents) -> Html:
    """The section on the nodes that carry most links, today and with each target."""
    found = contents.busiest
    if found is None:
        return Html("")
    targets = (part for target in contents.targets for part in _of_target(target))
    own = (*_busiest(found, "The busiest nodes"), *_sending(contents.load, "Nodes that send most messages"))
    return section("busiest", "The busiest nodes", *own, *targets)


def _of_target(target: Target) -> Iterator[Html]:
    if target.busiest is not None:
        yield tag("h3", "With ", name(target.name))
        yield from (
            tag("p", legible(words, _LONGEST_WARNING), class_="warning", role="note")
            for words in target.busiest.warnings
        )
        yield from _busiest(target.busiest, f"The busiest nodes with {legible(target.name)}")
        yield from _sending(target.load, f"Nodes that send most messages with {legible(target.name)}")


def _busiest(found: Busiest, label: str) -> Iterator[Html]:
    if not found.nodes:
        yield tag("p", "There are no links, so no node is busy.", class_="empty")
        return
    yield tag("p", *_in_words(found))
    yield _nodes(label, found.nodes, found)
    yield from _over_limit(found)


def _sending(found: Mapping[str, Any] | None, label: str) -> Iterator[Html]:
    """What nodes send on over the trees of their topics, where that was measured."""
    if found is None or not found["busiest"]:
        return
    first, most = next(iter(found["busiest"].items()))
    words = (
        name(first),
        f" is expected to send {most:,.4g} messages on while each topic is published on once, or as often as "
        f"the column rate of topics/ says; the average is {found['mean_load']:,.4g} per node. A message goes "
        "along a tree of shortest paths inside its topic, and all subscribers publish alike.",
    )
    yield tag("p", *words)
    rows = [(name(node), f"{sent:,.4g}") for node, sent in found["busiest"].items()]
    yield table(label, ("node", "messages sent on"), rows, {1})


def _in_words(found: Busiest) -> Iterator[str]:
    first = found.nodes[0]
    yield from (name(first.name), f" has {count(first.links, 'link')}, {percent(first.links / found.links)} ")
    yield f"of all; the average is {found.average_degree:.2f} per node. A link counts for both of its ends, "
    yield "so the shares of all nodes add up to 200%."


def _nodes(label: str, nodes: Sequence[BusyNode], found: Busiest) -> Html:
    """A table of nodes; with their limits, if any has one."""
    limited = any(node.limit is not None for node in nodes)
    rows = [
        (
            name(node.name),
            count(node.links),
            percent(node.links / found.links),
            *([_limit(node)] if limited else []),
        )
        for node in nodes
    ]
    heads = ("node", "links", "of all links", *(["max_links"] if limited else []))
    return table(label, heads, rows, {1, 2, 3})


def _limit(node: BusyNode) -> str:
    if node.limit is None:
        return "none"
    over = tag("strong", "over ", class_="bad-words") if node.links > node.limit else ""
    return Html(f"{over}{count(node.limit)}")


def _over_limit(found: Busiest) -> Iterator[Html]:
    if found.over_limit:
        yield tag("h3", f"Over max_links: {count(found.over_limit, 'node')}")
        yield _nodes("Nodes over max_links", found.furthest_over, found)
        more = found.over_limit - len(found.furthest_over)
        if more > 0:
            yield tag("p", f"and {count(more, 'more node')}.", class_="note")


def load(contents: Contents) -> Html:
    """The section on topics; nothing where they were not measured, or none has anything."""
    tables = list(_tables(contents.topic_loads, contents.unit))
    if not tables:
        return Html("")
    words = "The links of a topic are those between two of its subscribers; a link may serve several topics."
    return section("load", "Load by topic", tag("p", words), *tables)


def _tables(loads: Mapping[str, Sequence[TopicLoad]], unit: str) -> Iterator[Html]:
    """A table for each measure, unless the same topics are in an earlier one."""
    shown: list[set[str]] = [set()]
    for measure, topics in loads.items():
        names = {topic.name for topic in topics}
        if names not in shown:
            shown.append(names)
            yield tag("h3", _HEADINGS[measure])
            yield _topics(_HEADINGS[measure], topics, unit)


def _topics(label: str, topics: Sequence[TopicLoad], unit: str) -> Html:
    with_costs = any(topic.cost is not None for topic in topics)
    rows = [
        (
            name(topic.name),
            count(topic.subscribers),
            count(topic.links),
            *([amount(topic.cost or 0.0, unit)] if with_costs else []),
            _width(topic),
        )
        for topic in topics
    ]
    heads = ("topic", "subscribers", "links", *(["cost"] if with_costs else []), "longest path")
    return table(label, heads, rows, set(range(1, len(heads))))


def _width(topic: TopicLoad) -> str:
    if topic.parts > 1:
        return tag("strong", f"cut, {count(topic.parts)} parts", class_="bad-words")
    return "not measured" if topic.diameter is None else count(topic.diameter)
