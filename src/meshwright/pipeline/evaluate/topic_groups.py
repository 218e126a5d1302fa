"""Components and diameters of topics: groups of topics, each a task that holds all of their edges."""

import heapq
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from meshwright.evaluate.topics import TopicMeasures
from meshwright.kernels.arrays import Floats, Ids, Offsets
from meshwright.kernels.diameters import measure_topics
from meshwright.kernels.forests import number_ends
from meshwright.kernels.runs import place_runs
from meshwright.kernels.subgraphs import TopicGraphs
from meshwright.kernels.weighted_diameters import weighted_topic_diameters
from meshwright.pipeline.evaluate.runs import RUNS, Runs, as_ends, packed, sorted_runs, unpacked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MEASURED = "topic int, components int, diameter int, weighted_diameter double"
_MEASURED_SCHEMA = pa.schema(
    [
        ("topic", pa.int32()),
        ("components", pa.int32()),
        ("diameter", pa.int32()),
        ("weighted_diameter", pa.float64()),
    ]
)
_COUNTED = "topic int, edges long"
_COUNTED_SCHEMA = pa.schema([("topic", pa.int32()), ("edges", pa.int64())])
_GROUPS_A_CORE = 4
_EDGES_WORTH_A_GROUP = 1 << 14


class Topics(NamedTuple):
    """By topic: its subscribers, the edges of its sub-overlay, and the group that it is measured in.

    The group of a topic without edges, or with too many for a task, is -1.
    """

    sizes: Offsets
    edges: Offsets
    groups: Ids

    @property
    def group_count(self) -> int:
        """How many groups there are."""
        return int(self.groups.max(initial=-1)) + 1


def edges_a_topic(runs: "DataFrame", topic_count: int) -> Offsets:
    """How many edges each topic's sub-overlay has; collected, a number a topic."""
    from pyspark.sql import functions as sf

    counted = runs.select("place", "topics", "counts").mapInArrow(_counted, _COUNTED)
    table = counted.groupBy("topic").agg(sf.sum("edges").alias("edges")).toArrow()
    edges = np.zeros(topic_count, np.int64)
    edges[table["topic"].to_numpy()] = table["edges"].to_numpy()
    return edges


def _counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for topics, counts in zip(batch["topics"], batch["counts"], strict=True):
            columns = [np.frombuffer(value.as_buffer(), np.int32) for value in (topics, counts)]
            yield pa.record_batch([columns[0], columns[1].astype(np.int64)], schema=_COUNTED_SCHEMA)


def grouped(sizes: Offsets, edges: Offsets, most_edges: int, cores: int) -> Topics:
    """Share the topics of up to `most_edges` among groups of about as many edges, a few for each core.

    Largest first, each to the group that has least: so no group has more than an even share and one topic.
    """
    groups = np.full(len(sizes), -1, np.int32)
    chosen = np.flatnonzero((edges > 0) & (edges <= most_edges))
    total = int(edges[chosen].sum())
    count = max(min(_GROUPS_A_CORE * cores, total // _EDGES_WORTH_A_GROUP), -(-total // most_edges))
    heap = [(0, group) for group in range(min(count, len(chosen)))]
    for topic in chosen[np.argsort(-edges[chosen], kind="stable")].tolist():
        load, group = heap[0]
        groups[topic] = group
        heapq.heapreplace(heap, (load + int(edges[topic]), group))
    return Topics(sizes, edges, groups)


def measured_groups(runs: "DataFrame", topics: Topics, *, diameters: bool) -> "DataFrame":
    """A row (MEASURED) for each topic that is in a group."""
    sent = runs.mapInArrow(partial(_sent, groups=topics.groups), RUNS)
    sent = sent.repartitionById(topics.group_count, "place")
    return sent.mapInArrow(partial(_measure_group, topics=topics, diameters=diameters), MEASURED)


def _sent(batches: Iterator[pa.RecordBatch], groups: Ids) -> Iterator[pa.RecordBatch]:
    """The runs for each group."""
    for runs in unpacked(batches):
        for group, chosen in sorted_runs(runs, groups[runs.topics]):
            yield from packed(chosen._replace(place=group))


def _measure_group(
    batches: Iterator[pa.RecordBatch], topics: Topics, diameters: bool
) -> Iterator[pa.RecordBatch]:
    """Put the edges where they belong as they come, so that a group is held once."""
    rows = unpacked(batches)
    first = next(rows, None)
    if first is None:
        return
    here = np.flatnonzero(topics.groups == first.place)
    indptr = np.concatenate([[0], np.cumsum(topics.edges[here])])
    ends = np.empty(indptr[-1], np.int64)
    costs = np.empty(indptr[-1] if len(first.costs) else 0)
    free = np.zeros(len(topics.groups), np.int64)
    free[here] = indptr[:-1]
    _place(first, free, ends, costs)
    for runs in rows:
        _place(runs, free, ends, costs)
    graphs = as_ends(ends)
    number_ends(graphs, indptr)
    yield measured(here, topics.sizes[here], indptr, graphs, costs, diameters=diameters)


def _place(runs: Runs, free: Offsets, ends: Offsets, costs: Floats) -> None:
    place_runs(free[runs.topics], runs.counts, runs.ends, ends)
    if len(runs.costs):
        place_runs(free[runs.topics], runs.counts, runs.costs, costs)
    free[runs.topics] += runs.counts


def measured(
    topics: Offsets, sizes: Offsets, indptr: Offsets, ends: Ids, costs: Floats, *, diameters: bool
) -> pa.RecordBatch:
    """The rows of topics whose graphs stand in a row; diameters are -1 where not asked for."""
    ticks = np.zeros(2, np.int64)
    every = np.arange(len(costs), dtype=np.int32)
    graphs = TopicGraphs(0, sizes, indptr, ends, every)
    components, hops = np.zeros(len(topics), np.int32), np.full(len(topics), -1, np.int32)
    weighted = np.full(len(topics), -1.0)
    measure_topics(graphs, components, hops, diameters, ticks)
    if diameters and len(costs):
        weighted_topic_diameters(graphs, costs, components, weighted, ticks)
    return pa.record_batch([topics.astype(np.int32), components, hops, weighted], schema=_MEASURED_SCHEMA)


def without_edges(sizes: Offsets, *, diameters: bool) -> TopicMeasures:
    """Measures as they are where no topic has an edge: every subscriber is alone."""
    hops = np.where(sizes <= 1, 0, -1).astype(np.int32)
    return TopicMeasures(
        sizes=sizes,
        components=sizes.astype(np.int32),
        diameters=hops if diameters else np.full(len(sizes), -1, np.int32),
        weighted_diameters=hops.astype(np.float64) if diameters else np.full(len(sizes), -1.0),
    )
