"""Which topics more than one owner has, over all tasks."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from meshwright.kernels.arrays import Flags, Ids

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

OWNERS = "topic_id int, owner int, shared boolean"


class Owners:
    """What one task has seen: by topic, one of its owners, and whether it has another."""

    def __init__(self, topic_count: int) -> None:
        self._first = np.full(topic_count, -1, np.int32)
        self._shared = np.zeros(topic_count, np.bool_)

    def add(self, topic_ids: Ids, owners: Ids) -> None:
        """See more interests; `owners` has one, from 0 on, for each."""
        new = self._first[topic_ids] < 0
        self._first[topic_ids[new]] = owners[new]
        self._shared[topic_ids[self._first[topic_ids] != owners]] = True

    def batch(self) -> pa.RecordBatch:
        """A row of `OWNERS` for each topic seen."""
        seen = np.flatnonzero(self._first >= 0)
        return pa.record_batch(
            [pa.array(seen.astype(np.int32)), pa.array(self._first[seen]), pa.array(self._shared[seen])],
            names=["topic_id", "owner", "shared"],
        )


def of_pairs(pairs: Iterable[tuple[Ids, Ids]], topic_count: int) -> Iterator[pa.RecordBatch]:
    """The rows of a task that sees (topics, owners) again and again."""
    seen = Owners(topic_count)
    for topic_ids, owners in pairs:
        seen.add(topic_ids, owners)
    yield seen.batch()


def shared_flags(rows: "DataFrame", topic_count: int) -> Flags:
    """By topic, whether it has several owners, of the rows of all tasks; collects at most all topics."""
    from pyspark.sql import functions as f

    several = f.max("shared") | (f.min("owner") != f.max("owner"))
    found = (
        rows.groupBy("topic_id").agg(several.alias("several")).where("several").select("topic_id").toArrow()
    )
    flags = np.zeros(topic_count, np.bool_)
    flags[found.column("topic_id").to_numpy()] = True
    return flags
