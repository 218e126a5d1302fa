import networkx as nx
import numpy as np
import pytest

import meshwright as mw
from meshwright.kernels.repair.detours import NONE
from meshwright.kernels.repair.exchanging import exchange, exchange_in_turn
from meshwright.maintain.state import longer, state_of

NODES = 14


def state_from(topics, links):
    """An overlay that changes, with room for new links; node k is at place k."""
    pairs = [(f"{node:03}", str(topic)) for node, own in enumerate(topics) for topic in own]
    ends = [(f"{u:03}", f"{v:03}") for u, v in links]
    state = state_of(mw.Overlay.from_edges(mw.Interests.from_pairs(pairs), ends))
    state.live = state.live._replace(links=longer(state.live.links, 4_096))
    return state


def all_connected(topics, links):
    graph = nx.Graph(list(links))
    graph.add_nodes_from(range(len(topics)))
    parts = [[node for node, own in enumerate(topics) if topic in own] for topic in set().union(*topics)]
    return all(nx.is_connected(graph.subgraph(part)) for part in parts)


def links_of(state):
    return {(u, v) for u, v in state.edges().tolist()}


def run(state, node, most=6, any_fall=False, partners=8, work=10**9):
    """The other node of the new link, and the links that were closed for it."""
    closed = np.empty((most, 2), np.int32)
    nodes, rng = np.array([node], np.int32), np.random.default_rng(1)
    limits = partners, 100, work
    _, other, count, _ = exchange(state.live, state.room, rng, nodes, 0, *limits, any_fall, closed)
    return other, {tuple(sorted(link)) for link in closed[:count].tolist()}


def test_one_link_takes_the_place_of_two():
    topics = [{1, 2}, {1, 3}, {2, 3}, {1, 2, 3}]
    state = state_from(topics, [(0, 1), (0, 2), (1, 3), (2, 3)])
    assert run(state, 0) == (3, {(0, 1), (0, 2)})
    assert links_of(state) == {(0, 3), (1, 3), (2, 3)}


def test_a_superfluous_link_is_closed_and_none_opened():
    state = state_from([{1}, {1}, {1}, {1}], [(0, 1), (1, 2), (0, 2), (2, 3)])
    other, closed = run(state, 0)
    assert other == NONE
    assert closed == {(0, 2)}


def test_a_topic_that_the_other_lacks_keeps_its_link():
    topics = [{1, 2, 4}, {1, 3}, {2, 3, 4}, {1, 2, 3}]
    links = [(0, 1), (0, 2), (1, 3), (2, 3)]
    state = state_from(topics, links)
    assert run(state, 0) == (NONE, set())
    assert links_of(state) == set(links)


def test_no_more_links_are_closed_than_there_is_room_for():
    topics = [{1, 2}, {1, 3}, {2, 3}, {1, 2, 3}]
    links = [(0, 1), (0, 2), (1, 3), (2, 3)]
    state = state_from(topics, links)
    assert run(state, 0, most=1) == (NONE, set())
    assert links_of(state) == set(links)


def test_of_two_ways_round_each_other_one_stays():
    """In topic 1, 4 is behind 0-1, which goes for 0-4; 0-2 and 0-3 make a circle without the new link."""
    topics = [{1, 2, 3}, {1}, {1, 2}, {1, 3}, {1, 2, 3}, {2}, {3}, {1}, {1}, {1}]
    links = [(0, 1), (0, 2), (0, 3), (2, 3), (1, 4), (2, 5), (4, 5), (3, 6), (4, 6), (1, 7), (1, 8), (1, 9)]
    state = state_from(topics, links)
    assert run(state, 0) == (4, {(0, 1), (0, 2)})
    assert all_connected(topics, links_of(state))


def test_the_first_exchange_ends_a_call_and_the_next_goes_on_from_there():
    topics = [{1}, {1}, {1}, {1}, {1}]
    links = [(u, v) for u in range(5) for v in range(u + 1, 5)]
    state, closed = state_from(topics, links), np.empty((6, 2), np.int32)
    task = state.live, state.room, np.random.default_rng(1), np.arange(5, dtype=np.int32)
    first = exchange(*task, 1, 8, 100, 10**9, False, closed)
    assert first[0] == 2
    assert set(closed[: first[2], 0].tolist()) == {1}
    assert exchange(*task, 2, 8, 100, 0, False, closed) == (2, NONE, 0, 0)


@pytest.mark.parametrize(("topic_count", "own"), [(8, 3), (70, 67)])
@pytest.mark.parametrize("seed", range(2))
def test_exchanges_keep_topics_connected_and_lower_the_squares(seed, topic_count, own):
    rng = np.random.default_rng(seed)
    topics = [set(rng.choice(topic_count, own, replace=False).tolist()) for _ in range(NODES)]
    links = {(u, v) for u in range(NODES) for v in range(u + 1, NODES) if topics[u] & topics[v]}
    drawn = {link for link in sorted(links) if rng.random() < 0.5}
    drawn = drawn if all_connected(topics, drawn) else links
    state, done = state_from(topics, drawn), 0
    for node in list(range(NODES)) * 3:
        before, degrees = links_of(state), state.live.links.counts.astype(np.int64).copy()
        other, closed = run(state, node, partners=int(rng.integers(1, 9)))
        after, now = links_of(state), state.live.links.counts.astype(np.int64)
        assert before - after == closed
        assert after - before == ({(min(node, other), max(node, other))} if other != NONE else set())
        assert after == before or all_connected(topics, after)
        assert (now @ now < degrees @ degrees) == bool(closed)
        done += bool(closed)
    assert done


@pytest.mark.parametrize("most", [4, 40])
def test_exchanges_in_turn_are_those_of_one_call_after_the_other(most):
    rng = np.random.default_rng(5)
    topics = [set(rng.choice(8, 3, replace=False).tolist()) for _ in range(NODES)]
    links = {(u, v) for u in range(NODES) for v in range(u + 1, NODES) if topics[u] & topics[v]}
    one, other = state_from(topics, links), state_from(topics, links)
    nodes, changes = np.arange(NODES, dtype=np.int32), np.empty((most, 3), np.int32)
    task = nodes, 0, 8, 100, 10**9, 6, changes
    at, count, _, has_room = exchange_in_turn(one.live, one.room, np.random.default_rng(1), *task)
    rng, left = np.random.default_rng(1), most
    for node in nodes[:at]:
        closed, limits = np.empty((min(6, left - 1), 2), np.int32), (8, 100, 10**9)
        alone = np.array([node], np.int32)
        _, new, gone, _ = exchange(other.live, other.room, rng, alone, 0, *limits, False, closed)
        left -= gone + (new != NONE)
    assert has_room
    assert count == most - left
    assert links_of(one) == links_of(other)
    assert all_connected(topics, links_of(one))
