"""What interests say by themselves: the sizes of topics, and which topics chains of nodes connect."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from meshwright.evaluate.bounds import LowerBound, bound_of, overlaps_pay
from meshwright.kernels.arrays import Ids, Offsets
from meshwright.kernels.bounds import Subscribers, interest_components
from meshwright.kernels.subgraphs import TopicLists, interest_ranks
from meshwright.machine import check_memory
from meshwright.model.dense import transposed
from meshwright.pipeline.engine.packing import batch_of, large_batches, rows_of
from meshwright.pipeline.engine.table_arrays import gathered, list_arrays
from meshwright.pipeline.evaluate.grid import Grid
from meshwright.pipeline.evaluate.merging import merged_in_tree

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_BYTES_AN_INTEREST = 40
_TOPICS = "place int, sizes binary, firsts binary, labels binary"
_TOPICS_SCHEMA = pa.schema(
    [("place", pa.int32()), *((name, pa.binary()) for name in ("sizes", "firsts", "labels"))]
)
_TOPICS_KINDS: Mapping[str, type[np.generic]] = {"sizes": np.int64, "firsts": np.int64, "labels": np.int32}
_LISTS = "nodes binary, lengths binary, topics binary"
_LISTS_SCHEMA = pa.schema([(name, pa.binary()) for name in ("nodes", "lengths", "topics")])
_LISTS_KINDS: Mapping[str, type[np.generic]] = {"nodes": np.int32, "lengths": np.int64, "topics": np.int32}
_BOUND = "edges long, method string"


class TopicSizes(NamedTuple):
    """By topic: its subscribers, those whose first topic it is, and the lowest topic that it hangs with."""

    sizes: Offsets
    firsts: Offsets
    labels: Ids


def topic_sizes(lists: "DataFrame", grid: Grid, where: str) -> TopicSizes:
    """Collected from all lists, in memory for some numbers a topic.

    A node links its topics, so a forest over topics says what hangs together; forests merge in a tree, and
    no global iteration is needed.
    """
    found = lists.mapInArrow(partial(_task_sizes, grid=grid, where=where), _TOPICS)
    merged = merged_in_tree(found, _merge_sizes, _TOPICS, parts=lists.rdd.getNumPartitions())
    rows = [row for batch in merged.toArrow().to_batches() for row in rows_of(batch, _TOPICS_KINDS)]
    return TopicSizes(*(rows[0][name] for name in TopicSizes._fields)) if rows else _alone(grid.topics)


def _alone(topics: int) -> TopicSizes:
    return TopicSizes(
        np.zeros(topics, np.int64), np.zeros(topics, np.int64), np.arange(topics, dtype=np.int32)
    )


def _task_sizes(batches: Iterator[pa.RecordBatch], grid: Grid, where: str) -> Iterator[pa.RecordBatch]:
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
    """Of two sets of lists together."""
    topics = len(one.labels)
    every = np.arange(topics, dtype=np.int32)
    chains = np.stack([every, one.labels, every, other.labels], axis=1).ravel()
    labels = _components(np.arange(0, 4 * topics + 1, 4), chains, topics)
    return TopicSizes(one.sizes + other.sizes, one.firsts + other.firsts, labels)


def _packed(place: int, found: TopicSizes) -> pa.RecordBatch:
    return batch_of({"place": place, **found._asdict()}, _TOPICS_SCHEMA)


def _merge_sizes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    place, found = 0, None
    for batch in batches:
        for row in rows_of(batch, _TOPICS_KINDS):
            place = row.pop("place")
            found = TopicSizes(**row) if found is None else _sum(found, TopicSizes(**row))
    if found is not None:
        yield _packed(place, found)


def lower_bound(lists: "DataFrame", found: TopicSizes, grid: Grid, where: str) -> LowerBound:
    """The number and method of `meshwright.evaluate.bounds`.

    Where overlaps decide, interests are few enough for one task, which gets them all; else components of
    topics are enough, and they are known.
    """
    if not overlaps_pay(found.sizes):
        nodes = np.bincount(found.labels, found.firsts, minlength=grid.topics).astype(np.int64)
        return LowerBound(edges=int(np.maximum(nodes - 1, 0).sum()), method="spanning")
    packed = lists.mapInArrow(partial(_task_lists, grid=grid, where=where), _LISTS)
    bounds = packed.coalesce(1).mapInArrow(partial(_bound_lists, grid=grid, where=where), _BOUND).collect()
    return LowerBound(edges=bounds[0]["edges"], method=bounds[0]["method"])  # an empty table has a task, too


def check_bound_fits(found: TopicSizes) -> None:
    """Refuse overlaps for which no task has the memory."""
    if overlaps_pay(found.sizes):
        needed = _BYTES_AN_INTEREST * int(found.sizes.sum())
        check_memory("the lower bound", needed, "evaluate without it (bound=False, --no-bound)")


def _task_lists(batches: Iterator[pa.RecordBatch], grid: Grid, where: str) -> Iterator[pa.RecordBatch]:
    for table in large_batches(batches):
        nodes, indptr, topics = list_arrays(table, grid.nodes, grid.topics, where)
        yield batch_of({"nodes": nodes, "lengths": np.diff(indptr), "topics": topics}, _LISTS_SCHEMA)


def _bound_lists(batches: Iterator[pa.RecordBatch], grid: Grid, where: str) -> Iterator[pa.RecordBatch]:
    """The bound of all lists, which come in any order."""
    rows = [row for batch in batches for row in rows_of(batch, _LISTS_KINDS)]
    nodes, lengths, values = (
        np.concatenate([np.empty(0, kind), *(row[name] for row in rows)])
        for name, kind in _LISTS_KINDS.items()
    )
    indptr, topics = gathered(nodes, lengths, values, grid.nodes, where)
    lists = TopicLists(indptr, topics, interest_ranks(topics, grid.topics))
    topic_indptr, node_ids = transposed(indptr, topics, grid.topics)
    found = bound_of(Subscribers(topic_indptr, node_ids.view(np.uint32)), lists, grid.nodes)
    yield pa.record_batch([[found.edges], [found.method]], names=["edges", "method"])
