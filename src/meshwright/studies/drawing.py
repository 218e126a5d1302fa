"""Pictures of studies: the curves of a figure with the paper's values, and claims beside its numbers.

One style for all: an algorithm has one colour and one marker, whatever the figure and the panel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from math import isnan
from pathlib import Path
from statistics import fmean
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

from meshwright.studies.catalogue import Curves, Point, Related
from meshwright.studies.claims import Finding, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Series = dict[str, dict[float, list[float]]]
"""By name and x, the values of all seeds."""

# The palette of Okabe and Ito, which colour-blind readers can tell apart; in print, markers do.
_BLUE, _RED, _GREEN, _PINK, _ORANGE, _SKY, _BLACK = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000",
)  # fmt: skip
_COLOURS = (_BLUE, _RED, _GREEN, _PINK, _ORANGE, _SKY, _BLACK)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")

ALGORITHMS: Mapping[str, tuple[str, str]] = {
    "gm": (_BLUE, "o"),
    "dc": (_RED, "s"),
    "dcbc": (_GREEN, "^"),
    "nm": (_ORANGE, "D"),
    "sm": (_PINK, "v"),
    "ring": (_BLACK, "X"),
    "tr-maw": (_ORANGE, "<"),
    "pd-maw": (_RED, ">"),
    "gr-maw": (_GREEN, "P"),
    "pdrd-maw": (_PINK, "h"),
    "dc-maw": (_SKY, "p"),
    "shadow": (_BLUE, "^"),
    "naive": (_RED, "v"),
    "low-oda": (_BLACK, "o"),
    "greedy": (_ORANGE, "s"),
    "primal-dual": (_SKY, "^"),
    "Chord": (_BLUE, "s"),
    "RandomSW": (_RED, "D"),
    "GrSwico": (_GREEN, "X"),
}
"""Colour and marker of every algorithm of the papers; no two have both in common."""

_BY_VERDICT = {
    Verdict.REPRODUCED: (_BLUE, "o"),
    Verdict.DIFFERS: (_RED, "s"),
    Verdict.TOO_FEW_RUNS: (_BLACK, "x"),
}
_STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.linewidth": 0.4,
    "svg.hashsalt": "meshwright",
    "svg.fonttype": "none",
    "legend.frameon": False,
}
_THIN = (0, (1, 3))
_FEW_PANELS = 3


class Style(NamedTuple):
    """How a series is drawn."""

    colour: str
    marker: str


def styles(names: Iterable[str]) -> dict[str, Style]:
    """The style of every series of a figure: that of its algorithm, or else the next of the palette."""
    found: dict[str, Style] = {}
    for name in names:
        if name not in found:
            others = sum(each not in ALGORITHMS for each in found)
            found[name] = Style(*ALGORITHMS.get(name, (_COLOURS[others % 7], _MARKERS[others % 7])))
    return found


def draw(
    title: str, panels: Sequence[tuple[Curves, Series]], findings: Sequence[Finding], path: Path
) -> None:
    """Draw the curves of a study, and its claims beside the paper's numbers, as SVG and PNG."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    shown = [found for found in findings if found.measured is not None and found.claim.expected.number]
    height = 3.0 if len(panels) <= _FEW_PANELS else 2.2
    heights = [height] * len(panels) + [0.7 + 0.26 * len(shown)] * bool(shown)
    own = styles(chain.from_iterable(series for _, series in panels))
    with mpl.rc_context(_STYLE):
        drawn = Figure(figsize=(7.2, max(1.0, sum(heights))), layout="constrained")
        axes = list(drawn.subplots(len(heights) or 1, height_ratios=heights or [1], squeeze=False)[:, 0])
        axes[0].set_title(title, loc="left", fontsize=9)
        for curves, series in panels:
            _draw_curves(axes.pop(0), curves, series, own)
        if shown:
            _draw_claims(axes.pop(0), shown)
        for empty in axes:
            empty.text(0, 0.5, "Nothing here can be compared.")
            empty.axis("off")
        for kind in ("svg", "png"):
            drawn.savefig(
                path.with_suffix(f".{kind}"), dpi=150, metadata={"Date": None} if kind == "svg" else {}
            )


_WIDE = 30
"""So many times the least that a greatest value gets an axis by orders of magnitude."""

_LETTERS_HIGH = 24
"""So many stand beside a panel of the least height."""

_FAR = 8
"""So many times the paper's number that farther ones are drawn nearer."""


def _is_wide(values: Iterable[float]) -> bool:
    found = [value for value in values if not isnan(value)]
    return bool(found) and min(found) > 0 and max(found) > _WIDE * min(found)


