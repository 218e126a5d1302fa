"""NSMF: the paper's running example, message by message."""

import numpy as np
import pytest

import meshwright as mw
from meshwright.net import Deliver, Send, What
from meshwright.routing.protocols import RangedMessage, nsmf_routers, peers_of
from meshwright.studies.small_world import example as small_world_example
from meshwright.studies.small_world.example import PUBLICATION


@pytest.fixture(scope="module")
def figure_1():
    return small_world_example.figure_1().routers


def message(low, high, hops=0):
    return RangedMessage(PUBLICATION, hops, low, high)


def test_node_1_sends_to_its_nearest_subscriber_over_a_finger_and_to_a_matched_finger(figure_1):
    actions = figure_1[1].receive(message(1, 10), sender=None, moment=None)
    assert list(actions) == [Send(4, message(5, 7, hops=1)), Send(7, message(7, 10, hops=1))]


def test_node_4_sends_on_what_is_not_for_it(figure_1):
    assert list(figure_1[4].receive(message(5, 7), 1, None)) == [Send(5, message(5, 7, hops=1))]


def test_node_5_takes_what_is_for_it_and_sends_nothing_since_7_is_beyond_the_range(figure_1):
    assert list(figure_1[5].receive(message(5, 7), 4, None)) == [Deliver(message(5, 7))]


def test_node_7_sends_to_its_nearest_subscriber_9_and_node_9_ends_it(figure_1):
    delivered, sent = figure_1[7].receive(message(7, 10), 1, None)
    assert (delivered, sent) == (Deliver(message(7, 10)), Send(9, message(9, 10, hops=1)))
    assert list(figure_1[9].receive(message(9, 10), 7, None)) == [Deliver(message(9, 10))]


def test_the_running_example_reaches_5_7_and_9_over_4_hops():
    course = small_world_example.course()
    hops = [(seen.source, seen.target) for seen in course if seen.what is What.SENT]
    assert hops == [(1, 4), (1, 7), (4, 5), (7, 9)]
    delivered = {seen.target: seen.message.hops for seen in course if seen.what is What.DELIVERED}
    assert delivered == {5: 2, 7: 1, 9: 2}


def test_a_publication_is_for_the_whole_ring(figure_1):
    assert figure_1[11].publish(PUBLICATION) == message(11, 11)


def test_a_node_with_no_other_subscriber_sends_nothing():
    fingers = mw.Fingers(np.arange(4), 4, (np.arange(4)[:, None] + [1, 2]) % 4)
    interests = mw.Interests.from_pairs([("b", "t")], nodes=list("abcd"))
    routers = nsmf_routers(interests, fingers, peers_of(fingers, both_ways=False))
    assert list(routers[1].receive(routers[1].publish(PUBLICATION), None, None)) == []


def test_both_ways_a_node_also_knows_those_whose_finger_it_is():
    fingers = mw.Fingers(np.arange(4), 4, (np.arange(4)[:, None] + [1, 2]) % 4)
    own, both = (peers_of(fingers, flag) for flag in (False, True))
    assert own.nodes.reshape(4, 2).tolist() == [[1, 2], [2, 3], [3, 0], [0, 1]]
    assert both.nodes.reshape(4, 3).tolist() == [[1, 2, 3], [2, 3, 0], [3, 0, 1], [0, 1, 2]]
    assert both.distances.reshape(4, 3).tolist() == [[1, 2, 3]] * 4
