"""What the pictures of StaN share."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from meshwright.stan.measures import Gossip, improvements


def plots(columns: int) -> tuple[Any, Any, Callable[[Path], None]]:
    """A figure with some panels, and what writes it; the same numbers give the same file."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "meshwright"
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(1, columns, figsize=(4.6 * columns, 3.4), layout="constrained")

    def write(path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})

    return figure, np.atleast_1d(panels), write


def curve(runs: Sequence[Gossip]) -> list[float]:
    """The mean PVS after each round."""
    return np.mean([[at.physical_view_size for at in run.by_round] for run in runs], axis=0).tolist()


def logical_curve(runs: Sequence[Gossip]) -> list[float]:
    """The mean LVS after each round."""
    return np.mean([[at.logical_view_size for at in run.by_round] for run in runs], axis=0).tolist()


def draw_trouble(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], out: Path) -> None:
    """PVS in shares of LVS, and LVS, so that views that shrink do not pass for sharing."""
    _, (left, right), write = plots(2)
    colours: dict[str, str] = {}
    for name, (pvs, lvs) in curves.items():
        cause, style = _cause_and_style(name)
        colour = colours.setdefault(cause, f"C{len(colours)}")
        left.plot(np.divide(pvs, lvs), style, color=colour, label=name)
        right.plot(lvs, style, color=colour, label=name)
    left.set(xlabel="round", ylabel="mean PVS / mean LVS of the nodes there", ylim=(0.4, 0.7))
    right.set(xlabel="round", ylabel="mean LVS of the nodes there", ylim=(0, None))
    right.legend(frameon=False, fontsize="x-small", ncols=2)
    write(out / "stan-trouble.svg")


def _cause_and_style(name: str) -> tuple[str, str]:
    """What goes wrong, which has a colour, and the style of the line for what is done about it."""
    for remedy, style in ((", learning", "--"), (", keep-alive", ":")):
        if name.endswith(remedy):
            return name.removesuffix(remedy), style
    return name, "-"


def draw_universes(shown: Sequence[tuple[str, Gossip]], out: Path) -> None:
    """IPVS and FPVS of each node, as Fig. 7, and the improvement."""
    _, panels, write = plots(2 * len(shown))
    for at, (name, found) in enumerate(shown):
        before, after = (counts.physical for counts in found.counts)
        there = (before > 0) & (after > 0)
        panels[2 * at].scatter(before[there], after[there], s=2, alpha=0.4, rasterized=True)
        panels[2 * at].plot([0, before.max()], [0, before.max()], color="grey", linewidth=0.8)
        panels[2 * at].set(title=name, xlabel="IPVS", ylabel="FPVS")
        panels[2 * at + 1].scatter(
            before[there], 100 * improvements(*found.counts), s=2, alpha=0.4, rasterized=True
        )
        panels[2 * at + 1].set(title=name, xlabel="IPVS", ylabel="improvement, %")
    write(out / "stan-universes.svg")
