"""What the stages of a run have found, brought together in its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from meshwright.gossip.by_node import TABLE as BY_NODE
from meshwright.pipeline.cost_files import CostFiles
from meshwright.pipeline.engine.status import spark_stage
from meshwright.pipeline.engine.storage import read_table
from meshwright.pipeline.spending import spending_of
from meshwright.progress import Progress, stage
from meshwright.report import (
    Alternative,
    Contents,
    Drawing,
    Quality,
    Sharing,
    alternatives,
    choose_drawing,
    write_report,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Ids = npt.NDArray[np.int64]

_EXAMPLES = 10


def write_summary(
    session: SparkSession,
    out: Path,
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
        write_report(out / "report.html", contents)
    return compared


def _title(inputs: Sequence[str]) -> str:
    first = inputs[0].rstrip("/").rpartition("/")[2]
    return first if len(inputs) == 1 else f"{first} and {len(inputs) - 1:,} more"


def _examples(session: SparkSession, rejected: Path) -> list[dict[str, Any]]:
    """Some rejected rows, the first of each reason first."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    turn = f.row_number().over(Window.partitionBy("reason").orderBy("file", "line"))
    rows = read_table(session, rejected).withColumn("turn", turn).where(f"turn <= {_EXAMPLES}")
    return [row.asDict() for row in rows.orderBy("turn", "reason").drop("turn").limit(_EXAMPLES).collect()]


def _sharing(
    session: SparkSession, overlay: Path, tables: Mapping[str, int], progress: Progress | None
) -> Sharing | None:
    """What gossip changed, where it made the overlay: 16 bytes a node."""
    if BY_NODE not in tables:
        return None
    with spark_stage(session, progress, "reading views"):
        rows = read_table(session, overlay / BY_NODE).select("pvs_before", "pvs_after").toArrow()
    return Sharing.of(rows["pvs_before"].to_numpy(), rows["pvs_after"].to_numpy())


def _drawing(session: SparkSession, overlay: Path, seed: int, progress: Progress | None) -> Drawing:
    """A few nodes and their links, found by filters on the overlay's tables; the degrees are collected."""
    from pyspark.sql import functions as f

    edges = read_table(session, overlay / "edges").select("source_id", "target_id")
    nodes = read_table(session, overlay / "nodes").select("id", "name")

    def edges_at(ids: Ids) -> npt.NDArray[np.int64]:
        wanted = ids.tolist()
        near = edges.where(f.col("source_id").isin(wanted) | f.col("target_id").isin(wanted)).toArrow()
        return np.column_stack([near["source_id"].to_numpy(), near["target_id"].to_numpy()])

    def names_of(ids: Ids) -> Sequence[str]:
        rows = nodes.where(f.col("id").isin(ids.tolist())).toArrow()
        names = dict(zip(rows["id"].to_pylist(), rows["name"].to_pylist(), strict=True))
        return [names[at] for at in ids.tolist()]

    with spark_stage(session, progress, "choosing what to draw"):
        ends = edges.select(f.explode(f.array("source_id", "target_id")).alias("id"))
        counted = ends.groupBy("id").count().toArrow()
        degrees = np.zeros(nodes.count(), np.int64)
        degrees[counted["id"].to_numpy()] = counted["count"].to_numpy()
        return choose_drawing(degrees, edges_at, names_of, seed)
