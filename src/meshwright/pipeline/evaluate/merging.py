"""What tasks found, merged in a tree: groups of a few, until there is one."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MERGED_AT_ONCE = 8


def merged_in_tree(
    frame: "DataFrame",
    merge: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
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
    from pyspark.sql import functions as sf

    while True:
        parts = -(-parts // _MERGED_AT_ONCE)
        place = sf.col("place") % (parts * trees)
        frame = frame.withColumn("place", place).repartitionById(parts * trees, "place")
        frame = frame.mapInArrow(merge, schema)
        if parts <= 1:
            return frame
