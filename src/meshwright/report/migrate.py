"""The way from one overlay to another: what it saves as it goes on, and every change."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from meshwright.maintain.migration import Migration
from meshwright.report.figures import lines
from meshwright.report.markup import Html, amount, count, decimal, figure, name, percent, section, table, tag
from meshwright.report.page import glossary, header, making, page

_SHOWN = 500
"""The most steps and changes that the page lists; the files have all of them."""

_WORDS = {
    "Step": "First open the step's links, in any order or all at once. Then close its links, in any order. "
    "Every topic that is connected stays connected at every moment.",
    "Cut topics": "Topics whose subscribers do not all reach each other through subscribers of the topic. "
    "The first links to open connect those that are cut today.",
    "Saves, so far": "What the links that a step closes cost, less what it opens; and all steps together. "
    "Without costs, links are counted.",
}


def migration_page(title: str, way: Migration, parameters: Mapping[str, Any]) -> str:
    """The steps of a migration, in the style of the report."""
    body = {
        "savings": _savings(way),
        "steps": _steps(way),
        "changes": _changes(way),
        "making": making(parameters),
        "reading": glossary(_WORDS),
    }
    return page(title, header("migrate", title, _headline(way)), body)


def _headline(way: Migration) -> Iterator[tuple[str, str]]:
    yield count(len(way)), "step" if len(way) == 1 else "steps"
    yield count(way.opened), "links to open"
    yield count(way.closed), "links to close"
    yield count(len(way.today) - way.closed), "links stay"
    yield count(way.most_links), "links at most on the way"
    for key, words in (("cost", "less cost"), ("links", "fewer links")):
        if key in way.steps.column_names:
            before, after = _ends(way, key)
            yield percent((before - after) / before) if before > after else "none", words
            return


def _column(way: Migration, key: str) -> npt.NDArray[Any]:
    return np.array(way.steps[key].to_pylist())


def _ends(way: Migration, key: str) -> tuple[float, float]:
    values = way.steps[key]
    return values[0].as_py(), values[len(values) - 1].as_py()


_PICTURES = {
    "cost": ("Cost of all links", "cost"),
    "links": ("Links", "links"),
    "maximum_degree": ("Most links of a node", "most links of a node"),
    "cut_topics": ("Cut topics", "cut topics"),
}


def _savings(way: Migration) -> Html:
    """How the overlay changes from step to step; topics only where some are cut at first."""
    if not len(way):
        return section("savings", "What it saves", tag("p", "The two overlays have the same links."))
    shown = [key for key in _PICTURES if key in way.steps.column_names]
    if not _ends(way, "cut_topics")[0]:
        shown.remove("cut_topics")
    pictures = [_picture(way, key, *_PICTURES[key]) for key in shown]
    words = tag("p", *_in_words(way))
    return section("savings", "What it saves", words, tag("div", *pictures, class_="pair"))


def _in_words(way: Migration) -> Iterator[str]:
    cut = int(_ends(way, "cut_topics")[0])
    if cut:
        done = way.steps["cut_topics"].to_pylist().index(0)
        topics = "1 topic is" if cut == 1 else f"{count(cut)} topics are"
        yield f"Today {topics} cut: subscribers can't reach each other through subscribers of the topic. "
        yield f"The links that connect them come first; after step {count(done)} every topic is connected. "
        yield "Until then, a step may cost more than it saves. "
    if way.repriced:
        yield f"{count(way.repriced, 'link')} of both overlays had another cost today; the target's counts."


def _picture(way: Migration, key: str, heading: str, unit: str) -> Html:
    before, after = _ends(way, key)
    if key == "cost":
        unit = way.unit or unit
        caption = f"From {amount(before, way.unit or '')} to {amount(after, way.unit or '')}."
    else:
        caption = f"From {decimal(before)} to {decimal(after)}."
    series = [("migration", _column(way, "step"), _column(way, key))]
    picture = lines(f"migrate-{key}", f"{heading} after each step. {caption}", series, ("step", unit))
    return tag("div", tag("h3", heading), figure(picture, caption))


def _steps(way: Migration) -> Html:
    """A table of the steps, with what each saves."""
    saved = "cost" if way.has_costs else "links"
    first = _ends(way, saved)[0]
    headings = ["step", "open", "close", "links after", "most links of a node", "cut topics"]
    in_unit = f", {way.unit}" if way.has_costs and way.unit else ""
    headings += [f"cost after{in_unit}"] if way.has_costs else []
    headings += [f"saves {saved}{in_unit}", "so far"]
    rows = []
    for step in way.steps.slice(1, _SHOWN).to_pylist():
        keys = ("step", "opened", "closed", "links", "maximum_degree", "cut_topics")
        cells = [count(step[key]) for key in keys]
        cells += [decimal(step["cost"])] if way.has_costs else []
        rows.append(
            [*cells, *(decimal(_rounded(one, first)) for one in (step["saves"], first - step[saved]))]
        )
    listed = table("Steps", headings, rows, set(range(len(headings))))
    return section("steps", "Steps", listed, *_more(len(way), "steps")) if rows else Html("")


def _rounded(saved: float, of: float) -> float:
    """What is saved; nothing where it is only what rounding leaves."""
    return saved if abs(saved) > 1e-9 * of else 0


def _changes(way: Migration) -> Html:
    headings = ["step", "action", "from", "to", *(["cost"] if way.has_costs else [])]
    rows = [
        [
            count(row["step"]),
            row["action"],
            name(row["source"]),
            name(row["target"]),
            *([decimal(row["cost"])] if way.has_costs else []),
        ]
        for row in way.changes.slice(0, _SHOWN).to_pylist()
    ]
    if not rows:
        return Html("")
    listed = table("Changes", headings, rows, {0, 4})
    return section("changes", "Changes", listed, *_more(way.changes.num_rows, "changes"))


def _more(number: int, what: str) -> Iterator[Html]:
    if number > _SHOWN:
        yield tag("p", f"The first {count(_SHOWN)} of {count(number)} {what}; {what}.csv has all of them.")
