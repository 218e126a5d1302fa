"""What a run of gossip did: view sizes round by round and node by node, and what became of topics."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from meshwright.gossip.measures import Gossip, Round
from meshwright.report.contents import Sharing
from meshwright.report.figures import lines
from meshwright.report.markup import Html, as_text, figure, name, section, table, tag, tiles
from meshwright.report.numbers import count, decimal, percent
from meshwright.report.views import views

_TOPICS = {
    "disconnected_topics": "topics in which some can't reach others",
    "weakly_disconnected_topics": "topics that fall apart even if links are used both ways",
    "unreached_interests": "subscriptions of nodes that are in nobody's view",
    "clustering_coefficient": "clustering coefficient, mean over topics",
    "diameter": "diameter, mean over topics connected before and after",
}


def gossip_header(title: str, found: Gossip) -> Html:
    """The heading, and the numbers that matter."""
    numbers = [
        (decimal(found.initial_physical_view_size), "physical links a node at first"),
        (decimal(found.final_physical_view_size), f"after {count(found.rounds, 'round')}"),
        (decimal(found.logical_view_size), "logical links a node"),
        (percent(found.strongly_improved_nodes), "of the nodes got rid of over 40%"),
    ]
    eyebrow = tag("p", "Meshwright gossip", class_="eyebrow")
    return tag("header", eyebrow, tag("h1", name(title, 120)), tiles(numbers))


def gossip_sections(found: Gossip, parameters: Mapping[str, Any]) -> dict[str, Html]:
    """The sections of the page."""
    return {
        "views": views(found.view_distributions(), Sharing.of(*(own.physical for own in found.counts))),
        "rounds": section("rounds", "Rounds", tag("div", *_rounds(found.by_round), class_="pair")),
        "topics": section(
            "topics",
            "Topics",
            table("Topics", ("over all topics", "before", "after"), _topics(found), {1, 2}),
        ),
        "making": section(
            "making",
            "How it was made",
            table("Parameters", ("what", "value"), [(key, as_text(own)) for key, own in parameters.items()]),
        ),
    }


def _rounds(rounds: Sequence[Round]) -> Iterator[Html]:
    if len(rounds) < 2:
        yield tag("p", "No walks were sent.", class_="empty")
        return
    at = np.array([one.round for one in rounds])
    sizes = np.array([(one.physical_view_size, one.logical_view_size) for one in rounds])
    words = f"Physical links a node go from {decimal(sizes[0, 0])} to {decimal(sizes[-1, 0])}."
    series = [("physical", at, sizes[:, 0]), ("logical", at, sizes[:, 1])]
    yield figure(lines("by-round", f"Lines. {words}", series, ("round", "links a node")), words)
    messages = np.array([one.traffic.messages for one in rounds[1:]])
    words = f"Walks take {count(int(messages.sum()), 'message')} in all."
    yield figure(
        lines("messages", f"Lines. {words}", [("messages", at[1:], messages)], ("round", "messages")), words
    )


def _topics(found: Gossip) -> Iterator[tuple[str, str, str]]:
    for key, words in _TOPICS.items():
        yield words, as_text(getattr(found, f"initial_{key}")), as_text(getattr(found, key))
