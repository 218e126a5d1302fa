"""Answer what plans ask about the interests of a dataset, by Spark jobs over `lists/`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from meshwright.construct.parts.conquer import Part
from meshwright.construct.parts.interest_queries import stars_of_part
from meshwright.construct.parts.partitioning import parts_at, random_places
from meshwright.construct.parts.topic_lists import Lists, keep_topics, split_lists, take_lists
from meshwright.model.interests import Interests
from meshwright.pipeline.build.part_rows import (
    BLOCKS,
    PARTS,
    conquered,
    conquered_ranges,
    cut,
    cut_lists,
    joined,
    read_lists,
)
from meshwright.pipeline.spark import functions as f
from meshwright.pipeline.spark.arrays import Batches, Packed
from meshwright.pipeline.spark.list_files import ListFiles
from meshwright.pipeline.spark.status import spark_stage
from meshwright.pipeline.spark.tables import broadcast, load_interests
from meshwright.runtime.arrays import Flags, Ids, Offsets
from meshwright.runtime.memory import check_memory, needed
from meshwright.runtime.places import Place
from meshwright.runtime.progress import Progress

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


OWNERS = "topic_id int, owner int, shared boolean"


def of_pairs(pairs: Iterable[tuple[Ids, Ids]], topic_count: int) -> Batches:
    """What one task sees of (topics, owners): by topic, one of its owners, and whether it has another."""
    first, shared = np.full(topic_count, -1, np.int32), np.zeros(topic_count, np.bool_)
    for topic_ids, owners in pairs:
        new = first[topic_ids] < 0
        first[topic_ids[new]] = owners[new]
        shared[topic_ids[first[topic_ids] != owners]] = True
    seen = np.flatnonzero(first >= 0)
    columns = [seen.astype(np.int32), first[seen], shared[seen]]
    yield pa.record_batch([pa.array(own) for own in columns], names=["topic_id", "owner", "shared"])


def shared_flags(rows: DataFrame, topic_count: int) -> Flags:
    """By topic, whether it has several owners, of the rows of all tasks; collects at most all topics."""
    several = f.max("shared") | (f.min("owner") != f.max("owner"))
    found = (
        rows.groupBy("topic_id").agg(several.alias("several")).where("several").select("topic_id").toArrow()
    )
    flags = np.zeros(topic_count, np.bool_)
    flags[found.column("topic_id").to_numpy()] = True
    return flags


_COUNTS = Packed(nodes=np.int32, sizes=np.int32, topics=np.int32, subscribers=np.int64)
_TASKS_A_SLOT = 8
_INSTEAD = "give a smaller bulk set (bulk_limit, bulk_size, a higher threshold), or the driver more memory"


class SparkSource:
    """A `Source` whose answers are computed where the data is.

    The driver holds what is as long as nodes or topics, and the lists that are asked for, after a check that
    they fit: 40 bytes per node and 16 per interest of these.
    """

    def __init__(
        self, session: SparkSession, dataset: Place, counts: dict[str, int], progress: Progress | None
    ) -> None:
        self._session, self._dataset, self.counts, self._progress = session, dataset, counts, progress
        self.node_count, self.topic_count = counts["nodes"], counts["topics"]
        self._files = ListFiles(session, dataset, counts["nodes"])
        self._known_stars: dict[tuple[int, int], int] = {}

    def tasks(self, groups: int) -> int:
        """How many tasks so many groups are worth: several for each core, so that none waits long for one."""
        return max(1, min(groups, _TASKS_A_SLOT * self._session.sparkContext.defaultParallelism))

    def blocks(self, part_of: Any, partitions: int) -> DataFrame:
        """Blocks (see `BLOCKS`), those of a part in one task; `part_of` gives the parts of some nodes."""
        how = partial(cut_lists, part_of=part_of, nodes=self.node_count, topics=self.topic_count)
        mapped = self._files.map(how, BLOCKS)
        # A number of tasks that is stated is left alone by adaptive coalescing, which would pack all parts
        # into a few tasks, since their bytes are few beside the work on them.
        return mapped.repartitionById(self.tasks(partitions), "part")

    def ranges(self, span: int, partitions: int, work: Callable[[int, Lists], Part]) -> DataFrame:
        """Rows of `PARTS`: `work` on each range of `span` nodes, brought together if files have it apart."""
        nodes, topics = self.node_count, self.topic_count

        def conquer(batches: Iterable[pa.RecordBatch]) -> Batches:
            return conquered_ranges(read_lists(batches, nodes, topics), span, work)

        found = self._files.map_ranges(conquer, PARTS, span)
        return conquered(self.blocks(lambda ids: ids // span, partitions), work) if found is None else found

    @cached_property
    def _counts(self) -> tuple[Offsets, Offsets]:
        """The topics of each node, and the subscribers of each topic; one pass over all lists."""
        nodes, topics = self.node_count, self.topic_count

        def measure(batches: Iterable[pa.RecordBatch]) -> Batches:
            subscribers = np.zeros(topics, np.int64)
            for lists in read_lists(batches, nodes, topics):
                subscribers += np.bincount(lists.topic_ids, minlength=topics)
                sizes = np.diff(lists.indptr).astype(np.int32)
                yield _COUNTS.batch(nodes=lists.nodes, sizes=sizes)
            seen = np.flatnonzero(subscribers).astype(np.int32)
            yield _COUNTS.batch(topics=seen, subscribers=subscribers[seen])

        sizes, subscribers = np.zeros(nodes, np.int64), np.zeros(topics, np.int64)
        with self._stage("counting topics of nodes"):
            found = self._files.map(measure, _COUNTS.ddl).toArrow()
        for row in _COUNTS.rows(found.to_batches()):
            sizes[row["nodes"]] = row["sizes"]
            subscribers[row["topics"]] += row["subscribers"]
        return sizes, subscribers

    def sizes(self) -> Offsets:
        """See `Source`."""
        return self._counts[0]

    def subscribers(self) -> Offsets:
        """See `Source`."""
        return self._counts[1]

    def lists(self, nodes: Flags, topics: Flags | None = None) -> Lists:
        """See `Source`; refused where the driver has no room for them."""
        self._check_room(nodes, topics)
        counts = self.node_count, self.topic_count

        def choose(batches: Iterable[pa.RecordBatch]) -> Batches:
            wanted_nodes, wanted_topics = flags.value
            for lists in read_lists(batches, *counts):
                rows = np.flatnonzero(wanted_nodes[lists.nodes]).astype(np.int32)
                found = take_lists(lists, rows)
                found = found if wanted_topics is None else keep_topics(found, wanted_topics)
                yield cut(found, np.zeros(len(found.nodes), np.int32))

        with broadcast(self._session, (nodes, topics)) as flags, self._stage("fetching lists of some nodes"):
            return joined(self._files.map(choose, BLOCKS).toArrow())

    def _check_room(self, nodes: Flags, topics: Flags | None) -> None:
        count = int(nodes.sum())
        most = int(self.sizes()[nodes].sum())
        if topics is not None:
            most = min(most, int(self.subscribers()[topics].sum()))
            count = min(count, most)
        what = f"fetching {count:,} nodes with {most:,} interests to the driver"
        check_memory(what, needed("fetching", nodes=count, interests=most), _INSTEAD)

    def shared(self, owner_of: Ids) -> Flags:
        """See `Source`."""
        nodes, topics = self.node_count, self.topic_count

        def note(batches: Iterable[pa.RecordBatch]) -> Batches:
            seen = (
                (lists.topic_ids, np.repeat(by_node.value[lists.nodes], np.diff(lists.indptr)))
                for lists in read_lists(batches, nodes, topics)
            )
            return of_pairs(seen, topics)

        with broadcast(self._session, owner_of) as by_node, self._stage("finding shared topics"):
            return shared_flags(self._files.map(note, OWNERS), topics)

    def count_stars(self, partitions: int, seed: int) -> int:
        """See `Source`; a job shuffles the lists once, for several numbers of parts if it can.

        Parts of p nodes lie within those of p/2, so that a job that brings the latter together counts the
        stars of both. The search doubles p, so the next doublings are counted along with a power of two.
        """
        if (partitions, seed) not in self._known_stars:
            powers = [partitions // 2, partitions, 2 * partitions, 4 * partitions]
            tried = powers if partitions.bit_count() == 1 and partitions > 1 else [partitions]
            tried = [p for p in tried if p <= self.node_count and (p, seed) not in self._known_stars]
            for p, stars in self._stars_of(tried, seed).items():
                self._known_stars[p, seed] = stars
        return self._known_stars[partitions, seed]

    def _stars_of(self, tried: list[int], seed: int) -> dict[int, int]:
        """By number of parts, the stars; the first of the numbers divides the others."""
        nodes, fewest = self.node_count, tried[0]

        def count(blocks: pa.Table) -> pa.Table:
            places, wanted = known.value
            lists = joined(blocks)
            stars = []
            for p in tried:
                parts = parts_at(places[lists.nodes], nodes, p)
                within = split_lists(lists, parts - parts.min(), int(parts.max() - parts.min()) + 1)
                stars.append(sum(stars_of_part(part, wanted) for part in within))
            return pa.table({"partitions": pa.array(tried, pa.int64()), "stars": pa.array(stars, pa.int64())})

        session, everything = self._session, (random_places(nodes, seed), self.subscribers() > 1)
        with broadcast(session, everything) as known, spark_stage(session, None, "counting stars"):
            blocks = self.blocks(lambda ids: parts_at(known.value[0][ids], nodes, fewest), fewest)
            counted = blocks.groupBy("part").applyInArrow(count, "partitions bigint, stars bigint")
            rows = counted.groupBy("partitions").agg(f.sum("stars").alias("stars")).collect()
        return {row.partitions: row.stars for row in rows}

    def interests(self) -> Interests:
        """See `Source`; refused where the driver has no room for them."""
        return load_interests(self._session, self._dataset, self.counts)

    def _stage(self, label: str) -> AbstractContextManager[None]:
        return spark_stage(self._session, self._progress, label)
