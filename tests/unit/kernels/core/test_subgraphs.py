from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from meshwright.kernels.core.subgraphs import (
    TopicGraphs,
    TopicLists,
    count_topic_edges,
    fill_topic_edges,
    interest_ranks,
    links_of,
)

NODES, TOPICS = 40, 12
TICKS = np.zeros(2, np.int64)


def frozen(array):
    array.flags.writeable = False
    return array


@pytest.fixture(scope="module")
def wants():
    """Which node wants which topic; node 3 wants none, topic 5 nobody wants."""
    wants = np.random.default_rng(1).random((NODES, TOPICS)) < 0.3
    wants[3], wants[:, 5] = False, False
    return wants


@pytest.fixture(scope="module")
def lists(wants):
    indptr = frozen(np.cumsum([0, *wants.sum(axis=1)]))
    topic_ids = frozen(np.nonzero(wants)[1].astype(np.int32))
    return TopicLists(indptr, topic_ids, interest_ranks(topic_ids, TOPICS))


@pytest.fixture(scope="module")
def overlay():
    return nx.gnp_random_graph(NODES, 0.2, seed=2)


@pytest.fixture(scope="module")
def links(overlay):
    return links_of(frozen(np.array(sorted(overlay.edges), np.int32)), NODES)


def test_a_rank_counts_the_lower_nodes_of_the_topic(wants, lists):
    expected = [wants[:node, topic].sum() for node, topic in np.argwhere(wants)]
    assert lists.ranks.tolist() == expected


def test_links_are_the_neighbours_with_the_edge_to_each(overlay, links):
    edges = sorted(overlay.edges)
    for node in range(NODES):
        row = slice(links.indptr[node], links.indptr[node + 1])
        assert sorted(links.nodes[row]) == sorted(overlay[node])
        for other, edge in zip(links.nodes[row], links.edge_ids[row], strict=True):
            assert edges[edge] == (min(node, other), max(node, other))


@pytest.mark.parametrize("cuts", [(0, NODES), (0, 7, 7, 30, NODES)])
def test_counts_of_all_ranges_add_up_to_the_edges_inside_each_topic(wants, lists, overlay, links, cuts):
    counts = np.zeros(TOPICS, np.int64)
    for nodes in pairwise(cuts):
        count_topic_edges(lists, links, nodes, counts, TICKS)
    inside = [overlay.subgraph(np.flatnonzero(wants[:, t])).number_of_edges() for t in range(TOPICS)]
    assert counts.tolist() == inside


@pytest.mark.parametrize(("first", "last"), [(0, TOPICS), (4, 9), (5, 6)])
@pytest.mark.parametrize("with_edge_ids", [True, False])
def test_a_row_holds_the_sub_overlays_of_its_topics(wants, lists, overlay, links, first, last, with_edge_ids):
    counts = np.zeros(TOPICS, np.int64)
    count_topic_edges(lists, links, (0, NODES), counts, TICKS)
    indptr = np.cumsum([0, *counts[first:last]])
    ends = np.full((indptr[-1], 2), -1, np.int32)
    edge_ids = np.full(indptr[-1] if with_edge_ids else 0, -1, np.int32)
    graphs = TopicGraphs(first, wants[:, first:last].sum(axis=0), indptr, ends, edge_ids)
    fill_topic_edges(lists, links, (0, NODES), graphs, indptr[:-1].copy(), TICKS)
    edges = sorted(overlay.edges)
    for topic in range(first, last):
        row = slice(indptr[topic - first], indptr[topic - first + 1])
        subscribers = np.flatnonzero(wants[:, topic])
        found = {tuple(sorted(subscribers[pair])) for pair in ends[row]}
        assert found == {tuple(sorted(edge)) for edge in overlay.subgraph(subscribers).edges}
        if with_edge_ids:
            assert {edges[edge] for edge in edge_ids[row]} == found
