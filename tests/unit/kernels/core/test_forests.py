import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshwright.kernels.core.forests import number_ends, rank_ids, spanning_forest

edge_lists = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)).filter(lambda e: e[0] != e[1])).map(
    lambda edges: np.array(edges, np.int32).reshape(-1, 2)
)


@given(edge_lists, st.integers(1, 2**31 // 13))
def test_ranks_stand_for_the_ids_in_order(ends, spread):
    ids = (ends * spread).astype(np.int32)
    ranks = ids.copy()
    names = rank_ids(ranks)
    assert names.tolist() == sorted(set(ids.ravel().tolist()))
    assert (names[ranks] == ids).all()


def test_graphs_in_a_row_are_numbered_one_by_one():
    ends = np.array([[7, 9], [9, 2_000_000_000], [9, 7]], np.int32)
    named = number_ends(ends, np.array([0, 2, 2, 3]), np.array([4, 1, 2]))
    assert named.tolist() == [7, 9, 2_000_000_000, -1, -1, 7, 9]
    assert ends.tolist() == [[0, 1], [1, 2], [1, 0]]


@given(edge_lists)
def test_a_forest_connects_what_the_edges_connect_and_has_no_cycle(ends):
    kept = spanning_forest(13, ends)
    graph, forest = nx.empty_graph(13), nx.empty_graph(13)
    graph.add_edges_from(ends.tolist())
    forest.add_edges_from(ends[kept].tolist())
    assert nx.is_forest(forest)
    assert forest.number_of_edges() == kept.sum()
    assert set(map(frozenset, nx.connected_components(forest))) == set(
        map(frozenset, nx.connected_components(graph))
    )


@pytest.mark.parametrize("spokes", [2, 50])
def test_a_hub_keeps_all_of_its_edges(spokes):
    hub = [[0, node] for node in range(1, spokes + 1)]
    rim = [[node, node + 1] for node in range(1, spokes)]
    ends = np.array(rim + hub, np.int32)
    assert ends[spanning_forest(spokes + 1, ends)].tolist() == hub
