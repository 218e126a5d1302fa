"""Draw the running example of NSMF as the simulator runs it: python -m benchmarks.nsmf_picture."""

import argparse
from math import cos, hypot, pi, sin
from pathlib import Path
from typing import Any

from meshwright.net import What
from meshwright.studies.small_world.example import SUBSCRIBERS, course, figure_1

_OWNER = 1
_GREEN, _GREY, _RED = "#2a7f62", "#9aa5b1", "#c0504d"


def place(node: int, radius: float = 1.0) -> tuple[float, float]:
    """Clockwise, from node 0 at the top."""
    return radius * sin(2 * pi * node / 16), radius * cos(2 * pi * node / 16)


def draw_nodes(axes: Any) -> None:
    """A circle for each node, filled where it subscribes."""
    for node in range(16):
        colour = _GREEN if node in SUBSCRIBERS else "white"
        axes.scatter(*place(node), s=300, color=colour, edgecolors=_GREEN, zorder=3)
        text = "white" if node in SUBSCRIBERS else "black"
        axes.annotate(str(node), place(node), ha="center", va="center", color=text, fontsize=9, zorder=4)


def draw_link(axes: Any, source: int, target: int, **style: Any) -> None:
    """An arrow from one node to another."""
    axes.annotate(
        "",
        place(target),
        place(source),
        arrowprops={"arrowstyle": "-|>", "shrinkA": 10, "shrinkB": 10, **style},
        zorder=2,
    )


def draw_messages(axes: Any) -> None:
    """Every message that is sent, with its target range."""
    for seen in course():
        if seen.what is not What.SENT:
            continue
        draw_link(axes, seen.source, seen.target, color=_RED, linewidth=1.6)
        label = f"[{seen.message.low}, {seen.message.high})"
        axes.annotate(
            label, beside(seen.source, seen.target), color=_RED, fontsize=9, ha="center", va="center"
        )


def beside(source: int, target: int, gap: float = 0.13) -> tuple[float, float]:
    """A little towards the centre from the middle between two nodes, or to its right for a way through it."""
    x, y = ((a + b) / 2 for a, b in zip(place(source), place(target), strict=True))
    away = hypot(x, y)
    return (x - gap * x / away, y - gap * y / away) if away > 0.5 else (x + gap, y)


def main() -> None:
    """Draw the ring, the fingers of node 1 and the messages for [1, 10)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/images/nsmf.svg"))
    options = parser.parse_args()
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "meshwright"
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 5), layout="constrained")
    axes.add_patch(plt.Circle((0, 0), 1.0, fill=False, color=_GREY, linewidth=0.8))
    for target in figure_1().fingers.targets[_OWNER].tolist():
        draw_link(axes, _OWNER, target, color=_GREY, linestyle=":")
    draw_messages(axes)
    draw_nodes(axes)
    axes.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), aspect="equal")
    axes.axis("off")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out, metadata={"Date": None})


if __name__ == "__main__":
    main()
