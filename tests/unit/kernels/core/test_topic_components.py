import numpy as np
import pytest

from meshwright.construct import greedy
from meshwright.construct.greedy import make_problem, start_room, start_state
from meshwright.kernels.core.topic_components import TopicComponents, take_all_edges
from meshwright.kernels.greedy.bounds import bound_rows
from meshwright.model.interests import Interests
from tests import oracles
from tests.helpers import arrays, topics_by_node


@pytest.fixture(params=[0, 4, 10**6], ids=["no columns", "some columns", "all columns"])
def popular(request, monkeypatch):
    monkeypatch.setattr(greedy, "_POPULAR", request.param)


def _started(seed: int) -> tuple[Interests, TopicComponents, np.ndarray]:
    rng = np.random.default_rng(seed)
    interests = Interests.from_scipy(rng.random((70, 90)) < 0.05 + 0.6 * rng.random(90) ** 3)
    problem = make_problem(*arrays(interests), np.arange(70, dtype=np.int32))
    assert len(problem.nodes) == 70
    edges = np.sort(rng.integers(0, 70, (60, 2)), axis=1).astype(np.int32)
    return interests, start_state(problem, with_columns=True), edges[edges[:, 0] < edges[:, 1]]


def _members(state: TopicComponents, topic: int) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for slot in range(state.topic_indptr[topic], state.topic_indptr[topic + 1]):
        found.setdefault(int(state.names[slot]), set()).add(int(state.slot_nodes[slot]))
    return found


@pytest.mark.usefixtures("popular")
@pytest.mark.parametrize("seed", range(3))
def test_what_is_said_of_marked_components_is_what_the_names_say(seed):
    _, state, edges = _started(seed)
    take_all_edges(state, edges, np.zeros(2, np.int64))
    loose = np.zeros_like(state.loose)
    half, words = len(state.columns) // 2, state.bits.shape[1] // 2
    for topic in range(len(state.counts)):
        members = _members(state, topic)
        marked = members.pop(int(state.marked[topic]), set())
        outside = set().union(*members.values())
        loose[list(outside)] += 1
        assert state.counts[topic] == len(members) + bool(marked)
        assert all(len(nodes) <= len(marked) for nodes in members.values()) or not marked
        start = state.topic_indptr[topic]
        listed = state.slot_nodes[state.loose_slots[start : start + state.listed[topic]]]
        assert outside <= set(listed.tolist()) <= outside | marked
        assert state.loose_counts[topic] == len(outside)
        column = state.column_of[topic]
        if column >= 0:
            held = state.columns[half + (column >> 3)] >> (column & 7) & 1
            assert set(np.flatnonzero(held).tolist()) == outside
        if words:
            bits = state.bits[:, words + (topic >> 6)] >> np.uint64(topic & 63) & np.uint64(1)
            assert set(np.flatnonzero(bits).tolist()) == outside
    assert loose.tolist() == state.loose.tolist()


@pytest.mark.usefixtures("popular")
@pytest.mark.parametrize("taken", [0, 20, 60])
def test_byte_rows_bound_contributions_and_are_exact_before_the_first_edge(taken):
    interests, state, edges = _started(7)
    edges = edges[:taken]
    take_all_edges(state, edges, np.zeros(2, np.int64))
    problem = make_problem(*arrays(interests), np.arange(70, dtype=np.int32))
    ticks, room = np.zeros(2, np.int64), start_room(problem, state)
    pairs = greedy.start_pairs(problem, state, [room], ticks)
    assert bound_rows(state, pairs, np.arange(70), room, ticks) == 70 * 69 // 2
    rows = pairs.store.view(np.uint8)
    bounds = {
        (u, v): int(rows[8 * pairs.starts[u] + v - pairs.firsts[u]])
        for u in range(70)
        for v in range(u + 1, 70)
    }
    gains = dict(oracles.contributions(topics_by_node(interests), [tuple(edge) for edge in edges.tolist()]))
    for pair, bound in bounds.items():
        assert bound >= gains.get(pair, 0)
        assert taken or bound == gains.get(pair, 0)
