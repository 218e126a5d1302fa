"""Parts and lists of topics as rows of tables, on their way between tasks.

Rows hold many nodes each, as bytes: Spark moves a list value by value, from Arrow to its rows and back, but
copies bytes as they are. Parts in a table are computed once and survive the loss of the executor that
computed them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from meshwright.construct.parts.conquer import Part
from meshwright.construct.parts.topic_lists import Lists, join_lists, take_lists
from meshwright.model.dense import check_lists
from meshwright.pipeline.spark import functions as f
from meshwright.pipeline.spark.arrays import Batches, packed, unpacked
from meshwright.runtime.arrays import Ids, Offsets
from meshwright.runtime.errors import DatasetError, InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


BLOCKS = "part int, nodes binary, sizes binary, topic_ids binary"

_BLOCK_SCHEMA = pa.schema(
    [("part", pa.int32()), ("nodes", pa.binary()), ("sizes", pa.binary()), ("topic_ids", pa.binary())]
)
_INTERESTS_AT_ONCE = 1 << 22
"""Gathered before they are cut into blocks, so that blocks are long although parts are many."""


def read_lists(batches: Iterable[pa.RecordBatch], nodes: int, topics: int) -> Iterator[Lists]:
    """Rows of `lists/`, checked, some millions of interests at once."""
    waiting: list[Lists] = []
    for batch in batches:
        waiting.append(_checked(batch, nodes, topics))
        if sum(len(lists.topic_ids) for lists in waiting) >= _INTERESTS_AT_ONCE:
            yield join_lists(waiting)
            waiting = []
    if waiting:
        yield join_lists(waiting)


def _checked(batch: pa.RecordBatch, nodes: int, topics: int) -> Lists:
    ids, column = batch.column("node_id"), batch.column("topic_ids")
    values = column.flatten()
    if ids.null_count or column.null_count or values.null_count:
        raise DatasetError("lists/ of the dataset holds a null; write the dataset again")
    indptr = np.concatenate([[0], np.cumsum(column.value_lengths().to_numpy(), dtype=np.int64)])
    found = Lists(ids.to_numpy(), indptr, values.to_numpy())
    if len(found.nodes) and (found.nodes.min() < 0 or found.nodes.max() >= nodes):
        raise DatasetError(
            f"lists/ of the dataset has a node_id outside 0 to {nodes - 1}; write the dataset again"
        )
    try:
        check_lists(found.indptr, found.topic_ids, len(found.nodes), topics)
    except InputError as error:
        raise DatasetError(f"lists/ of the dataset, in a batch of rows: {error}") from None
    return found


def runs(ordered: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Offsets]:
    """The distinct values of a sorted array, and where each begins: linear, where `np.unique` sorts again."""
    starts = np.flatnonzero(np.concatenate([[len(ordered) > 0], ordered[1:] != ordered[:-1]]))
    return ordered[starts], starts


def cut(lists: Lists, parts: Ids) -> pa.RecordBatch:
    """A block for each part that `lists` have nodes of; a part below 0 is left out."""
    order = np.argsort(parts, kind="stable").astype(np.int32)
    order = order[np.searchsorted(parts[order], 0) :]
    sorted_lists = take_lists(lists, order)
    numbers, starts = runs(parts[order])
    sizes = np.diff(sorted_lists.indptr).astype(np.int32)
    ends = sorted_lists.indptr[starts[1:]]
    columns = [
        pa.array(numbers.astype(np.int32)),
        packed(np.split(sorted_lists.nodes, starts[1:])[: len(numbers)]),
        packed(np.split(sizes, starts[1:])[: len(numbers)]),
        packed(np.split(sorted_lists.topic_ids, ends)[: len(numbers)]),
    ]
    return pa.record_batch(columns, schema=_BLOCK_SCHEMA)


def cut_lists(
    batches: Iterable[pa.RecordBatch], part_of: Callable[[Ids], Ids], nodes: int, topics: int
) -> Batches:
    """For `mapInArrow`: rows of `lists/` to blocks; `part_of` gives the parts of some nodes."""
    for lists in read_lists(batches, nodes, topics):
        yield cut(lists, part_of(lists.nodes))


def joined(blocks: pa.Table) -> Lists:
    """The nodes of some blocks with their topics, by id."""
    return by_id(_lists(blocks, "nodes", "sizes", "topic_ids"))


def _lists(table: pa.Table, *columns: str) -> Lists:
    """The lists of all rows of a table, packed in its columns of nodes, sizes and topics."""
    nodes, sizes, topic_ids = (unpacked(table.column(name), np.int32) for name in columns)
    indptr = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    return Lists(nodes=nodes, indptr=indptr, topic_ids=topic_ids)


def by_id(lists: Lists) -> Lists:
    """The same by id; a node that comes twice is refused."""
    if (lists.nodes[1:] < lists.nodes[:-1]).any():
        lists = take_lists(lists, np.argsort(lists.nodes).astype(np.int32))
    if (lists.nodes[1:] == lists.nodes[:-1]).any():
        raise DatasetError("lists/ of the dataset has a node_id twice; write the dataset again")
    return lists


PARTS = """part int, edges binary, stars binary, star_sizes binary, star_topics binary, met binary,
    facts map<string, bigint>, seconds double"""

_PART_SCHEMA = pa.schema(
    [
        ("part", pa.int32()),
        *((name, pa.binary()) for name in ("edges", "stars", "star_sizes", "star_topics", "met")),
        ("facts", pa.map_(pa.string(), pa.int64())),
        ("seconds", pa.float64()),
    ]
)


_NOBODY = Lists(np.empty(0, np.int32), np.zeros(1, np.int64), np.empty(0, np.int32))


def row_of(number: int, part: Part, seconds: float) -> pa.Table:
    """A part as a table of one row; `seconds` is what the work on it took."""
    sizes = np.diff(part.stars.indptr).astype(np.int32)
    arrays = (part.edges.astype(np.int32), part.stars.nodes, sizes, part.stars.topic_ids, part.met)
    values = [number, *(array.tobytes() for array in arrays), list(part.facts.items()), seconds]
    columns = [pa.array([value], kind) for value, kind in zip(values, _PART_SCHEMA.types, strict=True)]
    return pa.table(columns, schema=_PART_SCHEMA)


def parts_in(table: pa.Table) -> list[Part]:
    """The parts of some rows, by number, without their edges, which need not travel to be combined."""
    table = table.sort_by("part")
    return [_part(table.slice(at, 1)) for at in range(table.num_rows)]


def _part(row: pa.Table) -> Part:
    stars = _lists(row, "stars", "star_sizes", "star_topics")
    met: Offsets = unpacked(row.column("met"), np.int64)
    facts = dict(row.column("facts")[0].as_py())
    return Part(edges=np.empty((0, 2), np.int32), stars=stars, met=met, facts=facts)


def conquered_ranges(lists: Iterable[Lists], span: int, work: Callable[[int, Lists], Part]) -> Batches:
    """Rows of `PARTS` for the ranges of `span` nodes that a task has all lists of."""
    whole = by_id(join_lists([*lists, _NOBODY]))
    numbers, starts = runs(whole.nodes // span)
    for number, start, end in zip(numbers.tolist(), starts, [*starts[1:], len(whole.nodes)], strict=True):
        begin = perf_counter()
        rows = Lists(whole.nodes[start:end], whole.indptr[start : end + 1], whole.topic_ids)
        yield from row_of(number, work(number, rows), perf_counter() - begin).to_batches()


def conquered(blocks: "DataFrame", work: Callable[[int, Lists], Part]) -> "DataFrame":
    """Rows of `PARTS`, one for each part of the blocks: `work` on its number and its nodes, in a task."""

    def one(key: tuple[Any, ...], rows: pa.Table) -> pa.Table:
        number, lists, begin = key[0].as_py(), joined(rows), perf_counter()
        return row_of(number, work(number, lists), perf_counter() - begin)

    return blocks.groupBy("part").applyInArrow(one, PARTS)


class Summary(NamedTuple):
    """What the driver learns of a part."""

    number: int
    stars: int
    edges: int
    facts: Mapping[str, int]
    seconds: float


def summaries(parts: "DataFrame") -> list[Summary]:
    """What the driver learns of the parts, by number."""
    counts = (f.length("stars") / 4).cast("long"), (f.length("edges") / 8).cast("long")
    rows = parts.select("part", *counts, "facts", "seconds").sort("part").collect()
    return [Summary(*row) for row in rows]
