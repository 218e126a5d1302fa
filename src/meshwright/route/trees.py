"""A topic's tree inside an overlay: n - 1 of its links that still connect all n subscribers."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from meshwright.construct.option_checks import check_choice
from meshwright.errors import OptionError
from meshwright.kernels.arrays import Ids, Offsets
from meshwright.kernels.routing_arrays import TopicLinks
from meshwright.model.overlay import Overlay
from meshwright.progress import Progress, run_with_ticks
from meshwright.route.topic_links import linked, topic_links

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


def topic_trees(overlay: Overlay, kind: str = "shortest", progress: Progress | None = None) -> TopicTrees:
    """A tree for every topic of a topic-connected overlay.

    Guarantee: `shortest` trees have a shortest path from the root to every subscriber, by cost where links
    cost and else by hops; the root is the subscriber with most links in the topic, the first of equals.
    `cheapest` trees cost the least of all trees in the topic's sub-overlay. Deterministic.

    Cost: O(m log m) for a topic of m links.
    """
    from meshwright.kernels.topic_trees import CHEAPEST, SHORTEST, grow_trees

    check_choice("tree", kind, TREES)
    if kind == "cheapest" and overlay.costs is None:
        raise OptionError(
            "the cheapest tree needs what links cost, and the overlay has no costs; take the shortest tree, "
            "or build with costs"
        )
    links = topic_links(overlay, progress)
    costs = np.ones(len(overlay)) if overlay.costs is None else overlay.costs
    flag = SHORTEST if kind == "shortest" else CHEAPEST

    def grow(ticks: Any) -> tuple[Ids, Ids]:
        found: tuple[Ids, Ids] = grow_trees(links, costs, flag, ticks)
        return found

    topics = overlay.interests.topic_count
    parents, taken = run_with_ticks(grow, "growing trees", topics, progress)
    children = np.flatnonzero(parents >= 0).astype(np.int32)
    pairs = np.sort(np.column_stack([children, parents[children]]), axis=1)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    return TopicTrees(
        topic_indptr=links.topic_indptr,
        nodes=links.nodes,
        parents=np.where(parents >= 0, links.nodes[parents], -1).astype(np.int32),
        links=linked(overlay, pairs[order], links.edge_ids[taken[children]][order]),
    )
