import math

import pytest

import meshwright as mw
from meshwright.studies.claims import check
from meshwright.studies.divide_and_conquer import study as divide_and_conquer
from meshwright.studies.shadows.backups import BY_LINKS, GREEDY
from meshwright.studies.shadows.repairs import looks_at_a_pair
from meshwright.studies.shadows.runs import Way, base, burdens, rebuilds, run, start
from meshwright.studies.shadows.study import CLAIMS, QUICK, claims
from meshwright.studies.small_world import study as small_world
from meshwright.studies.weighted import study as weighted


@pytest.mark.parametrize("claim", claims(QUICK), ids=lambda claim: claim.name)
def test_every_claim_can_be_measured_on_a_small_fleet(claim):
    found = check(claim, seed=1).measured
    assert math.isfinite(found.mean)
    assert found.runs == 1


def test_the_claims_of_a_small_fleet_are_those_of_the_paper_with_names_of_their_own():
    assert [claim.name for claim in CLAIMS] == [claim.name for claim in claims(QUICK)]
    assert "2,000 nodes, 200 topics" in CLAIMS[0].how
    others = (*divide_and_conquer.CLAIMS, *weighted.CLAIMS, *small_world.CLAIMS)
    names = [claim.name for claim in (*CLAIMS, *others)]
    assert len(set(names)) == len(names)


def test_low_oda_is_run_in_the_last_rounds_of_every_span_and_builds_what_it_builds_alone():
    found = rebuilds(QUICK, 1)
    last = QUICK.span - QUICK.rebuilt
    assert found.rounds.tolist() == [at + 1 for at in range(QUICK.rounds) if at % QUICK.span >= last]
    events = mw.workloads.churn(base(QUICK, 1).interests, QUICK.rounds, seed=1)
    live = mw.Maintainer(base(QUICK, 1), "rebuild", seed=1)
    live.apply(events)
    assert (live.maximum_degree, live.average_degree) == (found.maximum[-1], found.average[-1])


def test_a_run_leaves_the_beginning_as_it_was():
    before = start(QUICK, Way(), 1).snapshot()
    run(QUICK, Way(), 1)
    assert start(QUICK, Way(), 1).snapshot() == before


def test_a_shadow_set_is_no_smaller_than_the_backup_set():
    """The reason of shadows-figure-3-primal-dual-backups: so the mean of the former can't be less."""
    live = mw.Maintainer.restore(start(QUICK, Way(), 1).snapshot())
    for node in base(QUICK, 1).interests.nodes.to_pylist()[:50]:
        backups = len(live.backups_of(node))
        assert live.leave(node).shadows >= backups


def test_primaries_are_many_on_few_nodes_where_the_weight_leaves_them_out():
    """The reason of shadows-figure-2-greedy-most-primaries and of -few-primaries."""
    spread, heaped = (burdens(QUICK, way, 1).primaries for way in (GREEDY, BY_LINKS))
    assert heaped.max() > 4 * spread.max()
    assert (heaped < 5).mean() > (spread < 5).mean()


def test_low_oda_looks_at_a_pair_a_few_times_in_all():
    """The reason of shadows-figure-7-shadow-over-low-oda: Algorithm 2 looks at every pair for every edge."""
    assert looks_at_a_pair(QUICK, 1) < len(base(QUICK, 1)) / 50
