"""The nodes of an overlay that carry most links, and a warning where one carries far more than others."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from meshwright.model.reading.files import part_files, reading
from meshwright.runtime.arrays import Longs
from meshwright.runtime.columns import arrow_of, numpy_of
from meshwright.runtime.errors import DatasetError

_NAMED = 3
_FEW_LINKS = 20
_LARGE_SHARE = 0.05
_TIMES_AVERAGE = 10

_INSTEAD = {
    "gm": "dcbc-direct and low-oda spread the links over more nodes, and so does gm with ties=small-first",
    "low-oda": "a greater rho lowers the maximum degree",
}
_OTHERWISE = "low-oda spreads the links over more nodes"


class Busiest(NamedTuple):
    """The nodes with most links, falling, and how many links the overlay and its nodes have.

    `over_limit` is how many nodes have more links than the column `max_links` of `nodes/` allows them, and
    `worst` the name, the links and the limit of the node that is furthest over its own.
    """

    nodes: list[tuple[str, int]]
    links: int
    average_degree: float
    over_limit: int = 0
    worst: tuple[str, int, int] | None = None


def find_busiest(overlay: Path, most: int = _NAMED) -> Busiest:
    """The busiest nodes of an overlay's dataset. Linear in its edges and nodes."""
    edges = _column_tables(overlay / "edges", ["source_id", "target_id"])
    nodes = _column_tables(overlay / "nodes", ["id", "name", "max_links"])
    ends = np.concatenate([numpy_of(edges[name]) for name in ("source_id", "target_id")])
    ids = numpy_of(nodes["id"])
    degrees = np.bincount(ends, minlength=len(ids))[ids]
    first = np.lexsort((ids, -degrees))[:most]
    names = nodes["name"].take(arrow_of(first)).to_pylist()
    found = [(name, int(degrees[at])) for name, at in zip(names, first.tolist(), strict=True) if degrees[at]]
    average = 2 * len(edges) / max(1, len(ids))
    return Busiest(found, len(edges), average, *_over_limit(nodes, degrees))


def _column_tables(folder: Path, wanted: list[str]) -> pa.Table:
    """Those of the wanted columns that a table has."""
    with reading(folder, DatasetError):
        parts = [pq.ParquetFile(part) for part in part_files(folder)]
        return pa.concat_tables(
            part.read([name for name in wanted if name in part.schema_arrow.names]) for part in parts
        )


def _over_limit(nodes: pa.Table, degrees: Longs) -> tuple[int, tuple[str, int, int] | None]:
    if "max_links" not in nodes.column_names:
        return 0, None
    limits = nodes["max_links"].cast(pa.float64()).to_numpy(zero_copy_only=False)
    with np.errstate(invalid="ignore"):
        beyond = np.where(np.isnan(limits), 0, degrees - limits)
    if not len(beyond) or beyond.max() <= 0:
        return 0, None
    at = int(np.argmax(beyond))
    worst = (nodes["name"][at].as_py(), int(degrees[at]), int(limits[at]))
    return int(np.count_nonzero(beyond > 0)), worst


def warnings_of(found: Busiest, algorithm: str) -> list[str]:
    """What to say about hubs and limits, a sentence or two each; nothing where all is well."""
    said = []
    if found.nodes and _is_hub(found):
        (name, links), *others = found.nodes
        more = "".join(f", {other!r} {count:,}" for other, count in others)
        said.append(
            f"Node {name!r} has {links:,} of the {found.links:,} links{more}; the average is "
            f"{found.average_degree:.2f} a node. Alternatives: {_INSTEAD.get(algorithm, _OTHERWISE)}."
        )
    if found.worst is not None:
        name, links, limit = found.worst
        nodes = "1 node has" if found.over_limit == 1 else f"{found.over_limit:,} nodes have"
        said.append(
            f"{nodes} more links than max_links allows; {name!r} is furthest over, with {links:,} instead of "
            f"{limit:,}. No algorithm keeps to max_links yet."
        )
    return said


def _is_hub(found: Busiest) -> bool:
    links = found.nodes[0][1]
    return links > max(_FEW_LINKS, _LARGE_SHARE * found.links, _TIMES_AVERAGE * found.average_degree)
