"""Edges sorted by topic, packed: the row that tasks send each other.

A row holds runs: topic `topics[i]` has the next `counts[i]` of `ends` (m, 2), and of `costs` where there are
any. A (topic, u, v) takes 8 bytes in it; as a row of its own it would take 32 in Spark.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from meshwright.kernels.arrays import Floats, Ids
from meshwright.kernels.runs import place_runs
from meshwright.pipeline.engine.packing import Array, batch_of, rows_of

_EDGES_A_ROW = 1 << 20
_NAMES = ("topics", "counts", "ends", "costs")

RUNS = "place int, topics binary, counts binary, ends binary, costs binary"
_SCHEMA = pa.schema([("place", pa.int32()), *((name, pa.binary()) for name in _NAMES)])
_KINDS: Mapping[str, type[np.generic]] = {
    "topics": np.int32,
    "counts": np.int32,
    "ends": np.int64,
    "costs": np.float64,
}


class Runs(NamedTuple):
    """Edges by topic; `ends` has both ends of an edge in one number, `costs` is empty where links have none.

    `place` says where the row belongs: to a cell, a bucket or a tree.
    """

    place: int
    topics: Ids
    counts: Ids
    ends: Array
    costs: Floats


def as_words(ends: Ids) -> Array:
    """Ends (m, 2) as one number an edge, of the same bytes."""
    return np.ascontiguousarray(ends).view(np.int64).ravel()


def as_ends(words: Array) -> Ids:
    """The ends (m, 2) that such numbers are."""
    return words.view(np.int32).reshape(-1, 2)


def unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[Runs]:
    """The rows of a partition."""
    for batch in batches:
        for row in rows_of(batch, _KINDS):
            yield Runs(**row)


def packed(runs: Runs) -> Iterator[pa.RecordBatch]:
    """The same runs in rows of bounded length: a topic may go on in the next row."""
    reached = np.cumsum(runs.counts, dtype=np.int64)
    for start in range(0, len(runs.ends), _EDGES_A_ROW):
        stop = min(start + _EDGES_A_ROW, len(runs.ends))
        first, last = np.searchsorted(reached, [start, stop - 1], side="right")
        cuts = np.clip(reached[first : last + 1], start, stop)
        row: dict[str, Any] = {
            "place": runs.place,
            "topics": runs.topics[first : last + 1],
            "counts": np.diff(cuts, prepend=start).astype(np.int32),
            "ends": runs.ends[start:stop],
            "costs": runs.costs[start:stop],
        }
        yield batch_of(row, _SCHEMA)


def sorted_runs(runs: Runs, keys: Array) -> Iterator[tuple[int, Runs]]:
    """Each key from 0 on, and the runs that have it; runs of negative keys are left out."""
    order = np.argsort(keys, kind="stable")
    counts = runs.counts[order]
    places = np.empty(len(order), np.int64)
    places[order] = np.cumsum(counts) - counts
    ends, costs = np.empty_like(runs.ends), np.empty_like(runs.costs)
    place_runs(places, runs.counts, runs.ends, ends)
    if len(costs):
        place_runs(places, runs.counts, runs.costs, costs)
    found, starts = np.unique(keys[order], return_index=True)
    edges = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    cuts = [*starts.tolist(), len(order)]
    for key, (start, stop) in zip(found.tolist(), pairwise(cuts), strict=True):
        edge = slice(edges[start], edges[stop])
        if key >= 0:
            yield (
                key,
                Runs(runs.place, runs.topics[order[start:stop]], counts[start:stop], ends[edge], costs[edge]),
            )
