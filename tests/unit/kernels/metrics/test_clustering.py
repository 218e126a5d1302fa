from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from meshwright.kernels.core.subgraphs import links_of
from meshwright.kernels.metrics.clustering import count_triangles, upward_links


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
@pytest.mark.parametrize("parts", [1, 4])
def test_triangles_of_all_ranges_add_up_to_those_of_networkx(graph, parts):
    edges = np.array(list(graph.edges), np.int32).reshape(-1, 2)
    edges.flags.writeable = False
    upward = upward_links(links_of(edges, len(graph)))
    triangles = np.zeros(len(graph), np.int64)
    for nodes in pairwise(np.linspace(0, len(graph), parts + 1).astype(int).tolist()):
        count_triangles(upward, nodes, triangles, np.zeros(2, np.int64))
    assert triangles.tolist() == [nx.triangles(graph, node) for node in graph]
