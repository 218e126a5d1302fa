"""The links of every topic inside an overlay, and a tree of n - 1 of them that connects its n subscribers."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from meshwright.kernels.routing.arrays import TopicLinks
from meshwright.model.dense import sealed
from meshwright.model.overlay import Overlay
from meshwright.runtime.arrays import Ids, Offsets
from meshwright.runtime.checks import check_choice
from meshwright.runtime.errors import InputError, OptionError
from meshwright.runtime.progress import Progress, run_with_ticks, stage
from meshwright.runtime.wording import count

FOR_ROUTES = "use nsmf if the overlay has fingers, or build an overlay that connects every topic, as gm does"
FOR_TREES = (
    "a topic in several pieces has no tree: leave the tree out, or build an overlay that connects every "
    "topic (meshwright build) and plan the way there (meshwright migrate)"
)


def topic_links(overlay: Overlay, progress: Progress | None = None, advice: str = FOR_ROUTES) -> TopicLinks:
    """The links of all topics; an overlay that leaves a topic in several parts is refused, with advice.

    O(the topics that both ends of an edge have), 16 bytes for each topic that they share.
    """
    from meshwright.kernels.core.subgraphs import interest_ranks
    from meshwright.kernels.greedy.sub_overlays import count_links
    from meshwright.kernels.routing.flooding import count_unreached, link_slots

    interests, edges = overlay.interests, overlay.edges
    with stage(progress, "finding the links of topics"):
        ranks = interest_ranks(interests.topic_ids, interests.topic_count)
        slots = (interests.topic_indptr[interests.topic_ids] + ranks).astype(np.int32)
        # Writable, as reverse delete has them: a kernel is compiled once for each kind of array.
        starts = count_links(interests.indptr.copy(), interests.topic_ids.copy(), edges.copy())
        pairs = link_slots(interests.indptr, interests.topic_ids, slots, edges, starts)
        shared = np.repeat(np.arange(len(edges), dtype=np.int32), np.diff(starts))
        links = linked(overlay, pairs, shared)
        unreached = count_unreached(links)
    _check_connected(overlay, np.flatnonzero(unreached), advice)
    return links


def linked(overlay: Overlay, pairs: Ids, edge_ids: Ids) -> TopicLinks:
    """The links between pairs of slots, each with the edge that it is part of."""
    from meshwright.kernels.core.subgraphs import links_of

    interests = overlay.interests
    found = links_of(sealed(pairs), len(interests))
    return TopicLinks(
        topic_indptr=interests.topic_indptr,
        nodes=interests.node_ids,
        indptr=found.indptr,
        others=found.nodes,
        edge_ids=edge_ids[found.edge_ids],
    )


_SHOWN_TOPICS = 3


def _check_connected(overlay: Overlay, broken: Offsets, advice: str) -> None:
    if len(broken):
        topics = overlay.interests.topics.take(broken[:_SHOWN_TOPICS]).to_pylist()
        names = ", ".join(map(repr, topics))
        more = f" and {count(len(broken) - len(topics), 'more topic')}" if len(broken) > len(topics) else ""
        raise InputError(
            f"the overlay is not topic-connected: messages on {names}{more} would not reach all "
            f"subscribers; {advice}"
        )


TREES = ("shortest", "cheapest")


@dataclass(frozen=True, kw_only=True)
class TopicTrees:
    """For each subscriber of each topic its parent in the topic's tree, as node ids; -1 at the root.

    The subscribers of topic t are `nodes[topic_indptr[t]:topic_indptr[t + 1]]`, rising, as in `Interests`,
    and `parents` stand at the same places. `links` are those of all trees.
    """

    topic_indptr: Offsets
    nodes: Ids
    parents: Ids
    links: TopicLinks


def topic_trees(
    overlay: Overlay,
    kind: str = "shortest",
    progress: Progress | None = None,
    advice: str = FOR_ROUTES,
) -> TopicTrees:
    """A tree for every topic of a topic-connected overlay; another one is refused, with advice.

    Guarantee: `shortest` trees have a shortest path from the root to every subscriber, by cost where links
    cost and else by hops; the root is the subscriber with most links in the topic, the first of equals.
    `cheapest` trees cost the least of all trees in the topic's sub-overlay. Deterministic.

    Cost: as `grown_trees`.
    """
    grown = grown_trees(overlay, kind, progress, advice)
    links, parents = grown.links, grown.parents
    children = np.flatnonzero(parents >= 0).astype(np.int32)
    pairs = np.sort(np.column_stack([children, parents[children]]), axis=1)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    return TopicTrees(
        topic_indptr=links.topic_indptr,
        nodes=links.nodes,
        parents=np.where(parents >= 0, links.nodes[parents], -1).astype(np.int32),
        links=linked(overlay, pairs[order], links.edge_ids[grown.taken[children]][order]),
    )


class Grown(NamedTuple):
    """Trees by slot: its parent's slot, and the link that leads to it; -1 at the root."""

    links: TopicLinks
    parents: Ids
    taken: Ids


def grown_trees(
    overlay: Overlay, kind: str, progress: Progress | None = None, advice: str = FOR_ROUTES
) -> Grown:
    """The trees of `topic_trees`, by slots.

    Linear in the links of topics where links don't cost; else O(m log m) for a topic of m links.
    """
    from meshwright.kernels.routing.topic_trees import CHEAPEST, SHORTEST, grow_by_hops, grow_trees

    check_choice("tree", kind, TREES)
    if kind == "cheapest" and overlay.costs is None:
        raise OptionError(
            "the cheapest tree needs the costs of links, but the overlay has none; use --tree shortest, "
            "or build with costs"
        )
    links = topic_links(overlay, progress, advice)
    flag = SHORTEST if kind == "shortest" else CHEAPEST

    def grow(ticks: Any) -> tuple[Ids, Ids]:
        found: tuple[Ids, Ids] = (
            grow_by_hops(links, ticks)
            if overlay.costs is None
            else grow_trees(links, overlay.costs, flag, ticks)
        )
        return found

    topics = overlay.interests.topic_count
    return Grown(links, *run_with_ticks(grow, "growing trees", topics, progress))
