"""Overlays: which nodes hold a link to which."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from meshwright.model import edges as edge_lists
from meshwright.model import pairs as sources
from meshwright.model.costs.costs import Costs
from meshwright.model.dense import frozen, set_fields
from meshwright.model.interests import Interests, interest_counts, interest_tables, same_table
from meshwright.model.reading.columns import Column
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.model.storage.dataset import TableSource, as_dataset, read_table, whole, write_dataset
from meshwright.model.storage.manifest import (
    Dataset,
    check_counts,
    check_table_name,
    make_manifest,
    open_dataset,
)
from meshwright.model.storage.schema import DOUBLE, INT32
from meshwright.runtime.arrays import Floats, Ids, Longs, Offsets
from meshwright.runtime.columns import arrow_of, numpy_of
from meshwright.runtime.errors import InputError
from meshwright.runtime.json_values import plain
from meshwright.runtime.packing import pack
from meshwright.runtime.progress import Progress, stage
from meshwright.runtime.wording import count, type_of

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd
    from scipy.sparse import csr_array


_EDGES = {"source_id": INT32, "target_id": INT32, "cost": DOUBLE}
_EDGES_A_BLOCK = 1 << 20


def overlay_counts(overlay: Overlay) -> dict[str, int]:
    """What the manifest counts."""
    return interest_counts(overlay.interests) | {"edges": len(overlay)}


def overlay_tables(overlay: Overlay, names: bool = True) -> dict[str, TableSource]:
    """The tables to write; without `names`, none that is there for other programs, and edges by id alone."""
    schema = edges_schema(overlay.costs is not None, names)
    return {
        **interest_tables(overlay.interests, names),
        "edges": TableSource(schema, _edge_blocks(overlay, schema), len(overlay)),
        **{name: whole(table) for name, table in overlay.tables.items()},
    }


def edges_schema(with_costs: bool, names: bool = True) -> pa.Schema:
    """The columns of `edges/`."""
    text, ids = pa.string(), pa.int32()
    named = [("source", text), ("target", text)] if names else []
    schema = pa.schema([*named, ("source_id", ids), ("target_id", ids)])
    return schema.append(pa.field("cost", pa.float64())) if with_costs else schema


def _edge_blocks(overlay: Overlay, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(overlay), _EDGES_A_BLOCK):
        block = slice(start, start + _EDGES_A_BLOCK)
        ends = [arrow_of(overlay.edges[block, side]) for side in (0, 1)]
        named = [overlay.interests.nodes.take(ids) for ids in ends] if "source" in schema.names else []
        costs = [] if overlay.costs is None else [arrow_of(overlay.costs[block])]
        yield pa.record_batch([*named, *ends, *costs], schema=schema)


def read_edges(dataset: Dataset[Path]) -> tuple[Ids, Floats | None]:
    """The ids, and the costs where there is such a column; the names beside the ids are not read."""
    table = read_table(dataset, "edges", _EDGES, optional=frozenset({"cost"}), only_wanted=True)
    edges = np.stack([numpy_of(table["source_id"]), numpy_of(table["target_id"])], axis=1)
    return edges, numpy_of(table["cost"]) if "cost" in table.column_names else None


def read_extras(dataset: Dataset[Path]) -> dict[str, pa.Table]:
    """The extra tables that the manifest names."""
    return {name: read_table(dataset, name, {}) for name in dataset.manifest["tables"]}


def checked_extras(extras: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Extra tables by names that can be folders beside ours."""
    for name, table in extras.items():
        check_table_name(name, InputError)
        if not isinstance(table, pa.Table) or not table.column_names:
            raise InputError(f"table {name!r} is {type_of(table)}; give a pyarrow.Table with columns")
    return {name: table.replace_schema_metadata(None) for name, table in extras.items()}


_ROWS_A_BLOCK = 1 << 14


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
        names = [nodes.take(arrow_of(overlay.edges[block, side])).to_pylist() for side in (0, 1)]
        costs = None if overlay.costs is None else overlay.costs[block].tolist()
        for at, (u, v) in enumerate(zip(*names, strict=True)):
            yield u, v, {} if costs is None else {edge_lists.COST: costs[at]}


