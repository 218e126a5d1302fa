from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from meshwright.kernels.core.subgraphs import TopicLists, interest_ranks
from meshwright.kernels.metrics.bounds import Subscribers, add_shares, interest_components, raise_overlaps

TICKS = np.zeros(2, np.int64)


def frozen(array):
    array.flags.writeable = False
    return array


def lists_of(wants):
    indptr = frozen(np.cumsum([0, *wants.sum(axis=1)]))
    topic_ids = frozen(np.nonzero(wants)[1].astype(np.int32))
    ranks = interest_ranks(topic_ids, wants.shape[1])
    return TopicLists(indptr, topic_ids.view(np.uint32), ranks.view(np.uint32))


def subscribers_of(wants):
    indptr = frozen(np.cumsum([0, *wants.sum(axis=0)]))
    return Subscribers(indptr, frozen(np.nonzero(wants.T)[1].astype(np.int32)).view(np.uint32))


def overlaps_by_matrix(wants):
    """By subscription, the most topics shared with another subscriber; 0 where there is none."""
    shared = wants.astype(int) @ wants.T.astype(int)
    np.fill_diagonal(shared, 0)
    return [max(shared[node, wants[:, topic]]) for topic, node in np.argwhere(wants.T)]


@pytest.fixture(params=[(30, 8, 0.4), (200, 300, 0.02), (5, 5, 1.0), (400, 40, 0.01)], ids=str)
def wants(request):
    nodes, topics, density = request.param
    return np.random.default_rng(1).random((nodes, topics)) < density


@pytest.mark.parametrize("kind", [np.uint16, np.uint32])
@pytest.mark.parametrize("parts", [1, 3])
def test_overlaps_are_those_of_the_matrix_however_the_nodes_are_split(wants, kind, parts):
    cuts = np.linspace(0, len(wants), parts + 1).astype(int).tolist()
    found = np.zeros((parts, wants.sum()), kind)
    for overlaps, nodes in zip(found, pairwise(cuts), strict=True):
        raise_overlaps(lists_of(wants), subscribers_of(wants), nodes, overlaps, TICKS)
    assert found.max(axis=0).tolist() == overlaps_by_matrix(wants)


def test_shares_are_summed_by_topic_without_the_least_and_by_node():
    wants = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1]], bool)
    overlaps = np.array([2, 1, 4, 5, 8, 9], np.uint16)
    by_topic, by_node = np.zeros((2, 3))
    add_shares(subscribers_of(wants), overlaps, by_topic, by_node)
    assert by_topic.tolist() == [1 / 2 + 1, 1 / 5, 0.0]
    assert by_node.tolist() == [1 / 2 + 1 / 5, 1.0, 1 / 4 + 1 / 8]


def test_components_are_those_of_the_interest_hypergraph(wants):
    graph = nx.empty_graph(len(wants))
    for topic in wants.T:
        nx.add_path(graph, np.flatnonzero(topic).tolist())
    expected = {node: min(part) for part in nx.connected_components(graph) for node in part}
    found = interest_components(subscribers_of(wants), len(wants))
    assert found.tolist() == [expected[node] for node in range(len(wants))]
