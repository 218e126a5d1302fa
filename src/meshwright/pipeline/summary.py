"""Bring together what the stages of a run have found, for its report; only sums reach the driver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from meshwright import building, registry
from meshwright.model.costs.costs import Costs
from meshwright.model.names import lookup
from meshwright.pipeline.cost_files import CostFiles
from meshwright.pipeline.spark import functions as f
from meshwright.pipeline.spark.arrays import Batches, by_id
from meshwright.pipeline.spark.status import spark_stage
from meshwright.pipeline.spark.storage import read_table
from meshwright.pipeline.spark.tables import broadcast, load_costs, load_interests, load_nodes
from meshwright.report.contents import (
    Alternative,
    Contents,
    Drawing,
    LinkClass,
    Map,
    Quality,
    Sharing,
    Spending,
)
from meshwright.report.overlay import choose_drawing
from meshwright.report.page import write_page
from meshwright.report.report_page import report_page
from meshwright.report.summary import alternatives
from meshwright.runtime.arrays import Flags, Floats, Ids, Longs
from meshwright.runtime.errors import CapacityError
from meshwright.runtime.memory import fits
from meshwright.runtime.places import Place
from meshwright.runtime.progress import Progress, stage
from meshwright.stan.measures import TABLE as BY_NODE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_DEAREST = 10
_MOST_DRAWN = 800
_PAIRS = "low int, high int, links long, cost double"
_QUARTERS = ("cheapest quarter", "second quarter", "third quarter", "dearest quarter")

_RIVALS: Mapping[bool, tuple[tuple[str, int, dict[str, Any]], ...]] = {
    True: (("gm", 10_000, {}), ("dc", 200_000, {"part_size": 2_000})),
    False: (("gr-maw", 5_000, {}), ("dc-maw", 50_000, {})),
}
"""By whether ours looks at costs: which other algorithm to compare with, up to how many nodes.

What each takes there: `benchmarks/gm.py`, `benchmarks/weighted.py`.
"""


class _Spots(NamedTuple):
    """Where links end, for sums: sites that several nodes share, or else the nodes themselves."""

    of_node: Ids
    names: pa.StringArray
    shared: bool


def spending_of(
    session: SparkSession,
    overlay: Place,
    counts: Mapping[str, int],
    algorithm: str,
    *,
    files: CostFiles | None,
    seed: int,
    progress: Progress | None,
) -> Spending | None:
    """Where the money goes in an overlay's dataset; None where it does not hold the costs between nodes."""
    costs = load_costs(session, overlay)
    if costs is None:
        return None
    spots = _spots(costs)
    with spark_stage(session, progress, "adding up costs"), broadcast(session, spots.of_node) as known:
        edges = read_table(session, overlay / "edges").select("source_id", "target_id", "cost")
        pairs = _pairs(edges, known).persist()
        try:
            classes = _local_and_long(pairs) if spots.shared else _quarters(edges)
            dearest = _dearest(pairs, spots)
            drawn = _map(session, overlay, pairs, spots, costs, files)
        finally:
            pairs.unpersist()
    needy = registry.find(algorithm, "build").needs_costs
    return Spending(
        classes=classes,
        by_sites=spots.shared,
        dearest=dearest,
        rival=_rival(session, overlay, counts, costs, needy, seed, progress),
        rival_needs_costs=not needy,
        map=drawn,
    )


def _spots(costs: Costs) -> _Spots:
    if costs.site_of is None or len(np.unique(costs.site_of)) == costs.node_count:
        return _Spots(np.arange(costs.node_count, dtype=np.int32), costs.nodes, False)
    return _Spots(costs.site_of, costs.site_names, True)


def _pairs(edges: DataFrame, spot_of: Any) -> DataFrame:
    """A row of `_PAIRS` for each two spots that are linked."""

    def add_up(batches: Iterable[pa.RecordBatch]) -> Batches:
        for batch in batches:
            ends = np.column_stack([spot_of.value[column.to_numpy()] for column in batch.columns[:2]])
            found, place = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True)
            costs = np.bincount(place.reshape(-1), batch.columns[2].to_numpy(), minlength=len(found))
            links = np.bincount(place.reshape(-1), minlength=len(found))
            columns = [found[:, 0], found[:, 1], links, costs]
            yield pa.record_batch(
                [pa.array(each) for each in columns], names=["low", "high", "links", "cost"]
            )

    summed = edges.mapInArrow(add_up, _PAIRS).groupBy("low", "high")
    return summed.agg(f.sum("links").alias("links"), f.sum("cost").alias("cost"))