@dataclass(frozen=True, eq=False, repr=False)
class Overlay:
    """The undirected links among the nodes of an `Interests`; frozen, and checked in linear time when made.

    `edges` is an int32 array (m, 2) of node ids with u < v, its rows sorted and unique; `costs`, where links
    cost, holds a positive finite number for each edge. `facts` is what the algorithm says about its work, in
    JSON's types; `tables` is what else it made (fingers, views). To make one from ids in any order use
    `from_arrays`, from names `from_edges`.
    """

    interests: Interests
    edges: Ids
    costs: Floats | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[str, pa.Table] = field(default_factory=dict)

    def __post_init__(self) -> None:
        set_fields(self, edges=edge_lists.frozen_edges(self.edges))
        if self.costs is not None:
            set_fields(self, costs=frozen(self.costs, np.float64, "costs"))
        set_fields(self, facts=plain(dict(self.facts), "facts"), tables=checked_extras(self.tables))
        edge_lists.check_edges(self.interests.nodes, self.edges)
        edge_lists.check_costs(self.interests.nodes, self.edges, self.costs)

    def __len__(self) -> int:
        """The number of edges."""
        return len(self.edges)

    def __repr__(self) -> str:
        costs = "" if self.costs is None else ", with costs"
        return f"Overlay({count(self.interests.node_count, 'node')}, {count(len(self), 'edge')}{costs})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Overlay):
            return NotImplemented
        return (
            self.interests == other.interests
            and np.array_equal(self.edges, other.edges)
            and _same_costs(self.costs, other.costs)
            and _lasting(self.facts) == _lasting(other.facts)
            and self.tables.keys() == other.tables.keys()
            and all(same_table(table, other.tables[name]) for name, table in self.tables.items())
        )

    __hash__ = None  # type: ignore[assignment]

    def degrees(self) -> Offsets:
        """How many links each node has, by id."""
        return np.bincount(self.edges.ravel(), minlength=self.interests.node_count)

    @classmethod
    def from_arrays(
        cls,
        interests: Interests,
        edges: npt.ArrayLike,
        costs: npt.ArrayLike | None = None,
        facts: Mapping[str, Any] | None = None,
        tables: Mapping[str, pa.Table] | None = None,
    ) -> Overlay:
        """Build from pairs of node ids in any order and direction; a pair that appears twice is one edge.

        Edges that are in their final form already are only checked; otherwise one sort of 64-bit keys.
        """
        _check_interests(interests, "from_arrays")
        ordered, prices = edge_lists.canonical(interests.nodes, edges, costs)
        return cls(interests, ordered, prices, facts or {}, tables or {})

    @classmethod
    def from_edges(
        cls, interests: Interests, pairs: Iterable[tuple[str, str]], costs: npt.ArrayLike | None = None
    ) -> Overlay:
        """Build from pairs of node names, such as an existing mesh; `costs` has a number for each pair.

        A pair that comes twice, in either direction, is one edge, and must come with the same cost. A name
        that is no node, and an edge from a node to itself, are refused.

        Example:
            >>> import meshwright as mw
            >>> pairs = [("b1", "news"), ("b2", "news"), ("b2", "sport"), ("b3", "sport")]
            >>> interests = mw.Interests.from_pairs(pairs)
            >>> mw.Overlay.from_edges(interests, [("b1", "b2"), ("b2", "b3")])
            Overlay(3 nodes, 2 edges)
            >>> mw.Overlay.from_edges(interests, [("b1", "b2"), ("b2", "b3")], costs=[12.5, 3.0])
            Overlay(3 nodes, 2 edges, with costs)
        """
        _check_interests(interests, "from_edges")
        columns = edge_lists.SOURCE_TARGET
        found = sources.from_tuples(pairs, columns)
        return cls._of_edges(
            interests, edge_lists.by_name(interests.nodes, found, columns, "the edges", costs)
        )

    @classmethod
    def from_pandas(
        cls,
        interests: Interests,
        frame: pd.DataFrame,
        source: str = "source",
        target: str = "target",
        *,
        cost: str | None = edge_lists.COST,
    ) -> Overlay:
        """Build from two columns of node names, strings or categories of them, and one of costs.

        Pairs are taken as by `from_edges`. A column "cost" is read where there is one; with another `cost`,
        that column must be there, and with None, costs are left out. The frame of `to_pandas` gives the same
        links and costs. It does not hold the facts, such as the algorithm, which `==` compares as well.

        Example:
            >>> import pandas as pd
            >>> import meshwright as mw
            >>> interests = mw.Interests.from_pairs([("b1", "news"), ("b2", "news"), ("b3", "news")])
            >>> bridges = pd.DataFrame({"from": ["b1", "b2"], "to": ["b2", "b3"], "ms": [12.5, 3.0]})
            >>> overlay = mw.Overlay.from_pandas(interests, bridges, "from", "to", cost="ms")
            >>> overlay
            Overlay(3 nodes, 2 edges, with costs)
            >>> mw.Overlay.from_pandas(interests, overlay.to_pandas()) == overlay
            True
        """
        _check_interests(interests, "from_pandas")
        columns = edge_lists.columns_of(source, target, cost)
        found = sources.from_pandas(frame, columns)
        return cls._of_edges(interests, edge_lists.by_name(interests.nodes, found, columns, "the frame"))

    @classmethod
    def from_networkx(
        cls, interests: Interests, graph: nx.Graph[str], cost: str | None = edge_lists.COST
    ) -> Overlay:
        """Build from a networkx graph whose vertices are names of nodes; nodes without edges may be missing.

        `cost` is the attribute that holds what an edge costs, and all edges must have it. By default it is
        "cost", which all edges or none must have; with None, costs are left out. An edge that comes twice,
        as in a directed graph, is one edge, and must come with the same cost. A vertex that is no node, and
        a self loop, are refused.

        Example:
            >>> import networkx as nx
            >>> import meshwright as mw
            >>> interests = mw.Interests.from_pairs([("b1", "news"), ("b2", "news"), ("b3", "news")])
            >>> graph = nx.path_graph(["b1", "b2", "b3"])
            >>> mw.Overlay.from_networkx(interests, graph)
            Overlay(3 nodes, 2 edges)
            >>> nx.set_edge_attributes(graph, 12.5, "ms")
            >>> overlay = mw.Overlay.from_networkx(interests, graph, cost="ms")
            >>> mw.Overlay.from_networkx(interests, overlay.to_networkx()) == overlay
            True
        """
        _check_interests(interests, "from_networkx")
        return cls._of_edges(interests, edge_lists.of_graph(interests.nodes, graph, cost))

    @classmethod
    def from_csv(
        cls,
        interests: Interests,
        path: str | Path,
        source: Column = "source",
        target: Column = "target",
        *,
        cost: Column | None = edge_lists.COST,
        delimiter: str | None = None,
        header: bool | None = None,
        symmetrise: str = "refuse",
        missing_cost: float | None = None,
        limits: ReadLimits = READ_LIMITS,
        progress: Progress | None = None,
    ) -> Overlay:
        """Build from two CSV columns of node names, read as by `Interests.from_csv`, and one of costs.

        As in `from_pandas`, a column "cost" is read where there is one, unless columns are positions. So the
        CSV file of `meshwright.export` gives the same links and costs. An edge that comes with different
        costs gets their mean, max or min, as `symmetrise` says, or is refused. `missing_cost` is what a row
        without a cost costs; otherwise it is refused.
        """
        _check_interests(interests, "from_csv")
        how: dict[str, Any] = {"delimiter": delimiter, "header": header, "limits": limits}
        how["rules"] = edge_lists.EdgeRules(symmetrise=symmetrise, missing_cost=missing_cost)
        columns = edge_lists.columns_of(source, target, cost)
        found = edge_lists.from_csv(interests.nodes, path, columns, progress=progress, **how)
        return cls._of_edges(interests, found)

    @classmethod
    def from_parquet(
        cls,
        interests: Interests,
        path: str | Path,
        source: Column = "source",
        target: Column = "target",
        *,
        cost: Column | None = edge_lists.COST,
        symmetrise: str = "refuse",
        missing_cost: float | None = None,
        limits: ReadLimits = READ_LIMITS,
        progress: Progress | None = None,
    ) -> Overlay:
        """Build from two string columns of a Parquet file or a folder of them, and a column of costs.

        As in `from_pandas`, a column "cost" is read where there is one, unless columns are positions.
        `symmetrise` and `missing_cost` are those of `from_csv`.
        """
        _check_interests(interests, "from_parquet")
        rules = edge_lists.EdgeRules(symmetrise=symmetrise, missing_cost=missing_cost)
        how: dict[str, Any] = {"limits": limits, "rules": rules, "progress": progress}
        columns = edge_lists.columns_of(source, target, cost)
        return cls._of_edges(interests, edge_lists.from_parquet(interests.nodes, path, columns, **how))

    @classmethod
    def _of_edges(cls, interests: Interests, found: edge_lists.EdgeList) -> Overlay:
        return cls(interests, found.edges, found.costs)

    def to_arrow(self) -> pa.Table:
        """A table `source, target, source_id, target_id`, and `cost` where links cost.

        The names are dictionary-encoded, at 4 bytes each.
        """
        ends = [arrow_of(self.edges[:, side]) for side in (0, 1)]
        names = [pa.DictionaryArray.from_arrays(ids, self.interests.nodes) for ids in ends]
        columns = dict(zip(("source", "target", "source_id", "target_id"), (*names, *ends), strict=True))
        if self.costs is not None:
            columns["cost"] = arrow_of(self.costs)
        return pa.table(columns)

    def to_pandas(self) -> pd.DataFrame:
        """The columns of `to_arrow` as a frame; names are categories."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_scipy(self) -> csr_array:
        """The symmetric matrix, nodes by nodes: costs (float64), or ones (int32) where there are none."""
        from scipy.sparse import coo_array

        values = np.ones(len(self), np.int32) if self.costs is None else self.costs
        u, v = self.edges.T
        entries = (np.concatenate([values, values]), (np.concatenate([u, v]), np.concatenate([v, u])))
        count = self.interests.node_count
        return coo_array(entries, shape=(count, count)).tocsr()

    def to_networkx(self) -> nx.Graph[str]:
        """A graph of all nodes, by name, with their attributes, and of the edges, with their costs."""
        import networkx as nx

        graph: nx.Graph[str] = nx.Graph()
        graph.add_nodes_from(nodes_with_attributes(self))
        graph.add_edges_from(edges_with_cost(self))
        return graph

    def write(
        self,
        path: str | Path,
        *,
        force: bool = False,
        made_by: Mapping[str, Any] | None = None,
        names: bool = True,
        progress: Progress | None = None,
    ) -> None:
        """Write a dataset: all of it, or nothing that looks like one; as `Interests.write`.

        Without `names`, `edges/` has the ids of nodes alone, too.
        """
        extras = {name: table.num_rows for name, table in self.tables.items()}
        manifest = make_manifest("overlay", overlay_counts(self), self.facts, extras, made_by)
        write_dataset(path, manifest, overlay_tables(self, names), force=force, progress=progress)

    @classmethod
    def read(cls, path: str | Path, *, progress: Progress | None = None) -> Overlay:
        """Read an overlay dataset, its interests and extra tables included."""
        with stage(progress, f"reading {path}"):
            return cls._of_dataset(open_dataset(Path(path), "overlay"))

    @classmethod
    def _of_dataset(cls, dataset: Dataset[Path]) -> Overlay:
        interests = Interests.of_dataset(dataset)
        with as_dataset(dataset.path):
            edges, costs = read_edges(dataset)
            extras = read_extras(dataset)
            overlay = cls.from_arrays(interests, edges, costs, dataset.manifest["facts"], extras)
        check_counts(dataset, overlay_counts(overlay))
        return overlay


def _check_interests(given: object, caller: str) -> None:
    if not isinstance(given, Interests):
        raise InputError(f"Overlay.{caller} got {type_of(given)} first; give Interests first, then the edges")


def _lasting(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts but for the seconds, which no two runs have in common."""
    return {name: fact for name, fact in facts.items() if name != "seconds"}


