import numpy as np
import pytest

from meshwright.studies.catalogue import paper_claims
from meshwright.studies.claims import Verdict, check
from meshwright.studies.divide_and_conquer.parts import independent_zipf
from meshwright.studies.divide_and_conquer.study import CLAIMS

COUNTED = [
    claim
    for claim in paper_claims("divide-and-conquer", "paper")
    if claim.measure
    and not claim.variant_of
    and "[1], Fig. 9" not in claim.source
    and "[1], Fig. 1" not in claim.source
]
"""Without those of growing systems, which take long."""


@pytest.mark.parametrize("claim", COUNTED, ids=lambda claim: claim.name)
def test_the_verdict_of_a_single_run_is_that_of_the_study(claim):
    found = check(claim, runs=1, seed=1)
    assert found.verdict is (Verdict.DIFFERS if claim.reason else Verdict.REPRODUCED)
    assert found.measured.minimum <= found.measured.mean <= found.measured.maximum


def test_names_of_claims_are_unique():
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)


def test_no_node_of_the_independent_zipf_workload_is_bulk():
    """The reason of figure-6-degree-independent; those of other claims are claims themselves."""
    sizes = np.diff(independent_zipf(seed=1).indptr)
    assert sizes.max() <= 2 * sizes.mean()
