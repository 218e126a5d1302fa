"""Where to draw nodes: pieces that hang together each by themselves, then side by side on one sheet."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from meshwright.seeds import generator

_SHEET = 1_000
_MARGIN = 60
_GAP = 0.6
_LEAST_SIDE = 0.5
_STEPS = 150

Points = npt.NDArray[np.float64]


class Layout(NamedTuple):
    """The places of nodes on a sheet that is 1,000 wide, in whole numbers: x and y by node."""

    places: list[tuple[int, int]]
    height: int


def lay_out(node_count: int, edges: Sequence[Sequence[int]]) -> Layout:
    """Places such that distances on the sheet follow the numbers of links between nodes.

    The pieces stand in rows, the largest first. Deterministic; O(nodes³) for a piece, a tenth of a second for
    150 nodes.
    """
    if not node_count:
        return Layout([], 0)
    apart = _links_between(node_count, edges)
    first_of = np.argmax(np.isfinite(apart), axis=1)
    pieces = [np.flatnonzero(first_of == first) for first in np.unique(first_of)]
    pieces.sort(key=lambda piece: (-len(piece), piece[0]))
    drawn = [_piece(apart[np.ix_(piece, piece)]) for piece in pieces]
    places = np.zeros((node_count, 2))
    for piece, points in zip(pieces, _in_rows(drawn), strict=True):
        places[piece] = points
    return _on_sheet(places)


def _links_between(node_count: int, edges: Sequence[Sequence[int]]) -> Points:
    """The fewest links from each node to each; infinite where there is no way."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    sources, targets = np.array(edges, np.int64).reshape(-1, 2).T
    links = coo_array((np.ones(len(sources)), (sources, targets)), shape=(node_count, node_count))
    found: Points = shortest_path(links.tocsr(), directed=False, unweighted=True)
    return found


def _piece(apart: Points) -> Points:
    """One piece in the box from 0 to a side that grows with the square root of its nodes."""
    side = max(np.sqrt(len(apart)), _LEAST_SIDE)
    if len(apart) == 1:
        return np.full((1, 2), side / 2)
    points = _least_stress(apart, _start(apart))
    points -= points.min(axis=0)
    points *= side / max(points.max(), 1e-9)
    return points


def _start(apart: Points) -> Points:
    """Classical scaling; nodes equally far from all others would coincide, and are moved a little."""
    squares = apart**2
    means = squares.mean(axis=0)
    values, vectors = np.linalg.eigh((means[:, None] + means - squares - means.mean()) / 2)
    axes = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0))
    ahead = np.sign(axes[np.argmax(np.abs(axes), axis=0), [0, 1]])  # which way an axis points is left open
    moved: Points = axes * ahead + generator(0, "layout").normal(0, 0.1, axes.shape)
    return moved


def _least_stress(apart: Points, points: Points) -> Points:
    """Majorisation of the stress, the sum of ((length - links) / links)² over all pairs, which never rises.

    Gansner, Koren, North: Graph drawing by stress majorization, 2004.
    """
    away = apart + np.eye(len(apart))
    weights = (1 - np.eye(len(apart))) / away**2
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    for _ in range(_STEPS):
        gaps = points[:, None] - points
        lengths = np.maximum(np.sqrt((gaps**2).sum(axis=2)), 1e-9)
        pull = weights * away / lengths
        points = inverse @ (pull.sum(axis=1)[:, None] * points - pull @ points)
    return points


def _in_rows(pieces: list[Points]) -> list[Points]:
    """The pieces moved apart: row by row, a row about as wide as all of them are high."""
    sizes = [piece.max(axis=0) + _GAP for piece in pieces]
    width = max([np.sqrt(sum(float(size.prod()) for size in sizes)), *(size[0] for size in sizes)])
    placed, corner, row_height = [], np.zeros(2), 0.0
    for piece, size in zip(pieces, sizes, strict=True):
        if corner[0] + size[0] > width * 1.0001:
            corner, row_height = np.array([0.0, corner[1] + row_height]), 0.0
        placed.append(piece + corner)
        corner, row_height = np.array([corner[0] + size[0], corner[1]]), max(row_height, size[1])
    return placed


def _on_sheet(places: Points) -> Layout:
    """Scaled to the width of the sheet, in whole numbers, with a margin; never higher than wide."""
    extent = places.max(axis=0) - places.min(axis=0)
    scaled = (places - places.min(axis=0)) * (_SHEET - 2 * _MARGIN) / max(extent.max(), 1e-9)
    height = round(float(scaled[:, 1].max()) + 2 * _MARGIN)
    scaled += [(_SHEET - scaled[:, 0].max()) / 2, _MARGIN]
    return Layout([(round(x), round(y)) for x, y in scaled.tolist()], height)