def _local_and_long(pairs: DataFrame) -> list[LinkClass]:
    rows = pairs.groupBy((f.col("low") == f.col("high")).alias("local")).agg(
        f.sum("links").alias("links"), f.sum("cost").alias("cost")
    )
    found = {row["local"]: (row["links"], row["cost"]) for row in rows.collect()}
    names = {True: "local, inside a site", False: "long, between sites"}
    return [
        LinkClass(name=name, links=found.get(local, (0, 0.0))[0], cost=found.get(local, (0, 0.0))[1])
        for local, name in names.items()
    ]


def _quarters(edges: DataFrame) -> list[LinkClass]:
    """Links by the quarter that their cost is in; equal costs are in one."""
    shares = f.array(*(f.lit(share) for share in (0.25, 0.5, 0.75)))
    cuts = edges.agg(f.percentile("cost", shares).alias("cuts")).collect()[0]["cuts"] or [0.0] * 3
    quarter = sum((f.col("cost") > cut).cast("int") for cut in cuts)
    rows = edges.groupBy(f.lit(quarter).alias("quarter")).agg(
        f.count("*").alias("links"), f.sum("cost").alias("cost"), f.max("cost").alias("most")
    )
    return [
        LinkClass(
            name=f"{_QUARTERS[row['quarter']]}, up to {row['most']:.4g}",
            links=row["links"],
            cost=row["cost"],
        )
        for row in sorted(rows.collect(), key=lambda row: row["quarter"])
    ]


def _dearest(pairs: DataFrame, spots: _Spots) -> list[LinkClass]:
    rows = pairs.orderBy(f.desc("cost"), "low", "high").limit(_DEAREST).collect()
    return [
        LinkClass(name=_between(spots.names, row["low"], row["high"]), links=row["links"], cost=row["cost"])
        for row in rows
    ]


def _between(names: pa.StringArray, low: int, high: int) -> str:
    first, second = names[low].as_py(), names[high].as_py()
    return f"inside {first}" if low == high else f"{first} and {second}"


def _map(
    session: SparkSession,
    overlay: Place,
    pairs: DataFrame,
    spots: _Spots,
    costs: Costs,
    files: CostFiles | None,
) -> Map | None:
    """The dearest links between spots that have a place."""
    places = _places(session, overlay, spots, costs, files)
    if places is None:
        return None
    far = pairs.where("low != high")
    dearest = far.orderBy(f.desc("cost"), "low", "high").limit(_MOST_DRAWN).toArrow()
    at_spots = pairs.select(f.explode(f.array_distinct(f.array("low", "high"))).alias("spot"), "cost")
    paid = at_spots.groupBy("spot").agg(f.sum("cost").alias("cost")).orderBy("spot").toArrow()
    return _drawn(dearest, paid, places, spots, far.count())


def _drawn(dearest: pa.Table, paid: pa.Table, places: Floats, spots: _Spots, linked: int) -> Map:
    """Build from the costliest rows of `_PAIRS` and the cost of each spot that has a place."""
    ends = np.column_stack([dearest["low"].to_numpy(), dearest["high"].to_numpy()])
    has_place: Flags = np.isfinite(places.sum(axis=1))
    with_links = paid["spot"].to_numpy()
    kept = has_place[with_links] & (np.isin(with_links, ends) | spots.shared)
    shown = with_links[kept]
    links = np.flatnonzero(has_place[ends].all(axis=1))
    return Map(
        names=spots.names.take(pa.array(shown)).to_pylist(),
        lats=places[shown, 0].tolist(),
        lons=places[shown, 1].tolist(),
        costs=paid["cost"].to_numpy()[kept].tolist(),
        links=np.column_stack(
            [
                np.searchsorted(shown, ends[links]),
                dearest["links"].to_numpy()[links],
                dearest["cost"].to_numpy()[links],
            ]
        ).tolist(),
        left_out=linked - len(ends),
        without_place=int(np.count_nonzero(~has_place[with_links])),
    )


def _places(
    session: SparkSession, overlay: Place, spots: _Spots, costs: Costs, files: CostFiles | None
) -> Floats | None:
    """Latitude and longitude of each spot, NaN where not known; None where none are."""
    found = costs.degrees()
    if found is not None:
        return found
    if files is None or files.places is None:
        return None
    placed = files.located(load_nodes(session, overlay))
    rows = lookup(placed.nodes, spots.names)
    values: Floats = np.vstack([placed.values, np.full((1, 2), np.nan)])[rows]
    return values


