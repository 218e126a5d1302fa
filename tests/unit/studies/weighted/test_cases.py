"""The underlays that the study of costs puts nodes on."""

import numpy as np
import pytest

from meshwright import workloads
from meshwright.model.costs.costs import Costs
from meshwright.studies.weighted.cases import (
    access_delays,
    clusters,
    continents,
    detours,
    floors,
    placed_on,
)

INTERESTS = workloads.unif(50, 10, subscriptions=3)
SITES = Costs.from_matrix([[0, 10, 20], [10, 0, 30], [20, 30, 0]], ["a", "b", "c"])
UNDERLAYS = {
    "continents": continents,
    "access delays": access_delays,
    "detours": detours,
    "floors": floors,
    "placed on sites": placed_on(SITES, local=1.0),
}


def upper(costs):
    return costs.to_matrix()[np.triu_indices(costs.node_count, 1)]


@pytest.mark.parametrize("underlay", UNDERLAYS.values(), ids=UNDERLAYS.keys())
def test_costs_have_a_mean_of_one_and_follow_from_the_seed(underlay):
    costs = underlay(INTERESTS, 3)
    assert upper(costs).mean() == pytest.approx(1)
    assert costs == underlay(INTERESTS, 3)
    assert costs != underlay(INTERESTS, 4)


def test_nodes_are_spread_evenly_over_sites_and_pay_the_local_cost_inside_one():
    costs = placed_on(SITES, local=1.0)(INTERESTS, 0)
    assert sorted(np.bincount(costs.site_of)) == [16, 17, 17]
    inside = costs.to_matrix()[costs.site_of[:, None] == costs.site_of]
    assert upper(costs).max() / inside[inside > 0].max() == pytest.approx(30)


def test_where_there_are_more_sites_than_nodes_each_has_its_own():
    interests = workloads.unif(2, 10, subscriptions=3)
    assert len(set(placed_on(SITES, local=1.0)(interests, 0).site_of)) == 2


def test_clusters_have_the_size_asked_for():
    costs = clusters(20, inner=1, outer=10)(INTERESTS, 0)
    assert sorted(np.bincount(costs.site_of)) == [10, 20, 20]
    assert set(upper(costs)) == {1.0, 10.0}
