"""TrMAW: a minimum spanning tree for each topic."""

import numpy as np

from meshwright.construct.greedy import tie_order
from meshwright.construct.options import TrMawOptions
from meshwright.model.costs.costs import Costs
from meshwright.model.costs.forms import taken
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Ids, Offsets, Ticks
from meshwright.runtime.machine import cores
from meshwright.runtime.parallel import map_parts
from meshwright.runtime.progress import Progress

_TASKS_A_CORE = 4


def tree_per_topic(
    interests: Interests, costs: Costs, options: TrMawOptions, seed: int, progress: Progress | None
) -> Built:
    """A minimum spanning tree per topic (TrMAW).

    Guarantee: topic-connected; each topic's tree costs the least of all trees over its subscribers, so all
    edges together cost at most |T| times the least possible. Deterministic for a seed.

    Cost: O(n²) for a topic of n subscribers, in constant memory beside its list. Where the nodes of a site
    are nearer to each other than to all others, as sites are, only one node per site takes part in that.

    Source: [2], Alg. 1, with Prim's algorithm. The paper does not say which tree it takes where several cost
    the same, as they do when many nodes are on one site. Ours compares pairs by cost, then by the order of
    `TrMawOptions.ties`, the same for all topics, which makes each tree unique and lets trees share edges.
    The facts `tree_edges` and `tree_cost` count each tree by itself.
    """
    from meshwright.kernels.greedy.spanning_trees import find_close_sites, span_topics

    costs = costs.of(interests)
    order = tie_order(np.diff(interests.indptr), options.ties, seed)
    arrays = taken(costs.arrays(), order)
    topic_indptr, members = _subscribers(interests, order)
    close = find_close_sites(arrays)

    def one(topics: Offsets, ticks: Ticks) -> Ids:
        return span_topics(arrays, close, topic_indptr, members, topics, ticks)

    found = map_parts(one, _shares(topic_indptr), "growing trees", interests.topic_count, progress)
    every = order[np.concatenate([np.empty((0, 2), np.int32), *found])]
    edges = np.unique(np.sort(every, axis=1), axis=0)
    cost = float(costs.between(every[:, 0], every[:, 1]).sum())
    return Built(edges=edges, facts={"tree_edges": len(every), "tree_cost": cost})


def _subscribers(interests: Interests, order: Ids) -> tuple[Offsets, Ids]:
    """The subscribers of each topic, by their places in `order` and sorted by them."""
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    owners = np.repeat(rank, np.diff(interests.indptr))
    by_topic = np.lexsort((owners, interests.topic_ids))
    sizes = np.bincount(interests.topic_ids, minlength=interests.topic_count)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), owners[by_topic]


def _shares(topic_indptr: Offsets) -> list[Offsets]:
    """The topics in some shares, each with large and small ones."""
    topics = np.argsort(-np.diff(topic_indptr), kind="stable")
    count = max(1, min(len(topics), _TASKS_A_CORE * cores()))
    return [np.ascontiguousarray(topics[k::count]) for k in range(count)]
