import pytest

from meshwright.studies.claims import Verdict, check
from meshwright.studies.divide_and_conquer import study as divide_and_conquer
from meshwright.studies.weighted.interests import cost_of_a_link_of_gm
from meshwright.studies.weighted.nodes import growth_of_trees
from meshwright.studies.weighted.study import CLAIMS, QUICK, claims


def verdict_of_the_study(claim):
    if claim.measure is None:
        return Verdict.NOT_COMPARABLE
    return Verdict.DIFFERS if claim.reason else Verdict.REPRODUCED


# Those on times are left out: they depend on what else the machine does.
UNTIMED = [claim for claim in claims(QUICK) if "figure-4-time-" not in claim.name]


@pytest.mark.parametrize("claim", UNTIMED, ids=lambda claim: claim.name)
def test_the_verdict_at_small_sizes_is_that_of_the_study(claim):
    assert check(claim, runs=1, seed=1).verdict is verdict_of_the_study(claim)


def test_names_of_claims_are_unique_among_all_papers():
    names = [claim.name for claim in (*CLAIMS, *divide_and_conquer.CLAIMS)]
    assert len(set(names)) == len(names)


def test_every_claim_is_measured_at_the_sizes_of_the_paper_too():
    assert [claim.name for claim in CLAIMS] == [claim.name for claim in claims(QUICK)]
    assert "100 to 1,000 nodes" in CLAIMS[0].how


def test_trees_of_more_nodes_have_more_links_that_cost_less():
    """The reason of weighted-figure-4-trees-rise."""
    links, price = growth_of_trees(QUICK, seed=1)
    assert links > 1
    assert links * price < 1


def test_a_link_that_is_chosen_without_a_look_at_costs_costs_their_mean():
    """The reason of weighted-figure-5-tr-minus-gr: 50 per node would be 50 links per node."""
    assert cost_of_a_link_of_gm(QUICK, seed=1) == pytest.approx(1, abs=0.2)
