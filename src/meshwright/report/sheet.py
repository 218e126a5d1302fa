"""The drawing of nodes and links as SVG, with the name of every node to point at."""

from collections.abc import Iterator

import numpy as np

from meshwright.report.contents import Drawing
from meshwright.report.drawing import HUBS
from meshwright.report.layout import Layout, lay_out
from meshwright.report.markup import Html, legible, tag
from meshwright.report.numbers import count

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
    radii = _radii(drawing)
    for at in hubs:
        x, y = layout.places[at]
        above = y - radii[at] - 8
        below = y + radii[at] + _LABEL_HEIGHT
        place = above if above > _LABEL_HEIGHT else below
        words = legible(drawing.names[at], _LONGEST_LABEL)
        half = 10 * len(words)
        yield tag("text", words, x=str(min(max(x, half), 1_000 - half)), y=str(place))
