"""What each topic pays for an overlay, if those that an edge connects share its cost."""

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.topic_components import TopicComponents, take_edge
from meshwright.runtime.arrays import Floats, Ids


@kernel
def unit_prices(state: TopicComponents, edges: Ids) -> Floats:
    """By topic: what it pays for a union on average, 1 where it needs none; changes the `state`.

    Edges are taken in order. Each costs 1, in equal shares of the topics of which it unites two components.
    O(interests of the edges' ends), beside the unions.
    """
    topic_count = len(state.counts)
    paid, unions = np.zeros(topic_count), np.zeros(topic_count, np.int64)
    for topic in range(topic_count):
        unions[topic] = state.counts[topic]
    for edge in range(len(edges)):
        u, v = edges[edge, 0], edges[edge, 1]
        _pay(state, u, v, 1.0 / max(1.0, _pay(state, u, v, 0.0, paid)), paid)
        take_edge(state, u, v)
    for topic in range(topic_count):
        unions[topic] -= state.counts[topic]
        paid[topic] = paid[topic] / unions[topic] if unions[topic] else 1.0
    return paid


@inner
def _pay(state: TopicComponents, u: int, v: int, price: float, paid: Floats) -> float:
    """Add the price to what every topic paid that an edge would connect; return how many there are."""
    i, i_end = state.indptr[u], state.indptr[u + 1]
    j, j_end = state.indptr[v], state.indptr[v + 1]
    found = 0.0
    while i < i_end and j < j_end:
        topic, other = state.topic_ids[i], state.topic_ids[j]
        if topic == other and state.names[state.slots[i]] != state.names[state.slots[j]]:
            paid[topic] += price
            found += 1.0
        i += topic <= other
        j += other <= topic
    return found
