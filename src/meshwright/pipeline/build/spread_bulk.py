"""Bulk Clones on Spark: the bulk set is joined on the driver and known to every task."""

from meshwright.construct import dcbc, dcbc_direct
from meshwright.construct.lists import Lists
from meshwright.construct.options import DcbcDirectOptions, DcbcOptions
from meshwright.construct.parts import Part
from meshwright.model.costs import Costs
from meshwright.pipeline.build.part_rows import conquered
from meshwright.pipeline.build.spread import Job, Spread, no_ticks
from meshwright.pipeline.engine.broadcasting import broadcast


def bulk_clones(job: Job, costs: Costs | None, options: DcbcOptions, seed: int) -> Spread:
    """As `construct.dcbc.bulk_clones`, edge for edge, with parts in tasks.

    The driver holds the bulk set and Greedy Merge on it, the nodes that have topics without a bulk
    subscriber, and some numbers for each node and topic; a task holds the bulk set and one part at a time.
    """
    del costs
    planned = dcbc.plan(job.source, options, seed, job.progress)
    topics = job.source.topic_count
    with broadcast(job.session, (planned.part_of, planned.bulk)) as known:

        def work(part: int, lists: Lists) -> Part:
            return dcbc.conquer(part, lists, known.value[1], topics, options, seed, no_ticks())

        blocks = job.source.blocks(lambda ids: known.value[0][ids], planned.partitions)
        kept = job.keep(conquered(blocks, work), "parts", "conquering parts")
    facts = dcbc.facts_of(planned, [part.facts for part in kept.parts])
    return Spread(kept=[kept], edges=planned.bulk_edges, facts=facts)


def bulk_clones_direct(job: Job, costs: Costs | None, options: DcbcDirectOptions, seed: int) -> Spread:
    """As `construct.dcbc_direct.bulk_clones_direct`, edge for edge, with ranges of nodes in tasks.

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
            return dcbc_direct.conquer(part, lists, rows, shared, slack, seed, no_ticks())

        parts = job.source.ranges(span, planned.partitions, work)
        kept = job.keep(parts, "parts", "covering topics")
    facts = dcbc_direct.facts_of(planned, [part.facts for part in kept.parts])
    return Spread(kept=[kept], edges=planned.bulk_edges, facts=facts)
