"""The tables of an overlay dataset: those of its interests, `edges/`, and what else the algorithm made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from meshwright.model import interest_tables
from meshwright.model.storage.dataset import TableSource, read_table, whole
from meshwright.model.storage.manifest import Dataset, check_table_name
from meshwright.model.storage.schema import DOUBLE, INT32
from meshwright.runtime.arrays import Floats, Ids
from meshwright.runtime.errors import InputError

if TYPE_CHECKING:
    from meshwright.model.overlay import Overlay

_EDGES = {"source_id": INT32, "target_id": INT32, "cost": DOUBLE}
_EDGES_A_BLOCK = 1 << 20


def counts(overlay: Overlay) -> dict[str, int]:
    """What the manifest counts."""
    return interest_tables.counts(overlay.interests) | {"edges": len(overlay)}


def tables(overlay: Overlay) -> dict[str, TableSource]:
    """The tables to write."""
    return {
        **interest_tables.tables(overlay.interests),
        "edges": TableSource(edges_schema(overlay.costs is not None), _edge_blocks(overlay), len(overlay)),
        **{name: whole(table) for name, table in overlay.tables.items()},
    }


def edges_schema(with_costs: bool) -> pa.Schema:
    """The columns of `edges/`."""
    text, ids = pa.string(), pa.int32()
    schema = pa.schema([("source", text), ("target", text), ("source_id", ids), ("target_id", ids)])
    return schema.append(pa.field("cost", pa.float64())) if with_costs else schema


def _edge_blocks(overlay: Overlay) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(overlay), _EDGES_A_BLOCK):
        block = slice(start, start + _EDGES_A_BLOCK)
        ends = [pa.array(overlay.edges[block, side]) for side in (0, 1)]
        columns = [*(overlay.interests.nodes.take(ids) for ids in ends), *ends]
        if overlay.costs is not None:
            columns.append(pa.array(overlay.costs[block]))
        yield pa.record_batch(columns, schema=edges_schema(overlay.costs is not None))


def read_edges(dataset: Dataset[Path]) -> tuple[Ids, Floats | None]:
    """The ids, and the costs where there is such a column; the names beside the ids are not read."""
    table = read_table(dataset, "edges", _EDGES, optional=frozenset({"cost"}), only_wanted=True)
    edges = np.stack([table["source_id"].to_numpy(), table["target_id"].to_numpy()], axis=1)
    return edges, table["cost"].to_numpy() if "cost" in table.column_names else None


def read_extras(dataset: Dataset[Path]) -> dict[str, pa.Table]:
    """The extra tables that the manifest names."""
    return {name: read_table(dataset, name, {}) for name in dataset.manifest["tables"]}


def checked_extras(extras: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Extra tables by names that can be folders beside ours."""
    for name, table in extras.items():
        check_table_name(name, InputError)
        if not isinstance(table, pa.Table) or not table.column_names:
            raise InputError(f"table {name!r} is a {type(table).__name__}; give a pyarrow.Table with columns")
    return {name: table.replace_schema_metadata(None) for name, table in extras.items()}
