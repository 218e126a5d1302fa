"""The sub-overlays of all topics at once, by networkx."""

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from meshwright.kernels.greedy.sub_overlays import (
    count_links,
    find_bridges,
    find_joins,
    find_link_slots,
    list_sub_overlays,
)
from meshwright.model.interests import Interests
from tests.property.test_evaluate import some_interests


def apart(interests: Interests, edges: np.ndarray, u: int, v: int) -> list[bool]:
    """For each topic of two nodes, whether the edges between its subscribers leave these apart."""
    found = []
    for members in np.split(interests.node_ids, interests.topic_indptr[1:-1]):
        if u in members and v in members:
            graph = nx.empty_graph(members.tolist())
            graph.add_edges_from(edges[np.isin(edges, members).all(axis=1)].tolist())
            found.append(not nx.has_path(graph, u, v))
    return found


@given(some_interests(9, 5), st.integers(0, 2**36))
def test_joins_and_bridges_are_those_of_the_topics(interests, drawn):
    nodes = interests.node_count
    pairs = [(u, v) for u in range(nodes) for v in range(u)]
    edges = np.array([pair for k, pair in enumerate(pairs) if drawn >> k & 1], np.int32).reshape(-1, 2)
    indptr, topic_ids = interests.indptr.copy(), interests.topic_ids.copy()
    starts = count_links(indptr, topic_ids, edges)
    slots = find_link_slots(indptr, topic_ids, interests.topic_count, edges, starts)
    joins, joining = np.zeros(len(slots), np.bool_), np.zeros(len(edges), np.bool_)
    find_joins(starts, slots, np.arange(len(topic_ids), dtype=np.int32), joins, joining)
    over = list_sub_overlays(len(topic_ids), starts, slots, np.ones(len(edges), np.bool_))
    bridges = find_bridges(over)
    assert np.array_equal(interests.node_ids[slots[:, 0]], np.repeat(edges[:, 0], np.diff(starts)))
    assert np.array_equal(interests.node_ids[slots[:, 1]], np.repeat(edges[:, 1], np.diff(starts)))
    for e in range(len(edges)):
        u, v = edges[e].tolist()
        expected = apart(interests, edges[:e], u, v)
        assert joins[starts[e] : starts[e + 1]].tolist() == expected
        assert joining[e] == any(expected)
        assert bridges[e] == any(apart(interests, np.delete(edges, e, axis=0), u, v))


@given(some_interests(9, 5), st.integers(1, 400))
def test_shared_topics_are_counted_alike_by_bitsets_and_by_lists(interests, spread):
    """Topics that are far apart have bitsets too large, so lists are gone through."""
    nodes = interests.node_count
    edges = np.array([(u, v) for u in range(nodes) for v in range(u)], np.int32).reshape(-1, 2)
    rows = [set(row.tolist()) for row in np.split(interests.topic_ids, interests.indptr[1:-1])]
    starts = count_links(interests.indptr.copy(), interests.topic_ids * np.int32(spread), edges)
    assert np.diff(starts).tolist() == [len(rows[u] & rows[v]) for u, v in edges.tolist()]
