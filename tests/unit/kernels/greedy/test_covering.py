import numpy as np
import pytest

from meshwright.kernels.greedy.covering import cover_nodes, list_bulk_topics
from meshwright.model.interests import Interests
from tests.helpers import interests_of, topics_by_node


def covered(interests: Interests, nodes: list[int], bulk: list[int], slack: float = 0.0, turns=None):
    """The edges as pairs (node, bulk node), in the order in which they were taken."""
    places = np.array(bulk, np.int32)
    table = list_bulk_topics(interests.indptr, interests.topic_ids, interests.topic_count, places)
    turns = np.arange(len(bulk)) if turns is None else np.array(turns)
    rows = np.array(nodes, np.int32)
    ticks = np.zeros(2, np.int64)
    edges = cover_nodes(interests.indptr, interests.topic_ids, rows, table, turns, slack, ticks)
    assert ticks.tolist() == [len(nodes), 0]
    return [(u, bulk[place]) for u, place in edges.tolist()]


@pytest.mark.parametrize("density", [0.01, 0.5], ids=["lists", "rows"])
@pytest.mark.parametrize("slack", [0.0, 0.4])
def test_every_edge_goes_to_the_first_in_turn_of_those_that_cover_enough(density, slack):
    rng = np.random.default_rng(3)
    for _ in range(10):
        interests = Interests.from_scipy(rng.random((90, 60)) < density)
        topics_of = topics_by_node(interests)
        bulk = rng.permutation(90)[:80].tolist()
        light = sorted(set(range(90)) - set(bulk))
        turns = dict(zip(bulk, rng.permutation(80).tolist(), strict=True))
        edges = iter(covered(interests, light, bulk, slack, list(turns.values())))
        coverable = set().union(*(topics_of[b] for b in bulk))
        for u in light:
            left = topics_of[u] & coverable
            while left:
                gains = {b: len(left & topics_of[b]) for b in bulk}
                enough = max(gains.values()) * (1 - slack)
                best = min((b for b in bulk if gains[b] >= enough), key=turns.__getitem__)
                assert next(edges) == (u, best)
                turns[best] += len(bulk)
                left -= topics_of[best]
        assert next(edges, None) is None


def test_both_forms_of_a_topic_are_used():
    interests = interests_of([{0, 1}] + [{0}] * 40)
    table = list_bulk_topics(interests.indptr, interests.topic_ids, 2, np.arange(41, dtype=np.int32))
    assert table.row_of.tolist() == [0, -1]
    assert table.rows.sum() == 41


def test_topics_without_a_bulk_subscriber_are_passed_over():
    interests = interests_of([{0}, {0, 1, 2}])
    assert covered(interests, [1], [0]) == [(1, 0)]


def test_without_bulk_nodes_there_are_no_edges():
    assert covered(interests_of([{0}, {0}]), [0, 1], []) == []


def test_gains_beyond_a_byte_are_told_apart():
    interests = interests_of([set(range(600)), set(range(300)), set(range(299, 600))])
    assert covered(interests, [0], [1, 2]) == [(0, 2), (0, 1)]


def test_links_go_round_among_equals():
    interests = interests_of([{0}] * 12)
    targets = [b for _, b in covered(interests, list(range(3, 12)), [0, 1, 2])]
    assert targets == [0, 1, 2] * 3
