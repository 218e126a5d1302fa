"""`evaluate` on Spark: the numbers of `meshwright.metrics`, without holding the overlay in one place."""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from meshwright.construct.overlaps import overlaps_pay
from meshwright.metrics.condensed import FEWEST_INTERESTS
from meshwright.metrics.condensed import measure as measure_hubs
from meshwright.metrics.evaluation import Evaluation, Measures, assemble, unit_of
from meshwright.metrics.sampled_bound import choose_samples
from meshwright.metrics.statistics import Partial, partial_sum, total
from meshwright.metrics.topics import DIAMETER_BUDGET, TopicMeasures, budget_of, mean_coefficient, settled
from meshwright.metrics.views import LinkCounts
from meshwright.model.costs.costs import Costs
from meshwright.model.storage.manifest import check_counts, counted
from meshwright.model.storage.schema import INT32
from meshwright.model.views import TABLE as VIEWS
from meshwright.pipeline.cost_files import CostFiles
from meshwright.pipeline.evaluate.condensed import condense_on_spark, degrees_of, find_condensed_hubs
from meshwright.pipeline.evaluate.grid import Grid, grid_of
from meshwright.pipeline.evaluate.hot_topics import least_diameters, measured_hot
from meshwright.pipeline.evaluate.hubs import find_hubs, hub_runs, ranges_of, without_hubs
from meshwright.pipeline.evaluate.hypergraph import check_bound_fits, lower_bound, topic_sizes
from meshwright.pipeline.evaluate.some_lists import KnownLists, Sizes, likely_bound
from meshwright.pipeline.evaluate.topics import (
    edges_by_topic,
    grouped,
    load_by_topic,
    losses,
    measured_groups,
    without_edges,
)
from meshwright.pipeline.evaluate.triangles import NodeMeasures, colouring, node_measures
from meshwright.pipeline.spark import functions as f
from meshwright.pipeline.spark.arrays import Batches, by_id
from meshwright.pipeline.spark.failures import translated
from meshwright.pipeline.spark.list_files import ListFiles, TableFiles
from meshwright.pipeline.spark.settings import check_scratch
from meshwright.pipeline.spark.status import spark_stage
from meshwright.pipeline.spark.storage import open_checked, read_table
from meshwright.pipeline.spark.tables import broadcast, load_costs, load_nodes
from meshwright.runtime.arrays import Flags, Floats, Ids, Offsets
from meshwright.runtime.checks import check_whole
from meshwright.runtime.disk import sent_bytes
from meshwright.runtime.errors import DatasetError, OptionError
from meshwright.runtime.places import Place
from meshwright.runtime.progress import Progress

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame, SparkSession


def link_counts(views: "DataFrame", nodes: int, where: str) -> LinkCounts:
    """Logical and physical links of all nodes, and in how many views each is; 24 bytes per node come back.

    One shuffle by pairs of a node and its peer, in which logical links are added up before they are sent.
    Ids out of range are refused, and nodes that are in their own view. Whether peers subscribe to the topic
    of a view, only evaluating in process checks: here it would take a join with all interests.
    """
    from pyspark import StorageLevel

    links = views.groupBy("node_id", "peer_id").agg(f.count(f.lit(1)).alias("topics"))
    links = links.persist(StorageLevel.DISK_ONLY)  # read twice
    try:
        _check(links, nodes, where)
        own = links.groupBy("node_id").agg(
            f.sum("topics").alias("logical"), f.count("topics").alias("physical")
        )
        held = links.groupBy("peer_id").agg(f.count("topics").alias("held_by"))
        mine, others = own.toArrow(), held.toArrow()
    finally:
        links.unpersist()
    return LinkCounts(
        logical=by_id(mine, "node_id", "logical", nodes),
        physical=by_id(mine, "node_id", "physical", nodes),
        held_by=by_id(others, "peer_id", "held_by", nodes),
    )


def _check(links: "DataFrame", nodes: int, where: str) -> None:
    ends = ("node_id", "peer_id")
    outside = " OR ".join(f"{end} IS NULL OR {end} < 0 OR {end} >= {nodes}" for end in ends)
    wrong = links.where(f"{outside} OR node_id = peer_id").head(1)
    for node, peer, _ in wrong:
        raise DatasetError(
            f"{where}: views/ has node {node} with peer {peer}; ids go from 0 to {nodes - 1}, and no node "
            f"is in its own view: write the views again"
        )


MOST_EDGES = 1 << 26
"""Edges of a topic that is measured as in process; a task holds it, at the bytes that docs/scale.md tells."""

_PARTIAL_SUMS = ", ".join(f"{name} bigint" for name in Partial._fields) + ", least double"
_COUNTED = ("nodes", "topics", "interests", "edges")


