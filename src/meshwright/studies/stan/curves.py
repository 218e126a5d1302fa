"""What the table and the figures of [5] show, on the synthetic universes that stand for its traces."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

import numpy as np

from meshwright.metrics.views import Fitness, count_links, measure_fitness
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Floats
from meshwright.studies.catalogue import Curves, Point
from meshwright.studies.claims import Scope
from meshwright.studies.stan.study import ROUND_GRID, Universe, run_grid, runs_of, universes_at


def _figure_6(seed: int, scope: Scope) -> Iterator[Point]:
    del scope
    found = run_grid(seed, **ROUND_GRID)
    for at, row in enumerate(found.by_round):
        yield Point("physical", at, row.physical_view_size)
        yield Point("logical", at, row.logical_view_size)


_VIEW_SIZES = range(0, 201, 5)


def _distribution(seed: int, scope: Scope) -> Iterator[Point]:
    """Which share of the nodes has views of at most so many links after the last round."""
    del scope
    found = count_links(run_grid(seed, **ROUND_GRID).after)
    for name, sizes in (("physical", found.physical), ("logical", found.logical)):
        for most in _VIEW_SIZES:
            yield Point(name, float(most), float((sizes <= most).mean()))


def _figure_8(seed: int, scope: Scope) -> Iterator[Point]:
    for universe in universes_at(scope).growing:
        found = runs_of(universe)(seed)
        topics = found.before.interests.topic_count
        yield Point("before", topics, found.initial_physical_view_size)
        yield Point("after", topics, found.final_physical_view_size)


def _table_1(seed: int, scope: Scope) -> Iterator[Point]:
    for at, universe in enumerate(_both(scope)):
        interests = universe(seed)
        yield Point("nodes", at, interests.node_count)
        yield Point("topics", at, interests.topic_count)
        yield Point("subscriptions", at, len(interests))


def _both(scope: Scope) -> tuple[Universe, Universe]:
    given = universes_at(scope)
    return given.mild, given.strong


def _subscriptions(place: int, seed: int, scope: Scope) -> Iterator[Point]:
    """How many topics have how many subscribers, and how many nodes how many subscriptions."""
    interests = _both(scope)[place](seed)
    for name, indptr in (("topics", interests.topic_indptr), ("nodes", interests.indptr)):
        for size, many in zip(*np.unique(np.diff(indptr), return_counts=True), strict=True):
            if size:
                yield Point(name, float(size), float(many))


def _correlation(interests: Interests) -> Floats:
    """The sizes of Pearson's correlation of all pairs of topics that some, but not all, nodes have."""
    matrix = np.zeros((interests.node_count, interests.topic_count))
    matrix[np.repeat(np.arange(interests.node_count), np.diff(interests.indptr)), interests.topic_ids] = 1
    varied = matrix[:, (matrix.min(axis=0) == 0) & (matrix.max(axis=0) == 1)]
    found = np.atleast_2d(np.corrcoef(varied, rowvar=False))
    sizes: Floats = np.abs(found[np.triu_indices(len(found), 1)])
    return sizes


_PARTS = 20


def _correlations(seed: int, scope: Scope) -> Iterator[Point]:
    """Which share of the pairs of topics is correlated so much."""
    for name, universe in zip(_UNIVERSES, _both(scope), strict=True):
        shares, ends = np.histogram(_correlation(universe(seed)), _PARTS, (0, 1))
        for share, end in zip(shares / max(1, shares.sum()), ends[1:], strict=True):
            yield Point(name, float(end), float(share))


_DOTS = 150
"""Nodes of a universe that are shown."""


def _by_initial(of: Callable[[Floats, Floats], Floats], seed: int, scope: Scope) -> Iterator[Point]:
    """Of some of the nodes, a number by the initial physical view size; `of` gets that and the final one."""
    for name, universe in zip(_UNIVERSES, _both(scope), strict=True):
        run = runs_of(universe)(seed)
        before, after = (count_links(views).physical.astype(np.float64) for views in (run.before, run.after))
        linked = np.flatnonzero((before > 0) & (after > 0))
        values = of(before[linked], after[linked])
        for at in range(0, len(linked), max(1, len(linked) // _DOTS)):
            yield Point(name, float(before[linked[at]]), float(values[at]))


def _disconnected(seed: int, scope: Scope) -> Iterator[Point]:
    for at, universe in enumerate(_both(scope)):
        run = runs_of(universe)(seed)
        yield Point("initial", at, float(run.initial_disconnected_topics))
        yield Point("final", at, float(run.disconnected_topics))


@cache
def _fitness(universe: Universe, seed: int) -> dict[str, Fitness]:
    run = runs_of(universe)(seed)
    return {"initial": measure_fitness(run.before), "final": measure_fitness(run.after)}


def _over_topics(measure: str, most: Sequence[float], seed: int, scope: Scope) -> Iterator[Point]:
    """Which share of the topics of two nodes or more has at most so much, before and after."""
    for name, universe in zip(_UNIVERSES, _both(scope), strict=True):
        several = np.diff(universe(seed).topic_indptr) > 1
        for when, found in _fitness(universe, seed).items():
            values = getattr(found, measure)[several]
            # A topic that is not connected has none.
            known = values[values >= 0]
            for at in most:
                yield Point(f"{name}, {when}", float(at), float((known <= at).mean()) if len(known) else 0.0)


_UNIVERSES = ("synthetic, mild", "synthetic, strong")
_on_universes = partial(Curves, x="universe", ticks=_UNIVERSES)
TABLE_1 = _on_universes(measure=_table_1, y="how many")
FIGURE_3, FIGURE_4 = (
    Curves(measure=partial(_subscriptions, at), x=f"subscriptions ({name})", y="how many have so many")
    for at, name in enumerate(_UNIVERSES)
)
FIGURE_5 = Curves(
    measure=_correlations, x="size of the correlation, at most", y="share of the pairs of topics"
)
_of_nodes = partial(Curves, x="initial physical view size", dots=True)
FIGURE_7 = (
    _of_nodes(measure=partial(_by_initial, lambda before, after: after), y="final physical view size"),
    _of_nodes(measure=partial(_by_initial, lambda before, after: 1 - after / before), y="improvement"),
)
FIGURE_9 = (
    Curves(
        measure=partial(_over_topics, "clustering", np.linspace(0, 1, 21).tolist()),
        x="clustering coefficient, at most",
        y="share of the topics",
    ),
    Curves(
        measure=partial(_over_topics, "diameters", range(13)),
        x="diameter, at most",
        y="share of the connected topics",
    ),
)
CONNECTIVITY = _on_universes(measure=_disconnected, y="topics not strongly connected")
FIGURE_6 = (
    Curves(
        measure=_figure_6,
        x="round",
        y="mean view size",
        stated=(Point("physical", 0, 25), Point("physical", 8, 15)),
    ),
    Curves(measure=_distribution, x="view size, at most", y="share of the nodes after the last round"),
)
FIGURE_8 = Curves(measure=_figure_8, x="topics", y="mean physical view size")
