"""Pictures as SVG inside a page: colours are the page's own variables, text is text, and no id meets another.

All are 340 units wide with text of 11, so that they can be read at full width on a telephone.
"""

import io
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from meshwright.report.markup import Html, tag, tick
from meshwright.runtime.errors import OptionError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH = 340
_TEXT = 11
_FEW_POINTS = 40
_STEPS_OF_A_LINE = 40
_MOST_POINTS = 1_000
_MOST_PIXELS = 400
LONGEST_BAR = 40
"""The most letters that fit over a bar."""

# Colours that matplotlib writes out, and what the page puts in their place.
_INK, _SOFT, _OURS, _OTHERS, _FIT = "#000001", "#000002", "#000003", "#000004", "#000005"
_VARIABLES = {
    _INK: "var(--ink)",
    _SOFT: "var(--line)",
    _OURS: "var(--ours)",
    _OTHERS: "var(--others)",
    _FIT: "var(--fit)",
}
_LINES = ((_OURS, "-"), (_OTHERS, "--"), (_FIT, ":"))
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "meshwright",
    "text.parse_math": False,
    "font.size": _TEXT,
    "axes.labelsize": _TEXT,
    "xtick.labelsize": _TEXT,
    "ytick.labelsize": _TEXT,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.edgecolor": _SOFT,
    "grid.color": _SOFT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
}
_PROLOG = re.compile(r"^.*?(?=<svg)|<metadata>.*?</metadata>|<!--.*?-->|<style.*?</style>|\n\s*", re.DOTALL)
_SVG = re.compile(r"<svg .*?viewBox=\"([^\"]*)\".*?>", re.DOTALL)
_LONG_NUMBER = re.compile(r"(\d\.\d{3})\d+(?![^<>]*</text>)")  # places, not what labels say
_FONT = re.compile(r"font: ([\d.]+px) [^;\"]*")
_REFERENCE = re.compile(r'(xlink:href="#|url\(#)([^")]+)')
_ID = re.compile(r' id="([^"]+)"')