def _rival(
    session: SparkSession,
    overlay: Place,
    counts: Mapping[str, int],
    costs: Costs,
    needy: bool,
    seed: int,
    progress: Progress | None,
) -> LinkClass | None:
    """The links of another algorithm, which looks at costs if ours does not; None where there is no room."""
    affordable = (rival for rival in _RIVALS[needy] if counts["nodes"] <= rival[1])
    name, _, options = next(affordable, (None, 0, {}))
    if name is None or not fits("building", counts):
        return None
    with suppress(CapacityError):
        interests = load_interests(session, overlay, counts)
        built = building.build(interests, name, costs=costs, seed=seed, progress=progress, **options)
        assert built.costs is not None
        return LinkClass(name=name, links=len(built), cost=float(built.costs.sum()))
    return None


_EXAMPLES = 10


def write_summary(
    session: SparkSession,
    out: Place,
    found: Mapping[str, Mapping[str, Any]],
    parameters: Mapping[str, Any],
    seconds: Mapping[str, float],
    progress: Progress | None,
    costs: CostFiles | None = None,
) -> list[Alternative]:
    """Write `out/report.html` from what each stage has `found`, by name, and from the overlay's edges.

    What comes back is the comparison in it: this overlay, a ring for each topic, a full mesh.
    """
    examples = _examples(session, out / "rejected")
    drawing = _drawing(session, out / "overlay", parameters["seed"], progress)
    profile, evaluation = found["profile"], found["evaluate"]
    spent = spending_of(
        session,
        out / "overlay",
        found["build"]["counts"],
        parameters["algorithm"],
        files=costs,
        seed=parameters["seed"],
        progress=progress,
    )
    compared = alternatives(evaluation, profile, parameters["algorithm"])
    contents = Contents(
        title=_title(parameters["inputs"]),
        evaluation=evaluation,
        parameters=parameters,
        seconds=seconds,
        quality=Quality.from_ingest(found["ingest"]["facts"], profile, examples),
        profile=profile,
        alternatives=compared,
        drawing=drawing,
        facts={name: value for name, value in found["build"]["facts"].items() if name not in parameters},
        spending=spent,
        sharing=_sharing(session, out / "overlay", found["build"]["tables"], progress),
    )
    with stage(progress, "writing the report"):
        write_page(out / "report.html", report_page(contents))
    return compared


def _title(inputs: Sequence[str]) -> str:
    first = inputs[0].rstrip("/").rpartition("/")[2]
    return first if len(inputs) == 1 else f"{first} and {len(inputs) - 1:,} more"


def _examples(session: SparkSession, rejected: Place) -> list[dict[str, Any]]:
    """Some rejected rows, the first of each reason first."""
    from pyspark.sql import Window

    turn = f.row_number().over(Window.partitionBy("reason").orderBy("file", "line"))
    rows = read_table(session, rejected).withColumn("turn", turn).where(f"turn <= {_EXAMPLES}")
    return [row.asDict() for row in rows.orderBy("turn", "reason").drop("turn").limit(_EXAMPLES).collect()]


def _sharing(
    session: SparkSession, overlay: Place, tables: Mapping[str, int], progress: Progress | None
) -> Sharing | None:
    """What gossip changed, where it made the overlay: 16 bytes per node."""
    if BY_NODE not in tables:
        return None
    with spark_stage(session, progress, "reading views"):
        rows = read_table(session, overlay / BY_NODE).select("pvs_before", "pvs_after").toArrow()
    return Sharing.of(rows["pvs_before"].to_numpy(), rows["pvs_after"].to_numpy())


def _drawing(session: SparkSession, overlay: Place, seed: int, progress: Progress | None) -> Drawing:
    """A few nodes and their links, found by filters on the overlay's tables; the degrees are collected."""
    edges = read_table(session, overlay / "edges").select("source_id", "target_id")
    nodes = read_table(session, overlay / "nodes").select("id", "name")

    def edges_at(ids: Longs) -> Longs:
        wanted = ids.tolist()
        near = edges.where(f.col("source_id").isin(wanted) | f.col("target_id").isin(wanted)).toArrow()
        return np.column_stack([near["source_id"].to_numpy(), near["target_id"].to_numpy()])

    def names_of(ids: Longs) -> Sequence[str]:
        rows = nodes.where(f.col("id").isin(ids.tolist())).toArrow()
        names = dict(zip(rows["id"].to_pylist(), rows["name"].to_pylist(), strict=True))
        return [names[at] for at in ids.tolist()]

    with spark_stage(session, progress, "choosing what to draw"):
        ends = edges.select(f.explode(f.array("source_id", "target_id")).alias("id"))
        counted = ends.groupBy("id").count().toArrow()
        degrees = by_id(counted, "id", "count", nodes.count())
        return choose_drawing(degrees, edges_at, names_of, seed)
