"""What the overlay looks like: its degrees, the diameters of topics, and a drawing."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from meshwright.report.contents import Drawing
from meshwright.report.figures import histogram, log_log
from meshwright.report.markup import Html, as_text, figure, section, table, tag
from meshwright.report.numbers import count, decimal, median
from meshwright.report.sheet import drawn


def overlay(found: Mapping[str, Any], drawing: Drawing | None) -> Html:
    """The section on the overlay."""
    return section(
        "overlay",
        "The overlay",
        tag("div", _degrees(found), _diameters(found), class_="pair"),
        *_drawing(drawing),
        tag("h3", "All measures"),
        table("All measures", ("measure", "value"), _measures(found), {1}),
    )


def _measures(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in found.items():
        if value is None or isinstance(value, bool | int | float | str):
            yield key.replace("_", " "), as_text(value)


def _degrees(found: Mapping[str, Any]) -> Html:
    title = tag("h3", "Links of a node")
    nodes_by_degree: Sequence[int] = found.get("degree_distribution") or []
    alone = nodes_by_degree[0] if nodes_by_degree else 0
    pairs = [(degree, nodes) for degree, nodes in enumerate(nodes_by_degree) if degree and nodes]
    if not pairs:
        return tag("div", title, tag("p", "There are no links.", class_="empty"))
    degrees, nodes = [degree for degree, _ in pairs], [number for _, number in pairs]
    words = (
        f"Half of the nodes that have links have at most {count(median(degrees, nodes))}, "
        f"and the busiest has {count(degrees[-1])}."
    )
    without = f" {count(alone, 'node')} without links can't be shown here." if alone else ""
    picture = log_log("degrees", f"Points on logarithmic scales. {words}", degrees, nodes, ("links", "nodes"))
    return tag("div", title, figure(picture, words + without))


def _diameters(found: Mapping[str, Any]) -> Html:
    title = tag("h3", "Diameters of topics")
    pairs = [(int(diameter), int(topics)) for diameter, topics in found.get("diameter_distribution") or []]
    pairs = [(diameter, topics) for diameter, topics in pairs if diameter >= 0 and topics]
    if not pairs:
        return tag("div", title, tag("p", "No diameter was measured.", class_="empty"))
    words = "".join(_diameters_in_words(found))
    picture = histogram("diameters", f"Bars. {words}", pairs, ("diameter in links", "topics"))
    return tag("div", title, figure(picture, words))


def _diameters_in_words(found: Mapping[str, Any]) -> Iterator[str]:
    maximum, mean = found.get("maximum_topic_diameter"), found.get("mean_topic_diameter")
    if maximum is not None and mean is not None:
        at_most = "" if found["diameters_exact"] else "at most "
        yield f"Two subscribers of a topic are never more than {count(maximum, 'link')} apart, "
        yield f"and the diameter is {at_most}{decimal(mean)} on average."
    if not found["diameters_exact"]:
        yield " Some topics are too large to measure exactly, and count with an upper bound."
        least = found.get("maximum_topic_diameter_lower_bound")
        yield f" The greatest diameter is {count(least)} or more." if least is not None else ""
    if found["disconnected_topics"]:
        broken = count(found["disconnected_topics"], "topic")
        yield f" Not shown: {broken} of infinite diameter, since not connected."


def _drawing(drawing: Drawing | None) -> Iterator[Html]:
    if drawing is None:
        return
    yield tag("h3", "A drawing")
    if not drawing.names:
        yield tag("p", "There are no nodes to draw.", class_="empty")
        return
    yield figure(drawn(drawing), *_drawing_in_words(drawing), class_="wide")


def _drawing_in_words(drawing: Drawing) -> Iterator[str]:
    shown, links = len(drawing.names), count(len(drawing.edges), "link")
    if shown == drawing.of_nodes:
        yield f"All {count(shown, 'node')} and {links}. "
    else:
        yield f"{count(shown)} of {count(drawing.of_nodes, 'node')}: the one with the most links, its "
        yield f"busiest neighbours, and some neighbours of these, with all {links} among them. "
        yield "Hollow ones have links that are not shown. "
    yield "A node is the larger the more links it has in the whole overlay; the busiest are green and named."
