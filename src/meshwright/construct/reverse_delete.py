"""Reverse delete: no edge stays that an overlay does not need."""

from dataclasses import replace

import numpy as np

from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Flags, Ids, Longs, Offsets, Ticks
from meshwright.runtime.memory import check_memory, needed
from meshwright.runtime.packing import first_of, pack, second_of
from meshwright.runtime.progress import Progress, run_with_ticks
from meshwright.runtime.wording import count

_INSTEAD = "leave reverse_delete (--reverse-delete) out, or allow more memory"


def reverse_delete(
    interests: Interests, edges: Ids, *, memory_limit: int | None = None, progress: Progress | None = None
) -> Ids:
    """The edges that stay when each, from the last to the first, is removed if every topic stays connected.

    Guarantee: a topic that `edges` connect stays connected, and one that they leave in several components
    stays in as many; removing any edge of the result would divide a topic. Edges keep their order. The
    result depends on that order alone, so it is the same for a list on any machine.

    Cost: an edge is looked at only in topics of which it once joined two components, and only if it is no
    bridge among all edges, by a count or by a search from both ends that the lesser side ends
    (`kernels/greedy/reverse_delete.py`): linear in the topics that the ends of edges share where sides are
    small, and O(edges * interests) at worst. 28 bytes for each edge and topic that its ends share.

    Source: [2], Alg. 5, lines 2 to 4, which needs O(|V|⁴|T|) as it stands. There the order is that in which
    PdMAW took the edges; for an algorithm without an order, see `delete_after`.
    """
    from meshwright.kernels.greedy.sub_overlays import count_links

    edges = np.ascontiguousarray(edges, np.int32).reshape(-1, 2)
    if not len(edges):
        return edges
    indptr, topic_ids = interests.indptr.copy(), interests.topic_ids.copy()
    starts = count_links(indptr, topic_ids, edges)
    estimate = needed("reverse delete", shared_topics=int(starts[-1]), interests=len(topic_ids))
    check_memory(f"reverse delete of {count(len(edges), 'link')}", estimate, _INSTEAD, memory_limit)

    def work(ticks: Ticks) -> Ids:
        found: Ids = edges[_kept(indptr, topic_ids, interests.topic_count, edges, starts, ticks)]
        return found

    return run_with_ticks(work, "removing edges", len(edges), progress)


def _kept(
    indptr: Offsets, topic_ids: Ids, topic_count: int, edges: Ids, starts: Offsets, ticks: Ticks
) -> Flags:
    """By edge, whether it stays; `starts` are where its links begin."""
    from meshwright.kernels.greedy.reverse_delete import delete_in_reverse
    from meshwright.kernels.greedy.sub_overlays import (
        find_bridges,
        find_joins,
        find_link_slots,
        list_sub_overlays,
    )

    link_slots = find_link_slots(indptr, topic_ids, topic_count, edges, starts)
    joins, joining = np.zeros(len(link_slots), np.bool_), np.zeros(len(edges), np.bool_)
    find_joins(starts, link_slots, np.arange(len(topic_ids), dtype=np.int32), joins, joining)
    over = list_sub_overlays(len(topic_ids), starts, link_slots, joining)
    sizes = np.bincount(topic_ids, minlength=max(topic_count, 1))
    topics = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    return delete_in_reverse(
        over, joins, joining, find_bridges(over), topics, len(sizes), int(sizes.max()), ticks
    )


def delete_after(
    interests: Interests,
    built: Built,
    *,
    costs: Costs | None = None,
    by_price: bool = False,
    memory_limit: int | None = None,
    progress: Progress | None = None,
) -> Built:
    """What an algorithm has built without the edges that no topic needs; a fact says how many went.

    Edges are looked at from the last that was taken to the first, where the algorithm has such an order and
    chose by costs (`by_price`) or there are none; else from the dearest to the cheapest; without costs, from
    those whose ends share the fewest topics to those whose ends share the most. (Of the 19,647 edges of a
    ring for each of 100 topics over 1,000 nodes, 3,610 stay so, and 4,544 in a random order, as
    `benchmarks/bounds.py` finds.)
    """
    edges = np.ascontiguousarray(built.edges, np.int32).reshape(-1, 2)
    if not built.in_order or (costs is not None and not by_price):
        edges = by_shared_topics(edges, interests) if costs is None else by_cost(edges, costs)
    kept = reverse_delete(interests, edges, memory_limit=memory_limit, progress=progress)
    deleted = built.facts.get("edges_deleted", 0) + len(edges) - len(kept)
    return replace(built, edges=kept, facts={**built.facts, "edges_deleted": deleted})


def cost_of(edges: Ids, costs: Costs) -> float:
    """What all edges cost together."""
    return float(costs.between(edges[:, 0], edges[:, 1]).sum())


def by_cost(edges: Ids, costs: Costs) -> Ids:
    """The edges from the cheapest on, so that reverse delete tries the dearest first.

    Each once; equals are sorted by their ends.
    """
    edges = _each_once(edges)
    found: Ids = edges[np.argsort(costs.between(edges[:, 0], edges[:, 1]), kind="stable")]
    return found


def by_shared_topics(edges: Ids, interests: Interests) -> Ids:
    """The edges from those whose ends share most topics on, so that reverse delete keeps these.

    Each once; equals are sorted by their ends.
    """
    from meshwright.kernels.greedy.sub_overlays import count_links

    edges = _each_once(edges)
    starts = count_links(interests.indptr.copy(), interests.topic_ids.copy(), edges)
    found: Ids = edges[np.argsort(-np.diff(starts), kind="stable")]
    return found


def edge_keys(edges: Ids) -> Longs:
    """A number for each edge, whichever end comes first."""
    found: Longs = pack(edges.min(axis=1), edges.max(axis=1))
    return found


def _each_once(edges: Ids) -> Ids:
    """The edges with the lower end first, sorted."""
    keys = np.unique(edge_keys(np.asarray(edges, np.int32).reshape(-1, 2)))
    return np.column_stack([first_of(keys), second_of(keys)]).astype(np.int32)
