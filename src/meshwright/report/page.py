"""What every page has: a header, sections and a list of them; and how it is written."""

from collections.abc import Iterable, Mapping
from importlib import resources
from string import Template
from typing import Any

from meshwright.model.storage.dataset import writing
from meshwright.report.markup import Html, as_text, joined, legible, name, section, table, tag, tiles
from meshwright.runtime.places import Place, replace_text

_SECTIONS = {
    "verdicts": "Verdicts",
    "tolerances": "Tolerances",
    "reasons": "Why, where it differs",
    "how": "How it was measured",
    "variants": "Variants, not counted",
    "broken": "Cut topics",
    "comparison": "Compared",
    "spending": "Where the cost goes",
    "busiest": "The busiest nodes",
    "failures": "If a node fails",
    "load": "Load by topic",
    "quality": "Data quality",
    "interests": "The interests",
    "correlation": "Correlation",
    "overlay": "The overlay",
    "views": "Views that share links",
    "rounds": "Rounds",
    "topics": "Topics",
    "degrees": "Degrees",
    "events": "Events",
    "repairs": "Repairs",
    "links": "Links opened and closed",
    "costs": "Costs",
    "robust": "Spares and caps",
    "pictures": "Side by side",
    "numbers": "Every run",
    "failed": "Failed runs",
    "savings": "What it saves",
    "steps": "Steps",
    "changes": "Changes",
    "making": "How it was made",
    "reading": "How to read this",
}


def header(command: str, title: str, numbers: Iterable[tuple[str, str]]) -> Html:
    """The heading of what a command did, and the numbers that matter."""
    eyebrow = tag("p", f"Meshwright {command}", class_="eyebrow")
    return tag("header", eyebrow, tag("h1", name(title, 120)), tiles(numbers))


def making(parameters: Mapping[str, Any]) -> Html:
    """The section on how it was made."""
    rows = [(key, as_text(value)) for key, value in parameters.items()]
    return section("making", "How it was made", table("Parameters", ("what", "value"), rows))


def glossary(words: Mapping[str, str]) -> Html:
    """The section with short definitions."""
    pairs = (part for word, meaning in words.items() for part in (tag("dt", word), tag("dd", meaning)))
    return section("reading", "How to read this", tag("dl", *pairs, class_="words"))


def page(title: str, header: Html, body: Mapping[str, Html]) -> str:
    """HTML that needs no other file, no script and no network; sections of nothing are left out."""
    there = {key: part for key, part in body.items() if part}
    package = resources.files("meshwright.report")
    return Template((package / "page.html").read_text("utf-8")).substitute(
        title=joined((legible(title, 120), " · Meshwright")),
        style=(package / "page.css").read_text("utf-8"),
        header=header,
        contents=_contents(there),
        body="\n".join(there.values()),
    )


def _contents(keys: Iterable[str]) -> Html:
    links = (tag("li", tag("a", _SECTIONS[key], href=f"#{key}")) for key in keys)
    return tag("nav", tag("ul", *links), aria_label="On this page")


def write_page(path: Place, page: str) -> None:
    """Write a page in place of what is there, whole or not at all.

    It is written beside `path` and moved there; in one go in a store, which shows only whole files.
    """
    with writing(path):
        replace_text(path, page)