class _Job(NamedTuple):
    """What the stages share: the tables, where they are (for errors), and what the caller wants to know."""

    session: "SparkSession"
    progress: Progress | None
    edges: "DataFrame"
    edge_files: TableFiles
    lists: "DataFrame"
    nodes: "DataFrame"
    files: ListFiles
    topics: "DataFrame"
    views: "DataFrame | None"
    counts: Mapping[str, int]
    grid: Grid
    where: str
    budget: int
    bound: bool
    costs: Costs | None
    most_edges: int


class _Costs(NamedTuple):
    """The sum of all costs and the least; None and 0 where links have none."""

    total: float | None
    least: float


def evaluate_on_spark(
    session: "SparkSession",
    dataset: Place,
    *,
    costs: CostFiles | None = None,
    diameters: bool = True,
    diameter_budget: int | None = DIAMETER_BUDGET,
    bound: bool = True,
    most_edges: int = MOST_EDGES,
    progress: Progress | None = None,
) -> Evaluation:
    """Measure an overlay dataset: the numbers that `meshwright.metrics` gives, means but for rounding.

    With `costs` links cost what these say, in place of what they may have cost; tasks know all costs.

    Edges and interests stay in tasks; what comes to the driver are arrays by node or by topic. Topics whose
    sub-overlay has more than `most_edges` edges get exact components, and bounds on the diameter: where these
    differ, `diameters_exact` is false, and `Evaluation` says what is stated then.
    """
    check_whole("diameter_budget", diameter_budget, 1)
    if most_edges < 1:
        raise OptionError(f"most_edges is {most_edges}; give 1 or more", option="most_edges")
    checked = open_checked(dataset, ("edges", "lists", "topics", VIEWS), "overlay")
    manifest = checked.manifest
    counts = _checked_counts(dataset, manifest)
    with ExitStack() as opened:
        opened.enter_context(translated())
        given = None if costs is None else costs.load(load_nodes(session, dataset))
        edges = read_table(session, dataset / "edges")
        columns = [name for name in ("source_id", "target_id", "cost") if name in edges.columns]
        edges = edges.select(*columns)
        if given is not None:
            edges = priced_edges(edges, opened.enter_context(broadcast(session, given)))
        job = _Job(
            session=session,
            progress=progress,
            edges=edges,
            edge_files=TableFiles(session, dataset / "edges", {"source_id": INT32, "target_id": INT32}),
            lists=read_table(session, dataset / "lists").select("node_id", "topic_ids"),
            nodes=read_table(session, dataset / "nodes").select("id", "name"),
            files=ListFiles(session, dataset, counts["nodes"]),
            topics=read_table(session, dataset / "topics").select("id", "name"),
            views=read_table(session, dataset / VIEWS) if VIEWS in manifest["tables"] else None,
            counts=counts,
            grid=grid_of(counts),
            where=str(dataset),
            budget=budget_of(diameters, diameter_budget),
            bound=bound,
            costs=given if given is not None or not bound else load_costs(session, dataset),
            most_edges=most_edges,
        )
        found = _measure(job)
    measured = {"topics": len(found.topic_names), "interests": found.interests, "edges": found.edges}
    check_counts(checked, measured)
    unit = unit_of(manifest["facts"]) if given is None else given.unit
    return replace(assemble(found, diameters=diameters), cost_unit=unit)


def _checked_counts(dataset: Place, manifest: Mapping[str, Any]) -> Mapping[str, int]:
    """The counts of a manifest that has them all, of a dataset that has the dense tables."""
    counts = counted(manifest, _COUNTED, dataset)
    missing = [name for name in ("lists", "topics", "edges") if not (dataset / name).is_dir()]
    if missing:
        raise DatasetError(f"{dataset} has no {missing[0]}; write the dataset again")
    return counts


def _measure(job: _Job) -> Measures:
    """All measures, one stage after the other; what memory forbids is refused before the long ones."""
    with spark_stage(job.session, job.progress, "reading interests"):
        names = _names(job.topics.toArrow())
        interests = topic_sizes(job.files, job.grid, job.where)
    if job.bound:
        check_bound_fits(job.session, interests)
    samples = _samples(job, interests.sizes)
    costs, nodes, topics, known = _measure_links(job, interests.sizes, samples)
    bound, likely = None, None
    if job.bound:
        with spark_stage(job.session, job.progress, "bounding the degree"):
            bound = lower_bound(job.lists, interests, job.grid, job.where, job.costs)
            likely = likely_bound(job.session, job.files, samples, known, _sizes(job))
    views = None
    if job.views is not None:
        with spark_stage(job.session, job.progress, "counting links"):
            views = link_counts(job.views, job.grid.nodes, job.where)
    return Measures(
        interests=int(interests.sizes.sum()),
        edges=int(nodes.degrees.sum()) // 2,
        costs=costs.total,
        degrees=nodes.degrees,
        clustering=mean_coefficient(nodes.degrees, nodes.triangles),
        topics=topics,
        bound=bound,
        likely=likely,
        topic_names=names,
        worst=topics.failures.worst(partial(_node_names, job.nodes)),
        view_counts=views,
    )


