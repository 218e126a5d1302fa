"""What gossip views look like: how many links nodes have, and of how many sharing freed them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from meshwright.report.contents import Sharing
from meshwright.report.figures import lines, scatter
from meshwright.report.markup import Html, figure, section, table, tag
from meshwright.report.numbers import count, decimal, percent

_STRONG = 40
"""Percent of its links of which a node must be freed to count as strongly improved ([5], 3.4)."""

_EXPLANATION = (
    "A node has a view of some others in each of its topics. Logical links are counted topic by topic, "
    "physical ones once for each peer, however many topics it serves."
)
_NAMES = {
    "logical_view_size": "logical links",
    "physical_view_size": "physical links",
    "in_views": "nodes that have it in a view",
}
_SHOWN = {"mean": "mean", "p25": "25%", "median": "median", "p75": "75%", "p99": "99%", "maximum": "most"}


def views(found: Mapping[str, Mapping[str, Any]] | None, sharing: Sharing | None) -> Html:
    """The section on views: `view_distributions` as `evaluate` has it, and what a run changed, if known."""
    if not found or not found["logical_view_size"]["histogram"]:
        return Html("")
    pictures = [_sizes(found, sharing), *([_improvement(sharing)] if sharing and sharing.nodes else [])]
    rows = [(_NAMES[name], *(_cell(own[key]) for key in _SHOWN)) for name, own in found.items()]
    return section(
        "views",
        "Views that share links",
        tag("p", _EXPLANATION),
        tag("div", *pictures, class_="pair"),
        table("Links of a node", ("of a node", *_SHOWN.values()), rows, set(range(1, 1 + len(_SHOWN)))),
    )


def _cell(value: float | None) -> str:
    return "none" if value is None else decimal(value)


def _sizes(found: Mapping[str, Mapping[str, Any]], sharing: Sharing | None) -> Html:
    """Shares of nodes that have at most so many links, as [5], Fig. 6(b)."""
    after = _cumulative(*_columns(found["physical_view_size"]["histogram"]))
    logical = _cumulative(*_columns(found["logical_view_size"]["histogram"]))
    series = [("physical", *after), ("logical", *logical)]
    if sharing and sharing.nodes:
        before = _cumulative(np.array(sharing.before), np.array(sharing.nodes))
        series = [("physical", *after), ("physical at first", *before), ("logical", *logical)]
    physical, all_links = (found[f"{kind}_view_size"]["mean"] for kind in ("physical", "logical"))
    words = f"On average a node has {decimal(physical)} physical links for {decimal(all_links)} logical ones."
    picture = lines(
        "view-sizes", f"Shares of nodes. {words}", series, ("links of a node", "share of nodes, %")
    )
    caption = f"The share of nodes that have at most so many links. {words}"
    return tag("div", tag("h3", "Links of a node"), figure(picture, caption))


def _improvement(sharing: Sharing) -> Html:
    """Of how many of its physical links each node was freed, as [5], Fig. 7."""
    before, after, nodes = (np.array(column) for column in (sharing.before, sharing.after, sharing.nodes))
    freed = 100 * (before - after) / before
    words = "".join(_improvement_in_words(freed, nodes))
    picture = scatter(
        "improvement", f"Points. {words}", before, freed, ("physical links at first", "freed of, %")
    )
    caption = f"Nodes by their physical links at first, and what share of them sharing made needless. {words}"
    return tag("div", tag("h3", "What sharing did"), figure(picture, caption))


def _improvement_in_words(freed: npt.NDArray[np.float64], nodes: npt.NDArray[np.int64]) -> Iterator[str]:
    there = int(nodes.sum())
    better, strong, worse = (int(nodes[own].sum()) for own in (freed > 0, freed > _STRONG, freed < 0))
    yield f"Of {count(there, 'node')} with links, {percent(better / there)} got rid of some, "
    yield f"{percent(strong / there)} of over {_STRONG}%; {percent(worse / there)} got more."


def _columns(pairs: Sequence[Sequence[int]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    values, counts = np.array(pairs, np.int64).reshape(-1, 2).T
    return values, counts


def _cumulative(
    values: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    kinds, at = np.unique(values, return_inverse=True)
    return kinds, 100 * np.cumsum(np.bincount(at, counts)) / counts.sum()
