"""The claims on StaN: that they can be measured, and that the reasons given hold."""

import numpy as np
import pytest

import meshwright as mw
from meshwright.metrics.views import count_links, measure_fitness
from meshwright.stan.lock_step import draw_views, omniscient_views, run_rounds
from meshwright.studies.stan.study import CLOSE_GRID, growth_factor, run_grid


def limits(**grid):
    sizes = []
    for seed in range(5):
        views = draw_views(mw.workloads.grid(100, 16, seed=seed, **grid), mw.StanOptions(), seed)
        sizes.append([count_links(own).physical.mean() for own in (views, omniscient_views(views, seed))])
    return np.mean(sizes, axis=0)


def test_how_far_interests_overlap_decides_where_physical_views_end():
    start, end = limits()
    assert start == pytest.approx(25, rel=0.1)
    assert end > 16.5
    assert limits(**CLOSE_GRID) == pytest.approx([25, 15], rel=0.1)


def unreached(views):
    return set(np.flatnonzero(np.bincount(views.slots, minlength=len(views.interests)) == 0).tolist())


def test_who_is_in_nobodys_view_stays_so_unless_nodes_learn_from_passing_walks():
    interests = mw.workloads.unif(500, 3, subscriptions=3, seed=0)
    plain, learning = mw.StanOptions(rounds=8, ttl=2), mw.StanOptions(rounds=32, learn=True)
    views = draw_views(interests, plain, 0)
    lost = unreached(run_rounds(views, plain, 0)[0])
    assert len(lost) > len(unreached(views)) + 5
    assert lost <= unreached(run_rounds(views, mw.StanOptions(rounds=16, ttl=2), 0)[0])
    assert len(unreached(run_rounds(views, learning, 0)[0])) < len(lost) / 4
    assert measure_fitness(omniscient_views(views, 0), diameters=False).unreached.sum() <= 2


def test_where_interests_overlap_more_physical_links_grow_more_than_twice_as_slowly():
    factors = []
    for grid in ({}, {"min_radius": 1.2}):
        runs = [
            mw.gossip(mw.workloads.grid(10 * topics, topics, seed=1, **grid), diameters=False)
            for topics in (16, 64)
        ]
        factors.append(growth_factor(runs))
    assert factors[0] < factors[1] > 2


def test_growth_is_the_ratio_of_slopes():
    runs = [run_grid(0), mw.gossip(mw.workloads.grid(200, 30, seed=0), diameters=False)]
    (a, b), topics = runs, 30 - 16
    before = (b.initial_physical_view_size - a.initial_physical_view_size) / topics
    after = (b.final_physical_view_size - a.final_physical_view_size) / topics
    assert growth_factor(runs) == pytest.approx(before / after)
