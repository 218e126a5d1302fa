"""Interests made smaller by rules that cost no link."""

from collections import Counter

from meshwright.construct.reduction import reduced
from tests.helpers import interests_of


def test_nodes_of_one_topic_hang_in_turn_on_the_nodes_that_stay():
    small = reduced(interests_of([{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, *[{0}] * 6]), link_nodes=True)
    hosts = Counter(int(host) for node, host in small.edges if node > 2)
    assert hosts == {0: 2, 1: 2, 2: 2}


def test_topics_with_the_same_nodes_count_once_and_those_of_one_node_not_at_all():
    left = reduced(interests_of([{0, 1, 2, 5}, {0, 1, 2}, {0, 1, 3}]), link_nodes=False).interests
    assert [left.topic_ids[a:b].tolist() for a, b in zip(left.indptr, left.indptr[1:], strict=False)] == [
        [0, 2],
        [0, 2],
        [0],
    ]
