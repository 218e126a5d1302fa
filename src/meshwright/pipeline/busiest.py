"""The nodes of an overlay that carry most links, a warning of hubs, and what its links cost together."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from meshwright.metrics.statistics import exact_sum, greatest
from meshwright.model.edges import COST
from meshwright.model.overlay import Overlay
from meshwright.model.reading.files import part_files, reading
from meshwright.report.contents import Busiest, BusyNode
from meshwright.runtime.arrays import Floats, Longs
from meshwright.runtime.columns import arrow_of, numpy_of
from meshwright.runtime.errors import DatasetError
from meshwright.runtime.wording import count

MOST = 10
"""How many nodes a report shows."""

LIMIT = "max_links"
"""The column of `nodes/` that says how many links a node may have."""

_NAMED = 3
_LONGEST_NAME = 60
_FEW_LINKS = 20
_TIMES_AVERAGE = 10
_LARGE_SHARE, _MANY_TIMES_AVERAGE = 0.05, 50

_INSTEAD = {
    "gm": "dcbc-direct and low-oda spread the links over more nodes, and so does gm with ties=small-first",
    "low-oda": "a greater rho lowers the most links of a node",
}
_OTHERWISE = "low-oda spreads the links over more nodes"
_WITH_COSTS = "Such overlays ignore costs, so their links may cost far more."


def find_busiest(overlay: Path, algorithm: str = "", most: int = MOST) -> Busiest:
    """The busiest nodes of an overlay's dataset. Linear in its edges and nodes."""
    edges = _column_tables(overlay / "edges", ["source_id", "target_id"])
    nodes = _column_tables(overlay / "nodes", ["id", "name", LIMIT])
    order = np.argsort(numpy_of(nodes["id"]), kind="stable")
    nodes = nodes.take(arrow_of(order))
    ends = np.concatenate([numpy_of(edges[name]) for name in ("source_id", "target_id")])
    degrees = np.bincount(ends, minlength=len(nodes))
    with_costs = _has_column(overlay / "edges", COST)
    return ranked(degrees, _limits(nodes), _names(nodes["name"]), algorithm, with_costs, most)


def total_cost(overlay: Path) -> float | None:
    """What the links of an overlay's dataset cost together, added exactly; None where they have no cost."""
    if not _has_column(overlay / "edges", COST):
        return None
    return exact_sum(numpy_of(_column_tables(overlay / "edges", [COST])[COST]))


def busiest_of(overlay: Overlay, algorithm: str = "", most: int = MOST) -> Busiest:
    """The busiest nodes of an overlay in memory."""
    limits = _limits(overlay.interests.node_attributes)
    names = _names(overlay.interests.nodes)
    return ranked(overlay.degrees(), limits, names, algorithm, overlay.costs is not None, most)


def _names(column: pa.Array | pa.ChunkedArray) -> Callable[[Longs], Sequence[str]]:
    return lambda ids: column.take(arrow_of(ids)).to_pylist()


def _column_tables(folder: Path, wanted: list[str]) -> pa.Table:
    """Those of the wanted columns that a table has."""
    with reading(folder, DatasetError):
        parts = [pq.ParquetFile(part) for part in part_files(folder)]
        return pa.concat_tables(
            part.read([name for name in wanted if name in part.schema_arrow.names]) for part in parts
        )


def _has_column(folder: Path, name: str) -> bool:
    with reading(folder, DatasetError):
        return all(name in pq.read_schema(part).names for part in part_files(folder))


def _limits(nodes: pa.Table | None) -> Floats | None:
    if nodes is None or LIMIT not in nodes.column_names:
        return None
    found: Floats = nodes[LIMIT].cast(pa.float64()).to_numpy(zero_copy_only=False)
    return found


def ranked(
    degrees: Longs,
    limits: Floats | None,
    names_of: Callable[[Longs], Sequence[str]],
    algorithm: str,
    with_costs: bool,
    most: int = MOST,
) -> Busiest:
    """The busiest of nodes with these degrees and limits (NaN: none), by id; with what to say about them.

    `names_of` gives the names of a few ids, in their order. Ties go to the lower id.
    """
    allowed = np.full(len(degrees), np.nan) if limits is None else limits
    beyond = np.nan_to_num(degrees - allowed, nan=0.0)

    def nodes_at(ids: Longs) -> list[BusyNode]:
        numbers = zip(names_of(ids), degrees[ids].tolist(), allowed[ids].tolist(), strict=True)
        return [
            BusyNode(name=name, links=links, limit=None if isnan(limit) else int(limit))
            for name, links, limit in numbers
        ]

    first, over = greatest(degrees, most), greatest(beyond, most)
    links = int(degrees.sum()) // 2
    found = Busiest(
        nodes=nodes_at(first),
        links=links,
        average_degree=2 * links / max(1, len(degrees)),
        over_limit=int(np.count_nonzero(beyond > 0)),
        furthest_over=nodes_at(over),
        with_costs=with_costs,
    )
    return replace(found, warnings=warnings_of(found, algorithm))


def warnings_of(found: Busiest, algorithm: str) -> list[str]:
    """What to say about hubs and limits, a sentence or two each; nothing where all is well."""
    said = []
    if found.nodes and _is_hub(found):
        first, *others = found.nodes[:_NAMED]
        more = "".join(f", {_quoted(other)} {other.links:,}" for other in others)
        said.append(
            f"Node {_quoted(first)} has {first.links:,} of the {found.links:,} links{more}; the average is "
            f"{found.average_degree:.2f} per node. {_alternatives(algorithm, found.with_costs)}"
        )
    if found.furthest_over:
        worst = found.furthest_over[0]
        nodes = count(found.over_limit, "node has", "nodes have")
        said.append(
            f"{nodes} more links than {LIMIT} allows; {_quoted(worst)} is furthest over, with "
            f"{worst.links:,} instead of {worst.limit:,}. Build with {LIMIT}=column to keep to it."
        )
    return said


def _alternatives(algorithm: str, with_costs: bool) -> str:
    """What would spread the links; where they cost something, also that it does not look at costs."""
    ways = f"Alternatives: {_INSTEAD.get(algorithm, _OTHERWISE)}."
    return f"{ways} {_WITH_COSTS}" if with_costs else ways


def _quoted(node: BusyNode) -> str:
    name = node.name
    return repr(name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…")


def _is_hub(found: Busiest) -> bool:
    """Whether the busiest node has a large share of all links, or very many times the average."""
    links, average = found.nodes[0].links, found.average_degree
    if links <= max(_FEW_LINKS, _TIMES_AVERAGE * average):
        return False
    return links > _LARGE_SHARE * found.links or links > _MANY_TIMES_AVERAGE * average