def _same_costs(one: Floats | None, other: Floats | None) -> bool:
    return one is other if one is None or other is None else np.array_equal(one, other)


def shared_links(one: Overlay, other: Overlay) -> tuple[Longs, Longs]:
    """The places, in each, of the links that two overlays of the same nodes have in common."""
    mine, theirs = (pack(overlay.edges[:, 0], overlay.edges[:, 1]) for overlay in (one, other))
    _, here, there = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
    return here, there


COSTS_FACT = "costs"


def priced(overlay: Overlay, costs: Costs) -> Overlay:
    """The overlay with what `costs` say that each link costs; costs that it had are forgotten.

    A node that has no costs is refused.
    """
    own = costs.of(overlay.interests)
    facts = {**overlay.facts, COSTS_FACT: own.description()}
    prices = own.between(overlay.edges[:, 0], overlay.edges[:, 1])
    return Overlay(overlay.interests, overlay.edges, prices, facts, {**overlay.tables, **own.tables()})


def costs_of(overlay: Overlay) -> Costs | None:
    """The costs between all nodes that the overlay was priced by; None where it does not say."""
    if COSTS_FACT not in overlay.facts:
        return None
    return Costs.from_tables(overlay.tables, overlay.facts[COSTS_FACT]).of(overlay.interests)
