import pytest

from meshwright.studies.claims import Verdict, check
from meshwright.studies.divide_and_conquer import CLAIMS


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_the_verdict_over_a_few_runs_is_that_of_the_study(claim):
    found = check(claim, runs=min(claim.runs, 3), seed=1)
    assert found.verdict is Verdict.REPRODUCED
    assert found.measured.minimum <= found.measured.mean <= found.measured.maximum


def test_names_of_claims_are_unique():
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)
