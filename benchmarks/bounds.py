"""How close are lower bounds to what Greedy Merge builds, what do they take, and what does reverse delete?

    python -m benchmarks.bounds

Degrees are averages, 2 |E| / |V|. Seconds are the best of three, after a call that compiles. A step of the
dual is a pair of nodes or, if more, a pair of subscribers of a topic; one of overlaps is the latter.
"""

from collections.abc import Callable
from time import perf_counter

import numpy as np

import meshwright as mw
from meshwright.construct.reverse_delete import by_shared_topics, reverse_delete
from meshwright.construct.weighted.by_price import least_cost
from meshwright.kernels.metrics.bounds import Subscribers
from meshwright.metrics.bounds import bounds_by_method
from meshwright.metrics.topics import prepare

_WORKLOADS = {
    "1,000 x 100, 20 topics per node": {"nodes": 1_000, "topics": 100, "subscriptions": 20},
    "5,000 x 1,000, 10 to 150 a node": {
        "nodes": 5_000,
        "topics": 1_000,
        "min_subscriptions": 10,
        "max_subscriptions": 150,
    },
    "4,800 x 50, 40 topics per node": {"nodes": 4_800, "topics": 50, "subscriptions": 40},
}
_SEED = 1


def best_of_three(work: Callable[[], object]) -> float:
    """The seconds of the fastest of three calls; one before them compiles."""
    work()
    seconds = []
    for _ in range(3):
        begin = perf_counter()
        work()
        seconds.append(perf_counter() - begin)
    return min(seconds)


def show_bounds(words: str, interests: mw.Interests) -> None:
    """Bounds by each method beside Greedy Merge's degree, and the time of the dual and of overlaps."""
    subscribers = Subscribers(interests.topic_indptr, interests.node_ids.view(np.uint32))
    _, lists = prepare(mw.Overlay(interests, np.empty((0, 2), np.int32)))
    found, _ = bounds_by_method(subscribers, lists, interests.node_count)
    degrees = {name: 2 * edges / interests.node_count for name, edges in found.items()}
    degrees["gm"] = 2 * len(mw.build(interests, "gm", seed=0).edges) / interests.node_count
    print(f"{words}: " + ", ".join(f"{name} {degree:.2f}" for name, degree in degrees.items()))
    dual = best_of_three(lambda: least_cost(lists.indptr, lists.topic_ids, interests.topic_count))
    pairs = interests.node_count**2 / 2
    steps = float(np.sum(np.diff(interests.topic_indptr).astype(float) ** 2) / 2)
    print(f"    the dual takes {dual:.2f} s: {dual / pairs * 1e9:.0f} ns per pair of nodes, "
          f"{dual / steps * 1e9:.0f} ns per pair of subscribers")  # fmt: skip


def show_reverse_delete() -> None:
    """What is left of a ring for each topic, in two orders."""
    interests = mw.workloads.unif(**_WORKLOADS["1,000 x 100, 20 topics per node"], seed=_SEED)
    ring = mw.build(interests, "ring", seed=0).edges
    mixed = np.random.default_rng(_SEED).permutation(ring)
    by_topics = reverse_delete(interests, by_shared_topics(ring, interests))
    print(f"a ring for each topic has {len(ring):,} edges; reverse delete leaves {len(by_topics):,}, those "
          f"whose ends share most looked at last, and {len(reverse_delete(interests, mixed)):,} "
          f"in a random order")  # fmt: skip


def main() -> None:
    """Print all of it."""
    for words, sizes in _WORKLOADS.items():
        show_bounds(words, mw.workloads.unif(**sizes, seed=_SEED))
    show_reverse_delete()


if __name__ == "__main__":
    main()
