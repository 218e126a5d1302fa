"""Which nodes of an overlay to draw, and where: all of them when they are few, else a sample around hubs."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from meshwright.report.contents import Drawing
from meshwright.seeds import generator

Ids = npt.NDArray[np.int64]
EdgesAt = Callable[[Ids], npt.NDArray[np.integer[Any]]]

HUBS = 6
_ALL_OF = 150
_MOST = 120
_MOST_ROUNDS = 8


def choose_drawing(
    degrees: npt.NDArray[np.integer[Any]],
    edges_at: EdgesAt,
    names_of: Callable[[Ids], Sequence[str]],
    seed: int = 0,
) -> Drawing:
    """A drawing of the overlay whose nodes have these degrees, by id.

    `edges_at(ids)` gives all edges that have an end among at most 150 ids, as an array of two columns, in any
    order and direction; it is asked a few times. In process it is `edges_inside(edges)`; on Spark a filter
    of `edges/` by `isin` on either end, collected: the ids are few, so this is at most a few times as many
    rows as there are nodes. `names_of(ids)` gives the names in the order of the ids.
    """
    ids = choose_nodes(degrees, edges_at, seed)
    found = _pairs(edges_at(ids))
    order = np.argsort(ids)
    inside = np.unique(np.sort(found[np.isin(found, ids).all(axis=1)], axis=1), axis=0)
    positions = order[np.searchsorted(ids[order], inside)]
    return Drawing(
        names=list(names_of(ids)),
        degrees=degrees[ids].tolist(),
        edges=positions.tolist(),
        of_nodes=len(degrees),
    )


def edges_inside(edges: npt.NDArray[np.integer[Any]]) -> EdgesAt:
    """The `edges_at` of an array of edges."""
    return lambda ids: edges[np.isin(edges, ids).any(axis=1)]


def choose_nodes(degrees: npt.NDArray[np.integer[Any]], edges_at: EdgesAt, seed: int = 0) -> Ids:
    """The ids to draw: all of at most 150 nodes, else about 120 around the node with the most links.

    That node comes first, then its five neighbours with the most links, then neighbours of these six at
    random, the same number for each, and theirs until there are enough. So the sample is connected, unless
    what is connected to the first node is smaller than the sample: then others with many links are added.
    The same seed gives the same nodes, whatever the order of the edges.
    """
    if len(degrees) <= _ALL_OF:
        return np.arange(len(degrees))
    random = generator(seed, "drawing")
    by_degree = np.lexsort((np.arange(len(degrees)), -degrees))
    chosen = by_degree[:1]
    for turn in range(_MOST_ROUNDS):
        links = _outward(_pairs(edges_at(chosen)), chosen)
        if not len(links):
            more = by_degree[~np.isin(by_degree, chosen)][:HUBS]
        elif turn == 0:
            more = by_degree[np.isin(by_degree, links[:, 1])][: HUBS - 1]
        else:
            more = _fair_share(links, random)
        chosen = np.concatenate([chosen, more])[:_MOST]
        if len(chosen) == _MOST:
            break
    return chosen


def _pairs(edges: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int64]:
    """Edges as two columns, also where there are none."""
    return np.asarray(edges, np.int64).reshape(-1, 2)


def _outward(edges: npt.NDArray[np.int64], chosen: Ids) -> npt.NDArray[np.int64]:
    """The edges that leave `chosen`, each once, from the end inside to the end outside, in order."""
    both = np.concatenate([edges, edges[:, ::-1]])
    leaving = np.isin(both[:, 0], chosen) & ~np.isin(both[:, 1], chosen)
    return np.unique(both[leaving], axis=0)


def _fair_share(links: npt.NDArray[np.int64], random: np.random.Generator) -> Ids:
    """The outer ends of `links`, each once: in turns, one more for each inner end, at random."""
    shuffled = links[random.permutation(len(links))]
    order = np.argsort(shuffled[:, 0], kind="stable")
    starts = np.searchsorted(shuffled[order, 0], shuffled[order, 0])
    turn = np.empty(len(links), np.int64)
    turn[order] = np.arange(len(links)) - starts
    outer = shuffled[np.argsort(turn, kind="stable"), 1]
    first = np.sort(np.unique(outer, return_index=True)[1])
    kept: Ids = outer[first]
    return kept
