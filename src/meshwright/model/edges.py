"""Edges as arrays: their one form, what is refused on the way to it, and what an algorithm hands back."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from meshwright.model.costs.forms import COST_RULE, is_cost
from meshwright.model.dense import frozen
from meshwright.model.names import lookup, meant_name, name_array
from meshwright.model.pairs import Chunk, Columns, collect, from_tuples
from meshwright.model.reading.columns import Column, IfThere, is_position
from meshwright.runtime.arrays import Floats, Ids
from meshwright.runtime.errors import InputError, quoted
from meshwright.runtime.progress import Progress
from meshwright.runtime.wording import count

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, kw_only=True)
class Built:
    """Edges as pairs of node ids in any order, facts about the work, and extra tables.

    `in_order` says that the edges come in the order in which they were taken, so that reverse delete may look
    at the last of them first.
    """

    edges: npt.ArrayLike
    facts: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    in_order: bool = False


SOURCE_TARGET = Columns("source", "target")
COST = IfThere("cost")
"""What the costs of edges are called, in a table as in a graph."""


def columns_of(source: Column, target: Column, cost: Column | None) -> Columns:
    """The columns of an edge list; costs that need not be there are left out if they can't be told."""
    if isinstance(cost, IfThere) and (is_position(source) or cost in (source, target)):
        cost = None
    return Columns(source, target, cost)


def frozen_edges(edges: npt.ArrayLike) -> Ids:
    """`edges` as a read-only int32 array of shape (m, 2)."""
    given = np.asarray(edges)
    if given.size == 0:
        given = np.empty((0, 2), np.int32)
    if given.ndim != 2 or given.shape[1] != 2:
        raise InputError(
            f"the array of edges has shape {given.shape}; give (m, 2), a row of two node ids for each edge"
        )
    return frozen(given, np.int32, "edges")


def check_edges(nodes: pa.StringArray, edges: Ids) -> None:
    """Refuse edges that are not in their one form: ids of nodes, u < v, rows strictly rising."""
    _check_ends(nodes, edges)
    keys = _keys(edges, len(nodes))
    if (edges[:, 0] > edges[:, 1]).any() or (keys[1:] <= keys[:-1]).any():
        raise InputError("the edges must have u < v and rise strictly; use Overlay.from_arrays for any order")


def _check_ends(nodes: pa.StringArray, edges: Ids) -> None:
    if len(edges) and (edges.min() < 0 or edges.max() >= len(nodes)):
        beyond = edges[((edges < 0) | (edges >= len(nodes))).any(axis=1)]
        raise InputError(
            f"edge {beyond[0].tolist()}{_and_more(len(beyond))} names an id outside 0 to {len(nodes) - 1}; "
            f"an id is a node's position in the order of names"
        )
    loops = edges[edges[:, 0] == edges[:, 1], 0]
    if len(loops):
        name = nodes[int(loops[0])].as_py()
        raise InputError(
            f"an edge joins {quoted(name)} to itself{_and_more(len(loops))}; leave self loops out"
        )


def _and_more(count: int) -> str:
    return f" (and {count - 1} more)" if count > 1 else ""


def _keys(edges: Ids, node_count: int) -> npt.NDArray[np.int64]:
    """One number for each edge, which sorts like its row."""
    keys = edges[:, 0].astype(np.int64)
    keys *= node_count
    keys += edges[:, 1]
    return keys


def check_costs(nodes: pa.StringArray, edges: Ids, costs: Floats | None) -> None:
    """Refuse costs that are not one number for each edge, within the limits of all costs."""
    if costs is None:
        return
    if costs.shape != (len(edges),):
        raise InputError(
            f"the array of costs has shape {costs.shape} for {count(len(edges), 'edge')}; "
            f"give one number for each"
        )
    wrong = np.flatnonzero(~is_cost(costs))
    if len(wrong):
        raise InputError(
            f"the edge {_edge(nodes, edges[wrong[0]])} costs {costs[wrong[0]]}{_and_more(len(wrong))}; "
            f"{COST_RULE}"
        )


def _edge(nodes: pa.StringArray, edge: Ids) -> str:
    u, v = (nodes[int(end)].as_py() for end in edge)
    return f"{quoted(u)} - {quoted(v)}"