def _drawn(key: str, label: str, height: float, draw: Callable[["Axes"], None]) -> Html:
    """What `draw` draws, as SVG; `key` tells it from other figures on the page, `label` is its text."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise OptionError(
            "pictures need matplotlib, which is not installed; install meshwright[report]"
        ) from error
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(_WIDTH / 72, height / 72), layout="constrained")
        draw(figure.subplots())
        stream = io.StringIO()
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    return _cleaned(stream.getvalue(), key, label)


def _cleaned(svg: str, key: str, label: str) -> Html:
    """What matplotlib wrote as a part of a page: without prolog, foreign names and ids that nobody uses."""
    svg = _PROLOG.sub(lambda found: " " if found[0].startswith("\n") else "", svg)
    head = tag("svg", viewBox=_SVG.search(svg)[1], role="img", aria_label=label)  # type: ignore[index]
    svg = _SVG.sub(head.removesuffix("</svg>"), svg, count=1)
    used = {found[2] for found in _REFERENCE.finditer(svg)}
    svg = _ID.sub(lambda found: f' id="{key}-{found[1]}"' if found[1] in used else "", svg)
    svg = _REFERENCE.sub(lambda found: f"{found[1].removeprefix('xlink:')}{key}-{found[2]}", svg)
    svg = _LONG_NUMBER.sub(r"\1", _FONT.sub(r"font-size: \1", svg)).replace("xlink:href", "href")
    for colour, variable in _VARIABLES.items():
        svg = svg.replace(colour, variable)
    return Html(svg.strip())


def bars(key: str, label: str, rows: Sequence[tuple[str, float, str]], unit: str) -> Html:
    """Numbers one below the other, each under its words: (words, number, "ours", "others" or "bound").

    On a logarithmic scale where the greatest is over twenty times the least.
    """
    numbers = [max(number, 0) for _, number, _ in rows]
    least = min((number for number in numbers if number), default=1)
    log = max(numbers, default=0) > 20 * least

    def draw(axes: "Axes") -> None:
        for at, (words, number, kind) in enumerate(rows):
            colour = {"ours": _OURS, "others": _OTHERS}.get(kind, "none")
            edge = _INK if kind == "bound" else "none"
            dashes = "--" if kind == "bound" else "-"
            axes.barh(at, max(number, 0), 0.45, color=colour, edgecolor=edge, linestyle=dashes)
            axes.annotate(
                words, (0, at - 0.3), xycoords=("axes fraction", "data"), va="bottom", annotation_clip=False
            )
        axes.set(ylim=(len(rows) - 0.6, -0.9), yticks=[])
        if log:
            axes.set_xscale("log")
            axes.set_xlim(min(1, least / 2), max(numbers) * 1.3)
        _name_ticks(axes, x=True)
        axes.set_xlabel(f"{unit}, on a logarithmic scale" if log else unit)
        axes.spines["left"].set_visible(False)

    return _drawn(key, label, 40 + 42 * len(rows), draw)


def log_log(
    key: str,
    label: str,
    values: Sequence[int],
    counts: Sequence[int],
    words: tuple[str, str],
    fit: tuple[float, int] | None = None,
) -> Html:
    """How many things have at least each value, of which `counts[i]` have `values[i]`, rising, from 1 on.

    The line, where there is a `fit` (an exponent and where it begins), is what a discrete power law of that
    exponent would have among as many things from there on: n zeta(a, x) / zeta(a, x_min). Counted this way,
    the line begins at a point, and large values that occur once each don't hide it.
    """
    at_least = np.cumsum(counts[::-1])[::-1]
    x, y = _thinned(values, at_least)

    def draw(axes: "Axes") -> None:
        size = 3.5 if len(x) > _FEW_POINTS else 6
        axes.loglog(x, y, "o", color=_OURS, markersize=size, markeredgewidth=0, alpha=0.8, label="counted")
        if fit is not None:
            law = _power_law(values, at_least, *fit)
            axes.loglog(*law, color=_FIT, linewidth=2.4, zorder=3, label="power law")
            axes.figure.legend(loc="outside upper left", ncols=2, frameon=False, handlelength=1.4)
        axes.set(
            xlabel=words[0], ylabel=words[1], ylim=(0.7, at_least[0] * 1.6), xlim=(0.8, max(values) * 1.3)
        )
        _name_ticks(axes, x=True, y=True)

    return _drawn(key, label, 240, draw)


def _thinned(values: Sequence[int], counts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """One of all points that would be drawn within a unit and a half of each other, or more if still many."""
    points = np.array([values, counts], np.float64)
    spans = np.maximum(np.log(points.max(axis=1)), 1)
    return points[:, _apart(np.log(points) / spans[:, None] * np.array([[200], [130]]))]


def _apart(places: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Which points to draw of those at `places` (2, n), such that there are not too many."""
    for side in 1.5 ** np.arange(20):
        chosen = np.sort(np.unique(np.round(places / side), axis=1, return_index=True)[1])
        if len(chosen) <= _MOST_POINTS:
            break
    return chosen


