"""The claims of [1], divide and conquer."""

from collections.abc import Callable
from functools import partial
from statistics import fmean

from meshwright import workloads
from meshwright.building import build
from meshwright.model.interests import Interests
from meshwright.runtime.progress import Progress
from meshwright.studies.claims import Claim, Statistics, over_runs
from meshwright.studies.divide_and_conquer import bulk, merging, parts

_SIZES = (50, 75, 100, 125, 150)


def _average_degree(interests: Interests, algorithm: str, seed: int) -> float:
    return 2 * len(build(interests, algorithm, seed=seed)) / interests.node_count


def _table_1_gm(independent: bool) -> Callable[[int, int, Progress | None], Statistics]:
    def measure(runs: int, seed: int, progress: Progress | None) -> Statistics:
        def degree(run: int) -> float:
            drawn = workloads.unif(1_000, 100, subscriptions=20, independent=independent, seed=seed + run)
            return _average_degree(drawn, "gm", seed + run)

        return over_runs(degree, "Table I, gm", runs, progress)

    return measure


def _over_sizes(ratio: Callable[[Interests, int, int], float]) -> Callable[..., Statistics]:
    """The mean of `ratio(interests, size, seed)` over the subscription sizes, for each run."""

    def measure(runs: int, seed: int, progress: Progress | None) -> Statistics:
        def mean(run: int) -> float:
            drawn = [
                (workloads.unif(4_000, 1_000, subscriptions=size, seed=seed + run), size) for size in _SIZES
            ]
            return fmean(ratio(interests, size, seed + run) for interests, size in drawn)

        return over_runs(mean, "Fig. 9", runs, progress)

    return measure


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
        expected=5.09,
        tolerance=0.1,
        how="20 distinct topics for every node, ties shuffled; a new workload for every run.",
        measure=_table_1_gm(independent=False),
    ),
    _table_1_claim(
        name="table-1-gm-degree-independent",
        statement="The same, with each topic taken independently, so that 20 is only the mean size.",
        expected=5.09,
        tolerance=0.01,
        how="Each node takes each topic with probability 0.2; so near that the paper must have drawn so.",
        measure=_table_1_gm(independent=True),
    ),
    _figure_9_claim(
        name="figure-9-ring-degree",
        statement="The degree of Ring-per-Topic roughly equals twice the subscription size.",
        expected=1.0,
        tolerance=0.1,
        how="Degree over twice the size; unif, 4,000 nodes, 1,000 topics, mean over sizes 50 to 150.",
        measure=_over_sizes(_ring_over_twice_the_size),
    ),
    _figure_9_claim(
        name="figure-9-ring-over-gm",
        statement="The degree of Ring-per-Topic is over 10 times that of DCBC and of DC, so also of GM.",
        expected=10.0,
        relation="at least",
        how="Degree of ring over degree of gm; unif, 4,000 nodes, 1,000 topics, mean over sizes 50 to 150.",
        measure=_over_sizes(_ring_over_gm),
    ),
    *merging.CLAIMS,
    *parts.CLAIMS,
    *bulk.CLAIMS,
)
"""What the paper states of the algorithms that are there, each with its way of measuring."""
