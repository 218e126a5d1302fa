"""Parts of an overlay as rows of a table, so that they are computed once and outlive who computed them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from meshwright.construct.lists import Lists, join_lists
from meshwright.construct.parts import Part
from meshwright.kernels.arrays import Offsets
from meshwright.pipeline.build.blocks import by_id, joined, runs, unpacked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PARTS = """part int, edges binary, stars binary, star_sizes binary, star_topics binary, met binary,
    facts map<string, bigint>, seconds double"""

_SCHEMA = pa.schema(
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
    columns = [pa.array([value], kind) for value, kind in zip(values, _SCHEMA.types, strict=True)]
    return pa.table(columns, schema=_SCHEMA)


def parts_in(table: pa.Table) -> list[Part]:
    """The parts of some rows, by number, without their edges, which need not travel to be combined."""
    table = table.sort_by("part")
    return [_part(table.slice(at, 1)) for at in range(table.num_rows)]


def _part(row: pa.Table) -> Part:
    sizes = unpacked(row.column("star_sizes"), np.int32)
    stars = Lists(
        nodes=unpacked(row.column("stars"), np.int32),
        indptr=np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]),
        topic_ids=unpacked(row.column("star_topics"), np.int32),
    )
    met: Offsets = unpacked(row.column("met"), np.int64)
    facts = dict(row.column("facts")[0].as_py())
    return Part(edges=np.empty((0, 2), np.int32), stars=stars, met=met, facts=facts)


def conquered_ranges(
    lists: Iterable[Lists], span: int, work: Callable[[int, Lists], Part]
) -> Iterator[pa.RecordBatch]:
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
    from pyspark.sql import functions as f

    counts = (f.length("stars") / 4).cast("long"), (f.length("edges") / 8).cast("long")
    rows = parts.select("part", *counts, "facts", "seconds").sort("part").collect()
    return [Summary(*row) for row in rows]
