"""How many topics nodes share at most, against a look at every pair."""

import numpy as np
import pytest
from hypothesis import given

from meshwright.construct import overlaps
from meshwright.kernels.core.subgraphs import TopicLists, interest_ranks
from meshwright.kernels.metrics.bounds import Subscribers
from meshwright.model.interests import Interests
from tests.property.test_evaluate import some_interests


def found_both_ways(interests: Interests) -> list[list[int]]:
    """What bitsets find, and what walks over topics find."""
    ranks = interest_ranks(interests.topic_ids, interests.topic_count)
    lists = TopicLists(interests.indptr, interests.topic_ids, ranks)
    subscribers = Subscribers(interests.topic_indptr, interests.node_ids.view(np.uint32))
    words = -(-interests.topic_count // 64)
    by_bits = overlaps._by_bits(lists, subscribers, words, None)
    return [by_bits.tolist(), overlaps._by_walks(lists, subscribers, None).tolist()]


def expected(interests: Interests) -> list[int]:
    """By subscription (t, v), the most topics that v shares with another node of t."""
    own = [set(topics.tolist()) for topics in np.split(interests.topic_ids, interests.indptr[1:-1])]
    members = np.split(interests.node_ids, interests.topic_indptr[1:-1])
    return [
        max((len(own[node] & own[other]) for other in nodes if other != node), default=0)
        for nodes in members
        for node in nodes
    ]


@given(some_interests(9, 5))
def test_bitsets_and_walks_find_the_greatest_overlap_of_every_subscription(interests):
    assert found_both_ways(interests) == [expected(interests)] * 2


@pytest.mark.parametrize("share", [0.02, 0.3])
def test_so_they_do_where_many_nodes_share_as_many_topics(share):
    wants = np.random.default_rng(1).random((150, 130)) < share
    interests = Interests.from_scipy(wants.astype(np.int32))
    assert found_both_ways(interests) == [expected(interests)] * 2
