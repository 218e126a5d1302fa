"""What a run of gossip did to views: their sizes by round and node, the links saved, the state of topics."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from meshwright.report.contents import Sharing
from meshwright.report.figures import lines, scatter
from meshwright.report.markup import Html, as_text, count, decimal, figure, percent, section, table, tag
from meshwright.report.page import header, making, page
from meshwright.stan.measures import Gossip, Round

_STRONG = 40
"""Percent of its links of which a node must be freed to count as strongly improved ([5], 3.4)."""

_EXPLANATION = (
    "A node has a view of some others in each of its topics. Logical links are counted topic by topic, "
    "physical ones once for each peer, however many topics it serves."
)
_NAMES = {
    "logical_view_size": "logical links",
    "physical_view_size": "physical links",
    "in_views": "nodes that have it in a view",
}
_SHOWN = {"mean": "mean", "p25": "25%", "median": "median", "p75": "75%", "p99": "99%", "maximum": "most"}


def views(found: Mapping[str, Mapping[str, Any]] | None, sharing: Sharing | None) -> Html:
    """The section on views: `view_distributions` as `evaluate` has it, and what a run changed, if known."""
    if not found or not found["logical_view_size"]["histogram"]:
        return Html("")
    pictures = [_sizes(found, sharing), *([_improvement(sharing)] if sharing and sharing.nodes else [])]
    rows = [(_NAMES[name], *(_cell(own[key]) for key in _SHOWN)) for name, own in found.items()]
    return section(
        "views",
        "Views that share links",
        tag("p", _EXPLANATION),
        tag("div", *pictures, class_="pair"),
        table("Links of a node", ("of a node", *_SHOWN.values()), rows, set(range(1, 1 + len(_SHOWN)))),
    )


def _cell(value: float | None) -> str:
    return "none" if value is None else decimal(value)


def _sizes(found: Mapping[str, Mapping[str, Any]], sharing: Sharing | None) -> Html:
    """The share of nodes that have at most a given number of links, as in [5], Fig. 6(b)."""
    after = _cumulative(*_columns(found["physical_view_size"]["histogram"]))
    logical = _cumulative(*_columns(found["logical_view_size"]["histogram"]))
    series = [("physical", *after), ("logical", *logical)]
    if sharing and sharing.nodes:
        before = _cumulative(np.array(sharing.before), np.array(sharing.nodes))
        series = [("physical", *after), ("physical at first", *before), ("logical", *logical)]
    physical, all_links = (found[f"{kind}_view_size"]["mean"] for kind in ("physical", "logical"))
    words = f"On average a node has {decimal(physical)} physical links for {decimal(all_links)} logical ones."
    picture = lines(
        "view-sizes", f"Shares of nodes. {words}", series, ("links of a node", "share of nodes, %")
    )
    caption = f"The share of nodes that have at most this many links. {words}"
    return tag("div", tag("h3", "Links of a node"), figure(picture, caption))


def _improvement(sharing: Sharing) -> Html:
    """What share of its physical links each node saved, as in [5], Fig. 7."""
    before, after, nodes = (np.array(column) for column in (sharing.before, sharing.after, sharing.nodes))
    freed = 100 * (before - after) / before
    words = "".join(_improvement_in_words(freed, nodes))
    picture = scatter(
        "improvement", f"Points. {words}", before, freed, ("physical links at first", "freed of, %")
    )
    caption = f"Nodes by their physical links at first, and the share of these that sharing removed. {words}"
    return tag("div", tag("h3", "What sharing did"), figure(picture, caption))


def _improvement_in_words(freed: npt.NDArray[np.float64], nodes: npt.NDArray[np.int64]) -> Iterator[str]:
    there = int(nodes.sum())
    better, strong, worse = (int(nodes[own].sum()) for own in (freed > 0, freed > _STRONG, freed < 0))
    yield f"Of {count(there, 'node')} with links, {percent(better / there)} got rid of some, "
    yield f"{percent(strong / there)} of over {_STRONG}%; {percent(worse / there)} got more."


def _columns(pairs: Sequence[Sequence[int]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    values, counts = np.array(pairs, np.int64).reshape(-1, 2).T
    return values, counts


def _cumulative(
    values: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    kinds, at = np.unique(values, return_inverse=True)
    return kinds, 100 * np.cumsum(np.bincount(at, counts)) / counts.sum()


_TOPICS = {
    "disconnected_topics": "topics in which some can't reach others",
    "weakly_disconnected_topics": "topics that are cut even if links are used both ways",
    "unreached_interests": "subscriptions of nodes that are in no view",
    "clustering_coefficient": "clustering coefficient, mean over topics",
    "diameter": "longest path, mean over topics connected before and after",
}


def gossip_page(title: str, found: Gossip, parameters: Mapping[str, Any]) -> str:
    """A run of gossip, in the style of the report."""
    numbers = [
        (decimal(found.initial_physical_view_size), "physical links per node at first"),
        (decimal(found.final_physical_view_size), f"after {count(found.rounds, 'round')}"),
        (decimal(found.logical_view_size), "logical links per node"),
        (percent(found.strongly_improved_nodes), "of the nodes got rid of over 40%"),
    ]
    measured = table("Topics", ("over all topics", "before", "after"), _topics(found), {1, 2})
    body = {
        "views": views(found.view_distributions(), Sharing.of(*(own.physical for own in found.counts))),
        "rounds": section("rounds", "Rounds", tag("div", *_rounds(found.by_round), class_="pair")),
        "topics": section("topics", "Topics", measured),
        "making": making(parameters),
    }
    return page(title, header("gossip", title, numbers), body)


def _rounds(rounds: Sequence[Round]) -> Iterator[Html]:
    if len(rounds) < 2:
        yield tag("p", "No walks were sent.", class_="empty")
        return
    at = np.array([one.round for one in rounds])
    sizes = np.array([(one.physical_view_size, one.logical_view_size) for one in rounds])
    words = f"Physical links per node go from {decimal(sizes[0, 0])} to {decimal(sizes[-1, 0])}."
    series = [("physical", at, sizes[:, 0]), ("logical", at, sizes[:, 1])]
    yield figure(lines("by-round", f"Lines. {words}", series, ("round", "links per node")), words)
    messages = np.array([one.traffic.messages for one in rounds[1:]])
    words = f"Walks take {count(int(messages.sum()), 'message')} in all."
    yield figure(
        lines("messages", f"Lines. {words}", [("messages", at[1:], messages)], ("round", "messages")), words
    )


def _topics(found: Gossip) -> Iterator[tuple[str, str, str]]:
    for key, words in _TOPICS.items():
        yield words, as_text(getattr(found, f"initial_{key}")), as_text(getattr(found, key))
