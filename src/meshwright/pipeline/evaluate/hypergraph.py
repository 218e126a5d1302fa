"""What interests alone say: the sizes of topics, and which topics chains of nodes connect.

What tasks found is merged in a tree, a few at a time.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from meshwright.construct.overlaps import overlaps_pay
from meshwright.kernels.core.subgraphs import TopicLists, interest_ranks
from meshwright.kernels.metrics.bounds import Subscribers, interest_components
from meshwright.metrics.bounds import LowerBound, bound_of, dual_pays
from meshwright.model.costs.costs import Costs
from meshwright.model.dense import transposed
from meshwright.pipeline.evaluate.grid import Grid
from meshwright.pipeline.spark import functions as f
from meshwright.pipeline.spark.arrays import Batches, Packed, gathered, large_batches, list_arrays
from meshwright.pipeline.spark.failures import translated
from meshwright.pipeline.spark.list_files import ListFiles
from meshwright.runtime.arrays import Ids, Offsets
from meshwright.runtime.memory import check_memory, needed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_MERGED_AT_ONCE = 8


def merged_in_tree(
    frame: "DataFrame",
    merge: Callable[[Batches], Batches],
    schema: str,
    *,
    parts: int,
    trees: int = 1,
) -> "DataFrame":
    """One partition for each of `trees`, which went through `merge` until all of its rows met.

    The column `place` of a row is its part times `trees`, plus its tree; `merge` gets the rows of one place
    at a time, and must keep it. All rounds are one job. A round brings together eight parts, so no task gets
    more than that, however many there are.
    """
    while True:
        parts = -(-parts // _MERGED_AT_ONCE)
        place = f.col("place") % (parts * trees)
        frame = frame.withColumn("place", place).repartitionById(parts * trees, "place")
        frame = frame.mapInArrow(merge, schema)
        if parts <= 1:
            return frame


_TOPICS = Packed("place", topics=np.int32, sizes=np.int64, firsts=np.int64, labels=np.int32)
_LISTS = Packed(nodes=np.int32, lengths=np.int64, topics=np.int32)
_BOUND = "edges long, method string, cost double"


class TopicSizes(NamedTuple):
    """By topic: its subscribers, those whose first topic it is, and the lowest topic that it hangs with."""

    sizes: Offsets
    firsts: Offsets
    labels: Ids


def topic_sizes(files: ListFiles, grid: Grid, where: str) -> TopicSizes:
    """Collected from all lists, in memory for some numbers per topic.

    A node links its topics, so a forest over topics says what hangs together; forests merge in a tree, and
    no global iteration is needed.
    """
    found = files.map(partial(_task_sizes, grid=grid, where=where), _TOPICS.ddl)
    merge = partial(_merge_sizes, topics=grid.topics)
    merged = merged_in_tree(found, merge, _TOPICS.ddl, parts=found.rdd.getNumPartitions())
    return _unpacked(merged.toArrow().to_batches(), grid.topics)[1]


def _alone(topics: int) -> TopicSizes:
    return TopicSizes(
        np.zeros(topics, np.int64), np.zeros(topics, np.int64), np.arange(topics, dtype=np.int32)
    )


def _task_sizes(batches: Batches, grid: Grid, where: str) -> Batches:
    from pyspark import TaskContext

    found = _alone(grid.topics)
    for table in large_batches(batches):
        _, indptr, topics = list_arrays(table, grid.nodes, grid.topics, where)
        firsts = topics[indptr[:-1][np.diff(indptr) > 0]]
        found = _sum(
            found,
            TopicSizes(
                np.bincount(topics, minlength=grid.topics),
                np.bincount(firsts, minlength=grid.topics),
                _components(indptr, topics, grid.topics),
            ),
        )
    context = TaskContext.get()
    yield _packed(context.partitionId() if context else 0, found)


def _components(indptr: Offsets, topics: Ids, topic_count: int) -> Ids:
    """By topic, the lowest that lists connect it to: interests read the other way round."""
    found: Ids = interest_components(Subscribers(indptr, np.array(topics).view(np.uint32)), topic_count)
    return found


def _sum(one: TopicSizes, other: TopicSizes) -> TopicSizes:
    """The counts of two sets of lists together."""
    topics = len(one.labels)
    every = np.arange(topics, dtype=np.int32)
    chains = np.stack([every, one.labels, every, other.labels], axis=1).ravel()
    labels = _components(np.arange(0, 4 * topics + 1, 4), chains, topics)
    return TopicSizes(one.sizes + other.sizes, one.firsts + other.firsts, labels)


def _packed(place: int, found: TopicSizes) -> pa.RecordBatch:
    """The topics that were seen: a task sees few of many."""
    seen = np.flatnonzero(found.sizes)
    values = {name: column[seen] for name, column in found._asdict().items()}
    return _TOPICS.batch(place=place, topics=seen.astype(np.int32), **values)


def _unpacked(batches: Iterable[pa.RecordBatch], topics: int) -> tuple[int, TopicSizes]:
    """The place of some rows, and what they say together."""
    place, found = 0, _alone(topics)
    for row in _TOPICS.rows(batches):
        place, part = row["place"], _alone(topics)
        for name, column in part._asdict().items():
            column[row["topics"]] = row[name]
        found = _sum(found, part)
    return place, found


def _merge_sizes(batches: Batches, topics: int) -> Batches:
    yield _packed(*_unpacked(batches, topics))


def lower_bound(
    lists: "DataFrame", found: TopicSizes, grid: Grid, where: str, costs: Costs | None = None
) -> LowerBound:
    """The numbers and method of `meshwright.metrics.bounds`.

    Where overlaps decide, interests are few enough for one task, which gets them all; else components of
    topics are enough, and they are known.
    """
    if not overlaps_pay(found.sizes):
        nodes = np.bincount(found.labels, found.firsts, minlength=grid.topics).astype(np.int64)
        return LowerBound(edges=int(np.maximum(nodes - 1, 0).sum()), method="spanning")
    packed = lists.mapInArrow(partial(_task_lists, grid=grid, where=where), _LISTS.ddl)
    known = costs if dual_pays(found.sizes, grid.nodes) else None  # else nobody asks for them
    bound = partial(_bound_lists, grid=grid, where=where, costs=known)
    bounds = packed.coalesce(1).mapInArrow(bound, _BOUND).collect()
    return LowerBound(**bounds[0].asDict())  # an empty table has a task, too


def check_bound_fits(session: "SparkSession", found: TopicSizes) -> None:
    """Refuse overlaps for which no task has the memory: a task says so, since it has another machine's."""
    estimate = needed("bounding", interests=int(found.sizes.sum()))

    def check(batches: Batches) -> Batches:
        check_memory("the lower bound", estimate, "evaluate without it (bound=False, --no-bound)")
        yield from batches

    if overlaps_pay(found.sizes):
        with translated():
            session.range(1).coalesce(1).mapInArrow(check, "id long").collect()


def _task_lists(batches: Batches, grid: Grid, where: str) -> Batches:
    for table in large_batches(batches):
        nodes, indptr, topics = list_arrays(table, grid.nodes, grid.topics, where)
        yield _LISTS.batch(nodes=nodes, lengths=np.diff(indptr), topics=topics)


def _bound_lists(batches: Batches, grid: Grid, where: str, costs: Costs | None) -> Batches:
    """The bound of all lists, which come in any order."""
    rows = list(_LISTS.rows(batches))
    nodes, lengths, values = (
        np.concatenate([np.empty(0, np.int32), *(row[name] for row in rows)])
        for name in ("nodes", "lengths", "topics")
    )
    indptr, topics = gathered(nodes, lengths, values, grid.nodes, where)
    lists = TopicLists(indptr, topics, interest_ranks(topics, grid.topics))
    topic_indptr, node_ids = transposed(indptr, topics, grid.topics)
    arrays = None if costs is None else costs.arrays()
    found = bound_of(Subscribers(topic_indptr, node_ids.view(np.uint32)), lists, grid.nodes, arrays)
    columns = [pa.array([found.edges]), pa.array([found.method]), pa.array([found.cost], pa.float64())]
    yield pa.record_batch(columns, names=["edges", "method", "cost"])
