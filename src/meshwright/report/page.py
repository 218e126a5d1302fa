"""The pages as files, each written whole or not at all, with a glossary of their words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from string import Template
from typing import TYPE_CHECKING, Any

from meshwright.model.storage.dataset import writing
from meshwright.report.churn import Run, churn_header, churn_sections
from meshwright.report.compare import compare_header, compare_sections
from meshwright.report.contents import Contents
from meshwright.report.distributions import correlation, distributions
from meshwright.report.gossip import gossip_header, gossip_sections, views
from meshwright.report.markup import Html, count, joined, legible, name, percent, section, tag, tiles
from meshwright.report.overlay import overlay
from meshwright.report.spending import spending
from meshwright.report.summary import broken_topics, comparison, data_quality, headline, making
from meshwright.runtime.places import Place, replace_text
from meshwright.stan.measures import Gossip

if TYPE_CHECKING:
    from meshwright.comparing import Result

_INTERESTS = {
    "Node, topic, interest": "A node is a broker or a peer, a topic a channel; an interest says that a node "
    "subscribes to a topic.",
    "Power law": "On logarithmic scales a power law is a falling straight line: few topics have very many "
    "subscribers, and most have few. The exponent says how steeply it falls.",
    "Correlation": "How far subscribing to one topic goes with subscribing to another: 1 always together, 0 "
    "independent. Correlated topics can share links.",
}
_OVERLAY = {
    "Overlay, link": "The overlay says which nodes keep a connection, a link, to which. Fewer cost less.",
    "Topic-connected": "The subscribers of every topic reach each other through subscribers of that topic "
    "alone, so that no message passes through a node that did not ask for it.",
    "Topic diameter": "The most links that a message crosses from one subscriber of a topic to another.",
    "Ring for each topic": "A simple topic-connected overlay. The number is an upper limit, since rings of "
    "different topics may share links.",
    "Full mesh": "A link between any two nodes.",
    "Lower bound": "A number of links that every topic-connected overlay of these interests has at least, by "
    "proof; the best possible overlay lies between it and this one.",
}


_COSTS = {
    "Cost": "What a link costs: milliseconds, money or any other positive number, as it was given. All links "
    "together cost the sum.",
    "Local, long": "A local link has both ends on one site; a long one joins two sites.",
    "Lower bound on cost": "No topic-connected overlay of these interests costs less, by proof: the value of "
    "a solution of the dual linear program.",
}


def glossary(only: str | None = None, *, with_costs: bool = False) -> Html:
    """Short definitions: all that the page needs, or those of a page about interests alone."""
    words = _INTERESTS if only == "interests" else _INTERESTS | _OVERLAY
    words |= _COSTS if with_costs else {}
    pairs = (part for word, meaning in words.items() for part in (tag("dt", word), tag("dd", meaning)))
    return section("reading", "How to read this", tag("dl", *pairs, class_="words"))


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
    "pictures": "Side by side",
    "numbers": "Every run",
    "making": "How it was made",
    "reading": "How to read this",
}


def write_report(path: Place, contents: Contents) -> None:
    """Write the report of a run to `path`, in place of what is there; the same contents, the same bytes."""
    _write(path, report_page(contents))


def write_profile_page(path: Place, profile: Mapping[str, Any], title: str = "Profile") -> None:
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


def write_churn_page(path: Place, title: str, runs: Sequence[Run], parameters: Mapping[str, Any]) -> None:
    """Write the page of what churn did to an overlay to `path`, in place of what is there."""
    _write(path, churn_page(title, runs, parameters))


def churn_page(title: str, runs: Sequence[Run], parameters: Mapping[str, Any]) -> str:
    """What churn did to an overlay, as HTML in the style of the report; the first run is what it is about."""
    return _page(title, churn_header(title, runs), churn_sections(runs, parameters))


def write_gossip_page(path: Place, title: str, found: Gossip, parameters: Mapping[str, Any]) -> None:
    """Write the page of a run of gossip to `path`, in place of what is there."""
    _write(path, gossip_page(title, found, parameters))


def gossip_page(title: str, found: Gossip, parameters: Mapping[str, Any]) -> str:
    """A run of gossip as HTML in the style of the report."""
    return _page(title, gossip_header(title, found), gossip_sections(found, parameters))


def write_compare_page(
    path: Place,
    title: str,
    results: Sequence[Result],
    counts: Mapping[str, int],
    parameters: Mapping[str, Any],
) -> None:
    """Write the page of algorithms side by side to `path`, in place of what is there."""
    _write(path, compare_page(title, results, counts, parameters))


def compare_page(
    title: str, results: Sequence[Result], counts: Mapping[str, int], parameters: Mapping[str, Any]
) -> str:
    """Algorithms side by side, as HTML in the style of the report."""
    return _page(title, compare_header(title, results, counts), compare_sections(results, parameters))


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


def _write(path: Place, page: str) -> None:
    """Beside `path` first, and then moved there; in one go in a store, which shows only whole files."""
    with writing(path):
        replace_text(path, page)
