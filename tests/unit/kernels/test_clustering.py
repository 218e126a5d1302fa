import networkx as nx
import numpy as np
import pytest

from meshwright.kernels.clustering import count_triangles
from meshwright.kernels.subgraphs import links_of


@pytest.mark.parametrize(
    "graph",
    [
        nx.empty_graph(0),
        nx.empty_graph(3),
        nx.star_graph(9),
        nx.complete_graph(12),
        nx.wheel_graph(30),
        nx.barabasi_albert_graph(200, 5, seed=1),
        nx.gnp_random_graph(60, 0.3, seed=1),
    ],
)
def test_triangles_are_those_of_networkx(graph):
    edges = np.array(list(graph.edges), np.int32).reshape(-1, 2)
    edges.flags.writeable = False
    triangles = count_triangles(links_of(edges, len(graph)), np.zeros(2, np.int64))
    assert triangles.tolist() == [nx.triangles(graph, node) for node in graph]