def _power_law(
    values: Sequence[int], at_least: npt.NDArray[np.int64], exponent: float, least: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    from scipy.special import zeta

    things = at_least[np.searchsorted(values, least)]
    along = np.geomspace(least, max(*values, least + 1), _STEPS_OF_A_LINE)
    return along, things * zeta(exponent, along) / zeta(exponent, least)


def histogram(key: str, label: str, pairs: Sequence[tuple[int, int]], words: tuple[str, str]) -> Html:
    """How many things have each of a few whole values; values far apart share a bar only if they are many."""
    values = np.array([value for value, _ in pairs])
    counts = np.array([number for _, number in pairs])
    width = max(1, -(-int(values.max() - values.min() + 1) // 40))
    bins = (values - values.min()) // width
    heights = np.bincount(bins, counts)
    places = values.min() + (width - 1) / 2 + width * np.arange(len(heights))

    def draw(axes: "Axes") -> None:
        axes.bar(places, heights, 0.85 * width, color=_OURS)
        axes.set(xlabel=words[0], ylabel=words[1])
        if len(places) == 1:
            axes.set_xlim(places[0] - 1.5, places[0] + 1.5)
        if heights.max() > 100 * heights[heights > 0].min():
            axes.set(yscale="log", ylim=(0.7, heights.max() * 1.6))
        _name_ticks(axes, x=True, y=True)
        axes.xaxis.grid(False)

    return _drawn(key, label, 240, draw)


def lines(
    key: str,
    label: str,
    series: Sequence[tuple[str, npt.NDArray[Any], npt.NDArray[Any]]],
    words: tuple[str, str],
    *,
    log_x: bool = False,
) -> Html:
    """Steps of one quantity over another, for up to three named series (name, x, y), the first being ours."""

    def draw(axes: "Axes") -> None:
        for (name, x, y), (colour, dashes) in zip(series, _LINES, strict=False):
            axes.plot(*_fewer(x, y), dashes, color=colour, linewidth=1.6, drawstyle="steps-post", label=name)
        axes.set(xlabel=words[0], ylabel=words[1], xscale="log" if log_x else "linear")
        _widen(axes)
        _name_ticks(axes, x=True, whole=all((x == np.round(x)).all() for _, x, _ in series))
        _name_ticks(axes, y=True, whole=all((y == np.round(y)).all() for _, _, y in series))
        if len(series) > 1:
            axes.figure.legend(loc="outside upper left", ncols=len(series), frameon=False, handlelength=1.4)

    return _drawn(key, label, 240, draw)


_LEAST_SPAN = 0.1


def _widen(axes: "Axes") -> None:
    """Let the vertical axis span a tenth of its greatest number at least, or a small change looks large."""
    low, high = axes.get_ylim()
    lacks = _LEAST_SPAN * max(abs(low), abs(high)) - (high - low)
    if lacks > 0:
        axes.set_ylim(low - lacks / 2, high + lacks / 2)


def scatter(key: str, label: str, x: npt.NDArray[Any], y: npt.NDArray[Any], words: tuple[str, str]) -> Html:
    """A point for each thing; where several would be drawn within a unit and a half of each other, one."""
    places = np.stack([x / max(np.ptp(x), 1) * 200, y / max(np.ptp(y), 1) * 130])
    chosen = _apart(places)

    def draw(axes: "Axes") -> None:
        size = 2.5 if len(chosen) > _FEW_POINTS else 5
        axes.plot(x[chosen], y[chosen], "o", color=_OURS, markersize=size, markeredgewidth=0, alpha=0.6)
        axes.set(xlabel=words[0], ylabel=words[1])
        _name_ticks(axes, x=True, y=True)

    return _drawn(key, label, 240, draw)


def _fewer(x: npt.NDArray[Any], y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """At most so many points that a picture can show, the last one among them."""
    chosen = np.unique(np.linspace(0, len(x) - 1, min(len(x), _MOST_POINTS)).round().astype(np.int64))
    return x[chosen], y[chosen]


def heat_map(key: str, label: str, matrix: npt.NDArray[np.float64], darkest: float) -> Html:
    """The sizes of correlations, from white at none to black at `darkest` and above, as in [5], Fig. 5.

    A page on a dark ground inverts the image.
    """
    shades = np.round(np.clip(_shrunk(np.abs(np.nan_to_num(matrix))) / darkest, 0, 1) * 32) / 32

    def draw(axes: "Axes") -> None:
        image = axes.imshow(shades * darkest, cmap="Greys", vmin=0, vmax=darkest, interpolation="none")
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_visible(True)
        bar = axes.figure.colorbar(image, ax=axes, location="bottom", shrink=0.7, aspect=30, pad=0.03)
        bar.set_ticks([0, darkest / 2, darkest])
        bar.set_ticklabels(["0", f"{darkest / 2:g}", f"{darkest:g}" + (" or more" if darkest < 1 else "")])

    return _drawn(key, label, 380, draw)


def _shrunk(matrix: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Average neighbouring cells where there are more rows than can be told apart."""
    side = -(-len(matrix) // _MOST_PIXELS)
    starts = np.arange(0, len(matrix), side)
    sums = np.add.reduceat(np.add.reduceat(matrix, starts, axis=0), starts, axis=1)
    sizes = np.diff(np.append(starts, len(matrix)))
    means: npt.NDArray[np.float64] = sums / np.outer(sizes, sizes)
    return means


def _name_ticks(axes: "Axes", x: bool = False, y: bool = False, whole: bool = True) -> None:
    """Write 1k for 1,000 on these axes, at whole numbers unless said otherwise, and draw a grid."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

    for wanted, axis, scale in ((x, axes.xaxis, axes.get_xscale()), (y, axes.yaxis, axes.get_yscale())):
        if not wanted:
            continue
        if scale == "log":
            least, most = axis.get_view_interval()
            axis.set_major_locator(LogLocator(numticks=7, subs=(1, 2, 5) if most < 100 * least else (1,)))
            axis.set_minor_locator(NullLocator())
        else:
            axis.set_major_locator(MaxNLocator(6, integer=whole))
        axis.set_major_formatter(tick)
        axis.grid(True, linewidth=0.6)