def canonical(
    nodes: pa.StringArray, edges: npt.ArrayLike, costs: npt.ArrayLike | None
) -> tuple[Ids, Floats | None]:
    """Edges in their one form, and their costs in the same order. Linear if they have it, else one sort."""
    given = frozen_edges(edges)
    prices: Floats | None = None if costs is None else frozen(costs, np.float64, "costs")
    _check_ends(nodes, given)
    check_costs(nodes, given, prices)
    ordered: Ids = given if (given[:, 0] < given[:, 1]).all() else np.sort(given, axis=1)
    keys = _keys(ordered, len(nodes))
    if not (keys[1:] <= keys[:-1]).any():
        return ordered, prices
    if prices is None:
        return np.stack(np.divmod(np.unique(keys), len(nodes)), axis=1).astype(np.int32), None
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    _check_agreement(nodes, ordered[first], prices, prices[first], group)
    return ordered[first], prices[first]


def _check_agreement(
    nodes: pa.StringArray, edges: Ids, prices: Floats, kept: Floats, group: npt.NDArray[np.int64]
) -> None:
    """Refuse an edge that comes twice with two costs."""
    other = np.flatnonzero(prices != kept[group])
    if len(other):
        at = group[other[0]]
        raise InputError(
            f"the edge {_edge(nodes, edges[at])} comes with the costs {kept[at]} and {prices[other[0]]}; "
            f"an edge has one cost"
        )


def unknown_node(origin: str, name: str, how_many: int, nodes: pa.StringArray) -> InputError:
    """The error about a name, the first of some, that is no node."""
    question = meant_name(nodes, name)
    return InputError(
        f"{origin}: there is no {quoted(name)}{_and_more(how_many)} among the {count(len(nodes), 'node')} of "
        f"the interests; {question}{'Otherwise add' if question else 'add'} missing nodes there (they need no "
        f"topics), or leave their edges out"
    )


def of_graph(nodes: pa.StringArray, graph: "nx.Graph[str]", cost: str | None) -> tuple[Ids, Floats | None]:
    """The edges of a graph of node names, and their costs where `cost` names an attribute that they have."""
    vertices = name_array(list(graph), "node")
    unknown = vertices.filter(pa.array(lookup(nodes, vertices) < 0))
    if len(unknown):
        raise unknown_node("the graph", unknown[0].as_py(), len(unknown), nodes)
    ends = list(graph.edges())
    prices = None if cost is None else _costs_of(graph, cost)
    return by_name(nodes, from_tuples(ends, SOURCE_TARGET), SOURCE_TARGET, "the graph", prices)


def _costs_of(graph: "nx.Graph[str]", cost: str) -> list[float] | None:
    """What the edges of a graph cost, in their order; None if none has a cost that need not be there."""
    found: list[tuple[str, str, float | None]] = list(graph.edges(data=cost))
    without = [(u, v) for u, v, price in found if price is None]
    if isinstance(cost, IfThere) and len(without) == len(found):
        return None
    if without:
        u, v = without[0]
        raise InputError(
            f"the graph: the edge {u!r} - {v!r}{_and_more(len(without))} has no {cost!r}; "
            f"give every edge one, or leave costs out with cost=None"
        )
    return [price for *_, price in found if price is not None]


def by_name(
    nodes: pa.StringArray,
    chunks: Iterable[Chunk],
    columns: Columns,
    origin: str,
    costs: npt.ArrayLike | None = None,
    progress: Progress | None = None,
) -> tuple[Ids, Floats | None]:
    """Pairs of node names as edges in their one form; a name that is no node is refused."""
    pairs = collect(chunks, columns, progress=progress)
    sides = ((pairs.first_ids, pairs.first_names), (pairs.second_ids, pairs.second_names))
    ends = [lookup(nodes, names)[ids] for ids, names in sides]
    edges = np.stack(ends, axis=1)
    if len(edges) and edges.min() < 0:
        row, side = (int(place[0]) for place in np.nonzero(edges < 0))
        ids, names = sides[side]
        unknown = set()
        try:
            name = names[int(ids[row])].as_py()
            for _, known in sides:
                unknown.update(known.filter(pa.array(lookup(nodes, known) < 0)).to_pylist())
        except UnicodeDecodeError:
            raise InputError(f"{origin} has a name that is not UTF-8; write names as UTF-8") from None
        raise unknown_node(f"{origin}, row {row + 1}", name, len(unknown), nodes)
    if isinstance(columns.value, IfThere):
        _check_found_costs(nodes, edges, pairs.values)
    return canonical(nodes, edges, pairs.values if costs is None else costs)


def _check_found_costs(nodes: pa.StringArray, edges: Ids, costs: Floats | None) -> None:
    """Refuse wrong costs that nobody asked for with the way to leave them out."""
    try:
        check_costs(nodes, edges, costs)
    except InputError as error:
        raise InputError(f"{error}; to leave costs out, give cost=None") from None
