import numpy as np
import pytest

from meshwright.construct import candidates, greedy
from meshwright.construct.greedy import GreedyProblem, make_problem, take_edges
from meshwright.model.interests import Interests
from meshwright.runtime.errors import CapacityError
from tests import oracles
from tests.helpers import arrays, topics_by_node

FORMS = {
    "dense, one byte per pair": {"keep_bounds": True, "dense": True},
    "dense, no bounds kept": {"keep_bounds": False, "dense": True},
    "sparse, one byte per pair": {"keep_bounds": True, "dense": False},
    "sparse, no bounds kept": {"keep_bounds": False, "dense": False},
}


def random_interests(rng: np.random.Generator, nodes: int, topics: int, density: float) -> Interests:
    return Interests.from_scipy(rng.random((nodes, topics)) < density)


def taken(problem: GreedyProblem) -> list[tuple[int, int]]:
    return [(u, v) for u, v in take_edges(problem, instead="").edges.tolist()]


@pytest.fixture(params=FORMS.values(), ids=FORMS.keys())
def form(request, monkeypatch):
    """All forms of the kernels, with and without threads, must give the same edges."""
    words = -1 if request.param["dense"] else 0
    original = GreedyProblem.words.fget
    unlimited = property(lambda self: -(-self.topic_count // 64) if words and _unit(self) else 0)
    monkeypatch.setattr(GreedyProblem, "words", unlimited)
    assert original is not None
    return {"keep_bounds": request.param["keep_bounds"]}


def _unit(problem: GreedyProblem) -> bool:
    return bool(np.all(problem.weights == 1))


@pytest.fixture(params=[1, greedy.HEAVY], ids=["threads", "one thread"])
def heavy(request, monkeypatch):
    monkeypatch.setattr(greedy, "HEAVY", request.param)
    monkeypatch.setattr(greedy, "_BLOCK", 8 * request.param)


@pytest.mark.usefixtures("heavy")
def test_every_edge_is_the_first_of_greatest_contribution(form):
    rng = np.random.default_rng(5)
    for _ in range(40):
        interests = random_interests(rng, rng.integers(2, 9), rng.integers(1, 9), rng.uniform(0.2, 0.9))
        order = rng.permutation(interests.node_count).astype(np.int32)
        problem = make_problem(*arrays(interests), order, **form)
        expected = oracles.greedy_merge(topics_by_node(interests), order.tolist())
        assert sorted(taken(problem)) == sorted(expected)


def test_weighted_contributions_choose_the_edges_that_the_oracle_chooses():
    rng = np.random.default_rng(6)
    for _ in range(60):
        interests = random_interests(rng, rng.integers(2, 8), rng.integers(1, 7), 0.6)
        weights = rng.integers(0, 400, interests.topic_count).astype(np.int32)
        order = rng.permutation(interests.node_count).astype(np.int32)
        problem = make_problem(*arrays(interests), order, weights=weights)
        by_topic = dict(enumerate(weights.tolist()))
        expected = oracles.greedy_merge(topics_by_node(interests), order.tolist(), by_topic)
        assert sorted(taken(problem)) == sorted(expected)


@pytest.mark.usefixtures("heavy")
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("most", [2, 1_000, 100_000], ids=["few weights", "some weights", "many weights"])
def test_with_and_without_levels_weighted_edges_come_in_the_same_order(dense, most, monkeypatch):
    """One form computes every contribution anew; the other has levels, bitsets, a heap, little room."""
    rng = np.random.default_rng(most)
    interests = Interests.from_scipy(rng.random((90, 130)) < rng.random(130) ** 2)
    weights = (1 + most * rng.random(interests.topic_count) ** 4).astype(np.int32)
    order = rng.permutation(interests.node_count).astype(np.int32)
    expected = taken(make_problem(*arrays(interests), order, weights=weights, keep_bounds=False))
    words = -(-interests.topic_count // 64) if dense else 0
    monkeypatch.setattr(GreedyProblem, "words", property(lambda self: words if self.keep_bounds else 0))
    for room in (1, candidates._MOST):
        monkeypatch.setattr(candidates, "_MOST", room)
        assert taken(make_problem(*arrays(interests), order, weights=weights)) == expected


@pytest.mark.usefixtures("heavy")
def test_forms_and_threads_take_the_same_edges_of_interests_with_hubs(form):
    rng = np.random.default_rng(7)
    popular = rng.random((120, 300)) < rng.random(300) ** 3
    popular[:4] |= rng.random((4, 300)) < 0.95  # contributions beyond what a byte of the store can hold
    interests = Interests.from_scipy(popular)
    order = rng.permutation(interests.node_count).astype(np.int32)
    edges = taken(make_problem(*arrays(interests), order, **form))
    reference = taken(make_problem(*arrays(interests), order, keep_bounds=False))
    assert sorted(edges) == sorted(reference)
    assert oracles.is_topic_connected(topics_by_node(interests), edges)
    first_gain = len(set(interests.topics_of(interests.nodes[edges[0][0]].as_py())))
    assert first_gain > 127


@pytest.mark.parametrize("popular", [0, 10**6], ids=["no columns", "all columns"])
@pytest.mark.parametrize("ready", [2, 2**20], ids=["little room", "much room"])
def test_neither_columns_nor_room_change_what_is_taken(popular, ready, monkeypatch):
    rng = np.random.default_rng(12)
    interests = Interests.from_scipy(rng.random((110, 140)) < rng.random(140) ** 3)
    order = rng.permutation(interests.node_count).astype(np.int32)
    reference = taken(make_problem(*arrays(interests), order, keep_bounds=False))
    monkeypatch.setattr(greedy, "HEAVY", 1)
    monkeypatch.setattr(greedy, "_POPULAR", popular)
    monkeypatch.setattr(greedy, "_READY", ready)
    assert taken(make_problem(*arrays(interests), order)) == reference


def test_edges_come_in_order_of_falling_contribution():
    rng = np.random.default_rng(8)
    interests = random_interests(rng, 9, 12, 0.5)
    edges = taken(make_problem(*arrays(interests), np.arange(9, dtype=np.int32)))
    topics_of = topics_by_node(interests)
    gains = [dict(oracles.contributions(topics_of, edges[:k]))[tuple(sorted(e))] for k, e in enumerate(edges)]
    assert gains == sorted(gains, reverse=True)
    assert gains[-1] > 0


def test_work_that_does_not_fit_is_refused_with_the_alternatives():
    interests = random_interests(np.random.default_rng(9), 50, 10, 0.5)
    problem = make_problem(*arrays(interests), np.arange(50, dtype=np.int32))
    with pytest.raises(
        CapacityError, match=r"50 nodes needs about 0.* MB, but the limit is 0.001 MB; use something else"
    ):
        take_edges(problem, instead="use something else", memory_limit=1000)


def test_the_estimate_counts_a_byte_a_pair():
    interests = random_interests(np.random.default_rng(10), 4_000, 20, 0.5)
    order = np.arange(4_000, dtype=np.int32)
    kept = make_problem(*arrays(interests), order).estimated_bytes()
    dropped = make_problem(*arrays(interests), order, keep_bounds=False).estimated_bytes()
    assert 1.0 <= (kept - dropped) / (4_000 * 3_999 / 2) < 1.05


def test_labels_and_groups_restrict_the_greedy_to_what_is_left():
    """Interests that share a label count as connected, and no edge stays inside a group."""
    rng = np.random.default_rng(11)
    for _ in range(40):
        interests = random_interests(rng, 8, 6, 0.6)
        topics_of = topics_by_node(interests)
        groups = np.sort(rng.integers(0, 3, 8)).astype(np.int32)
        order = np.arange(8, dtype=np.int32)
        labels = np.repeat(groups, np.diff(interests.indptr)).astype(np.int32)
        edges = taken(make_problem(*arrays(interests), order, groups=groups, labels=labels))
        inner = [(u, v) for u in range(8) for v in range(u) if groups[u] == groups[v]]
        assert all(groups[u] != groups[v] for u, v in edges)
        assert oracles.is_topic_connected(topics_of, edges + inner)
        for k, edge in enumerate(edges):
            gains = dict(oracles.contributions(topics_of, inner + edges[:k]))
            best = max(gain for (u, v), gain in gains.items() if groups[u] != groups[v])
            assert gains[edge] == best > 0


@pytest.mark.usefixtures("heavy")
def test_the_greedy_ends_at_once_when_it_is_to_stop():
    interests = random_interests(np.random.default_rng(12), 40, 30, 0.5)
    problem = make_problem(*arrays(interests), np.arange(40, dtype=np.int32))
    assert len(greedy.run_greedy(problem, np.array([0, 0]), 1).edges) > 0
    assert len(greedy.run_greedy(problem, np.array([0, 1]), 1).edges) == 0


@pytest.mark.parametrize("heaviest", [9, 7_000])
@pytest.mark.parametrize("first", [8, 30])
def test_weighted_contributions_between_groups_are_those_without_kept_bounds(first, heaviest):
    """A group that is connected from the start has nodes without any topic outside a largest component."""
    rng = np.random.default_rng(8)
    for _ in range(10):
        interests = random_interests(rng, 40, 20, 0.35)
        order = np.arange(interests.node_count, dtype=np.int32)
        groups = np.maximum(order - first, 0).astype(np.int32)
        labels = np.repeat(groups, np.diff(interests.indptr)).astype(np.int32)
        weights = rng.integers(1, heaviest, interests.topic_count, dtype=np.int32, endpoint=True)
        found = [
            taken(
                make_problem(
                    *arrays(interests), order, groups=groups, labels=labels, weights=weights, keep_bounds=kept
                )
            )
            for kept in (True, False)
        ]
        assert found[0] == found[1]
