"""What the overlay looks like: the links of nodes, the paths inside topics, and a drawing.

The drawing shows all nodes when they are few, else a sample around hubs. Connected pieces are laid out one by
one and placed side by side; every node shows its name when pointed at.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from meshwright.report.contents import Drawing
from meshwright.report.figures import histogram, log_log
from meshwright.report.markup import (
    Html,
    amount,
    as_text,
    count,
    decimal,
    figure,
    legible,
    median,
    section,
    table,
    tag,
)
from meshwright.report.words import idle_in_words, measures
from meshwright.runtime.arrays import Floats, Longs
from meshwright.runtime.seeds import generator

_SHEET = 1_000
_MARGIN = 60
_GAP = 0.6
_LEAST_SIDE = 0.5
_STEPS = 150


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


def _links_between(node_count: int, edges: Sequence[Sequence[int]]) -> Floats:
    """The fewest links from each node to each; infinite where there is no way."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    sources, targets = np.array(edges, np.int64).reshape(-1, 2).T
    links = coo_array((np.ones(len(sources)), (sources, targets)), shape=(node_count, node_count))
    found: Floats = shortest_path(links.tocsr(), directed=False, unweighted=True)
    return found


def _piece(apart: Floats) -> Floats:
    """One piece in the box from 0 to a side that grows with the square root of its nodes."""
    side = max(np.sqrt(len(apart)), _LEAST_SIDE)
    if len(apart) == 1:
        return np.full((1, 2), side / 2)
    points = _least_stress(apart, _start(apart))
    points -= points.min(axis=0)
    points *= side / max(points.max(), 1e-9)
    return points


def _start(apart: Floats) -> Floats:
    """Classical scaling; nodes equally far from all others would coincide, and are moved a little."""
    squares = apart**2
    means = squares.mean(axis=0)
    values, vectors = np.linalg.eigh((means[:, None] + means - squares - means.mean()) / 2)
    axes = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0))
    ahead = np.sign(axes[np.argmax(np.abs(axes), axis=0), [0, 1]])  # which way an axis points is left open
    moved: Floats = axes * ahead + generator(0, "layout").normal(0, 0.1, axes.shape)
    return moved


def _least_stress(apart: Floats, points: Floats) -> Floats:
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


def _in_rows(pieces: list[Floats]) -> list[Floats]:
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


def _on_sheet(places: Floats) -> Layout:
    """Scaled to the width of the sheet, in whole numbers, with a margin; never higher than wide."""
    extent = places.max(axis=0) - places.min(axis=0)
    scaled = (places - places.min(axis=0)) * (_SHEET - 2 * _MARGIN) / max(extent.max(), 1e-9)
    height = round(float(scaled[:, 1].max()) + 2 * _MARGIN)
    scaled += [(_SHEET - scaled[:, 0].max()) / 2, _MARGIN]
    return Layout([(round(x), round(y)) for x, y in scaled.tolist()], height)


EdgesAt = Callable[[Longs], npt.NDArray[np.integer[Any]]]

HUBS = 6
_ALL_OF = 150
_MOST = 120
_MOST_ROUNDS = 8


