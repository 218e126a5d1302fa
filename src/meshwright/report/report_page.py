"""The pages about a dataset and about a run, with a glossary of their words."""

from collections.abc import Mapping
from typing import Any

from meshwright.report.contents import Contents
from meshwright.report.distributions import correlation, distributions
from meshwright.report.failures import failures
from meshwright.report.gossip import views
from meshwright.report.load import busiest, load
from meshwright.report.markup import count, percent
from meshwright.report.overlay import overlay
from meshwright.report.page import glossary, header, page
from meshwright.report.spending import spending
from meshwright.report.summary import broken_topics, comparison, data_quality, headline, making
from meshwright.report.words import GLOSSARY, TOPIC_CONNECTED

_NODES = {
    "Node, topic, interest": "A node is a broker or a peer, a topic a channel; an interest says that a node "
    "subscribes to a topic.",
}
_INTERESTS = {
    "Power law": "On logarithmic scales a power law is a falling straight line: few topics have very many "
    "subscribers, and most have few. The exponent says how steeply it falls.",
    "Correlation": "Whether nodes that subscribe to one topic also subscribe to another, by Pearson's "
    "coefficient: 1 means always, 0 that the two are independent, and -1 that every node has just one of the "
    "two. Correlated topics can share links.",
}
_OVERLAY = {
    "Overlay, link": "The overlay says which nodes are connected by a link. Fewer links cost less.",
    "Topic-connected": TOPIC_CONNECTED,
    "Ring for each topic": "A simple topic-connected overlay. The number is an upper limit, since rings of "
    "different topics may share links.",
    "Full mesh": "A link between any two nodes.",
    **GLOSSARY,
}


_COSTS = {
    "Cost": "What a link costs: milliseconds, money or any other positive number, as it was given. The cost "
    "of an overlay is the sum over its links.",
    "Cost per node": "What the links of a node cost on average. Every link counts for both of its ends.",
    "Costliest path inside a topic": "What a message costs at most from one subscriber of a topic to "
    "another, on the cheapest way through subscribers of that topic alone.",
    "Local, long": "A local link has both ends on one site; a long one joins two sites.",
    "Lower bound on cost": "It is proven that no topic-connected overlay of these interests costs less: the "
    "bound is the value of a solution of the dual linear program.",
}


def report_page(contents: Contents) -> str:
    """The report of a run, or of any overlay; the same contents give the same bytes."""
    body = {
        "broken": broken_topics(contents.evaluation),
        "comparison": comparison(contents),
        "spending": spending(contents),
        "busiest": busiest(contents),
        "failures": failures(contents),
        "load": load(contents),
        "quality": data_quality(contents.quality),
        "interests": distributions(contents.profile),
        "correlation": correlation(contents.profile),
        "overlay": overlay(contents.evaluation, contents.drawing, contents.unit, contents.idle_links),
        "views": views(contents.evaluation.get("view_distributions"), contents.sharing),
        "making": making(contents),
        "reading": glossary(_words(contents)),
    }
    return page(contents.title, headline(contents), body)


def _words(contents: Contents) -> dict[str, str]:
    """The words that the page uses."""
    interests = _NODES if contents.profile is None else _NODES | _INTERESTS
    return interests | _OVERLAY | ({} if contents.spending is None else _COSTS)


def profile_page(profile: Mapping[str, Any], title: str = "Profile") -> str:
    """The profile of a dataset (`Profile.to_json()`), in the style of the report."""
    body = {
        "interests": distributions(profile),
        "correlation": correlation(profile),
        "reading": glossary(_NODES | _INTERESTS),
    }
    nodes, topics, interests = profile["nodes"], profile["topics"], profile["interests"]
    numbers = [(count(nodes), "nodes"), (count(topics), "topics"), (count(interests), "interests")]
    if nodes and topics:
        numbers.append((percent(interests / (nodes * topics)), "of all possible pairs of a node and a topic"))
    return page(title, header("profile", title, numbers), body)
