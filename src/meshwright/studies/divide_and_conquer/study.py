"""The claims of [1], divide and conquer."""

from collections.abc import Callable
from functools import partial

from meshwright import workloads
from meshwright.building import build
from meshwright.model.interests import Interests
from meshwright.studies.claims import Claim, about, at_least
from meshwright.studies.divide_and_conquer import merging, parts, scaling_figures


def _average_degree(interests: Interests, algorithm: str, seed: int) -> float:
    return 2 * len(build(interests, algorithm, seed=seed)) / interests.node_count


def _table_1_gm(independent: bool) -> Callable[[int], float]:
    def degree(seed: int) -> float:
        drawn = workloads.unif(1_000, 100, subscriptions=20, independent=independent, seed=seed)
        return _average_degree(drawn, "gm", seed)

    return degree


_table_1_claim = partial(Claim, source="[1], Table I", runs=400)


_OTHER_SAMPLES = (
    "The samples of [1] are not public. `python -m benchmarks.social_tables` measures these orders on others "
    "of the same kind."
)

CLAIMS = (
    _table_1_claim(
        name="table-1-gm-degree",
        statement="Greedy Merge has an average degree of 5.09 (unif, 1,000 nodes, 100 topics, 20 each).",
        expected=about(5.09, tolerance=0.01),
        how="Each node takes each topic with probability 0.2, as VIII-A says; a new workload for every run.",
        measure=_table_1_gm(independent=True),
    ),
    _table_1_claim(
        name="table-1-gm-degree-fixed",
        statement="The same, with exactly 20 distinct topics for every node.",
        expected=about(5.09, tolerance=0.01),
        how="20 distinct topics for every node, ties shuffled; a new workload for every run.",
        measure=_table_1_gm(independent=False),
        reason="Where sizes vary, large nodes serve many topics with few links; equal sizes need 4% more.",
    ),
    *(
        Claim(
            name=f"table-2-{name}",
            source="[1], Table II and VIII-D.1",
            statement=statement,
            expected=at_least(1.0),
            how="It can't be measured.",
            reason=_OTHER_SAMPLES,
        )
        for name, statement in (
            ("degrees", "On all samples of Facebook and Twitter, d_GM < d_DCBC < d_DC."),
            ("diameters", "On all samples of Facebook and Twitter, Diam_DCBC < Diam_GM < Diam_DC."),
        )
    ),
    *merging.CLAIMS,
    *parts.CLAIMS,
    *scaling_figures.CLAIMS,
)
"""What the paper states of the algorithms that are there, each with its way of measuring."""


def claims_at(scale: str) -> tuple[Claim, ...]:
    """The claims, which are measured at the paper's sizes at every scale."""
    del scale
    return CLAIMS
