"""What the edges of an overlay connect already, for algorithms that add to them."""

import numpy as np

from meshwright.kernels.arrays import Ids
from meshwright.kernels.topic_components import start_components, take_all_edges
from meshwright.model.interests import Interests
from meshwright.progress import Progress, Ticks, run_with_ticks


def component_labels(interests: Interests, edges: Ids, progress: Progress | None) -> Ids:
    """For each interest the component that it belongs to, numbered over all topics from 0 on.

    O(interests of the edges' ends), beside the unions.
    """
    # Copies, since Numba would compile everything once more for read-only arrays.
    indptr, topic_ids, edges = interests.indptr.copy(), interests.topic_ids.copy(), edges.copy()
    weights = np.ones(interests.topic_count, np.int32)

    def unite(ticks: Ticks) -> Ids:
        state = start_components(indptr, topic_ids, interests.topic_count, weights, 0)
        take_all_edges(state, edges, ticks)
        found: Ids = state.names[state.slots]
        return found

    names = run_with_ticks(unite, "finding components", len(edges), progress)
    used = np.zeros(len(names), np.bool_)
    used[names] = True
    return (np.cumsum(used) - 1).astype(np.int32)[names]
