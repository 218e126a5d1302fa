"""Where to draw nodes: pieces that hang together each by themselves, then side by side on one sheet."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import networkx as nx

_SHEET = 1_000
_GAP = 0.6
_LEAST_SIDE = 1.0

Points = npt.NDArray[np.float64]


class Layout(NamedTuple):
    """The places of nodes on a sheet that is 1,000 wide, in whole numbers: x and y by node."""

    places: list[tuple[int, int]]
    height: int


def lay_out(node_count: int, edges: Sequence[Sequence[int]]) -> Layout:
    """Places such that distances follow the numbers of links between nodes (Kamada and Kawai, 1989).

    The pieces stand in rows, the largest first. Deterministic; O(nodes³) for a piece, some tenths of a second
    for 150 nodes.
    """
    import networkx as nx

    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(node_count))
    graph.add_edges_from((u, v) for u, v in edges)
    pieces = sorted((sorted(piece) for piece in nx.connected_components(graph)), key=lambda p: (-len(p), p))
    drawn = [_piece(graph.subgraph(piece), piece) for piece in pieces]
    places = np.zeros((node_count, 2))
    for piece, points in zip(pieces, _in_rows(drawn), strict=True):
        places[piece] = points
    return _on_sheet(places)


def _piece(graph: "nx.Graph[int]", nodes: list[int]) -> Points:
    """One piece in the box from 0 to a side that grows with the square root of its nodes."""
    import networkx as nx

    side = max(np.sqrt(len(nodes)), _LEAST_SIDE)
    if len(nodes) == 1:
        return np.full((1, 2), side / 2)
    ordered: nx.Graph[int] = nx.Graph()
    ordered.add_nodes_from(nodes)
    ordered.add_edges_from(sorted((min(u, v), max(u, v)) for u, v in graph.edges))
    found = nx.kamada_kawai_layout(ordered)
    points: Points = np.array([found[node] for node in nodes], np.float64)
    points -= points.min(axis=0)
    points *= side / max(points.max(), 1e-9)
    return points


def _in_rows(pieces: list[Points]) -> list[Points]:
    """The pieces moved apart: row by row, a row about as wide as all of them are high."""
    sizes = [piece.max(axis=0) + _GAP for piece in pieces]
    width = max([np.sqrt(sum(float(size.prod()) for size in sizes)), *(size[0] for size in sizes)], default=0)
    placed, corner, row_height = [], np.zeros(2), 0.0
    for piece, size in zip(pieces, sizes, strict=True):
        if corner[0] + size[0] > width * 1.0001:
            corner, row_height = np.array([0.0, corner[1] + row_height]), 0.0
        placed.append(piece + corner)
        corner, row_height = np.array([corner[0] + size[0], corner[1]]), max(row_height, size[1])
    return placed


def _on_sheet(places: Points) -> Layout:
    """Scaled to the width of the sheet, in whole numbers, with a margin; never higher than wide."""
    if not len(places):
        return Layout([], 0)
    extent = places.max(axis=0) - places.min(axis=0)
    margin = _SHEET * 0.06
    scaled = (places - places.min(axis=0)) * (_SHEET - 2 * margin) / max(extent.max(), 1e-9)
    height = round(float(scaled[:, 1].max()) + 2 * margin)
    scaled += [(_SHEET - scaled[:, 0].max()) / 2, margin]
    return Layout([(round(x), round(y)) for x, y in scaled.tolist()], height)
