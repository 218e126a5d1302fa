import numpy as np
import pytest

import meshwright as mw
from meshwright.construct.options import DcOptions
from meshwright.construct.parts.conquer import Part, combine, conquer, greedy_of, group_parts, plan
from meshwright.construct.parts.interest_queries import InProcess, shared_topics
from meshwright.construct.parts.topic_lists import lists_of, split_lists
from tests import oracles
from tests.helpers import topics_by_node

OPTIONS = DcOptions(partitions=4)
GREEDY = greedy_of(InProcess(mw.Interests.from_pairs([])), 1, OPTIONS, 0)


@pytest.fixture(scope="module")
def interests() -> mw.Interests:
    return mw.workloads.unif(60, 15, subscriptions=4, seed=8)


def conquered(interests: mw.Interests) -> tuple[np.ndarray, np.ndarray, list[Part]]:
    planned = plan(InProcess(interests), OPTIONS, seed=1)
    made = [
        conquer(GREEDY, part, lists, planned.shared, OPTIONS.ties, 1, np.zeros(2, np.int64))
        for part, lists in enumerate(split_lists(lists_of(interests), planned.part_of, 4))
    ]
    return planned.part_of, planned.shared, made


def test_a_topic_is_shared_when_two_owners_have_it():
    topics = np.array([0, 1, 1, 2, 2, 2, 4], np.int32)
    owners = np.array([5, 5, 6, 7, 7, 7, 0], np.int32)
    assert shared_topics(topics, owners, 6).tolist() == [False, True, False, False, False, False]


def test_a_conquered_part_is_topic_connected_and_stays_inside(interests):
    part_of, _, made = conquered(interests)
    topics_of = topics_by_node(interests)
    for number, part in enumerate(made):
        assert set(part_of[part.edges].ravel().tolist()) <= {number}
        own = {node: topics for node, topics in topics_of.items() if part_of[node] == number}
        assert oracles.is_topic_connected(own, part.edges.tolist())


def test_the_stars_of_a_part_have_all_its_shared_topics(interests):
    part_of, shared, made = conquered(interests)
    topics_of = topics_by_node(interests)
    for number, part in enumerate(made):
        wanted = {t for node, own in topics_of.items() if part_of[node] == number for t in own if shared[t]}
        assert wanted <= set(part.stars.topic_ids.tolist())
        assert all(part_of[star] == number for star in part.stars.nodes)


def test_a_combine_adds_only_edges_between_stars_of_different_parts(interests):
    part_of, shared, made = conquered(interests)
    whole = combine(GREEDY, made, np.zeros_like(shared), np.zeros(2, np.int64))
    inner = {tuple(edge) for part in made for edge in part.edges.tolist()}
    outer = {tuple(edge) for edge in whole.edges.tolist()} - inner
    stars = {star for part in made for star in part.stars.nodes.tolist()}
    assert inner <= {tuple(edge) for edge in whole.edges.tolist()}
    assert len(outer) == whole.facts["outer_edges"] > 0
    assert all(part_of[u] != part_of[v] and {u, v} <= stars for u, v in outer)
    assert oracles.is_topic_connected(topics_by_node(interests), whole.edges.tolist())
    assert len(whole.stars.nodes) == 0


def test_every_edge_of_a_combine_has_the_greatest_contribution_of_all_pairs_of_stars():
    small = mw.workloads.unif(16, 8, subscriptions=3, seed=2)
    part_of, shared, made = conquered(small)
    stars = {star for part in made for star in part.stars.nodes.tolist()}
    whole = combine(GREEDY, made, np.zeros_like(shared), np.zeros(2, np.int64))
    edges = [tuple(sorted(edge)) for edge in whole.edges.tolist()]
    inner = sum(len(part.edges) for part in made)
    assert inner < len(edges)
    for k in range(inner, len(edges)):
        gains = dict(oracles.contributions(topics_by_node(small), edges[:k]))
        allowed = {
            (u, v): gain for (u, v), gain in gains.items() if part_of[u] != part_of[v] and {u, v} <= stars
        }
        assert allowed[edges[k]] == max(allowed.values()) > 0


def test_combines_may_be_stacked(interests):
    _, shared, made = conquered(interests)
    ticks = np.zeros(2, np.int64)
    halves = [combine(GREEDY, made[:2], shared, ticks), combine(GREEDY, made[2:], shared, ticks)]
    whole = combine(GREEDY, halves, np.zeros_like(shared), ticks)
    assert oracles.is_topic_connected(topics_by_node(interests), whole.edges.tolist())
    assert whole.facts["parts"] == 4
    assert whole.facts["inner_edges"] + whole.facts["outer_edges"] == len(whole.edges)


def test_pn_size_counts_the_own_part_and_all_other_stars(interests):
    _, shared, made = conquered(interests)
    stars = [len(part.stars.nodes) for part in made]
    whole = combine(GREEDY, made, np.zeros_like(shared), np.zeros(2, np.int64))
    assert all(part.facts["pn_size"] == 14 for part in made)
    assert whole.facts["pn_size"] == 14 + sum(stars) - min(stars)


def test_pn_size_of_stacked_combines_counts_the_stars_met_at_every_level(interests):
    _, shared, made = conquered(interests)
    ticks = np.zeros(2, np.int64)
    halves = [combine(GREEDY, made[:2], shared, ticks), combine(GREEDY, made[2:], shared, ticks)]
    whole = combine(GREEDY, halves, np.zeros_like(shared), ticks)
    candidates = dict.fromkeys(range(60), 14)
    for a, b in [made[:2], made[2:], halves]:
        for one, other in [(a, b), (b, a)]:
            for star in one.stars.nodes.tolist():
                candidates[star] += len(other.stars.nodes)
    assert whole.facts["pn_size"] == max(candidates.values())


@pytest.mark.parametrize(
    ("stars", "most", "runs"),
    [
        ([3, 3, 3], 9, [[0, 1, 2]]),
        ([3, 3, 3], 8, [[0, 1], [2]]),
        ([9, 9, 9, 9], 2, [[0, 1], [2, 3]]),
        ([0, 0, 5, 1, 1, 1], 5, [[0, 1, 2], [3, 4, 5]]),
    ],
)
def test_runs_hold_two_parts_or_more_and_no_more_stars_than_allowed(stars, most, runs):
    assert [list(run) for run in group_parts(stars, most)] == runs
