"""Divide and Conquer on Spark: a part is a group, and so is a run of parts to combine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

from meshwright.construct import dc, weighted_dc
from meshwright.construct.lists import Lists
from meshwright.construct.options import DcOptions
from meshwright.construct.parts import (
    Greedy,
    Part,
    PartOptions,
    Plan,
    combine,
    conquer,
    facts_of,
    group_parts,
)
from meshwright.construct.weighted_options import DcMawOptions
from meshwright.kernels.arrays import Flags, Ids
from meshwright.model.costs import Costs
from meshwright.pipeline.build import owners
from meshwright.pipeline.build.blocks import unpacked
from meshwright.pipeline.build.part_rows import PARTS, conquered, parts_in, row_of
from meshwright.pipeline.build.spread import NO_EDGES, Job, Kept, Spread, no_ticks
from meshwright.pipeline.engine.broadcasting import broadcast
from meshwright.pipeline.engine.status import spark_stage
from meshwright.pipeline.engine.storage import read_table


def divide_and_conquer(job: Job, costs: Costs | None, options: DcOptions, seed: int) -> Spread:
    """As `construct.dc.divide_and_conquer`, edge for edge, with parts and combines in tasks."""
    del costs
    planned = dc.plan(job.source, options, seed, job.progress)
    return _in_parts(job, planned, dc.greedy(options), options, seed)


def weighted_divide_and_conquer(job: Job, costs: Costs, options: DcMawOptions, seed: int) -> Spread:
    """As `construct.weighted_dc.weighted_divide_and_conquer`, edge for edge; all tasks know all costs."""
    planned = weighted_dc.plan(job.source, costs, options, seed)
    return _in_parts(job, planned, weighted_dc.greedy(costs, options), options, seed)


def _in_parts(job: Job, planned: Plan, greedy: Greedy, options: PartOptions, seed: int) -> Spread:
    """As `construct.parts.build_in_parts`.

    A task holds one part, or the stars of one combine, at a time. The driver holds the part of each node, a
    flag for each topic and a few counts of each part.
    """
    kept = [_conquer(job, planned, greedy, options.ties, seed)]
    while len(kept[-1].parts) > 1:
        kept.append(_combine(job, kept[-1], len(kept), greedy, options.most_stars))
    facts = facts_of(kept[-1].parts[0].facts, len(kept) - 1, job.source.node_count)
    return Spread(kept=kept, edges=NO_EDGES, facts=facts)


def _conquer(job: Job, planned: Plan, greedy: Greedy, ties: str, seed: int) -> Kept:
    with broadcast(job.session, (planned.part_of, planned.shared, greedy)) as known:

        def work(part: int, lists: Lists) -> Part:
            _, shared, take = known.value
            return conquer(take, part, lists, shared, ties, seed, no_ticks())

        blocks = job.source.blocks(lambda ids: known.value[0][ids], planned.partitions)
        return job.keep(conquered(blocks, work), "parts-0", "building the parts")


def _combine(job: Job, kept: Kept, level: int, greedy: Greedy, most_stars: int) -> Kept:
    """One level of the tree of combines."""
    from pyspark.sql import functions as f

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

    def note(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return owners.of_pairs((pair for batch in batches for pair in _stars_with_run(batch, run_of)), topics)

    rows = parts.select("part", "star_topics").mapInArrow(note, owners.OWNERS)
    with spark_stage(job.session, job.progress, "combining the parts"):
        return owners.shared_flags(rows, topics)


def _stars_with_run(batch: pa.RecordBatch, run_of: Ids) -> Iterator[tuple[Ids, Ids]]:
    for at, part in enumerate(batch.column("part").to_numpy()):
        topics = unpacked(batch.column("star_topics").slice(at, 1), np.int32)
        yield topics, np.full(len(topics), run_of[part], np.int32)
