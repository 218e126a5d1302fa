"""What evaluating on Spark is made of, without Spark."""

from itertools import combinations_with_replacement

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshwright.pipeline.evaluate import topics as rows
from meshwright.pipeline.evaluate.grid import Grid, blocks_of, cell_of, grid_of, groups
from meshwright.pipeline.evaluate.hot_topics import least_diameters, reduced
from meshwright.pipeline.evaluate.topics import (
    Runs,
    as_ends,
    as_words,
    grouped,
    packed,
    sorted_runs,
    unpacked,
)
from meshwright.pipeline.evaluate.triangles import colouring


def test_every_pair_of_blocks_is_a_cell_of_its_own():
    pairs = list(combinations_with_replacement(range(7), 2))
    cells = [int(cell_of(np.array(high), np.array(low))) for low, high in pairs]
    assert sorted(cells) == list(range(Grid(100, 5, 7).cells))
    assert [blocks_of(cell) for cell in cells] == pairs


def test_cells_grow_in_number_with_the_data_and_stay_bounded_in_size():
    small = {"nodes": 10, "topics": 5, "interests": 100, "edges": 10}
    assert grid_of(small).cells == 1
    large = {"nodes": 10**8, "topics": 10**6, "interests": 3 * 10**9, "edges": 10**9}
    blocks = grid_of(large).blocks
    assert 2 * (3 * 10**9 + 10**9) / blocks <= 1 << 26
    colours = colouring(10**8, 10**9).colours
    assert 6 * 10**9 / colours**2 <= 1 << 24


def test_groups_tell_where_each_key_stands():
    found = {key: places.tolist() for key, places in groups(np.array([3, 1, 3, 0]))}
    assert found == {0: [3], 1: [1], 3: [0, 2]}


some_runs = st.lists(
    st.tuples(st.integers(0, 9), st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), min_size=1))
)


def as_runs(items):
    ends = np.array([end for _, edges in items for end in edges], np.int32).reshape(-1, 2)
    counts = np.array([len(edges) for _, edges in items], np.int32)
    topics = np.array([topic for topic, _ in items], np.int32)
    return Runs(4, topics, counts, as_words(ends), ends[:, 0] * 1.5)


@given(some_runs)
def test_the_load_of_each_run_is_counted_and_its_costs_are_added_up(items):
    (batch,) = rows._counted(packed(as_runs(items))) if items else [None]
    expected = [(topic, len(edges), 1.5 * sum(u for u, _ in edges)) for topic, edges in items]
    assert expected == ([] if batch is None else list(zip(*batch.to_pydict().values(), strict=True)))


def edges_of(runs):
    """All (topic, u, v, cost) of some runs."""
    topics = np.repeat(runs.topics, runs.counts)
    return [
        (int(topic), *end, cost)
        for topic, end, cost in zip(topics, as_ends(runs.ends).tolist(), runs.costs, strict=True)
    ]


@given(some_runs, st.integers(1, 5))
def test_runs_are_the_same_after_packing_however_short_the_rows(items, edges_a_row):
    runs = as_runs(items)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "_EDGES_A_ROW", edges_a_row)
        batches = list(packed(runs))
    found = list(unpacked(iter(batches)))
    assert [edge for row in found for edge in edges_of(row)] == edges_of(runs)
    assert all(row.place == 4 and 0 < len(row.ends) <= edges_a_row for row in found)


@given(some_runs, st.lists(st.integers(-1, 2), min_size=10, max_size=10))
def test_sorted_runs_bring_together_what_has_the_same_key(items, keys):
    runs, key_of = as_runs(items), np.array(keys)
    found = {key: edges_of(chosen) for key, chosen in sorted_runs(runs, key_of[runs.topics])}
    for key in range(3):
        expected = [edge for edge in edges_of(runs) if key_of[edge[0]] == key]
        assert found.get(key, []) == expected


@given(st.lists(st.integers(0, 1000), min_size=1), st.integers(1, 8))
def test_groups_of_topics_are_even_up_to_one_topic(edges, cores):
    edges = np.array(edges)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("meshwright.pipeline.evaluate.topics._EDGES_WORTH_A_GROUP", 1)
        topics = grouped(edges, edges, 900, cores)
    chosen = (edges > 0) & (edges <= 900)
    assert (topics.groups >= 0).tolist() == chosen.tolist()
    if chosen.any():
        loads = np.bincount(topics.groups[chosen], edges[chosen], minlength=topics.group_count)
        assert loads.max() <= edges[chosen].sum() / topics.group_count + edges[chosen].max()
        assert loads.max() <= 2 * 900


def test_a_reduced_topic_is_the_same_in_whatever_order_its_edges_come():
    ends = np.array([[1, 2], [2, 3], [1, 3], [7, 9], [3, 9]], np.int32)
    costs = np.arange(5.0)
    forward = reduced(as_words(ends), costs)
    backward = reduced(as_words(ends[::-1]), costs[::-1])
    assert as_ends(forward[0]).tolist() == as_ends(backward[0]).tolist()
    assert forward[1].tolist() == backward[1].tolist()


@given(st.integers(2, 12), st.data())
def test_no_connected_graph_has_a_diameter_under_the_lower_bound(size, data):
    parents = [data.draw(st.integers(0, node - 1)) for node in range(1, size)]
    graph = nx.Graph([(parent, node) for node, parent in enumerate(parents, 1)])
    nodes = st.integers(0, size - 1)
    graph.add_edges_from(e for e in data.draw(st.lists(st.tuples(nodes, nodes))) if e[0] != e[1])
    degree = max(count for _, count in graph.degree)
    least = least_diameters(np.array([size]), np.array([graph.number_of_edges()]), degree)
    assert 1 <= least[0] <= nx.diameter(graph)


def test_the_lower_bound_is_that_of_moore():
    # The Petersen graph: 10 vertices, degree 3, diameter 2; one more vertex can't be reached in 2 steps.
    assert least_diameters(np.array([10, 11, 1, 4]), np.array([15, 16, 0, 6]), 3).tolist() == [2, 3, 0, 1]
