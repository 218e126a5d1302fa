"""Link counts and fitness of views, against networkx and sets."""

import networkx as nx
import numpy as np
import pytest

import meshwright as mw
from meshwright.metrics import views as module
from meshwright.metrics.views import count_links, measure_fitness
from meshwright.stan.lock_step import draw_views
from meshwright.stan.options import StanOptions
from tests import oracles_gossip as oracles


@pytest.fixture(scope="module", params=[1, 3, 9])
def views(request):
    """Sparse views, of which many leave topics unconnected, and dense ones."""
    return draw_views(mw.workloads.grid(90, 12, seed=2), StanOptions(view_size=request.param), 0)


def test_links_are_counted_as_sets_count_them(views):
    counts, by_node = count_links(views), views.by_node()
    peers = [set().union(*own.values()) if own else set() for own in by_node]
    assert counts.logical.tolist() == [sum(map(len, own.values())) for own in by_node]
    assert counts.physical.tolist() == list(map(len, peers))
    assert counts.held_by.tolist() == [sum(node in own for own in peers) for node in range(90)]


def test_fitness_is_what_networkx_says(views):
    found = measure_fitness(views)
    for topic in range(12):
        graph = oracles.topic_graph(views, topic)
        assert found.components[topic] == nx.number_strongly_connected_components(graph)
        assert found.weak_components[topic] == nx.number_weakly_connected_components(graph)
        lonely = [node for node, degree in graph.in_degree() if not degree]
        assert found.unreached[topic] == (len(lonely) if len(graph) > 1 else 0)
        connected = len(graph) > 0 and nx.is_strongly_connected(graph)
        assert found.diameters[topic] == (nx.diameter(graph) if connected else 0 if not len(graph) else -1)
        assert found.clustering[topic] == pytest.approx(oracles.clustering(graph))


def test_large_topics_are_searched_from_some_of_their_nodes(monkeypatch):
    views = draw_views(mw.workloads.unif(400, 1, subscriptions=1), StanOptions(view_size=6), 0)
    exact = measure_fitness(views).diameters[0]
    monkeypatch.setattr(module, "MOST_SOURCES", 70)
    assert exact - 1 <= measure_fitness(views).diameters[0] <= exact
    assert measure_fitness(views, diameters=False).diameters.tolist() == [-1]


def test_no_interests_have_no_links():
    views = draw_views(mw.Interests.from_pairs([]), StanOptions(), 0)
    assert np.array_equal(count_links(views).physical, [])
    assert np.array_equal(measure_fitness(views).components, [])
