"""The algorithms that run in Spark tasks: Bulk Clones and Divide and Conquer.

For Bulk Clones the bulk set is joined on the driver and known to every task. For Divide and Conquer a part is
a group, and so is a run of parts to combine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from meshwright.construct.options import DcbcDirectOptions, DcbcOptions, DcMawOptions, DcOptions
from meshwright.construct.parts import dcbc, dcbc_direct
from meshwright.construct.parts.conquer import (
    Greedy,
    Part,
    PartOptions,
    PartsPlan,
    combine,
    conquer,
    facts_of,
    greedy_of,
    group_parts,
    plan,
)
from meshwright.construct.parts.topic_lists import Lists
from meshwright.construct.weighted import dc_maw
from meshwright.model.costs.costs import Costs
from meshwright.pipeline.build import source
from meshwright.pipeline.build.part_rows import (
    PARTS,
    Summary,
    conquered,
    parts_in,
    row_of,
    summaries,
)
from meshwright.pipeline.build.source import SparkSource
from meshwright.pipeline.spark import functions as f
from meshwright.pipeline.spark.arrays import Batches, unpacked
from meshwright.pipeline.spark.settings import is_local_master
from meshwright.pipeline.spark.status import spark_stage
from meshwright.pipeline.spark.storage import read_table, url
from meshwright.pipeline.spark.tables import broadcast
from meshwright.runtime.arrays import Flags, Ids, Ticks
from meshwright.runtime.machine import cores
from meshwright.runtime.places import Place
from meshwright.runtime.progress import StageTimer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, kw_only=True)
class Job:
    """A build that is under way: its interests, where it may write, and who watches."""

    session: SparkSession
    source: SparkSource
    scratch: Place
    progress: StageTimer

    def keep(self, parts: DataFrame, name: str, label: str) -> Kept:
        """Compute `parts` and write them down, so that nothing before them is ever computed again."""
        folder = self.scratch / name
        with spark_stage(self.session, self.progress, label):
            parts.write.parquet(url(folder))
            found = summaries(read_table(self.session, folder))
        return Kept(folder=folder, parts=found, label=label)

    def threads(self, groups: int) -> int:
        """How many threads a task may use where groups are so few: those of its executor that would idle."""
        local = is_local_master(self.session.sparkContext.master or "")
        each = cores() if local else int(self.session.conf.get("spark.executor.cores", "1") or 1)
        return max(1, each // max(1, groups))


@dataclass(frozen=True, kw_only=True)
class Kept:
    """Parts that are written down."""

    folder: Place
    parts: list[Summary]
    label: str


@dataclass(frozen=True, kw_only=True)
class Spread:
    """What a spread algorithm hands back: edges in tables and of the driver, and facts."""

    kept: list[Kept]
    edges: Ids
    facts: Mapping[str, Any]


NO_EDGES: Ids = np.empty((0, 2), np.int32)


def no_ticks() -> Ticks:
    """Ticks that nobody looks at: Spark itself shows the progress of tasks, and ends them."""
    return np.zeros(2, np.int64)


def bulk_clones(job: Job, costs: Costs | None, options: DcbcOptions, seed: int) -> Spread:
    """As `construct.parts.dcbc.bulk_clones`, edge for edge, with parts in tasks.

    The driver holds the bulk set and Greedy Merge on it, the nodes that have topics without a bulk
    subscriber, and some numbers for each node and topic; a task holds the bulk set and one part at a time.
    """
    del costs
    planned = dcbc.plan(job.source, options, seed, job.progress)
    with broadcast(job.session, (planned.part_of, planned.known)) as known:

        def work(part: int, lists: Lists) -> Part:
            return dcbc.conquer(part, lists, known.value[1], options, seed, no_ticks())

        blocks = job.source.blocks(lambda ids: known.value[0][ids], planned.partitions)
        kept = job.keep(conquered(blocks, work), "parts", "conquering parts")
    facts = dcbc.facts_of(planned, [part.facts for part in kept.parts])
    return Spread(kept=[kept], edges=planned.bulk_edges, facts=facts)


def bulk_clones_direct(job: Job, costs: Costs | None, options: DcbcDirectOptions, seed: int) -> Spread:
    """As `construct.parts.dcbc_direct.bulk_clones_direct`, edge for edge, with ranges of nodes in tasks.

    The driver holds what it does for `bulk_clones`; a task holds the bulk set and some ranges of 8,192 nodes.
    Each range is brought together whole, whatever the files of the dataset are cut into.
    """
    del costs
    planned = dcbc_direct.plan(job.source, options, seed, job.progress)
    span, slack = dcbc_direct.NODES_A_PART, options.slack
    with broadcast(job.session, (planned.is_light, planned.shared)) as known:

        def work(part: int, lists: Lists) -> Part:
            is_light, shared = known.value
            rows = is_light[lists.nodes].nonzero()[0].astype("int32")
            return dcbc_direct.cover(part, lists, rows, shared, slack, seed, no_ticks())

        parts = job.source.ranges(span, planned.partitions, work)
        kept = job.keep(parts, "parts", "covering topics")
    facts = dcbc_direct.facts_of(planned, [part.facts for part in kept.parts])
    return Spread(kept=[kept], edges=planned.bulk_edges, facts=facts)


def divide_and_conquer(job: Job, costs: Costs | None, options: DcOptions, seed: int) -> Spread:
    """As `construct.parts.conquer.divide_and_conquer`, edge for edge, with parts and combines in tasks."""
    del costs
    planned = plan(job.source, options, seed, job.progress)
    greedy = greedy_of(job.source, planned.partitions, options, seed, job.progress)
    return _in_parts(job, planned, greedy, options, seed)


def weighted_divide_and_conquer(job: Job, costs: Costs, options: DcMawOptions, seed: int) -> Spread:
    """As `construct.weighted.dc_maw.weighted_divide_and_conquer`, edge for edge; all tasks know all costs."""
    planned = dc_maw.plan(job.source, costs, options, seed)
    return _in_parts(job, planned, dc_maw.greedy(costs, options), options, seed)


def _in_parts(job: Job, planned: PartsPlan, greedy: Greedy, options: PartOptions, seed: int) -> Spread:
    """As `construct.parts.conquer.build_in_parts`.

    A task holds one part, or the stars of one combine, at a time. The driver holds the part of each node, a
    flag for each topic and a few counts of each part.
    """
    kept = [_conquer(job, planned, greedy, options.ties, seed)]
    while len(kept[-1].parts) > 1:
        kept.append(_combine(job, kept[-1], len(kept), greedy, options.most_stars))
    facts = facts_of(kept[-1].parts[0].facts, len(kept) - 1, job.source.node_count)
    return Spread(kept=kept, edges=NO_EDGES, facts=facts)


def _conquer(job: Job, planned: PartsPlan, greedy: Greedy, ties: str, seed: int) -> Kept:
    with broadcast(job.session, (planned.part_of, planned.shared, greedy)) as known:

        def work(part: int, lists: Lists) -> Part:
            _, shared, take = known.value
            return conquer(take, part, lists, shared, ties, seed, no_ticks())

        blocks = job.source.blocks(lambda ids: known.value[0][ids], planned.partitions)
        return job.keep(conquered(blocks, work), "parts-0", "building the parts")


def _combine(job: Job, kept: Kept, level: int, greedy: Greedy, most_stars: int) -> Kept:
    """One level of the tree of combines."""
    runs = group_parts([part.stars for part in kept.parts], most_stars)
    run_of = np.repeat(np.arange(len(runs), dtype=np.int32), [len(run) for run in runs])
    parts = read_table(job.session, kept.folder).drop("edges", "seconds")
    shared = _shared_by_run(job, parts, run_of)
    threads = job.threads(len(runs))
    numbers = np.array([part.number for part in kept.parts], np.int32)
    table = job.session.createDataFrame(pa.table({"part": numbers, "run": run_of}))
    with broadcast(job.session, (shared, greedy)) as known:

        def one(key: tuple[Any, ...], rows: pa.Table) -> pa.Table:
            begin, members = perf_counter(), parts_in(rows)
            whole = members[0]
            if len(members) > 1:
                elsewhere, take = known.value
                whole = combine(take, members, elsewhere, no_ticks(), threads)
            return row_of(key[0].as_py(), whole, perf_counter() - begin)

        grouped = parts.join(f.broadcast(table), "part").repartitionById(job.source.tasks(len(runs)), "run")
        combined = grouped.groupBy("run").applyInArrow(one, PARTS)
        return job.keep(combined, f"parts-{level}", "combining the parts")


def _shared_by_run(job: Job, parts: Any, run_of: Ids) -> Flags:
    """The topics that stars of more than one run have: a star set has all that another part has too."""
    topics = job.source.topic_count

    def note(batches: Iterable[pa.RecordBatch]) -> Batches:
        return source.of_pairs((pair for batch in batches for pair in _stars_with_run(batch, run_of)), topics)

    rows = parts.select("part", "star_topics").mapInArrow(note, source.OWNERS)
    with spark_stage(job.session, job.progress, "combining the parts"):
        return source.shared_flags(rows, topics)


def _stars_with_run(batch: pa.RecordBatch, run_of: Ids) -> Iterator[tuple[Ids, Ids]]:
    for at, part in enumerate(batch.column("part").to_numpy()):
        topics = unpacked(batch.column("star_topics").slice(at, 1), np.int32)
        yield topics, np.full(len(topics), run_of[part], np.int32)


SPREAD: Mapping[str, Callable[[Job, Any, Any, int], Spread]] = {
    "dc": divide_and_conquer,
    "dcbc": bulk_clones,
    "dcbc-direct": bulk_clones_direct,
    "dc-maw": weighted_divide_and_conquer,
}
"""By name, the algorithms that run in tasks; they get the job, the costs, their own options and the seed."""
