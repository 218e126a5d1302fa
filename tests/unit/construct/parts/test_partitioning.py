import numpy as np
import pytest

import meshwright as mw
from meshwright.construct.parts.partitioning import elbow_partitions, k_means_parts, random_parts
from tests.helpers import interests_of


def communities(count: int, size: int) -> mw.Interests:
    """Nodes that take 8 of the 10 topics of their own community, and no other."""
    rng = np.random.default_rng(0)
    matrix = np.zeros((count * size, 10 * count), bool)
    for node, row in enumerate(matrix):
        row[10 * (node // size) + rng.choice(10, 8, replace=False)] = True
    return mw.Interests.from_scipy(matrix)


@pytest.mark.parametrize(("nodes", "partitions"), [(10, 3), (9, 3), (5, 5), (7, 1), (1000, 37)])
def test_random_parts_differ_in_size_by_one_at_most(nodes, partitions):
    sizes = np.bincount(random_parts(nodes, partitions, seed=1), minlength=partitions)
    assert len(sizes) == partitions
    assert sizes.max() - sizes.min() <= 1


def test_every_node_is_as_likely_in_each_random_part():
    seen = np.array([random_parts(20, 4, seed) for seed in range(400)])
    shares = np.array([(seen == part).mean(axis=0) for part in range(4)])
    assert np.all(np.abs(shares - 0.25) < 0.1)  # over 4 deviations


def test_no_nodes_have_no_parts():
    assert len(random_parts(0, 1, seed=0)) == 0
    assert len(k_means_parts(mw.Interests.from_pairs([]), 1, seed=0)) == 0


def test_one_cluster_is_everybody():
    assert k_means_parts(communities(3, 5), 1, seed=0).tolist() == [0] * 15


def test_every_cluster_has_nodes_and_all_numbers_are_used():
    same = interests_of([{0, 1}] * 6 + [{2}] * 2)
    part_of = k_means_parts(same, 5, seed=0)
    assert sorted(set(part_of.tolist())) == list(range(part_of.max() + 1))
    assert len(set(part_of[:6])) == len(set(part_of[6:])) == 1


def test_no_node_of_a_k_means_result_is_nearer_to_another_centre():
    interests = mw.workloads.zipf(120, 30, subscriptions=5, alpha=1.0, seed=4)
    matrix = interests.to_scipy().toarray().astype(float)
    part_of = k_means_parts(interests, 6, seed=2)
    centres = np.array([matrix[part_of == part].mean(axis=0) for part in range(part_of.max() + 1)])
    distances = ((matrix[:, None, :] - centres[None]) ** 2).sum(axis=2)
    assert np.all(distances[np.arange(120), part_of] <= distances.min(axis=1) + 1e-9)


def test_some_start_finds_far_communities_exactly():
    """A start with two centres in one community may end in a worse optimum."""
    wanted = np.repeat([0, 1], 20)
    found = [k_means_parts(communities(2, 20), 2, seed) for seed in range(8)]
    assert any(np.array_equal(part_of, wanted) or np.array_equal(1 - part_of, wanted) for part_of in found)


def test_the_elbow_of_clear_communities_is_near_their_number():
    assert 4 <= elbow_partitions(communities(4, 60), seed=0) <= 8


def test_the_elbow_of_nobody_is_one():
    assert elbow_partitions(mw.Interests.from_pairs([]), seed=0) == 1
