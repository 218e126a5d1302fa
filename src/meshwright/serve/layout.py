"""Where nodes are drawn: at their places on a map of the world, or by the links among them."""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from meshwright.model.overlay import Overlay
from meshwright.runtime.arrays import Floats

SIDE = 10_000
"""Positions are whole numbers from 0 to this; in degrees, a world that is twice as wide as high."""
_PIVOTS = 24
_MOST_LINKS = 30_000
"""Of more links, a page draws only those of what is selected."""
_SEED = 7


class Layout(NamedTuple):
    """Positions by node."""

    by_places: bool
    position_of: dict[str, tuple[int, int]]


def layout_of(overlay: Overlay, before: Layout | None = None) -> Layout:
    """Positions for all nodes; those that had one keep it.

    New nodes are put beside their neighbours. If more than a third are new, and places are not known, all are
    laid out again.

    Cost: O(24 (n + m)) for a whole layout of n nodes with m links, linear otherwise.
    """
    names: list[str] = overlay.interests.nodes.to_pylist()
    places = _places(overlay)
    kept = {} if before is None or before.by_places != (places is not None) else before.position_of
    known = np.array([name in kept for name in names], bool)
    if places is not None:
        found, known = places
    elif known.sum() * 3 < len(names) * 2:
        found, known = by_links(overlay), np.ones(len(names), bool)
    else:
        found = np.array([kept.get(name, (0, 0)) for name in names], float).reshape(-1, 2)
    found = _beside_neighbours(overlay, found, known)
    whole = np.clip(np.rint(found), 0, SIDE).astype(int).tolist()
    return Layout(places is not None, {name: (x, y) for name, (x, y) in zip(names, whole, strict=True)})


def _places(overlay: Overlay) -> tuple[Floats, "np.ndarray[Any, np.dtype[np.bool_]]"] | None:
    """Positions by latitude and longitude, and which nodes have them; None if none has."""
    table = overlay.interests.node_attributes
    if table is None or not {"lat", "lon"} <= set(table.column_names):
        return None
    lat, lon = (table[name].to_numpy(zero_copy_only=False).astype(float) for name in ("lat", "lon"))
    known = (np.abs(lat) <= 90) & (np.abs(lon) <= 180)
    if not known.any():
        return None
    found = np.column_stack([(lon + 180) / 360, (90 - lat) / 360 + 0.25]) * SIDE
    return np.where(known[:, None], found, SIDE / 2), known


def by_links(overlay: Overlay) -> Floats:
    """Positions such that nodes few links apart are near each other, as far as a plane allows.

    By distances to some pivots that are far from each other, and the two directions in which these differ
    most (U. Brandes and C. Pich, Eigensolver methods for progressive multidimensional scaling, 2006).
    """
    count = overlay.interests.node_count
    if count < 3:
        return np.column_stack([np.linspace(0.25, 0.75, count), np.full(count, 0.5)]) * SIDE
    rng = np.random.default_rng(_SEED)
    away = _distances(overlay, min(_PIVOTS, count))
    centred = away**2 - (away**2).mean(axis=0) - (away**2).mean(axis=1, keepdims=True) + (away**2).mean()
    _, vectors = np.linalg.eigh(centred.T @ centred)
    flat = centred @ vectors[:, -2:]
    # Ranks along both axes, half and half with the distances: nodes at the same distances are kept apart.
    flat = flat + rng.normal(0, 0.02, flat.shape) * (flat.std(axis=0) + 1e-9)
    scaled = (flat - flat.min(axis=0)) / np.maximum(np.ptp(flat, axis=0), 1e-9)
    ranks = np.argsort(np.argsort(flat, axis=0), axis=0) / (count - 1)
    mixed: Floats = 0.04 * SIDE + 0.92 * SIDE * (0.5 * scaled + 0.5 * ranks)
    return mixed


def _distances(overlay: Overlay, pivots: int) -> Floats:
    """Links between each node and some pivots, each the farthest from those before it."""
    count, ends = overlay.interests.node_count, overlay.edges
    ones = np.ones(2 * len(ends), np.int8)
    both = np.concatenate([ends, ends[:, ::-1]]) if len(ends) else np.empty((0, 2), int)
    graph = csr_array((ones, (both[:, 0], both[:, 1])), shape=(count, count))
    degrees = np.bincount(both[:, 0], minlength=count)
    found, nearest, pivot = [], np.full(count, np.inf), int(degrees.argmax())
    for _ in range(pivots):
        own = dijkstra(graph, unweighted=True, indices=[pivot])[0]
        own[np.isinf(own)] = own[np.isfinite(own)].max() + 2
        found.append(own)
        nearest = np.minimum(nearest, own)
        pivot = int(nearest.argmax())
    return np.column_stack(found)


def _beside_neighbours(
    overlay: Overlay, found: Floats, known: "np.ndarray[Any, np.dtype[np.bool_]]"
) -> Floats:
    """Positions of nodes without one: amid their neighbours that have one, or in the middle."""
    if known.all():
        return found
    ends = np.concatenate([overlay.edges, overlay.edges[:, ::-1]])
    ends = ends[known[ends[:, 1]] & ~known[ends[:, 0]]] if len(ends) else ends
    sums, counts = np.zeros_like(found), np.zeros(len(found))
    np.add.at(sums, ends[:, 0], found[ends[:, 1]])
    np.add.at(counts, ends[:, 0], 1)
    new = np.flatnonzero(~known)
    apart = np.random.default_rng(_SEED).normal(0, 0.01 * SIDE, (len(found), 2))
    amid = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], SIDE / 2) + apart
    placed = found.copy()
    placed[new] = amid[new]
    return placed


def drawn(overlay: Overlay, layout: Layout) -> dict[str, Any]:
    """What a page draws, in JSON's types: names, positions and degrees, and links if they are few."""
    names: list[str] = overlay.interests.nodes.to_pylist()
    where = [layout.position_of[name] for name in names]
    few = len(overlay.edges) <= _MOST_LINKS
    return {
        "by": "places" if layout.by_places else "links",
        "side": SIDE,
        "names": names,
        "x": [x for x, _ in where],
        "y": [y for _, y in where],
        "degrees": np.bincount(overlay.edges.ravel(), minlength=len(names)).tolist(),
        "links": overlay.edges.ravel().tolist() if few else None,
    }
