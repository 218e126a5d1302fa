"""The pages as files: written whole, or not at all."""

from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from meshwright.gossip.measures import Gossip
from meshwright.model.dataset import writing
from meshwright.report.churn import Run, churn_header, churn_sections
from meshwright.report.contents import Contents
from meshwright.report.distributions import correlation, distributions
from meshwright.report.glossary import glossary
from meshwright.report.gossip import gossip_header, gossip_sections
from meshwright.report.making import making
from meshwright.report.markup import Html, joined, legible, name, tag, tiles
from meshwright.report.numbers import count, percent
from meshwright.report.overlay import overlay
from meshwright.report.quality import data_quality
from meshwright.report.spending import spending
from meshwright.report.summary import broken_topics, comparison, headline
from meshwright.report.views import views
from meshwright.runtime.durable_files import write_whole

_SECTIONS = {
    "broken": "Topics that fall apart",
    "comparison": "What it saves",
    "spending": "Where the money goes",
    "quality": "Data quality",
    "interests": "The interests",
    "correlation": "Correlation",
    "overlay": "The overlay",
    "views": "Views that share links",
    "rounds": "Rounds",
    "topics": "Topics",
    "degrees": "Degrees",
    "repairs": "Repairs",
    "making": "How it was made",
    "reading": "How to read this",
}


def write_report(path: Path, contents: Contents) -> None:
    """Write the report of a run to `path`, in place of what is there; the same contents, the same bytes."""
    _write(path, report_page(contents))


def write_profile_page(path: Path, profile: Mapping[str, Any], title: str = "Profile") -> None:
    """Write the page of a dataset's profile (`Profile.to_json()`) to `path`, in place of what is there."""
    _write(path, profile_page(profile, title))


def report_page(contents: Contents) -> str:
    """The report as HTML that needs no other file, no script and no network."""
    body = {
        "broken": broken_topics(contents.evaluation),
        "comparison": comparison(contents),
        "spending": spending(contents.spending, contents.evaluation, contents.parameters),
        "quality": data_quality(contents.quality),
        "interests": distributions(contents.profile),
        "correlation": correlation(contents.profile),
        "overlay": overlay(contents.evaluation, contents.drawing),
        "views": views(contents.evaluation.get("view_distributions"), contents.sharing),
        "making": making(contents),
        "reading": glossary(with_costs=contents.spending is not None),
    }
    return _page(contents.title, headline(contents), body)


def profile_page(profile: Mapping[str, Any], title: str = "Profile") -> str:
    """The profile of a dataset as HTML, in the style of the report."""
    body = {
        "interests": distributions(profile),
        "correlation": correlation(profile),
        "reading": glossary("interests"),
    }
    return _page(title, _profile_header(profile, title), body)


def write_churn_page(path: Path, title: str, runs: Sequence[Run], parameters: Mapping[str, Any]) -> None:
    """Write the page of what churn did to an overlay to `path`, in place of what is there."""
    _write(path, churn_page(title, runs, parameters))


def churn_page(title: str, runs: Sequence[Run], parameters: Mapping[str, Any]) -> str:
    """What churn did to an overlay, as HTML in the style of the report; the first run is what it is about."""
    return _page(title, churn_header(title, runs), churn_sections(runs, parameters))


def write_gossip_page(path: Path, title: str, found: Gossip, parameters: Mapping[str, Any]) -> None:
    """Write the page of a run of gossip to `path`, in place of what is there."""
    _write(path, gossip_page(title, found, parameters))


def gossip_page(title: str, found: Gossip, parameters: Mapping[str, Any]) -> str:
    """A run of gossip as HTML in the style of the report."""
    return _page(title, gossip_header(title, found), gossip_sections(found, parameters))


def _profile_header(profile: Mapping[str, Any], title: str) -> Html:
    nodes, topics, interests = profile["nodes"], profile["topics"], profile["interests"]
    numbers = [(count(nodes), "nodes"), (count(topics), "topics"), (count(interests), "interests")]
    if nodes and topics:
        numbers.append((percent(interests / (nodes * topics)), "of all that could be"))
    eyebrow = tag("p", "Meshwright profile", class_="eyebrow")
    return tag("header", eyebrow, tag("h1", name(title, 120)), tiles(numbers))


def _page(title: str, header: Html, body: Mapping[str, Html]) -> str:
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


def _write(path: Path, page: str) -> None:
    """Beside `path` first, and then moved there; in one go in a store, which shows only whole files."""
    if not isinstance(path, Path):
        with writing(path):
            path.write_text(page, "utf-8")
        return
    with writing(path):
        write_whole(path.absolute(), page.encode())
