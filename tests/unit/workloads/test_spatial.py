import numpy as np
import pytest
from scipy import stats

from meshwright.runtime.errors import OptionError
from meshwright.workloads import grid
from meshwright.workloads.spatial import power_law_radii, topics_within


def taken(interests):
    table = np.zeros((interests.node_count, interests.topic_count), bool)
    table[np.repeat(np.arange(interests.node_count), np.diff(interests.indptr)), interests.topic_ids] = True
    return table


def physical_view_size(table, rng):
    """The mean number of distinct neighbours where each node picks a random view in each of its topics."""
    picked = np.zeros((len(table), len(table)), bool)
    for column in table.T:
        members = np.flatnonzero(column)
        for position, node in enumerate(members):
            others = np.delete(members, position)
            view = min(others.size, int(np.ceil(np.log(members.size) + 4.60)))
            picked[node, rng.choice(others, view, replace=False)] = True
    return picked.sum(axis=1).mean()


def test_the_papers_universe_starts_at_its_physical_view_size():
    sizes = [physical_view_size(taken(grid(seed=s)), np.random.default_rng([s, 9])) for s in range(40)]
    # The mean over a thousand seeds is 25.2 and the deviation of a seed 4.8.
    assert np.mean(sizes) == pytest.approx(25.0, abs=2.0)


@pytest.mark.parametrize("torus", [False, True])
def test_topics_are_those_with_a_copy_within_the_radius(torus, monkeypatch):
    monkeypatch.setattr("meshwright.workloads.spatial._FOUND_PER_STEP", 100)
    rng = np.random.default_rng(8)
    owner = np.repeat(np.arange(12), rng.integers(1, 6, 12))
    copies, places = rng.random((owner.size, 2)), rng.random((90, 2))
    radii = rng.random(90) ** 2
    indptr, topic_ids = topics_within(copies, owner, places, radii, torus=torus, ticks=np.zeros(2, np.int64))
    assert (indptr.dtype, topic_ids.dtype) == (np.int64, np.int32)
    for node, (place, radius) in enumerate(zip(places, radii, strict=True)):
        away = np.abs(copies - place)
        away = np.minimum(away, 1 - away) if torus else away
        expected = sorted({int(t) for t in owner[np.hypot(*away.T) <= radius]})
        assert topic_ids[indptr[node] : indptr[node + 1]].tolist() == expected


@pytest.mark.parametrize("exponent", [0.0, 1.0, 1.0 + 1e-12, 2.0, 3.0, 1_000.0])
def test_radii_have_the_stated_density(exponent):
    low, high = 0.5, 4.0
    radii = power_law_radii(np.random.default_rng(1), 5_000, low, high, exponent)
    assert radii.min() >= low
    assert radii.max() <= high * (1 + 1e-12)

    def cumulative(radius):
        if abs(exponent - 1) < 1e-9:
            return np.log(radius / low) / np.log(high / low)
        slope = 1 - exponent
        return ((radius / low) ** slope - 1) / ((high / low) ** slope - 1)

    assert stats.kstest(radii, cumulative).pvalue > 1e-3


def test_borders_that_meet_only_add_interests():
    flat, wrapped = taken(grid(300, 40, seed=5)), taken(grid(300, 40, seed=5, torus=True))
    assert (flat <= wrapped).all()
    assert wrapped.sum() > flat.sum()


def test_nodes_that_share_a_topic_share_more_of_them_than_chance():
    table = taken(grid(400, 100, seed=2)).astype(float)
    shuffled = np.random.default_rng(0).permuted(table, axis=0)
    common, by_chance = table @ table.T, shuffled @ shuffled.T
    assert (common > 5).sum() > 1.5 * (by_chance > 5).sum()


def test_sizes_hardly_grow_with_the_number_of_topics():
    few, many = (len(grid(2_000, topics, max_copies=8)) for topics in (100, 10_000))
    assert many < 1.5 * few


def test_a_radius_over_the_whole_square_takes_every_topic():
    assert taken(grid(20, 9, min_radius=10, max_radius=10)).all()


def test_the_seed_decides():
    assert np.array_equal(taken(grid(50, 20, seed=3)), taken(grid(50, 20, seed=3)))
    assert not np.array_equal(taken(grid(50, 20, seed=3)), taken(grid(50, 20, seed=4)))


def test_no_nodes_give_empty_interests_that_know_their_topics():
    interests = grid(0, 5)
    assert (interests.node_count, interests.topic_count, len(interests)) == (0, 5, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nodes": -1}, "nodes is -1; give a whole number from 0"),
        ({"topics": 0}, "topics is 0; give a whole number from 1"),
        ({"max_copies": 0}, "max_copies is 0; give a whole number from 1"),
        ({"copies_exponent": -0.5}, "copies_exponent is -0.5; give a number from 0 to 1000"),
        ({"radius_exponent": float("nan")}, "radius_exponent is nan;"),
        ({"max_radius": float("inf")}, "max_radius is inf; give a number above 0, at most"),
        ({"min_radius": 0}, "min_radius is 0; give a number above 0, at most 4, which is max_radius"),
        ({"min_radius": 3, "max_radius": 2}, "min_radius is 3; give a number above 0, at most 2"),
        ({"seed": 1.5}, "seed is 1.5;"),
    ],
)
def test_what_is_not_legal_is_named_with_the_range_and_the_way_out(options, message):
    with pytest.raises(OptionError, match=message):
        grid(**options)
