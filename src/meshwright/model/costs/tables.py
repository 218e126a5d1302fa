"""Costs on disk: a description in JSON, and tables that a dataset of any kind can hold beside its own.

`cost_nodes/` has a row for each node, in the order of ids: `node` and `site_id`, or `node, x, y, z`.
`cost_sites/` has a row for each site: `site`, and `costs`, its row of the matrix; for clusters `site` alone.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from meshwright.kernels.core.cost_arrays import CLUSTERS, SITES, CostArrays
from meshwright.model.costs.forms import KINDS, METRICS, checked_unit, has_sites, kind_name
from meshwright.model.names import name_array
from meshwright.model.storage.dataset import read_table
from meshwright.model.storage.manifest import Dataset
from meshwright.model.storage.schema import DOUBLE, INT32, STRING, Wanted, check_types, list_of
from meshwright.runtime.arrays import Floats
from meshwright.runtime.errors import DatasetError, OptionError

NODES = "cost_nodes"
SITES_TABLE = "cost_sites"

_AXES = ("x", "y", "z")


_LIST_OF_DOUBLE = list_of("double", pa.types.is_float64)


class Parts(NamedTuple):
    """What `Costs` consists of."""

    nodes: pa.StringArray
    form: CostArrays
    site_names: pa.StringArray
    facts: Mapping[str, Any]
    unit: str | None


def description(costs: Parts) -> dict[str, Any]:
    """What the tables can't say."""
    form = costs.form
    told: dict[str, Any] = {"kind": kind_name(form.kind), "nodes": len(costs.nodes)}
    if has_sites(form):
        told["sites"] = len(costs.site_names)
    if form.kind == CLUSTERS:
        told |= {"inner": float(form.matrix[0, 0]), "outer": float(form.matrix[0, 1])}
    if not has_sites(form):
        told |= {"base": form.base, "factor": form.factor}
        told |= {"least": form.least} if form.least else {}
    told |= {} if costs.unit is None else {"unit": costs.unit}
    return told | {"facts": dict(costs.facts)}


def tables(costs: Parts) -> dict[str, pa.Table]:
    """The tables by name."""
    form = costs.form
    if not has_sites(form):
        columns = {axis: form.points[:, place] for place, axis in enumerate(_AXES)}
        return {NODES: pa.table({"node": costs.nodes} | columns)}
    sites = {"site": costs.site_names} | ({"costs": _rows(form.matrix)} if form.kind == SITES else {})
    return {NODES: pa.table({"node": costs.nodes, "site_id": form.site_of}), SITES_TABLE: pa.table(sites)}


def _rows(matrix: Floats) -> pa.LargeListArray:
    offsets = np.arange(len(matrix) + 1, dtype=np.int64) * len(matrix)
    return pa.LargeListArray.from_arrays(offsets, matrix.ravel())


Get = Callable[[str, Mapping[str, Wanted]], pa.Table]
"""Gives the table of a name, after a check of its columns' types."""


def read(dataset: Dataset[Path], told: Mapping[str, Any]) -> Parts:
    """The costs that a dataset holds, of which `told` is the description."""
    return _parts(str(dataset.path), told, lambda name, wanted: read_table(dataset, name, wanted))


def from_tables(held: Mapping[str, pa.Table], told: Mapping[str, Any]) -> Parts:
    """The costs that `tables` and `description` were made of."""

    def get(name: str, wanted: Mapping[str, Wanted]) -> pa.Table:
        if name not in held:
            raise DatasetError(f"the overlay has no table {name!r}, which its facts mention; give its costs")
        check_types(held[name].schema, wanted, f"the table {name!r}", DatasetError)
        return held[name]

    return _parts("the overlay", told, get)


def _parts(origin: str, told: Mapping[str, Any], get: Get) -> Parts:
    try:
        kind, facts = KINDS[told["kind"]], dict(told["facts"])
        prices = [float(told[key]) for key in _STATED.get(told["kind"], ())]
        prices += [float(told.get("least", 0.0))] if told["kind"] in METRICS else []
        unit = checked_unit(told.get("unit"))
    except (KeyError, TypeError, ValueError, OverflowError, OptionError) as error:
        raise DatasetError(
            f"{origin}: the description of its costs is incomplete or wrong ({error}); "
            f"write the dataset again"
        ) from None
    read = _read_points if told["kind"] in METRICS else _read_sites
    return read(get, kind, prices, facts)._replace(unit=unit)


_STATED = {"clusters": ("inner", "outer"), **dict.fromkeys(METRICS, ("base", "factor"))}


def _read_points(get: Get, kind: int, prices: list[float], facts: Mapping[str, Any]) -> Parts:
    table = get(NODES, {"node": STRING} | dict.fromkeys(_AXES, DOUBLE))
    points = np.stack([table[axis].to_numpy() for axis in _AXES], axis=1)
    form = CostArrays(kind, np.empty((0, 0)), np.empty(0, np.int32), points, *prices)
    return Parts(name_array(table["node"], "node"), form, pa.array([], pa.string()), facts, None)


def _read_sites(get: Get, kind: int, prices: list[float], facts: Mapping[str, Any]) -> Parts:
    nodes = get(NODES, {"node": STRING, "site_id": INT32})
    wanted = {"site": STRING} | ({"costs": _LIST_OF_DOUBLE} if kind == SITES else {})
    sites = get(SITES_TABLE, wanted)
    matrix = _square(sites["costs"]) if kind == SITES else np.array([prices])
    form = CostArrays(kind, matrix, nodes["site_id"].to_numpy(), np.empty((0, 3)), 0.0, 0.0, 0.0)
    return Parts(name_array(nodes["node"], "node"), form, name_array(sites["site"], "site"), facts, None)


def _square(rows: pa.ChunkedArray) -> Floats:
    flat = [chunk.flatten().to_numpy(zero_copy_only=False) for chunk in rows.chunks]
    values = np.concatenate([np.empty(0), *flat])
    if len(values) != len(rows) ** 2:
        raise DatasetError(
            f"{SITES_TABLE} has {len(rows):,} rows and "
            f"{len(values):,} costs, but needs {len(rows) ** 2:,} costs; "
            f"write the dataset again"
        )
    values.flags.writeable = False
    return values.reshape(len(rows), len(rows))
