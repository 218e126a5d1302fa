"""The sums of a report on Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from meshwright.model.edges import COST
from meshwright.model.storage.manifest import read_manifest
from meshwright.pipeline.busiest import LIMIT, ranked
from meshwright.pipeline.spark import functions as f
from meshwright.pipeline.spark.arrays import Batches, by_id
from meshwright.pipeline.spark.status import spark_stage
from meshwright.pipeline.spark.storage import read_table
from meshwright.pipeline.spark.tables import broadcast
from meshwright.pipeline.summary.in_process import InProcess
from meshwright.pipeline.summary.job import EXAMPLES, MOST_DRAWN, ClassSum, Spots, Sums, summed_pairs
from meshwright.report.contents import Busiest, Drawing, Sharing
from meshwright.report.overlay import choose_drawing
from meshwright.runtime.arrays import Longs
from meshwright.runtime.memory import fits
from meshwright.runtime.places import Place, is_local
from meshwright.runtime.progress import Progress
from meshwright.stan.measures import TABLE as BY_NODE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PAIRS = "low int, high int, links long, cost double"


class OnSpark:
    """See `Tables`."""

    def __init__(self, session: SparkSession, overlay: Place) -> None:
        self._session, self._overlay = session, overlay

    def sums(self, spots: Spots, progress: Progress | None) -> Sums:
        """Links of the same two spots are added up in tasks."""
        session = self._session
        with spark_stage(session, progress, "adding up costs"), broadcast(session, spots.of_node) as known:
            edges = read_table(session, self._overlay / "edges").select("source_id", "target_id", "cost")
            pairs = _pairs(edges, known).persist()
            try:
                far = pairs.where("low != high")
                at_spots = pairs.select(
                    f.explode(f.array_distinct(f.array("low", "high"))).alias("spot"), "cost"
                )
                paid = at_spots.groupBy("spot").agg(f.sum("cost").alias("cost"))
                return Sums(
                    classes=_local_and_long(pairs) if spots.shared else _quarters(edges),
                    dearest=_first(pairs),
                    far=_first(far),
                    linked=far.count(),
                    paid=paid.orderBy("spot").toArrow(),
                )
            finally:
                pairs.unpersist()

    def busiest(self, algorithm: str, progress: Progress | None) -> Busiest:
        """The degrees are collected, and the limits of nodes that have one."""
        nodes = read_table(self._session, self._overlay / "nodes")
        with spark_stage(self._session, progress, "finding the busiest nodes"):
            degrees = self._degrees(nodes.count())
            limits = None
            if LIMIT in nodes.columns:
                limits = np.full(len(degrees), np.nan)
                rows = nodes.select("id", f.col(LIMIT).cast("double")).where(f.col(LIMIT).isNotNull())
                found = rows.toArrow()
                limits[found["id"].to_numpy()] = found[LIMIT].to_numpy()
            with_costs = COST in read_table(self._session, self._overlay / "edges").columns
            return ranked(degrees, limits, _names_in(nodes), algorithm, with_costs)

    def _degrees(self, count: int) -> Longs:
        edges = read_table(self._session, self._overlay / "edges")
        ends = edges.select(f.explode(f.array("source_id", "target_id")).alias("id"))
        return by_id(ends.groupBy("id").count().toArrow(), "id", "count", count)

    def idle_links(self, progress: Progress | None) -> None:
        """Not counted: that would take all topics of both ends of every link to one place."""
        del progress

    def load(self, progress: Progress | None) -> dict[str, Any] | None:
        """On the driver, for it takes a tree of every topic; None for what is remote or too large."""
        if not is_local(self._overlay):
            return None
        counts = read_manifest(self._overlay, "overlay")["counts"]
        return InProcess(self._overlay).load(progress) if fits("evaluating", {"views": 0, **counts}) else None

    def examples(self, rejected: Place) -> list[dict[str, Any]]:
        """See `Tables`."""
        from pyspark.sql import Window

        turn = f.row_number().over(Window.partitionBy("reason").orderBy("file", "line", "text"))
        rows = read_table(self._session, rejected).withColumn("turn", turn).where(f"turn <= {EXAMPLES}")
        return [row.asDict() for row in rows.orderBy("turn", "reason").drop("turn").limit(EXAMPLES).collect()]

    def sharing(self, progress: Progress | None) -> Sharing:
        """16 bytes per node reach the driver."""
        with spark_stage(self._session, progress, "reading views"):
            table = read_table(self._session, self._overlay / BY_NODE)
            rows = table.select("pvs_before", "pvs_after").toArrow()
        return Sharing.of(rows["pvs_before"].to_numpy(), rows["pvs_after"].to_numpy())

    def drawing(self, seed: int, progress: Progress | None) -> Drawing:
        """Found by filters on the overlay's tables; the degrees are collected."""
        edges = read_table(self._session, self._overlay / "edges").select("source_id", "target_id")
        nodes = read_table(self._session, self._overlay / "nodes")

        def edges_at(ids: Longs) -> Longs:
            wanted = ids.tolist()
            near = edges.where(f.col("source_id").isin(wanted) | f.col("target_id").isin(wanted)).toArrow()
            return np.column_stack([near["source_id"].to_numpy(), near["target_id"].to_numpy()])

        with spark_stage(self._session, progress, "choosing what to draw"):
            return choose_drawing(self._degrees(nodes.count()), edges_at, _names_in(nodes), seed)


def _names_in(nodes: DataFrame) -> Callable[[Longs], Sequence[str]]:
    """The names of a few ids, in their order."""

    def names_of(ids: Longs) -> Sequence[str]:
        rows = nodes.select("id", "name").where(f.col("id").isin(ids.tolist())).toArrow()
        names = dict(zip(rows["id"].to_pylist(), rows["name"].to_pylist(), strict=True))
        return [names[at] for at in ids.tolist()]

    return names_of


def _pairs(edges: DataFrame, spot_of: Any) -> DataFrame:
    """A row of `_PAIRS` for each two spots that are linked."""

    def add_up(batches: Iterable[pa.RecordBatch]) -> Batches:
        for batch in batches:
            source, target, cost = (column.to_numpy() for column in batch.columns)
            yield from summed_pairs(source, target, cost, spot_of.value).to_batches()

    summed = edges.mapInArrow(add_up, _PAIRS).groupBy("low", "high")
    return summed.agg(f.sum("links").alias("links"), f.sum("cost").alias("cost"))


def _first(pairs: DataFrame) -> pa.Table:
    return pairs.orderBy(f.desc("cost"), "low", "high").limit(MOST_DRAWN).toArrow()


def _local_and_long(pairs: DataFrame) -> list[ClassSum]:
    local = (f.col("low") == f.col("high")).cast("int").alias("key")
    sums = f.sum("links").alias("links"), f.sum("cost").alias("cost"), f.max("cost").alias("most")
    return [ClassSum(*row) for row in pairs.groupBy(local).agg(*sums).collect()]


def _quarters(edges: DataFrame) -> list[ClassSum]:
    shares = f.array(*(f.lit(share) for share in (0.25, 0.5, 0.75)))
    cuts = edges.agg(f.percentile("cost", shares).alias("cuts")).collect()[0]["cuts"] or [0.0] * 3
    quarter = sum((f.col("cost") > cut).cast("int") for cut in cuts)
    sums = f.count("*").alias("links"), f.sum("cost").alias("cost"), f.max("cost").alias("most")
    return [ClassSum(*row) for row in edges.groupBy(f.lit(quarter).alias("key")).agg(*sums).collect()]
