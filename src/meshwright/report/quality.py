"""What came in, what was set aside and why, and what looks odd."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from meshwright.report.contents import Quality
from meshwright.report.markup import Html, joined, legible, name, section, table, tag
from meshwright.report.numbers import count, percent

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
        yield f"{count(quality.duplicates, 'row')} said again what another had said, and counted once."
    if quality.nodes_without_topics:
        yield f"{count(quality.nodes_without_topics, 'node')} without any topic: nothing to connect for them."
    if quality.topics_of_one:
        yield f"{count(quality.topics_of_one, 'topic')} with a single subscriber: no links are needed there."
    if quality.look_alikes:
        yield (
            f"{count(quality.look_alikes, 'name')} like another one but for case or blanks at the ends; "
            f"they are kept apart."
        )


def _look_alikes(quality: Quality) -> Iterator[Html]:
    if quality.look_alike_examples:
        yield tag("h3", "Names that look alike")
        groups = quality.look_alike_examples[:_MOST_EXAMPLES]
        yield tag("ul", *(tag("li", *_quoted(group)) for group in groups), class_="names")


def _quoted(names: Sequence[str]) -> Iterator[Html]:
    for at, one in enumerate(names[:_MOST_EXAMPLES]):
        yield joined((", " if at else "", tag("code", "“", name(one), "”")))
