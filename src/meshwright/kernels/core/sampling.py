"""Drawing topics for nodes in time proportional to what is drawn, however skewed the popularity of topics.

All draws are arrivals: topic t first arrives at an exponential time of rate q(t), each topic by itself. The
order of the first arrivals is that of draws without replacement in proportion to q, and which topics
arrive within a given time is an independent coin a topic.
"""

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.runtime.arrays import Floats, Ids, Offsets


@inner
def _arrivals(rng: np.random.Generator, rate: Floats, span: float, arrived: Ids) -> int:
    """Write the topics that arrive within `span` to `arrived`, in order of id, and return how many.

    `rate` must not rise. From one topic to the next candidate it skips as if all rates were that of the
    first topic passed over, and then takes the candidate with the ratio of its own chance to that bound.
    """
    count = 0
    topic = 0
    while topic < rate.size and rate[topic] > 0.0:
        bound = rate[topic] * span
        skipped = -np.log(1.0 - rng.random()) / bound
        if skipped >= rate.size - topic:
            break
        candidate = topic + int(skipped)
        if candidate == topic or rng.random() * -np.expm1(-bound) < -np.expm1(-rate[candidate] * span):
            arrived[count] = candidate
            count += 1
        topic = candidate + 1
    return count


@inner
def _keep_earliest(rng: np.random.Generator, rate: Floats, span: float, arrived: Ids, keep: int) -> None:
    """Move to the front, in order of id, the `keep` topics of `arrived` that came first within `span`."""
    when = np.empty(arrived.size, np.float64)
    for i in range(arrived.size):
        topic_rate = rate[arrived[i]]
        when[i] = -np.log1p(rng.random() * np.expm1(-topic_rate * span)) / topic_rate
    last = np.sort(when)[keep - 1]
    kept = 0
    for i in range(arrived.size):
        if when[i] <= last and kept < keep:
            arrived[kept] = arrived[i]
            kept += 1


@kernel
def draw_distinct(
    rng: np.random.Generator, rate: Floats, span_of_size: Floats, indptr: Offsets, topic_ids: Ids
) -> None:
    """Give each node of `indptr` its number of distinct topics, sorted, in its slice of `topic_ids`.

    A node of size k takes the first k topics that arrive. `span_of_size[k]` is how long to wait for them at
    first; it decides the time that this takes, not the law: where too few arrive the node waits on, for
    twice as long, since arrivals have no memory; where too many do, the latest are dropped.
    """
    taken_by = np.full(rate.size, -1, np.int64)
    arrived = np.empty(rate.size, np.int32)
    for node in range(indptr.size - 1):
        row = topic_ids[indptr[node] : indptr[node + 1]]
        span = span_of_size[row.size]
        have = 0
        while have < row.size:
            fresh = 0
            for i in range(_arrivals(rng, rate, span, arrived)):
                if taken_by[arrived[i]] != node:
                    arrived[fresh] = arrived[i]
                    fresh += 1
            if fresh > row.size - have:
                _keep_earliest(rng, rate, span, arrived[:fresh], row.size - have)
                fresh = row.size - have
            for i in range(fresh):
                row[have + i] = arrived[i]
                taken_by[arrived[i]] = node
            have += fresh
            span *= 2.0
        if span > 2.0 * span_of_size[row.size]:
            row.sort()


@kernel
def draw_independent(rng: np.random.Generator, hazard: Floats, sizes: Offsets, topic_ids: Ids) -> int:
    """Give each node topic t with probability 1 - exp(-hazard[t]), whatever else it has.

    Writes the size of each node, and the sorted topics of the nodes one after another as far as there is
    room for all of a node's. Returns how much room all of them need.
    """
    arrived = np.empty(hazard.size, np.int32)
    end = 0
    for node in range(sizes.size):
        sizes[node] = _arrivals(rng, hazard, 1.0, arrived)
        start, end = end, end + sizes[node]
        if end <= topic_ids.size:
            for i in range(sizes[node]):
                topic_ids[start + i] = arrived[i]
    return end