def _samples(job: _Job, sizes: Offsets) -> Ids:
    """The nodes that a likely bound is estimated by; none where it is not asked for, or overlaps tell."""
    if not job.bound or overlaps_pay(sizes):
        return np.empty(0, np.int32)
    return choose_samples(sizes, job.grid.nodes)


def _measure_links(
    job: _Job, sizes: Offsets, samples: Ids
) -> tuple[_Costs, NodeMeasures, TopicMeasures, KnownLists | None]:
    """What links cost, and the measures of nodes and of topics: condensed around hubs if that can be.

    Then the lists of the samples are fetched along with those of the hubs.
    """
    if "cost" not in job.edges.columns and int(sizes.sum()) >= FEWEST_INTERESTS:
        found = _measure_condensed(job, sizes, samples)
        if found is not None:
            return found
    with spark_stage(job.session, job.progress, "counting triangles"):
        costs = _costs(job.edges)
        nodes = node_measures(job.edges, colouring(job.grid.nodes, job.counts["edges"]), job.where)
    return costs, nodes, _measure_topics(job, sizes, nodes.degrees, costs), None


def _measure_condensed(
    job: _Job, topic_sizes: Offsets, samples: Ids
) -> tuple[_Costs, NodeMeasures, TopicMeasures, KnownLists] | None:
    """By what hubs tell of topics; None where they don't."""
    sizes = _sizes(job)
    check_scratch(
        job.session, f"evaluating {sizes.nodes:,} nodes", sent_bytes(sizes.nodes, job.counts["edges"])
    )
    with spark_stage(job.session, job.progress, "finding hubs"):
        degrees = degrees_of(job.edge_files, sizes)
        around = find_condensed_hubs(job.session, job.files, job.edge_files, degrees, samples, sizes)
    if around is None:
        return None
    hubs, known = around
    with spark_stage(job.session, job.progress, "condensing topics"):
        counts = job.counts["edges"], int(topic_sizes.sum())
        condensed = condense_on_spark(job.session, job.files, job.edge_files, hubs, counts, sizes)
    found = measure_hubs(hubs, *condensed, job.budget, job.progress)
    topics, left = settled(found, topic_sizes), found.results.unsettled
    if left.any():
        _measure_graphs(job, topics, degrees, left)
    return _Costs(None, 0.0), NodeMeasures(degrees, found.triangles), topics, known


def _node_names(nodes: "DataFrame", ids: Offsets) -> list[str]:
    """The names of a few nodes, in the order of their ids as given."""
    found = nodes.where(f.col("id").isin(ids.tolist())).collect() if len(ids) else []
    by_node = {row["id"]: row["name"] for row in found}
    return [by_node[node] for node in ids.tolist()]


def _names(topics: pa.Table) -> pa.StringArray:
    """The names of topics, by id."""
    return topics.sort_by("id")["name"].cast(pa.string()).combine_chunks()


def priced_edges(edges: "DataFrame", costs: "Broadcast[Costs]") -> "DataFrame":
    """The edges with what `costs` say that each costs."""

    def price(batches: Iterable[pa.RecordBatch]) -> Batches:
        for batch in batches:
            ends = batch.columns[:2]
            cost = pa.array(costs.value.between(*ends))
            yield pa.record_batch([*ends, cost], names=["source_id", "target_id", "cost"])

    return edges.select("source_id", "target_id").mapInArrow(
        price, "source_id int, target_id int, cost double"
    )


def _costs(edges: "DataFrame") -> _Costs:
    """What all links cost, exactly, so that it is the same however they are spread; and the least of them."""
    if "cost" not in edges.columns:
        return _Costs(None, 0.0)

    def summed(batches: Iterable[pa.RecordBatch]) -> Batches:
        for batch in batches:
            costs = batch.column(0).to_numpy(zero_copy_only=False)
            if len(costs):
                part = partial_sum(costs)
                least = np.full(len(part.exponents), costs.min())
                yield pa.record_batch([*part, least], names=[*Partial._fields, "least"])

    rows = edges.select("cost").mapInArrow(summed, _PARTIAL_SUMS).toArrow()
    part = Partial(*(rows[name].to_numpy() for name in Partial._fields))
    return _Costs(total([part]), min(rows["least"].to_pylist(), default=0.0))


