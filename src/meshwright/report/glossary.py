"""The words of the page, each in a sentence."""

from meshwright.report.markup import Html, section, tag

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