def choose_drawing(
    degrees: npt.NDArray[np.integer[Any]],
    edges_at: EdgesAt,
    names_of: Callable[[Longs], Sequence[str]],
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


def choose_nodes(degrees: npt.NDArray[np.integer[Any]], edges_at: EdgesAt, seed: int = 0) -> Longs:
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


def _pairs(edges: npt.NDArray[np.integer[Any]]) -> Longs:
    """Edges as two columns, also where there are none."""
    return np.asarray(edges, np.int64).reshape(-1, 2)


def _outward(edges: Longs, chosen: Longs) -> Longs:
    """The edges that leave `chosen`, each once, from the end inside to the end outside, in order."""
    both = np.concatenate([edges, edges[:, ::-1]])
    leaving = np.isin(both[:, 0], chosen) & ~np.isin(both[:, 1], chosen)
    return np.unique(both[leaving], axis=0)


def _fair_share(links: Longs, random: np.random.Generator) -> Longs:
    """The outer ends of `links`, each once: in turns, one more for each inner end, at random."""
    shuffled = links[random.permutation(len(links))]
    order = np.argsort(shuffled[:, 0], kind="stable")
    starts = np.searchsorted(shuffled[order, 0], shuffled[order, 0])
    turn = np.empty(len(links), np.int64)
    turn[order] = np.arange(len(links)) - starts
    outer = shuffled[np.argsort(turn, kind="stable"), 1]
    first = np.sort(np.unique(outer, return_index=True)[1])
    kept: Longs = outer[first]
    return kept


_LEAST_RADIUS, _MOST_RADIUS = 7, 30
_LONGEST_LABEL = 20
_LABEL_HEIGHT = 38


def drawn(drawing: Drawing) -> Html:
    """Nodes as circles, larger with more links; the busiest in colour and with their names."""
    layout = lay_out(len(drawing.names), drawing.edges)
    hubs = _hubs(drawing)
    nodes, links = count(len(drawing.names), "node"), count(len(drawing.edges), "link")
    return tag(
        "svg",
        _links(drawing, layout),
        tag("g", *_circles(drawing, layout, hubs), class_="nodes"),
        tag("g", *_labels(drawing, layout, hubs), class_="labels"),
        viewBox=f"0 0 1000 {layout.height}",
        role="img",
        aria_label=f"{nodes} and the {links} among them",
        class_="drawing",
    )


def _hubs(drawing: Drawing) -> list[int]:
    """The positions of the busiest nodes, if they stand out at all."""
    degrees = np.array(drawing.degrees, np.int64)
    order = np.lexsort((np.arange(len(degrees)), -degrees))[:HUBS]
    return [at for at in order.tolist() if degrees[at] > max(1.0, 1.2 * float(degrees.mean()))]


def _links(drawing: Drawing, layout: Layout) -> Html:
    ends = (layout.places[u] + layout.places[v] for u, v in drawing.edges)
    return tag("path", d="".join(f"M{a} {b}L{c} {d}" for a, b, c, d in ends), class_="links")


def _circles(drawing: Drawing, layout: Layout, hubs: list[int]) -> Iterator[Html]:
    ends = np.array(drawing.edges, np.int64).ravel()
    shown = np.bincount(ends, minlength=len(drawing.names)).tolist()
    radii = _radii(drawing)
    for at, (x, y) in enumerate(layout.places):
        kinds = ["hub"] * (at in hubs) + ["more"] * (shown[at] < drawing.degrees[at])
        words = f"{legible(drawing.names[at])}: {count(drawing.degrees[at], 'link')}"
        yield tag(
            "circle",
            tag("title", words),
            cx=str(x),
            cy=str(y),
            r=str(radii[at]),
            class_=" ".join(kinds) or None,
        )


def _radii(drawing: Drawing) -> list[int]:
    """By the cube root of the degrees: were the area the degree, hubs would hide the rest."""
    roots = np.cbrt(np.array(drawing.degrees, np.float64))
    largest = max(float(roots.max(initial=0)), 1e-9)
    few = min(1.0, 6.5 / np.sqrt(len(roots))) if len(roots) else 1.0
    radii = np.maximum(_MOST_RADIUS * few * roots / largest, _LEAST_RADIUS)
    return [round(radius) for radius in radii.tolist()]


def _labels(drawing: Drawing, layout: Layout, hubs: list[int]) -> Iterator[Html]:
    """The names of hubs, busiest first, but for those that would cover one that is there already."""
    radii = _radii(drawing)
    taken: list[tuple[int, int, int]] = []
    for at in hubs:
        x, y = layout.places[at]
        above = y - radii[at] - 8
        below = y + radii[at] + _LABEL_HEIGHT
        place = above if above > _LABEL_HEIGHT else below
        words = legible(drawing.names[at], _LONGEST_LABEL)
        half = 10 * len(words)
        middle = min(max(x, half), 1_000 - half)
        if any(abs(middle - u) < half + w and abs(place - v) < _LABEL_HEIGHT for u, v, w in taken):
            continue
        taken.append((middle, place, half))
        yield tag("text", words, x=str(middle), y=str(place))


def overlay(
    found: Mapping[str, Any], drawing: Drawing | None, unit: str = "", idle: int | None = None
) -> Html:
    """The section on the overlay; `idle` is how many links no topic uses, None where not counted."""
    return section(
        "overlay",
        "The overlay",
        tag("div", _degrees(found), _diameters(found), class_="pair"),
        *([tag("p", tag("strong", idle_in_words(idle)))] if idle else []),
        *_drawing(drawing),
        tag("h3", "All measures"),
        table("All measures", ("measure", "value"), _measures(found, unit), {1}),
    )


def _measures(found: Mapping[str, Any], unit: str) -> Iterator[tuple[str, str]]:
    for words, key, value in measures(found):
        in_costs = "weighted" in key and isinstance(value, float)
        yield words, amount(value, unit) if in_costs else as_text(value)


def _degrees(found: Mapping[str, Any]) -> Html:
    title = tag("h3", "Links of a node")
    nodes_by_degree: Sequence[int] = found.get("degree_distribution") or []
    alone = nodes_by_degree[0] if nodes_by_degree else 0
    pairs = [(degree, nodes) for degree, nodes in enumerate(nodes_by_degree) if degree and nodes]
    if not pairs:
        return tag("div", title, tag("p", "There are no links.", class_="empty"))
    degrees, nodes = [degree for degree, _ in pairs], [number for _, number in pairs]
    words = (
        f"Half of the nodes that have links have at most {count(median(degrees, nodes))}, "
        f"and the busiest has {count(degrees[-1])}."
    )
    without = f" {count(alone, 'node')} without links can't be shown here." if alone else ""
    axes = ("links", "nodes with at least as many")
    picture = log_log("degrees", f"Points on logarithmic scales. {words}", degrees, nodes, axes)
    return tag("div", title, figure(picture, words + without))


def _diameters(found: Mapping[str, Any]) -> Html:
    title = tag("h3", "Longest path inside a topic")
    pairs = [(int(diameter), int(topics)) for diameter, topics in found.get("diameter_distribution") or []]
    pairs = [(diameter, topics) for diameter, topics in pairs if diameter >= 0 and topics]
    if not pairs:
        return tag("div", title, tag("p", "No path was measured.", class_="empty"))
    words = "".join(_diameters_in_words(found))
    picture = histogram("diameters", f"Bars. {words}", pairs, ("longest path, links", "topics"))
    return tag("div", title, figure(picture, words))


def _diameters_in_words(found: Mapping[str, Any]) -> Iterator[str]:
    maximum, mean = found.get("maximum_topic_diameter"), found.get("mean_topic_diameter")
    cut = found["disconnected_topics"]
    if maximum is not None and mean is not None:
        at_most = "" if found["diameters_exact"] else "at most "
        where = "In the topics that are connected, two subscribers" if cut else "Two subscribers of a topic"
        yield f"{where} are never more than {count(maximum, 'link')} apart. "
        yield f"The longest path inside a topic has {at_most}{decimal(mean)} links on average."
    if not found["diameters_exact"]:
        yield " Some topics are too large to measure exactly, and count with an upper bound."
        least = found.get("maximum_topic_diameter_lower_bound")
        yield f" The longest of all has {count(least, 'link')} or more." if least is not None else ""
    if cut:
        yield f" Not shown: {count(cut, 'cut topic')}."


def _drawing(drawing: Drawing | None) -> Iterator[Html]:
    if drawing is None:
        return
    yield tag("h3", "A drawing")
    if not drawing.names:
        yield tag("p", "There are no nodes to draw.", class_="empty")
        return
    if not any(drawing.degrees):
        yield tag("p", "There are no links to draw.", class_="empty")
        return
    yield figure(drawn(drawing), *_drawing_in_words(drawing), class_="wide")


def _drawing_in_words(drawing: Drawing) -> Iterator[str]:
    shown, links = len(drawing.names), count(len(drawing.edges), "link")
    if shown == drawing.of_nodes:
        yield f"All {count(shown, 'node')} and {links}. "
    else:
        yield f"{count(shown)} of {count(drawing.of_nodes, 'node')}: the one with the most links, its "
        yield f"busiest neighbours, and some neighbours of these, with all {links} among them. "
        yield "Hollow nodes have links that are not shown. "
    yield "Larger nodes have more links in the whole overlay. "
    yield "The busiest are green, and named where there is room."
