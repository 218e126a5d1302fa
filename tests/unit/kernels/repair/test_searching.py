import networkx as nx
import numpy as np
import pytest

from meshwright.kernels.core.rows import make_rows
from meshwright.kernels.repair.mutable_overlay import make_room
from meshwright.kernels.repair.searching import NONE, is_needed, owner_of, search_in_turns

TOPIC = 0


def arrays(graph: nx.Graph, topics: list[list[int]]):
    """The rows of topics and links, and room."""

    def rows(lists):
        indptr = np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)
        items = np.array([value for each in lists for value in each], np.int32)
        return make_rows(indptr, items, len(lists))

    links = [sorted(graph[node]) for node in sorted(graph)]
    return rows(topics), rows(links), make_room(len(topics), 3)


def search(graph, topics, seeds):
    """The components by node as the search tells them, and how many nodes it has looked at."""
    own, links, room = arrays(graph, topics)
    parents = np.empty(len(seeds), np.int32)
    found = search_in_turns(own, links, room, TOPIC, np.array(seeds, np.int32), parents, NONE, NONE)
    components, last, step = found
    seen = room.marks == step
    of = {
        node: int(owner_of(parents, room.owners[node])) if seen[node] else int(last)
        for node in graph
        if TOPIC in topics[node]
    }
    return components, of, int(seen.sum())


@pytest.mark.parametrize("seed", range(30))
def test_components_are_those_of_networkx(seed):
    graph = nx.gnp_random_graph(25, 0.07, seed=seed)
    rng = np.random.default_rng(seed)
    topics = [[TOPIC] if rng.random() < 0.8 else [1] for _ in range(25)]
    induced = graph.subgraph([node for node in graph if topics[node] == [TOPIC]])
    expected = list(nx.connected_components(induced))
    seeds = sorted({min(part) for part in expected} | set(rng.choice(sorted(induced), 3).tolist()))
    components, of, _ = search(graph, topics, seeds)
    assert components == len(expected)
    assert all(len({of[node] for node in part}) == 1 for part in expected)
    assert len(set(of.values())) == len(expected)


def test_a_small_component_ends_the_search_however_large_the_other_is():
    graph = nx.path_graph(2000)
    graph.remove_edge(5, 6)
    components, of, seen = search(graph, [[TOPIC]] * 2000, [5, 6])
    assert components == 2
    assert seen < 20
    assert of[1999] == of[6] != of[0]


def test_searches_that_meet_end_at_once():
    graph = nx.path_graph(2000)
    components, _, seen = search(graph, [[TOPIC]] * 2000, [1000, 1003])
    assert components == 1
    assert seen < 12


@pytest.mark.parametrize("seed", range(10))
def test_a_link_is_needed_where_a_topic_would_fall_apart_without_it(seed):
    graph = nx.gnp_random_graph(14, 0.2, seed=seed)
    rng = np.random.default_rng(seed)
    topics = [sorted(rng.choice(3, rng.integers(1, 4), replace=False).tolist()) for _ in graph]
    own, links, room = arrays(graph, topics)
    for u, v in graph.edges:
        needed = False
        for topic in set(topics[u]) & set(topics[v]):
            induced = nx.Graph(graph.subgraph([node for node in graph if topic in topics[node]]))
            induced.remove_edge(u, v)
            needed |= not nx.has_path(induced, u, v)
        assert is_needed(own, links, room, u, v) == needed
