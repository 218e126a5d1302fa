"""Events over views: whom they reach, and at what cost."""

import numpy as np
import pytest

import meshwright as mw
from meshwright.metrics.views import measure_fitness
from meshwright.stan.options import StanOptions
from tests.spreading import Publishing, draw_publishings, spread


@pytest.fixture(scope="module")
def run():
    return mw.gossip(mw.workloads.grid(60, 8, seed=3), StanOptions(connected=0.999), diameters=False)


@pytest.mark.parametrize("topics", [1, 3])
def test_every_subscriber_gets_an_event_once_and_nobody_else_gets_it(run, topics):
    interests = run.after.interests
    assert (measure_fitness(run.after, diameters=False).components <= 1).all()
    publishings = draw_publishings(interests, 20, topics, 1)
    found = spread(run.after, publishings)
    wanted = sum(
        len({node for topic in own for node in subscribers(interests, topic)}) - 1 for _, own in publishings
    )
    assert found.deliveries == wanted > 0
    assert (found.foreign, found.reached_fraction, found.events) == (0, 1, 20)
    assert found.messages == found.deliveries + found.duplicates


def subscribers(interests, topic):
    return interests.node_ids[interests.topic_indptr[topic] : interests.topic_indptr[topic + 1]].tolist()


def test_an_event_on_shared_topics_costs_fewer_messages_than_one_on_each(run):
    publishings = draw_publishings(run.after.interests, 30, 3, 2)
    shared, apart = (spread(run.after, publishings, apart=apart) for apart in (False, True))
    assert shared.messages < 0.9 * apart.messages
    assert apart.events == 3 * shared.events
    before = spread(run.before, publishings)
    assert shared.messages < before.messages


def test_a_link_carries_an_event_once(run):
    node = int(np.argmax(run.counts[1].logical))
    topics = tuple(run.after.by_node()[node])
    alone = spread(run.after, [Publishing(node, topics)], loss=1.0)
    assert alone.messages == run.counts[1].physical[node] < run.counts[1].logical[node]


def test_under_loss_the_reached_fraction_falls(run):
    publishings = draw_publishings(run.after.interests, 20, 2, 3)
    fractions = [spread(run.after, publishings, loss=loss).reached_fraction for loss in (0, 0.5, 0.9, 1)]
    assert fractions == sorted(fractions, reverse=True)
    assert fractions[0] == 1 > fractions[2] > fractions[3] == 0


def test_publishers_need_enough_topics(run):
    with pytest.raises(mw.OptionError, match="no node has 99 topics to publish on; give fewer"):
        draw_publishings(run.after.interests, 1, 99, 0)


def test_who_is_no_node_does_not_publish(run):
    with pytest.raises(mw.InputError, match="node 60 publishes; give one from 0 to 59"):
        spread(run.after, [Publishing(60, (1,))])
