"""Greedy Merge: the overlay of lowest average degree that a polynomial algorithm is known to build."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.construct.greedy_driver import make_problem, take_edges, tie_order
from meshwright.construct.options import GmOptions
from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Ids
from meshwright.runtime.errors import OptionError
from meshwright.runtime.progress import Progress

_INSTEAD = {
    True: "use dcbc-direct or dc (few more links), or set keep_bounds=no (the same overlay, memory linear in "
    "the interests, several times slower)",
    False: "use dcbc-direct or dc (few more links)",
}
_MOST_WEIGHT = 2**30
"""The most that a node's topics may weigh together: the sum of two nodes still fits the kernels' int32."""


def greedy_merge(
    interests: Interests, costs: Costs | None, options: GmOptions, seed: int, progress: Progress | None
) -> Built:
    """Greedy Merge (GM).

    Guarantee: topic-connected; every edge had the greatest contribution of all pairs when it was taken, which
    makes the number of edges at most O(log(|V||T|)) times the least possible. Deterministic for a seed.
    Costs change nothing: with them it is what [2] compares with.

    Cost: at most O(|V|²|T|) time as in the paper, in practice near one or two looks at each pair that
    shares two topics; one byte per pair of nodes and about 50 bytes per interest.

    Source: [1], Alg. 1, and Chockler et al., PODC 2007. The paper updates every pair whose contribution
    falls; this one is lazy (`kernels/greedy/lazy.py`). Where the paper takes "some edge", ours is settled by
    `GmOptions.ties`.
    """
    del costs
    problem = make_problem(
        interests.indptr,
        interests.topic_ids,
        interests.topic_count,
        tie_order(np.diff(interests.indptr), options.ties, seed),
        weights=_weights_by_id(interests, options.weights),
        keep_bounds=options.keep_bounds,
    )
    result = take_edges(
        problem, instead=_INSTEAD[problem.keep_bounds], memory_limit=options.memory_limit, progress=progress
    )
    facts = {"pairs_examined": result.pairs_examined, "estimated_bytes": problem.estimated_bytes()}
    return Built(edges=result.edges, facts=facts, in_order=True)


def _weights_by_id(interests: Interests, weights: Mapping[str, int] | None) -> Ids | None:
    if not weights:
        return None
    names = pa.array(weights.keys(), pa.string())
    ids = pc.index_in(names, interests.topics)
    if ids.null_count:
        unknown = names.filter(pc.is_null(ids))
        raise OptionError(f"weights name {len(unknown)} unknown topics, the first is {unknown[0].as_py()!r}")
    by_id = np.ones(interests.topic_count, np.int32)
    by_id[ids.to_numpy()] = list(weights.values())
    totals = np.concatenate([[0], np.cumsum(by_id[interests.topic_ids], dtype=np.int64)])[interests.indptr]
    heaviest = int(np.diff(totals).max(initial=0))
    if heaviest > _MOST_WEIGHT:
        raise OptionError(
            f"the topics of one node weigh {heaviest:,} together, and a node may have {_MOST_WEIGHT:,}; "
            f"divide all weights by {heaviest // _MOST_WEIGHT + 1}"
        )
    return by_id
