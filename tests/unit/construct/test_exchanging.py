from time import perf_counter

import numpy as np
import pytest

import meshwright as mw
from meshwright.construct.exchanging import Effort, exchanged
from tests import oracles
from tests.helpers import interests_of, topics_by_node

WORKLOADS = {
    "unif": mw.workloads.unif(150, 40, subscriptions=8, seed=1),
    "zipf": mw.workloads.zipf(120, 40, subscriptions=8, seed=1),
}


@pytest.mark.parametrize("name", WORKLOADS)
def test_fewer_links_connect_every_topic_and_each_is_needed(name):
    interests, topics_of = WORKLOADS[name], topics_by_node(WORKLOADS[name])
    before = mw.build(interests, "gm", reverse_delete=True).edges
    after = exchanged(interests, before, Effort(30), 1).tolist()
    assert len(after) < 0.97 * len(before)
    assert oracles.is_topic_connected(topics_of, map(tuple, after))
    for edge in after:
        assert not oracles.is_topic_connected(topics_of, [other for other in after if other != edge])


def test_two_nodes_that_each_lack_one_topic_at_their_hub_share_a_link():
    """Each has a link to a second hub at first; one link between the two serves both."""
    first, second = {0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}
    hubs = [first | {6, 12}, second | {0, 12}]
    small = [{0, 1, 2, 6}, {0, 6, 7, 8}]
    others = [{1, 2, 7, 8}, set(first), set(second)]
    interests = interests_of(hubs + small + others)
    optimum = len(mw.build(interests, "exact"))
    gm = mw.build(interests, "gm", reverse_delete=True).edges
    assert len(exchanged(interests, gm, Effort(60), 1)) == optimum


def test_the_same_seed_gives_the_same_links_and_another_one_others():
    interests = WORKLOADS["unif"]
    edges = mw.build(interests, "gm").edges
    once, again, other = (exchanged(interests, edges, Effort(6), seed) for seed in (1, 1, 2))
    assert np.array_equal(once, again)
    assert not np.array_equal(once, other)


def test_a_search_until_a_time_ends_then():
    interests = WORKLOADS["unif"]
    edges = mw.build(interests, "gm").edges
    exchanged(interests, edges, Effort(1), 1)
    until = perf_counter() + 0.5
    assert len(exchanged(interests, edges, Effort(0, until), 1)) <= len(edges)
    assert perf_counter() >= until


def test_no_links_stay_none():
    interests = interests_of([{0}, {1}, set()])
    assert not len(exchanged(interests, np.empty((0, 2), np.int32), Effort(5), 1))


def test_what_does_not_fit_into_memory_is_refused():
    interests = WORKLOADS["unif"]
    edges = mw.build(interests, "gm", reverse_delete=True).edges
    with pytest.raises(mw.CapacityError):
        exchanged(interests, edges, Effort(1), 1, memory_limit=1_000)
