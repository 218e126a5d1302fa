"""The top of the report: the result, the numbers that matter, the input's quality, and how it was made."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from meshwright.report.against import against
from meshwright.report.contents import Alternative, Contents, Quality, Repriced, Target
from meshwright.report.figures import LONGEST_BAR, bars
from meshwright.report.load import warning_box
from meshwright.report.markup import (
    AT_MOST,
    Html,
    amount,
    as_text,
    count,
    decimal,
    figure,
    joined,
    legible,
    name,
    percent,
    seconds,
    section,
    spoken,
    table,
    tag,
    tiles,
    times,
)
from meshwright.report.words import (
    CUT_TOPICS,
    LINKS,
    LINKS_PER_NODE,
    LONGEST_PATH,
    MOST_LINKS,
    WHAT_CUT_MEANS,
)


def alternatives(
    evaluation: Mapping[str, Any], profile: Mapping[str, Any], algorithm: str
) -> list[Alternative]:
    """The overlay that was built, a ring for each topic, and a link between any two nodes.

    A ring of s subscribers has s links, or s - 1 where s is 1 or 2. Rings of different topics may share
    links, so their sum, which the profile's `subscribers_per_topic` gives, is the most that a ring for each
    topic has.
    """
    nodes, edges = evaluation["nodes"], evaluation["edges"]
    sizes = profile["subscribers_per_topic"]
    counted = zip(sizes["values"], sizes["counts"], strict=True)
    mesh = nodes * (nodes - 1) // 2
    rings = min(sum(count * _ring(size) for size, count in counted), mesh)
    return [
        Alternative(
            name=f"this overlay ({algorithm})", links=edges, average_degree=_average(edges, nodes), ours=True
        ),
        Alternative(
            name="a ring for each topic", links=rings, average_degree=_average(rings, nodes), at_most=True
        ),
        Alternative(name="a full mesh", links=mesh, average_degree=_average(mesh, nodes)),
    ]


def _ring(size: int) -> int:
    return size if size > 2 else max(size - 1, 0)


def _average(links: int, nodes: int) -> float:
    return 2 * links / nodes if nodes else 0.0


_MOST_EXAMPLES = 20
_LONGEST_LINE = 160


def data_quality(quality: Quality | None) -> Html:
    """The section on the input; none where nothing was ingested."""
    if quality is None:
        return Html("")
    return section(
        "quality",
        "Data quality",
        tag("p", *_rows_in_words(quality)),
        *_rejected(quality),
        tag("h3", "Worth a look"),
        *_worth_a_look(quality),
        *_look_alikes(quality),
    )


def _rows_in_words(quality: Quality) -> Iterator[str]:
    rejected = sum(quality.rejected.values())
    files = "" if quality.files is None else f" from {count(quality.files, 'file')}"
    yield f"{count(quality.rows, 'row')} read{files}. "
    if rejected:
        share = percent(rejected / quality.rows) if quality.rows else "all"
        yield tag("strong", f"{count(rejected)} rejected ({share})", class_="bad-words")
        yield ", by the reasons below."
    else:
        yield tag("strong", "None was rejected.", class_="good-words")


def _rejected(quality: Quality) -> Iterator[Html]:
    """Counts by reason, and examples."""
    if quality.rejected:
        by_count = sorted(quality.rejected.items(), key=lambda item: (-item[1], item[0]))
        rows = [(name(reason, _LONGEST_LINE), count(number)) for reason, number in by_count]
        yield table("Rejected rows by reason", ("reason", "rows"), rows, {1})
    if quality.rejected_examples:
        yield tag("h3", "Examples of rejected rows")
        yield tag("ul", *(_example(row) for row in quality.rejected_examples[:_MOST_EXAMPLES]), class_="rows")


def _example(row: Mapping[str, Any]) -> Html:
    """Where a rejected row is, why, and what it says."""
    where = f"{row.get('file') or 'unknown file'}:{row.get('line') or '?'}"
    reason = legible(str(row.get("reason") or "no reason given"), _LONGEST_LINE)
    text = tag("code", legible(str(row.get("text") or ""), _LONGEST_LINE))
    return tag("li", text, tag("div", name(where, 120), f": {reason}", class_="note"))


def _worth_a_look(quality: Quality) -> Iterator[Html]:
    found = list(_oddities(quality))
    if found:
        yield tag("ul", *(tag("li", words) for words in found))
    else:
        words = (
            "Nothing: no row came twice, no names look alike, every node has a topic, every topic two nodes."
        )
        yield tag("p", words, class_="empty")


def _oddities(quality: Quality) -> Iterator[str]:
    """A sentence on each, where there is any."""
    if quality.duplicates:
        yield f"{count(quality.duplicates, 'row')} repeated another row, and counted once."
    if quality.nodes_without_topics:
        yield f"{count(quality.nodes_without_topics, 'node')} without any topic: there is nothing to connect."
    if quality.topics_of_one:
        yield f"{count(quality.topics_of_one, 'topic')} with a single subscriber: no links are needed there."
    if quality.look_alikes:
        yield (
            f"{count(quality.look_alikes, 'name differs', 'names differ')} from another name only by upper "
            f"and lower case, or by blanks at the ends. They are kept as different names."
        )
    yield from quality.notices


def _look_alikes(quality: Quality) -> Iterator[Html]:
    if quality.look_alike_examples:
        yield tag("h3", "Names that look alike")
        groups = quality.look_alike_examples[:_MOST_EXAMPLES]
        yield tag("ul", *(tag("li", *_quoted(group)) for group in groups), class_="names")


def _quoted(names: Sequence[str]) -> Iterator[Html]:
    for at, one in enumerate(names[:_MOST_EXAMPLES]):
        yield joined((", " if at else "", tag("code", "“", name(one), "”")))


_MOST_FACTS = 60
_LONGEST = 300


def making(contents: Contents) -> Html:
    """The section on parameters, seconds and facts."""
    return section(
        "making",
        "How it was made",
        *_settings("Parameters", contents.parameters),
        *(_settings("Options of this report", contents.asked) if contents.asked else ()),
        *(part for target in contents.targets for part in _made(target)),
        *_stages(contents.seconds),
        *_settings("What the algorithm counted", contents.facts),
    )


def _made(target: Target) -> Iterator[Html]:
    return _settings(f"Parameters of {legible(target.name)}", target.parameters)


def _settings(heading: str, values: Mapping[str, Any]) -> Iterator[Html]:
    rows = [(name(key), name(shown, _LONGEST)) for key, shown in _flattened(values)][:_MOST_FACTS]
    yield tag("h3", heading)
    if rows:
        yield table(heading, ("name", "value"), rows)
    else:
        yield tag("p", "None are known.", class_="empty")


def _flattened(values: Mapping[str, Any], lead: str = "") -> Iterator[tuple[str, str]]:
    """Keys and values as text; what is in a mapping is named by both keys."""
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _flattened(value, f"{lead}{key}: ")
        else:
            yield f"{lead}{key}".replace("_", " "), as_text(value)


def _stages(by_stage: Mapping[str, float]) -> Iterator[Html]:
    """Seconds by stage, with a bar that compares them."""
    yield tag("h3", "Time by stage")
    if not by_stage:
        yield tag("p", "No times are known.", class_="empty")
        return
    longest = max(*by_stage.values(), 1e-9)
    rows: list[tuple[str, ...]] = [
        (name(stage), seconds(taken), _bar(taken / longest)) for stage, taken in by_stage.items()
    ]
    rows.append(("all", seconds(sum(by_stage.values())), Html("")))
    yield table("Time by stage", ("stage", "time", ""), rows, {1})


def _bar(share: float) -> Html:
    return tag("span", style=f"width:{100 * share:.1f}%", class_="bar", aria_hidden="true")


_MOST_TOPICS = 20


def headline(contents: Contents) -> Html:
    """The heading, the sentence, the verdict, the tiles, and what to beware of."""
    found = contents.evaluation
    return tag(
        "header",
        tag("p", "Meshwright report", class_="eyebrow"),
        tag("h1", name(contents.title, 120)),
        _verdict(found),
        tag("p", *_sentence(contents), class_="lead"),
        tiles(_tiles(found, contents.unit)),
        *_repriced(contents),
        warning_box(contents.busiest),
    )


def _repriced(contents: Contents) -> Iterator[Html]:
    """That costs which were given took the place of others."""
    if contents.repriced:
        told = (tag("p", words) for words in repriced_in_words(contents.repriced))
        yield tag("div", *told, class_="warning", role="note")


def repriced_in_words(found: Sequence[Repriced]) -> Iterator[str]:
    """A sentence that costs which were given count, and one on each overlay that had others."""
    if found:
        yield "The costs that this report was given count for all links, in place of costs in the overlays."
    for one in found:
        yield (
            f"{legible(one.name)}: {count(one.links)} of {count(one.of_links, 'link')} had other costs; all "
            f"its links cost {amount(one.cost_before, one.unit_before)} before."
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
        yield f" connect the subscribers of every one of {topics} among themselves: "
    else:
        yield from (" leave ", tag("strong", f"{count(found['disconnected_topics'])} of {topics}"), " cut: ")
    yield from (tag("strong", decimal(found["average_degree"])), " links per node on average. ")
    if not found["topic_connected"]:
        yield f"{WHAT_CUT_MEANS} "
    yield from _compared(contents)


def _compared(contents: Contents) -> Iterator[str]:
    """The links per node of other overlays, and of the lower bound."""
    shown = [
        f"{legible(other.name)} {'at most ' if other.at_most else ''}{decimal(other.average_degree)}"
        for other in contents.alternatives
        if not other.ours
    ]
    if shown:
        yield f"For comparison, in links per node: {_listed(shown)}. "
    bound = contents.evaluation.get("lower_bound_average_degree")
    if bound:
        yield f"No topic-connected overlay has fewer than {decimal(bound)} links per node."


def _listed(words: Sequence[str]) -> str:
    """Words in a row: "a, b and c"."""
    return " and ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


def _tiles(found: Mapping[str, Any], unit: str) -> Iterator[tuple[str, str]]:
    """What costs say comes first, where there are any."""
    if found.get("weighted_average_degree") is not None:
        yield from _above(found, "weighted_average_degree", "above the least possible cost")
        yield amount(found["weighted_average_degree"] * found["nodes"] / 2, unit), "cost of all links"
        yield amount(found["weighted_average_degree"], unit), "cost per node"
    yield count(found["edges"]), LINKS
    yield decimal(found["average_degree"]), LINKS_PER_NODE
    yield count(found["maximum_degree"]), MOST_LINKS
    yield from _above(found, "average_degree", "more links than the least possible")
    if found["disconnected_topics"]:
        yield count(found["disconnected_topics"]), CUT_TOPICS
    if found.get("maximum_topic_diameter") is not None:
        at_most = "" if found["diameters_exact"] else AT_MOST
        connected = ", of those connected" if found["disconnected_topics"] else ""
        yield f"{at_most}{count(found['maximum_topic_diameter'])}", f"{LONGEST_PATH}, in links{connected}"


def _above(found: Mapping[str, Any], measure: str, words: str) -> Iterator[tuple[str, str]]:
    """How far a measure is above what bounds it from below, where that is known and the overlay is valid."""
    bound = found.get(f"lower_bound_{measure}")
    if bound and found["topic_connected"]:
        above = max(round(found[measure] / bound - 1, 6), 0)
        yield f"{AT_MOST if above else ''}{percent(above)}", words


def broken_topics(found: Mapping[str, Any]) -> Html:
    """Up to twenty topics that are not connected; nothing where all are."""
    broken = list((found.get("disconnected_topic_components") or {}).items())
    if found["topic_connected"] or not broken:
        return Html("")
    rows = [(name(topic), count(parts)) for topic, parts in broken[:_MOST_TOPICS]]
    more = found["disconnected_topics"] - len(rows)
    return section(
        "broken",
        "Cut topics",
        table("Cut topics", ("topic", "parts"), rows, {1}),
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
        [(legible(words, LONGEST_BAR), links, kind) for words, links, _, kind in rows],
        "links",
    )
    cells = [(name(words), count(links), decimal(degree)) for words, links, degree, _ in rows]
    return section(
        "comparison",
        "Compared with other overlays",
        tag(
            "div",
            figure(picture, *_saving(contents)),
            table("Overlays compared", ("overlay", "links", "links per node"), cells, {1, 2}),
            class_="pair",
        ),
        *against(contents),
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


def _saving(contents: Contents) -> Iterator[str]:
    """How many more links others take; targets are told of apart."""
    ours = next((other.links for other in contents.alternatives if other.ours), 0)
    targets = {target.name for target in contents.targets}
    for other in contents.alternatives:
        if ours and not other.ours and other.links and other.name not in targets:
            upper = "up to " if other.at_most else ""
            verb = f"{upper}{spoken(other.links)} links, {upper}{times(other.links / ours)} times as many. "
            yield joined((f"{other.name[:1].upper()}{other.name[1:]} would take ", verb))
