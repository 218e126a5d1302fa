"""The top of the report: the result in one sentence, the numbers that matter, and what else there is."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from meshwright.report.contents import Alternative, Contents
from meshwright.report.figures import bars
from meshwright.report.markup import Html, figure, joined, name, section, table, tag, tiles
from meshwright.report.numbers import count, decimal, percent, spoken, times

_MOST_TOPICS = 20


def headline(contents: Contents) -> Html:
    """The heading, the sentence, the verdict and the tiles."""
    found = contents.evaluation
    return tag(
        "header",
        tag("p", "Meshwright report", class_="eyebrow"),
        tag("h1", name(contents.title, 120)),
        _verdict(found),
        tag("p", *_sentence(contents), class_="lead"),
        tiles(_tiles(found)),
    )


def _verdict(found: Mapping[str, Any]) -> Html:
    if found["topic_connected"]:
        return tag("p", "✓ Topic-connected", class_="verdict good")
    return tag("p", "✗ Not topic-connected", class_="verdict bad")


def _sentence(contents: Contents) -> Iterator[str]:
    """The result, with the numbers that matter."""
    found = contents.evaluation
    if not found["interests"]:
        yield "There is no interest in any topic, so there is nothing to connect."
        return
    topics = count(found["topics"], "topic")
    yield tag("strong", count(found["edges"], "link"))
    if found["topic_connected"]:
        yield f" keep the subscribers of every one of {topics} connected among themselves: "
    else:
        broken = f"{count(found['disconnected_topics'])} of {topics}"
        yield from (" leave the subscribers of ", tag("strong", broken), " in several pieces: ")
    yield from (tag("strong", decimal(found["average_degree"])), " links a node on average")
    yield from _compared(contents)


def _compared(contents: Contents) -> Iterator[str]:
    found = contents.evaluation
    others = [other for other in contents.alternatives if not other.ours]
    shown = [
        f"{'up to ' if other.at_most else ''}{decimal(other.average_degree)} in {other.name}"
        for other in others
    ]
    if shown:
        yield f", against {' and '.join(shown)}"
    bound = found.get("lower_bound_average_degree")
    yield f"; no topic-connected overlay has fewer than {decimal(bound)}." if bound else "."


def _tiles(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield count(found["edges"]), "links"
    yield decimal(found["average_degree"]), "links a node on average"
    yield count(found["maximum_degree"]), "links at most"
    yield from _above(found, "average_degree", "above the least possible, or less")
    if found.get("weighted_average_degree") is not None:
        yield decimal(found["weighted_average_degree"]), "the links of a node cost on average"
        yield from _above(found, "weighted_average_degree", "above the least cost possible, or less")
    if found.get("maximum_topic_diameter") is not None:
        exact = "" if found["diameters_exact"] else ", or less"
        yield count(found["maximum_topic_diameter"]), f"links across the widest topic{exact}"


def _above(found: Mapping[str, Any], measure: str, words: str) -> Iterator[tuple[str, str]]:
    """How far a measure is above what bounds it from below, where that is known and the overlay is valid."""
    bound = found.get(f"lower_bound_{measure}")
    if bound and found["topic_connected"]:
        yield percent(max(round(found[measure] / bound - 1, 6), 0)), words


def broken_topics(found: Mapping[str, Any]) -> Html:
    """Up to twenty topics that are not connected; nothing where all are."""
    broken = list((found.get("disconnected_topic_components") or {}).items())
    if found["topic_connected"] or not broken:
        return Html("")
    rows = [(name(topic), count(parts)) for topic, parts in broken[:_MOST_TOPICS]]
    more = found["disconnected_topics"] - len(rows)
    return section(
        "broken",
        "Topics that fall apart",
        table("Topics that fall apart", ("topic", "components"), rows, {1}),
        tag("p", f"and {count(more, 'more topic')}.", class_="note") if more > 0 else Html(""),
    )


def comparison(contents: Contents) -> Html:
    """This overlay beside others of the same interests, and the lower bound."""
    rows = list(_rows(contents.alternatives, contents.evaluation))
    if not rows or not contents.evaluation["interests"]:
        return Html("")
    picture = bars(
        "comparison",
        "Bars: " + "; ".join(f"{words}, {count(links, 'link')}" for words, links, _, _ in rows),
        [(words, links, kind) for words, links, _, kind in rows],
        "links",
    )
    cells = [(words, count(links), decimal(degree)) for words, links, degree, _ in rows]
    return section(
        "comparison",
        "What it saves",
        tag(
            "div",
            figure(picture, *_saving(contents.alternatives)),
            table("Overlays compared", ("overlay", "links", "links a node"), cells, {1, 2}),
            class_="pair",
        ),
    )


def _rows(
    alternatives: Sequence[Alternative], found: Mapping[str, Any]
) -> Iterator[tuple[str, int, float, str]]:
    """(words, links, average degree, kind) of each bar; the lower bound is beside ours."""
    bound = found.get("lower_bound_average_degree")
    for other in alternatives:
        words = f"{other.name}, at most" if other.at_most else other.name
        yield words, other.links, other.average_degree, "ours" if other.ours else "others"
        if other.ours and bound:
            yield "proven lower bound", round(bound * found["nodes"] / 2), bound, "bound"


def _saving(alternatives: Sequence[Alternative]) -> Iterator[str]:
    ours = next((other.links for other in alternatives if other.ours), 0)
    for other in alternatives:
        if ours and not other.ours and other.links:
            upper = "up to " if other.at_most else ""
            verb = f"{upper}{spoken(other.links)} links, {upper}{times(other.links / ours)} times as many. "
            yield joined((f"{other.name[:1].upper()}{other.name[1:]} would take ", verb))
