"""The lists of some nodes on the driver: those of hubs, and of the nodes that a bound is estimated by."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from meshwright.kernels.metrics.bounds import raise_sampled_overlaps
from meshwright.metrics.sampled_bound import LikelyBound, bound_by_samples, sampled
from meshwright.pipeline.spark.arrays import Batches, Packed, gathered, large_batches, list_arrays
from meshwright.pipeline.spark.list_files import ListFiles
from meshwright.pipeline.spark.tables import broadcast
from meshwright.runtime.arrays import Flags, Ids, Offsets

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOME = Packed(nodes=np.int32, lengths=np.int32, topics=np.int32)
_OVERLAPS = Packed(overlaps=np.int32)


class Sizes(NamedTuple):
    """How many nodes and topics there are, and where they are, for errors."""

    nodes: int
    topics: int
    where: str


def flags(nodes: Ids, count: int) -> Flags:
    """By node, whether it is among `nodes`."""
    flags = np.zeros(count, np.bool_)
    flags[nodes] = True
    return flags


def checked(batches: Iterable[pa.RecordBatch], sizes: Sizes) -> Iterator[tuple[Ids, Offsets, Ids]]:
    """The nodes of each batch of rows, and their topics as a CSR."""
    for table in large_batches(batches):
        yield list_arrays(table, sizes.nodes, sizes.topics, sizes.where)


def rows_of(nodes: Ids, indptr: Offsets, topics: Ids, own: Flags) -> pa.RecordBatch:
    """The lists of those nodes that are flagged in `own`, packed (SOME)."""
    lengths = np.diff(indptr)
    values = topics[np.repeat(own, lengths)]
    return SOME.batch(nodes=nodes[own], lengths=lengths[own].astype(np.int32), topics=values)


def lists_of(session: "SparkSession", files: ListFiles, chosen: Ids, sizes: Sizes) -> tuple[Offsets, Ids]:
    """The topics of nodes, which are rising, as a CSR; a pass over all lists."""
    with broadcast(session, flags(chosen, sizes.nodes)) as known:

        def lists(batches: Iterable[pa.RecordBatch]) -> Batches:
            for nodes, indptr, topics in checked(batches, sizes):
                yield rows_of(nodes, indptr, topics, known.value[nodes])

        rows = list(SOME.rows(files.map(lists, SOME.ddl).toArrow().to_batches()))
    nodes, lengths, topics = (
        np.concatenate([np.empty(0, np.int32), *(row[name] for row in rows)])
        for name in ("nodes", "lengths", "topics")
    )
    places = np.searchsorted(chosen, nodes).astype(np.int32)
    return gathered(places, lengths, topics, len(chosen), sizes.where)


def list_rows(batches: Iterable[pa.RecordBatch], packed: Packed, span: int, sizes: Sizes) -> Batches:
    """The lists of each range of `span` nodes as rows of `packed`, for tasks that can't read files."""
    for nodes, indptr, topics in checked(batches, sizes):
        for place in np.unique(nodes // span).tolist():
            chosen = SOME.rows([rows_of(nodes, indptr, topics, nodes // span == place)])
            yield packed.batch(place=place, **next(chosen))


class KnownLists(NamedTuple):
    """The topics of some nodes, which are rising, as a CSR."""

    nodes: Ids
    indptr: Offsets
    topics: Ids

    def of(self, nodes: Ids) -> tuple[Offsets, Ids]:
        """Those of some of the nodes, in any order and any number of times."""
        places = np.searchsorted(self.nodes, nodes)
        lists = [self.topics[self.indptr[at] : self.indptr[at + 1]] for at in places]
        starts = np.concatenate([[0], np.cumsum([len(own) for own in lists])]).astype(np.int64)
        return starts, np.concatenate([np.empty(0, np.int32), *lists])


def likely_bound(
    session: "SparkSession", files: ListFiles, nodes: Ids, known: KnownLists | None, sizes: Sizes
) -> LikelyBound | None:
    """The number of `meshwright.metrics.sampled_bound` by the samples `nodes`; a pass over all lists.

    Another one before it unless their lists are known.
    """
    if not len(nodes):
        return None
    if known is None:
        chosen = np.unique(nodes)
        known = KnownLists(chosen, *lists_of(session, files, chosen, sizes))
    found = sampled(nodes, *known.of(nodes), sizes.topics)
    with broadcast(session, found) as held:

        def look(batches: Iterable[pa.RecordBatch]) -> Batches:
            overlaps, ticks = np.zeros(len(held.value.samples), np.int32), np.zeros(2, np.int64)
            for ids, own, values in checked(batches, sizes):
                raise_sampled_overlaps(ids.copy(), own, values, held.value, overlaps, ticks)
            yield _OVERLAPS.batch(overlaps=overlaps)

        rows = _OVERLAPS.rows(files.map(look, _OVERLAPS.ddl).toArrow().to_batches())
        overlaps = np.maximum.reduce(
            [np.zeros(len(found.samples), np.int32), *(row["overlaps"] for row in rows)]
        )
    return bound_by_samples(found, overlaps, sizes.topics, sizes.nodes)
