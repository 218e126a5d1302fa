"""Edges as arrays: their one form, what is refused on the way to it, and what an algorithm hands back."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from meshwright.model import pairs as sources
from meshwright.model.costs.forms import COST_RULE, is_cost, positive
from meshwright.model.costs.matrices import SYMMETRISE
from meshwright.model.dense import frozen
from meshwright.model.names import lookup, meant_name, name_array
from meshwright.model.pairs import Chunk, Columns, Origin, Pairs, collect, csv_origin, from_tuples
from meshwright.model.reading.columns import Column, IfThere, is_position
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.runtime.arrays import Floats, Ids
from meshwright.runtime.checks import check_choice
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
    ordered, merged, _ = _merged(nodes, given, prices, None, None)
    return ordered, merged


@dataclass(frozen=True, kw_only=True)
class EdgeRules:
    """What an edge costs that comes without a cost, or twice with different ones.

    Attributes:
        symmetrise: the `mean`, `max` or `min` of its different costs; or `refuse`.
        missing_cost: the cost of a row that has none; None to refuse it.
    """

    symmetrise: str = "refuse"
    missing_cost: float | None = None

    def __post_init__(self) -> None:
        check_choice("symmetrise", self.symmetrise, SYMMETRISE)
        if self.missing_cost is not None:
            positive(self.missing_cost, "missing_cost (--missing-cost)")


class EdgeList(NamedTuple):
    """Edges in their one form with their costs, and what was done to the rows that they come from.

    Attributes:
        edges: rows of two node ids.
        costs: of the edges; None without costs.
        rows: how many there were. What is over the number of edges said again what another row said.
        unequal: how many edges came with different costs.
        without_cost: how many rows had no cost, and got one.
    """

    edges: Ids
    costs: Floats | None
    rows: int
    unequal: int = 0
    without_cost: int = 0


def _merged(
    nodes: pa.StringArray, given: Ids, prices: Floats | None, rules: EdgeRules | None, origin: Origin | None
) -> tuple[Ids, Floats | None, int]:
    """Edges in their one form, each once, with its one cost; and how many came with different costs."""
    ordered: Ids = given if (given[:, 0] < given[:, 1]).all() else np.sort(given, axis=1)
    keys = _keys(ordered, len(nodes))
    if not (keys[1:] <= keys[:-1]).any():
        return ordered, prices, 0
    if prices is None:
        return np.stack(np.divmod(np.unique(keys), len(nodes)), axis=1).astype(np.int32), None, 0
    order = np.lexsort((prices, keys))
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    ends = np.append(starts[1:], len(order)) - 1
    unequal = prices[order[starts]] != prices[order[ends]]
    rule = "refuse" if rules is None else rules.symmetrise
    if rule == "refuse" and unequal.any():
        way = _ONE_COST if rules is None else _SYMMETRISE
        raise _disagreement(nodes, ordered, prices, int(unequal.sum()), origin, way)
    return ordered[order[starts]], _RULES[rule](prices[order], starts, ends), int(unequal.sum())


def _mean(prices: Floats, starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> Floats:
    """The mean of the different costs of each edge; `prices` rise between a start and its end."""
    is_new = np.diff(prices, prepend=np.nan) != 0
    is_new[starts] = True
    shares = 1 / np.add.reduceat(is_new, starts, dtype=np.float64)
    weights = np.where(is_new, np.repeat(shares, ends - starts + 1), 0.0)
    alone = prices[starts] == prices[ends]
    return np.where(alone, prices[starts], np.add.reduceat(prices * weights, starts))


_RULES: Mapping[str, Any] = {
    "mean": _mean,
    "max": lambda prices, starts, ends: prices[ends],
    "min": lambda prices, starts, ends: prices[starts],
    "refuse": lambda prices, starts, ends: prices[starts],
}


def _disagreement(
    nodes: pa.StringArray, edges: Ids, prices: Floats, how_many: int, origin: Origin | None, way: str
) -> InputError:
    """The error about the first row whose edge has another cost in an earlier row."""
    _, first, group = np.unique(_keys(edges, len(nodes)), return_index=True, return_inverse=True)
    later = int(np.flatnonzero(prices != prices[first[group]])[0])
    earlier = int(first[group[later]])
    edge, old, new = _edge(nodes, edges[later]), f"{prices[earlier]:g}", f"{prices[later]:g}"
    more = f" (and {count(how_many - 1, 'more link has', 'more links have')} several)" if how_many > 1 else ""
    if origin is None:
        return InputError(f"the edge {edge} comes with the costs {old} and {new}{more}; {way}")
    place = origin.place(earlier + 1)
    return origin.error(later + 1, f"the link {edge} costs {new}, but {old} in {place}{more}; {way}")


_ONE_COST = "a link has one cost"
_SYMMETRISE = f"{_ONE_COST}: set symmetrise (--symmetrise) to mean, max or min"


def unknown_node(origin: str, name: str, how_many: int, nodes: pa.StringArray) -> InputError:
    """The error about a name, the first of some, that is no node."""
    return InputError(f"{origin}: {_unknown(name, how_many, nodes)}")


def _unknown(name: str, how_many: int, nodes: pa.StringArray) -> str:
    question = meant_name(nodes, name)
    return (
        f"there is no {quoted(name)}{_and_more(how_many)} among the {count(len(nodes), 'node')} of the "
        f"interests; {question}{'Otherwise add' if question else 'add'} missing nodes there (they need no "
        f"topics), or leave their edges out"
    )


def of_graph(nodes: pa.StringArray, graph: "nx.Graph[str]", cost: str | None) -> EdgeList:
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
    origin: str | Origin,
    costs: npt.ArrayLike | None = None,
    progress: Progress | None = None,
    rules: EdgeRules | None = None,
) -> EdgeList:
    """Pairs of node names as edges in their one form; a name that is no node is refused.

    Without rules there is nothing to choose, and errors say nothing of them.
    """
    origin = Origin(origin) if isinstance(origin, str) else origin
    pairs = collect(chunks, columns, progress=progress)
    edges = _ends(nodes, pairs, origin)
    prices = pairs.values if costs is None else frozen(costs, np.float64, "costs")
    without = 0
    if prices is not None and prices.shape == (len(edges),):
        end = "; to leave costs out, give cost=None" if isinstance(columns.value, IfThere) else ""
        prices, without = _priced(nodes, edges, prices, rules, origin, end)
    _check_rows(nodes, edges, origin)
    check_costs(nodes, edges, prices)
    merged = _merged(nodes, frozen_edges(edges), prices, rules, origin)
    return EdgeList(merged[0], merged[1], len(edges), merged[2], without)


def _ends(nodes: pa.StringArray, pairs: Pairs, origin: Origin) -> Ids:
    """The ids of both ends of each pair."""
    sides = ((pairs.first_ids, pairs.first_names), (pairs.second_ids, pairs.second_names))
    edges: Ids = np.stack([lookup(nodes, names)[ids] for ids, names in sides], axis=1)
    if len(edges) and edges.min() < 0:
        row, side = (int(place[0]) for place in np.nonzero(edges < 0))
        ids, names = sides[side]
        unknown = set()
        try:
            name = names[int(ids[row])].as_py()
            for _, known in sides:
                unknown.update(known.filter(pa.array(lookup(nodes, known) < 0)).to_pylist())
        except UnicodeDecodeError:
            raise InputError(f"{origin.name} has a name that is not UTF-8; write names as UTF-8") from None
        raise origin.error(row + 1, _unknown(name, len(unknown), nodes))
    return edges


def _check_rows(nodes: pa.StringArray, edges: Ids, origin: Origin) -> None:
    loops = np.flatnonzero(edges[:, 0] == edges[:, 1])
    if len(loops):
        name = nodes[int(edges[loops[0], 0])].as_py()
        words = f"an edge joins {quoted(name)} to itself{_and_more(len(loops))}; leave self loops out"
        raise origin.error(int(loops[0]) + 1, words)


def _priced(
    nodes: pa.StringArray, edges: Ids, prices: Floats, rules: EdgeRules | None, origin: Origin, end: str
) -> tuple[Floats, int]:
    """What rows cost, and how many of them had no cost; a cost that is none is refused with its row.

    `end` is what the error ends with.
    """
    prices = prices if rules is None else _told_elsewhere(edges, prices, len(nodes))
    missing = np.isnan(prices)
    if rules is not None and rules.missing_cost is not None:
        prices = np.where(missing, rules.missing_cost, prices)
    wrong = np.flatnonzero(~is_cost(prices))
    if len(wrong):
        at = int(wrong[0])
        is_none = bool(missing[at]) and rules is not None
        cost = "has no cost" if is_none else f"costs {prices[at]:g}"
        link = f"the link {_edge(nodes, edges[at])} {cost}{_and_more(len(wrong))}"
        raise origin.error(at + 1, f"{link}; {_NO_COST if is_none else COST_RULE}{end}")
    return prices, int(missing.sum())


def _told_elsewhere(edges: Ids, prices: Floats, node_count: int) -> Floats:
    """The same costs, where a row without one takes that of another row of its link, in either direction."""
    if not np.isnan(prices).any():
        return prices
    keys = _keys(np.sort(edges, axis=1), node_count)
    order = np.lexsort((np.isnan(prices), keys))  # of each link, rows with a cost come first
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    first = order[np.repeat(starts, np.diff(np.append(starts, len(order))))]
    told = np.empty_like(prices)
    told[order] = prices[first]
    return np.where(np.isnan(prices), told, prices)


_NO_COST = "give it one, or set missing_cost (--missing-cost) to what such links cost"


def from_csv(
    nodes: pa.StringArray,
    path: str | Path,
    columns: Columns,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    limits: ReadLimits = READ_LIMITS,
    rules: EdgeRules | None = None,
    progress: Progress | None = None,
) -> EdgeList:
    """The edges of a CSV file, by names."""
    found = sources.from_csv(path, columns, delimiter, limits, header)
    origin = csv_origin(path, columns, delimiter, limits, header)
    return by_name(nodes, found, columns, origin, None, progress, rules)


def from_parquet(
    nodes: pa.StringArray,
    path: str | Path,
    columns: Columns,
    *,
    limits: ReadLimits = READ_LIMITS,
    rules: EdgeRules | None = None,
    progress: Progress | None = None,
) -> EdgeList:
    """The edges of a Parquet file or a folder of them, by names."""
    found = sources.from_parquet(path, columns, limits)
    return by_name(nodes, found, columns, str(path), None, progress, rules)
