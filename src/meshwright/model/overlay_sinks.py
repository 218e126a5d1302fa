"""Where overlays go: each function hands one to another library."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    import networkx as nx
    from scipy.sparse import csr_array

    from meshwright.model.overlay import Overlay

_ROWS_A_BLOCK = 1 << 14


def to_arrow(overlay: Overlay) -> pa.Table:
    """The columns of `edges/`; names dictionary-encoded, at 4 bytes each."""
    ends = [pa.array(overlay.edges[:, side]) for side in (0, 1)]
    names = [pa.DictionaryArray.from_arrays(ids, overlay.interests.nodes) for ids in ends]
    columns = dict(zip(("source", "target", "source_id", "target_id"), (*names, *ends), strict=True))
    if overlay.costs is not None:
        columns["cost"] = pa.array(overlay.costs)
    return pa.table(columns)


def to_scipy(overlay: Overlay) -> csr_array:
    """The symmetric matrix of costs or ones."""
    from scipy.sparse import coo_array

    values = np.ones(len(overlay), np.int32) if overlay.costs is None else overlay.costs
    u, v = overlay.edges.T
    entries = (np.concatenate([values, values]), (np.concatenate([u, v]), np.concatenate([v, u])))
    count = overlay.interests.node_count
    return coo_array(entries, shape=(count, count)).tocsr()


def to_networkx(overlay: Overlay) -> nx.Graph[str]:
    """A graph of names; nodes have the attributes that are known of them, edges `cost` where links cost."""
    import networkx as nx

    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(nodes_with_attributes(overlay))
    graph.add_edges_from(edges_with_cost(overlay))
    return graph


def nodes_with_attributes(overlay: Overlay) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every node's name, and those of its attributes that are neither null nor NaN."""
    table = overlay.interests.node_attributes
    for start in range(0, overlay.interests.node_count, _ROWS_A_BLOCK):
        names = overlay.interests.nodes.slice(start, _ROWS_A_BLOCK).to_pylist()
        rows = [{}] * len(names) if table is None else table.slice(start, _ROWS_A_BLOCK).to_pylist()
        for name, row in zip(names, rows, strict=True):
            yield name, {key: value for key, value in row.items() if not _missing(value)}


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and isnan(value))


def edges_with_cost(overlay: Overlay) -> Iterator[tuple[str, str, dict[str, float]]]:
    """Every edge by names, and its cost where links cost."""
    nodes = overlay.interests.nodes
    for start in range(0, len(overlay), _ROWS_A_BLOCK):
        block = slice(start, start + _ROWS_A_BLOCK)
        names = [nodes.take(pa.array(overlay.edges[block, side])).to_pylist() for side in (0, 1)]
        costs = None if overlay.costs is None else overlay.costs[block].tolist()
        for at, (u, v) in enumerate(zip(*names, strict=True)):
            yield u, v, {} if costs is None else {"cost": costs[at]}
