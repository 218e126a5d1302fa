"""The sums of a report in this process."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from meshwright.metrics.idle import idle_links
from meshwright.model.overlay import Overlay
from meshwright.model.reading.files import reading
from meshwright.pipeline.busiest import find_busiest
from meshwright.pipeline.spark.arrays import by_id
from meshwright.pipeline.summary.job import EXAMPLES, MOST_DRAWN, ClassSum, Spots, Sums, summed_pairs
from meshwright.report.contents import Busiest, Drawing, Sharing
from meshwright.report.overlay import choose_drawing, edges_inside
from meshwright.routing.load import expected_load
from meshwright.runtime.arrays import Floats, Ids, Longs
from meshwright.runtime.errors import DatasetError
from meshwright.runtime.places import Place
from meshwright.runtime.progress import Progress, stage
from meshwright.stan.measures import TABLE as BY_NODE


class InProcess:
    """See `Tables`."""

    def __init__(self, overlay: Path) -> None:
        self._overlay = overlay

    def _columns(self, table: str, *columns: str) -> list[Any]:
        with reading(self._overlay / table, DatasetError):
            found = pq.read_table(self._overlay / table, columns=list(columns))
        return [found[name].combine_chunks() for name in columns]

    def sums(self, spots: Spots, progress: Progress | None) -> Sums:
        """See `Tables`."""
        with stage(progress, "adding up costs"):
            edges = self._columns("edges", "source_id", "target_id", "cost")
            source, target, cost = (column.to_numpy() for column in edges)
            return sums_of(source, target, cost, spots)

    def busiest(self, algorithm: str, progress: Progress | None) -> Busiest:
        """See `Tables`."""
        with stage(progress, "finding the busiest nodes"):
            return find_busiest(self._overlay, algorithm)

    def idle_links(self, progress: Progress | None) -> int:
        """See `Tables`."""
        overlay = Overlay.read(self._overlay, progress=progress)
        with stage(progress, "looking for links that no topic uses"):
            return idle_links(overlay)

    def load(self, progress: Progress | None) -> dict[str, Any]:
        """See `Tables`."""
        return expected_load(Overlay.read(self._overlay, progress=progress), progress=progress).to_json()

    def examples(self, rejected: Place) -> list[dict[str, Any]]:
        """See `Tables`."""
        with reading(rejected, DatasetError):
            rows = pq.read_table(str(rejected), columns=["file", "line", "reason", "text"]).to_pylist()
        turns: dict[str, int] = {}
        taken = []
        for row in rows:
            turns[row["reason"]] = turns.get(row["reason"], 0) + 1
            if turns[row["reason"]] <= EXAMPLES:
                taken.append((turns[row["reason"]], row["reason"], row))
        return [row for _, _, row in sorted(taken, key=lambda one: one[:2])[:EXAMPLES]]

    def sharing(self, progress: Progress | None) -> Sharing:
        """See `Tables`."""
        with stage(progress, "reading views"):
            before, after = self._columns(BY_NODE, "pvs_before", "pvs_after")
        return Sharing.of(before.to_numpy(), after.to_numpy())

    def drawing(self, seed: int, progress: Progress | None) -> Drawing:
        """See `Tables`."""
        with stage(progress, "choosing what to draw"):
            ends = self._columns("edges", "source_id", "target_id")
            edges = np.column_stack([column.to_numpy() for column in ends])
            ids, names = self._columns("nodes", "id", "name")
            place = by_id(pa.table({"id": ids, "at": np.arange(len(ids))}), "id", "at", len(ids))
            degrees = np.bincount(edges.reshape(-1), minlength=len(ids))

            def names_of(wanted: Longs) -> Sequence[str]:
                found: Sequence[str] = names.take(pa.array(place[wanted])).to_pylist()
                return found

            return choose_drawing(degrees, edges_inside(edges), names_of, seed)


def sums_of(source: Ids, target: Ids, cost: Floats, spots: Spots) -> Sums:
    """The sums over links in memory."""
    pairs = summed_pairs(source, target, cost, spots.of_node)
    is_far = pc.not_equal(pairs["low"], pairs["high"])
    far = pairs.filter(is_far)
    return Sums(
        classes=_local_and_long(pairs, is_far) if spots.shared else _quarters(cost),
        dearest=_first(pairs),
        far=_first(far),
        linked=len(far),
        paid=_paid(pairs, is_far),
    )


def _first(pairs: pa.Table) -> pa.Table:
    order = [("cost", "descending"), ("low", "ascending"), ("high", "ascending")]
    return pairs.sort_by(order).slice(0, MOST_DRAWN)


def _paid(pairs: pa.Table, is_far: pa.ChunkedArray) -> pa.Table:
    """What each spot pays for its links, by spot; those inside it once."""
    far = pairs.filter(is_far)
    spot = np.concatenate([pairs["low"].to_numpy(), far["high"].to_numpy()])
    cost = np.concatenate([pairs["cost"].to_numpy(), far["cost"].to_numpy()])
    spots, place = np.unique(spot, return_inverse=True)
    return pa.table({"spot": spots, "cost": np.bincount(place, cost, minlength=len(spots))})


def _local_and_long(pairs: pa.Table, is_far: pa.ChunkedArray) -> list[ClassSum]:
    found = []
    for key, rows in ((0, pairs.filter(is_far)), (1, pairs.filter(pc.invert(is_far)))):
        if len(rows):
            sums = pc.sum(rows["links"]).as_py(), pc.sum(rows["cost"]).as_py(), pc.max(rows["cost"]).as_py()
            found.append(ClassSum(key, *sums))
    return found


def _quarters(costs: Floats) -> list[ClassSum]:
    if not len(costs):
        return []
    cuts = np.percentile(costs, [25, 50, 75])
    quarter = sum((costs > cut).astype(np.int64) for cut in cuts)
    return [
        ClassSum(int(key), int(mine.sum()), float(costs[mine].sum()), float(costs[mine].max()))
        for key in np.unique(quarter)
        for mine in [quarter == key]
    ]
