"""The words for what is measured, the same on every page and in every printed table."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

LINKS = "links"
LINKS_PER_NODE = "links per node"
MOST_LINKS = "most links of a node"
LONGEST_PATH = "longest path inside a topic"
MEAN_PATH = "longest path, mean over topics"
CUT_TOPICS = "cut topics"
TIMES_BOUND = "times the lower bound"
IDLE_LINKS = "links that no topic uses"

WHAT_CUT_MEANS = (
    "In a cut topic, some subscribers can't reach each other through subscribers of the topic alone. To get "
    "its messages to all of them, nodes that did not ask for the topic would have to forward them."
)

TOPIC_CONNECTED = (
    "The subscribers of every topic reach each other through subscribers of that topic only, so no message "
    "passes through a node that did not ask for it."
)

_WORDS = {
    "edges": LINKS,
    "average_degree": LINKS_PER_NODE,
    "maximum_degree": MOST_LINKS,
    "topic_connected": "topic-connected",
    "disconnected_topics": CUT_TOPICS,
    "tco_support_ratio": "TCO support ratio",
    "maximum_topic_diameter": LONGEST_PATH,
    "mean_topic_diameter": MEAN_PATH,
    "maximum_topic_diameter_lower_bound": f"{LONGEST_PATH}, at least",
    "mean_topic_diameter_lower_bound": f"{MEAN_PATH}, at least",
    "diameters_exact": "longest paths are exact",
    "cut_nodes_topics": "topics that one node's failure cuts",
    "bridge_topics": "topics that one link's failure cuts",
    "cut_nodes": "nodes whose failure cuts a topic",
    "worst_node": "worst node to lose",
    "worst_node_topics": "worst node to lose: topics cut",
    "worst_node_cuts_off": "worst node to lose: subscriptions cut off",
    "lower_bound_average_degree": f"lower bound of {LINKS_PER_NODE}",
    "lower_bound_method": "method of the lower bound",
    "likely_lower_bound_average_degree": f"likely lower bound of {LINKS_PER_NODE}",
    "likely_lower_bound_doubt": "chance that the likely bound is wrong",
    "weighted_average_degree": "cost per node",
    "lower_bound_weighted_average_degree": "lower bound of cost per node",
    "lower_bound_weighted_method": "method of the lower bound of cost",
    "maximum_weighted_topic_diameter": "costliest path inside a topic",
    "mean_weighted_topic_diameter": "costliest path, mean over topics",
    "maximum_weighted_topic_diameter_lower_bound": "costliest path inside a topic, at least",
    "mean_weighted_topic_diameter_lower_bound": "costliest path, mean over topics, at least",
}


class Measure(NamedTuple):
    """A row of a table of measures."""

    words: str
    key: str
    value: Any


def words_of(key: str) -> str:
    """What people call a measure with this key of `evaluate --json`."""
    return _WORDS.get(key, key.replace("_", " "))


def idle_in_words(links: int) -> str:
    """A sentence on links between nodes without a common topic."""
    if links == 1:
        return "1 link joins nodes that have no topic in common; no topic uses it."
    return f"{links:,} links join nodes that have no topic in common; no topic uses them."


def measures(found: Mapping[str, Any]) -> Iterator[Measure]:
    """The single values of an evaluation in words; rows that add nothing are left out.

    These are: bounds of paths that are known exactly, that they are, and a unit alone.
    """
    for key, value in found.items():
        single = value is None or isinstance(value, bool | int | float | str)
        if single and key != "cost_unit" and not _adds_nothing(found, key):
            yield Measure(words_of(key), key, value)


def _adds_nothing(found: Mapping[str, Any], key: str) -> bool:
    if key == "diameters_exact":
        return bool(found[key]) or found.get("maximum_topic_diameter") is None
    return key.endswith("_lower_bound") and found[key] == found.get(key.removesuffix("_lower_bound"))


GLOSSARY = {
    "Links per node": "How many links a node has on average (the average degree). Every link counts for both "
    "of its ends.",
    "Most links of a node": "How many links the busiest node has (the maximum degree).",
    "Longest path inside a topic": "The most links that a message crosses from one subscriber of a topic to "
    "another, on the shortest way through subscribers of that topic alone (the diameter of the topic). Only "
    "topics that are connected have one.",
    "Cut topic": WHAT_CUT_MEANS,
    "Topics that one node's failure cuts": "Topics whose other subscribers can't all reach each other any "
    "more once some one subscriber has failed.",
    "Topics that one link's failure cuts": "The same for a link. A topic of two subscribers that are linked "
    "is always among them.",
    "Nodes whose failure cuts a topic": "How many nodes there are whose failure cuts at least one topic.",
    "Worst node to lose": "The node whose failure would cut off most subscriptions. When a node fails, the "
    "other subscribers of a topic may fall into parts that can't reach each other; all but the largest part "
    "count as cut off.",
    "Links that no topic uses": "Links between two nodes that have no topic in common.",
    "TCO support ratio": "The share of the joins between subscribers of a topic that the links make, over "
    "all topics: 0 if every subscriber is alone, 1 if all topics are connected. TCO is short for "
    "topic-connected overlay.",
    "Clustering coefficient": "How often two nodes that are linked to the same node are linked to each "
    "other: from 0, never, to 1, always; the mean over all nodes.",
    "Lower bound": "It is proven that every topic-connected overlay of these interests has at least this "
    "many links. The best possible overlay lies between the bound and this overlay.",
    "Method of the lower bound": "How the bound is proven. spanning: to connect n nodes takes n - 1 links. "
    "overlap-duality: a link can serve only the topics that both of its ends have. dual: the value of a "
    "solution of the dual linear program. lagrangian: the same, with a price for each topic of each "
    "possible link, raised as far as possible.",
}
"""The measures of an overlay, explained."""
