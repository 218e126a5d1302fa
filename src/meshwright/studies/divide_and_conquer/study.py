"""The claims of [1], divide and conquer."""

from collections.abc import Callable, Iterator
from functools import partial
from statistics import fmean

from meshwright import workloads
from meshwright.building import build
from meshwright.model.interests import Interests
from meshwright.studies.catalogue import Curves, Point
from meshwright.studies.claims import Claim, about, at_least
from meshwright.studies.divide_and_conquer import bulk, merging, parts

_SIZES = (50, 75, 100, 125, 150)


def _average_degree(interests: Interests, algorithm: str, seed: int) -> float:
    return 2 * len(build(interests, algorithm, seed=seed)) / interests.node_count


def _table_1_gm(independent: bool) -> Callable[[int], float]:
    def degree(seed: int) -> float:
        drawn = workloads.unif(1_000, 100, subscriptions=20, independent=independent, seed=seed)
        return _average_degree(drawn, "gm", seed)

    return degree


def _over_sizes(ratio: Callable[[Interests, int, int], float]) -> Callable[[int], float]:
    """The mean of `ratio(interests, size, seed)` over the subscription sizes, by seed."""

    def mean(seed: int) -> float:
        drawn = {size: workloads.unif(4_000, 1_000, subscriptions=size, seed=seed) for size in _SIZES}
        return fmean(ratio(interests, size, seed) for size, interests in drawn.items())

    return mean


def _ring_over_twice_the_size(interests: Interests, size: int, seed: int) -> float:
    return _average_degree(interests, "ring", seed) / (2 * size)


def _ring_over_gm(interests: Interests, size: int, seed: int) -> float:
    del size
    return _average_degree(interests, "ring", seed) / _average_degree(interests, "gm", seed)


_table_1_claim = partial(Claim, source="[1], Table I", runs=400)
_figure_9_claim = partial(Claim, source="[1], Fig. 9 and VIII-D.2")


CLAIMS = (
    _table_1_claim(
        name="table-1-gm-degree",
        statement="Greedy Merge has an average degree of 5.09 (unif, 1,000 nodes, 100 topics, 20 each).",
        expected=about(5.09, tolerance=0.1),
        how="20 distinct topics for every node, ties shuffled; a new workload for every run.",
        measure=_table_1_gm(independent=False),
    ),
    _table_1_claim(
        name="table-1-gm-degree-independent",
        statement="The same, with each topic taken independently, so that 20 is only the mean size.",
        expected=about(5.09, tolerance=0.01),
        how="Each node takes each topic with probability 0.2; so near that the paper must have drawn so.",
        measure=_table_1_gm(independent=True),
    ),
    _figure_9_claim(
        name="figure-9-ring-degree",
        statement="The degree of Ring-per-Topic roughly equals twice the subscription size.",
        expected=about(1.0, tolerance=0.1),
        how="Degree over twice the size; unif, 4,000 nodes, 1,000 topics, mean over sizes 50 to 150.",
        measure=_over_sizes(_ring_over_twice_the_size),
    ),
    _figure_9_claim(
        name="figure-9-ring-over-gm",
        statement="The degree of Ring-per-Topic is over 10 times that of DCBC and of DC, so also of GM.",
        expected=at_least(10.0),
        how="Degree of ring over degree of gm; unif, 4,000 nodes, 1,000 topics, mean over sizes 50 to 150.",
        measure=_over_sizes(_ring_over_gm),
    ),
    *merging.CLAIMS,
    *parts.CLAIMS,
    *bulk.CLAIMS,
)
"""What the paper states of the algorithms that are there, each with its way of measuring."""


def claims_at(scale: str) -> tuple[Claim, ...]:
    """The claims, which are measured at the paper's sizes at every scale."""
    del scale
    return CLAIMS


def _figure_9(seed: int, scale: str) -> Iterator[Point]:
    nodes = 1_000 if scale == "quick" else 4_000
    for size in _SIZES:
        interests = workloads.unif(nodes, 1_000, subscriptions=size, seed=seed)
        for name in ("ring", "gm", "dc", "dcbc"):
            yield Point(name, size, _average_degree(interests, name, seed))


FIGURE_9 = Curves(measure=_figure_9, x="topics per node", y="average degree")
