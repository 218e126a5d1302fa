"""Merging overlays that exist: Naive Merge and Star Merge.

Both keep every edge and add edges between nodes of different overlays (*parts*) alone. A topic that several
parts have ends up connected, whether or not it was connected inside each; a topic that one part alone has
keeps the components that it has there, since no added edge can reach it.
"""

from typing import Any, NamedTuple

import numpy as np

from meshwright.construct.greedy import component_labels, make_problem, take_edges
from meshwright.construct.options import MergeOptions
from meshwright.construct.parts.interest_queries import shared_topics
from meshwright.construct.parts.star_sets import star_set
from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built
from meshwright.model.union import Union
from meshwright.runtime.arrays import Flags, Ids
from meshwright.runtime.progress import Progress
from meshwright.runtime.seeds import generator

_KEEP_NO_BOUNDS = "set keep_bounds=no (the same overlay with memory linear in the interests, slower)"


class _State(NamedTuple):
    """What the kept edges connect.

    `components` has, for each interest, the number of its component, counted over all topics; `shared` flags
    the topics that more than one part has.
    """

    components: Ids
    shared: Flags


def naive_merge(
    union: Union, costs: Costs | None, options: MergeOptions, seed: int, progress: Progress | None
) -> Built:
    """Naive Merge (NM).

    Guarantee: every topic that several parts have is connected, so the overlay is topic-connected if each
    part was. Every edge added had the greatest contribution of all pairs of nodes of different parts when it
    was taken, so at most O(log(components)) times as many are added as needed.

    Cost: as Greedy Merge, over the pairs of nodes of different parts.

    Source: [1], Alg. 2. The paper takes each part for topic-connected; we count the components that it has.
    """
    del costs
    state = _look(union, progress)
    order = _grouped_order(union.part_of, seed)
    return _connect(union, state, order, options, f"use sm, or {_KEEP_NO_BOUNDS}", progress)


def star_merge(
    union: Union, costs: Costs | None, options: MergeOptions, seed: int, progress: Progress | None
) -> Built:
    """Star Merge (SM).

    Guarantee: as Naive Merge, with the greatest contribution of all pairs of stars of different parts; no
    other node gets an edge.

    Cost: linear in the interests for the star sets, then as Greedy Merge over the stars.

    Source: [1], Alg. 3. The paper takes each part for topic-connected, and the stars of a part cover its
    shared topics; ours cover each component of these, which is the same where there is one.
    """
    del costs
    state = _look(union, progress)
    stars = _stars(union, state, seed)
    built = _connect(union, state, stars, options, _KEEP_NO_BOUNDS, progress)
    sizes = np.bincount(union.part_of[stars], minlength=union.parts)
    about_stars = {"star_set_sizes": sizes.tolist(), "average_star_set_size": len(stars) / union.parts}
    return Built(edges=built.edges, facts={**built.facts, **about_stars})


def star_sets(union: Union, seed: int, progress: Progress | None = None) -> Ids:
    """The nodes that Star Merge may give edges to, one part after another, each in the order of choice."""
    return _stars(union, _look(union, progress), seed)


def _grouped_order(part_of: Ids, seed: int) -> Ids:
    """All nodes, one part after another, shuffled inside it: the order that settles ties."""
    shuffle = generator(seed, "merge").permutation(len(part_of))
    return shuffle[np.argsort(part_of[shuffle], kind="stable")].astype(np.int32)


def _look(union: Union, progress: Progress | None) -> _State:
    interests = union.interests
    owners = np.repeat(union.part_of, np.diff(interests.indptr))
    shared = shared_topics(interests.topic_ids, owners, interests.topic_count)
    return _State(component_labels(interests, union.edges, progress), shared)


def _stars(union: Union, state: _State, seed: int) -> Ids:
    """A star set of each part. Parts have no component in common, so one cover of all covers each."""
    interests = union.interests
    wanted = np.zeros(int(state.components.max(initial=-1)) + 1, np.bool_)
    wanted[state.components[state.shared[interests.topic_ids]]] = True
    order = _grouped_order(union.part_of, seed)
    stars = star_set(interests.indptr, state.components, len(wanted), order, wanted)
    return stars[np.argsort(union.part_of[stars], kind="stable")]


def _connect(
    union: Union, state: _State, order: Ids, options: MergeOptions, instead: str, progress: Progress | None
) -> Built:
    """The kept edges, then those that the greedy adds between parts, among the nodes in `order`."""
    problem = make_problem(
        union.interests.indptr,
        union.interests.topic_ids,
        union.interests.topic_count,
        order,
        groups=union.part_of,
        labels=state.components,
        weights=state.shared.astype(np.int32),
        keep_bounds=options.keep_bounds,
    )
    result = take_edges(problem, instead=instead, memory_limit=options.memory_limit, progress=progress)
    facts: dict[str, Any] = {
        "parts": union.parts,
        "inner_edges": len(union.edges),
        "outer_edges": len(result.edges),
        "pairs_examined": result.pairs_examined,
        **_potential_neighbours(union.part_of[order], len(union.part_of)),
    }
    return Built(edges=np.concatenate([union.edges, result.edges]), facts=facts)


def _potential_neighbours(parts: Ids, node_count: int) -> dict[str, float]:
    """pn-size, the most nodes that one node may be given an edge to, and what share of all nodes that is.

    `parts` has the part of each node that may be given edges: one to each such node of another part.
    """
    sizes = np.bincount(parts)
    most = len(parts) - int(sizes[sizes > 0].min(initial=len(parts)))
    return {"pn_size": most, "pn_ratio": most / max(1, node_count)}