def _measure_topics(job: _Job, sizes: Offsets, degrees: Offsets, costs: _Costs) -> TopicMeasures:
    """Components and diameters, in groups of topics; those too large for a task by forests."""
    found = without_edges(sizes, job.grid.nodes, budget=job.budget)
    links, cost_by_topic, hot = _measure_graphs(job, found, degrees, np.ones(len(sizes), np.bool_))
    found = replace(found, links=links, costs=cost_by_topic)
    if len(hot):
        _bound_hot(job, found, hot, int(degrees.max(initial=0)), costs)
    return found


def _measure_graphs(
    job: _Job, found: TopicMeasures, degrees: Offsets, chosen: Flags
) -> tuple[Offsets, Floats, Ids]:
    """Write the measures of some topics; gives by topic its links and what they cost, and the hot ones."""
    from pyspark import StorageLevel

    with ExitStack() as opened:
        # Read three times. On disk, since Java's memory is for shuffles.
        with spark_stage(job.session, job.progress, "sorting edges by topic"):
            runs, parts = _runs(job, degrees, opened)
            runs = runs.persist(StorageLevel.DISK_ONLY)
            opened.callback(runs.unpersist)
            links, cost_by_topic = load_by_topic(runs, len(found.sizes))
        own = np.where(chosen, links, 0)
        topics = grouped(found.sizes, own, job.most_edges, job.session.sparkContext.defaultParallelism)
        if topics.group_count:
            with spark_stage(job.session, job.progress, "measuring topics"):
                _write_rows(found, measured_groups(runs, topics, budget=job.budget))
        hot = np.flatnonzero(own > job.most_edges).astype(np.int32)
        if len(hot):
            with spark_stage(job.session, job.progress, "merging forests of hot topics"):
                how = {"parts": parts, "at_once": job.most_edges, "budget": job.budget}
                _write_rows(found, measured_hot(runs, hot, found.sizes, **how))
    return links, cost_by_topic, hot


def _sizes(job: _Job) -> Sizes:
    return Sizes(job.grid.nodes, job.grid.topics, job.where)


def _runs(job: _Job, degrees: Offsets, opened: ExitStack) -> tuple["DataFrame", int]:
    """The edges by topic, and how many partitions they are in: at hubs by ranges, others by cells."""
    if job.grid.blocks == 1:
        return edges_by_topic(job.edges, job.lists, job.grid, job.where), job.grid.cells
    sizes = _sizes(job)
    hubs = find_hubs(job.session, job.files, degrees, sizes)
    known = opened.enter_context(broadcast(job.session, hubs))
    ranges = ranges_of(job.files, job.counts)
    runs = hub_runs(job.edges, job.files, known, ranges, sizes)
    others = without_hubs(job.edges, known, sizes)
    if not others.head(1):
        return runs, ranges.number
    cells = edges_by_topic(others, job.lists, job.grid, job.where)
    both = runs.union(cells.withColumn("place", f.col("place") + ranges.number))
    return both, ranges.number + job.grid.cells


def _bound_hot(job: _Job, found: TopicMeasures, hot: Ids, maximum_degree: int, costs: _Costs) -> None:
    """Write lower bounds on the diameters of topics with too many edges."""
    if not job.budget:
        return
    connected = hot[found.components[hot] == 1]
    least = least_diameters(found.sizes[connected], found.links[connected], maximum_degree)
    found.least_diameters[connected] = least
    found.least_weighted_diameters[connected] = least * costs.least


def _write_rows(found: TopicMeasures, measured: "DataFrame") -> None:
    """Put the measures of topics where they belong, and add up what the loss of each node would cut off."""
    from pyspark import StorageLevel

    measured = measured.persist(StorageLevel.DISK_ONLY)  # read twice
    try:
        _write(found, measured.drop("nodes", "lost").toArrow())
        lost = losses(measured).toArrow()
    finally:
        measured.unpersist()
    nodes = lost["node"].to_numpy()
    found.failures.topics_cut[nodes] += lost["topics"].to_numpy()
    found.failures.cut_off[nodes] += lost["lost"].to_numpy()


def _write(found: TopicMeasures, rows: pa.Table) -> None:
    """Put measured topics (MEASURED) where they belong."""
    topics = rows["topic"].to_numpy()
    found.components[topics] = rows["components"].to_numpy()
    found.diameters[topics] = rows["diameter"].to_numpy()
    found.least_diameters[topics] = rows["least"].to_numpy()
    found.weighted_diameters[topics] = rows["weighted_diameter"].to_numpy()
    found.least_weighted_diameters[topics] = rows["least_weighted"].to_numpy()
    found.failures.cut_nodes[topics] = rows["cut_nodes"].to_numpy()
    found.failures.bridges[topics] = rows["bridges"].to_numpy()