def _draw_curves(axes: Axes, curves: Curves, series: Series, own: Mapping[str, Style]) -> None:
    for name, points in series.items():
        if curves.dots:
            _draw_dots(axes, name, points, own[name])
        else:
            _draw_means(axes, name, points, own[name], "none" if curves.ticks else "-")
        _draw_stated(axes, name, [point for point in curves.stated if point.series == name], own[name])
    stated = [point.y for point in curves.stated]
    for one in (each for each in curves.related if {each.series, each.to} <= series.keys()):
        stated += _draw_related(axes, one, series[one.to], own[one.series])
    axes.set(xlabel=curves.x, ylabel=fill(curves.y, _LETTERS_HIGH))
    if curves.ticks:
        axes.set_xticks(range(len(curves.ticks)), curves.ticks)
    elif _is_wide(x for points in series.values() for x in points):
        axes.set_xscale("log")
    values = (value for points in series.values() for each in points.values() for value in each)
    if curves.wide or (_is_wide(chain(values, stated)) and not curves.y.startswith("share")):
        axes.set_yscale("log")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)


def _draw_dots(axes: Axes, name: str, points: Mapping[float, Sequence[float]], style: Style) -> None:
    """Every value by itself; as pixels, also in SVG, since there may be thousands."""
    both = [(x, value) for x, values in points.items() for value in values]
    axes.plot(
        *zip(*both, strict=True), style.marker, color=style.colour, markersize=2.5, alpha=0.4,
        markeredgewidth=0, label=name, rasterized=True,
    )  # fmt: skip


def _draw_means(
    axes: Axes, name: str, points: Mapping[float, Sequence[float]], style: Style, line: str
) -> None:
    """Means over the seeds, with bars from the least value to the greatest."""
    x = sorted(points)
    means = [fmean(points[each]) for each in x]
    spread = [
        [mean - min(points[each]) for mean, each in zip(means, x, strict=True)],
        [max(points[each]) - mean for mean, each in zip(means, x, strict=True)],
    ]
    axes.errorbar(
        x, means, spread, label=name, markersize=4, linewidth=1.2, capsize=2, color=style.colour,
        marker=style.marker, linestyle=line,
    )  # fmt: skip


def _draw_stated(axes: Axes, name: str, stated: Sequence[Point], style: Style) -> None:
    """The paper's values: stars, and dotted lines for means and bounds over all x or all y."""
    placed = [(point.x, point.y) for point in stated if not isnan(point.x) and not isnan(point.y)]
    own = "the paper" if name == "ours" else f"{name}, the paper"
    if placed:
        axes.plot(
            *zip(*placed, strict=True), "*", color=style.colour, markersize=12, label=own,
            markeredgecolor="white", markeredgewidth=0.5,
        )  # fmt: skip
    label = f"{own}, overall"
    for point in stated:
        if isnan(point.x) == isnan(point.y):
            continue
        across: Callable[..., Any] = axes.axhline if isnan(point.x) else axes.axvline
        across(
            point.y if isnan(point.x) else point.x, color=style.colour, linewidth=0.8, linestyle=_THIN,
            label=label,
        )  # fmt: skip
        label = "_nolegend_"


def _draw_related(
    axes: Axes, one: Related, base: Mapping[float, Sequence[float]], style: Style
) -> list[float]:
    """Where the paper puts a series by what it states of another one of ours: a dotted curve, or a star."""
    x = [each for each in sorted(base) if one.at in (None, each)]
    y = [one.times * fmean(base[each]) + one.more for each in x]
    bound = "" if one.relation == "about" else f" {one.relation}"
    label = f"{one.series},{bound} by the paper"
    if one.at is None:
        axes.plot(x, y, color=style.colour, linewidth=1.2, linestyle=_THIN, label=label)
    elif x:
        axes.plot(x, y, "*", color=style.colour, markersize=12, markerfacecolor="none", label=label)
    return y


def _draw_claims(axes: Axes, shown: Sequence[Finding]) -> None:
    ratios = []
    for at, finding in enumerate(shown):
        ours, expected = finding.measured, finding.claim.expected
        assert ours is not None
        colour, marker = _BY_VERDICT[finding.verdict]
        axes.fill_betweenx(
            [at - 0.35, at + 0.35], 1 - expected.tolerance, 1 + expected.tolerance, color="#00000018",
            linewidth=0,
        )  # fmt: skip
        low, mean, high = (end / expected.number for end in (ours.low, ours.mean, ours.high))
        axes.plot([low, high], [at, at], color=colour, linewidth=1.4)
        axes.plot(mean, at, marker, color=colour, markersize=5)
        ratios += [low, mean, high]
    axes.axvline(1, color="black", linewidth=0.8)
    if max(map(abs, ratios)) > _FAR:
        axes.set_xscale("symlog", linthresh=2)
        axes.xaxis.set_major_formatter("{x:g}")
    labels = [f"{found.claim.name} ({found.claim.expected.relation})" for found in shown]
    axes.set_yticks(range(len(shown)), labels, fontsize=7)
    axes.set(xlabel="ours over the paper's number", ylim=(len(shown) - 0.4, -0.6))
    axes.grid(False, axis="y")
    keys = [
        axes.plot([], [], marker, color=colour, label=verdict.value)[0]
        for verdict, (colour, marker) in _BY_VERDICT.items()
        if any(found.verdict is verdict for found in shown)
    ]
    axes.legend(handles=keys, fontsize=7, ncols=2, loc="lower right", bbox_to_anchor=(1, 1))
