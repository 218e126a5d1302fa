"""Hot topics: those with more edges than one task may hold.

The edges of a hot topic already lie in pieces, one for each cell of the grid (`grid.py`). Each task reduces
its piece to two spanning forests, the second of what the first leaves, and these are merged in a tree. Both
are breadth-first, so without any one vertex, or any one edge, they connect what all edges together connect
(Cheriyan, Kao and Thurimella, SIAM Journal on Computing 22(1), 1993), also when more edges come (Eppstein,
Galil, Italiano and Nissenzweig, Journal of the ACM 44(5), 1997); and they have fewer than two edges for each
subscriber of the topic. So components, cut nodes and bridges are exact. The diameter is at most that of the
tree that is left in the end, and at least what the number of subscribers and of links allows.
"""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from meshwright.kernels.core.forests import rank_ids, spanning_forest
from meshwright.kernels.core.subgraphs import TopicGraphs
from meshwright.pipeline.evaluate import topics as by_topic
from meshwright.pipeline.evaluate.hypergraph import merged_in_tree
from meshwright.pipeline.evaluate.topics import MEASURED, RUNS, Runs, as_ends, as_words
from meshwright.pipeline.spark.arrays import Array, Batches
from meshwright.runtime.arrays import Floats, Ids, Offsets

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def measured_hot(
    runs: "DataFrame", hot: Ids, sizes: Offsets, *, parts: int, at_once: int, budget: int
) -> "DataFrame":
    """A row (MEASURED) for each of the `hot` topics; its diameters are those of a tree that spans it.

    `runs` has the edges, in `parts` partitions that are their places. A task reduces its edges as soon as
    `at_once` of a topic have come together.
    """
    forests = runs.mapInArrow(partial(_forests, hot=hot, at_once=at_once), RUNS.ddl)
    merged = merged_in_tree(forests, _merged, RUNS.ddl, parts=parts, trees=len(hot))
    return merged.mapInArrow(partial(_measure_trees, sizes=sizes, budget=budget), MEASURED)


def _forests(batches: Batches, hot: Ids, at_once: int) -> Batches:
    """The forests of each hot topic among the edges of a partition."""
    trees = np.full(int(hot.max()) + 1, -1, np.int32)
    trees[hot] = np.arange(len(hot), dtype=np.int32)
    part, forests = 0, [_Forest(at_once) for _ in hot]
    for runs in by_topic.unpacked(batches):
        part = runs.place
        keys = np.where(runs.topics < len(trees), trees[np.minimum(runs.topics, len(trees) - 1)], -1)
        for tree, chosen in by_topic.sorted_runs(runs, keys):
            forests[tree].add(chosen.ends, chosen.costs)
    for tree, forest in enumerate(forests):
        yield from forest.packed(part * len(hot) + tree, int(hot[tree]))


def _merged(batches: Batches) -> Batches:
    """The forests of forests that are of the same topic and place."""
    forest, last = _Forest(), None
    for last in by_topic.unpacked(batches):
        forest.add(last.ends, last.costs)
    if last is not None:
        yield from forest.packed(last.place, int(last.topics[0]))


def _measure_trees(batches: Batches, sizes: Offsets, budget: int) -> Batches:
    """Measure the forests of a partition, those of one topic."""
    rows = list(by_topic.unpacked(batches))
    if not rows:
        return
    topic = rows[0].topics[:1].astype(np.int64)
    words, costs = (np.concatenate([getattr(row, name) for row in rows]) for name in ("ends", "costs"))
    ends = as_ends(words)
    ids = rank_ids(ends)
    named = np.append(ids, np.full(sizes[topic[0]] - len(ids), -1)).astype(np.int32)
    cuts = by_topic.cuts_of(_graph(sizes[topic], ends), named)
    kept = spanning_forest(len(ids), ends)
    tree = _graph(sizes[topic], ends[kept])
    yield by_topic.measured(topic, tree, costs[kept] if len(costs) else costs, cuts, budget=budget)


def _graph(sizes: Offsets, ends: Ids) -> TopicGraphs:
    return by_topic.graphs_of(sizes, np.array([0, len(ends)]), ends)


class _Forest:
    """Edges of a topic, reduced to two spanning forests whenever many have come together."""

    def __init__(self, at_once: int | None = None) -> None:
        self._at_once = at_once
        self._waiting: list[tuple[Array, Floats]] = []
        self._count = 0

    def add(self, ends: Array, costs: Floats) -> None:
        """Take edges in."""
        self._waiting.append((ends, costs))
        self._count += len(ends)
        if self._at_once is not None and self._count > self._at_once:
            kept = self._reduced()
            self._waiting, self._count = [kept], 0

    def _reduced(self) -> tuple[Array, Floats]:
        words, costs = (np.concatenate(column) for column in zip(*self._waiting, strict=True))
        return reduced(words, costs)

    def packed(self, place: int, topic: int) -> Batches:
        """The forest as rows; none where there was no edge."""
        if self._waiting:
            words, costs = self._reduced()
            counts = np.array([len(words)], np.int32)
            yield from by_topic.packed(Runs(place, np.array([topic], np.int32), counts, words, costs))


def reduced(words: Array, costs: Floats) -> tuple[Array, Floats]:
    """The edges of two spanning forests, and their costs; the same in whatever order the edges come."""
    ends = as_ends(words)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    ends = ends[order]
    ranks = ends.copy()
    size = len(rank_ids(ranks))
    kept = spanning_forest(size, ranks)
    kept[~kept] = spanning_forest(size, ranks[~kept])
    return as_words(ends[kept]), costs[order][kept] if len(costs) else costs


def least_diameters(sizes: Offsets, edges: Offsets, maximum_degree: int) -> Ids:
    """A number that no diameter of a connected graph of so many vertices and edges is below.

    By Moore: within k steps of a vertex there are at most 1 + d (1 + (d - 1) + … + (d - 1)^(k - 1)) others
    and itself, where d is the greatest degree; and with fewer edges than pairs some distance is above 1.
    """
    least = np.zeros(len(sizes), np.int32)
    for topic, (size, count) in enumerate(zip(sizes.tolist(), edges.tolist(), strict=True)):
        reached, ring = 1, min(maximum_degree, size - 1)
        while reached < size and ring > 0:
            reached += ring
            ring *= maximum_degree - 1
            least[topic] += 1
        if size > 1 and count < size * (size - 1) // 2:
            least[topic] = max(least[topic], 2)
    return least
