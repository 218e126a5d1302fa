"""What is drawn of an overlay."""

import re
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import meshwright as mw
from meshwright.report.contents import Drawing
from meshwright.report.overlay import choose_drawing, drawn, edges_inside
from tests.shelf import AWKWARD
from tests.unit.report.examples import drawing_of


def drawing(edges: np.ndarray, node_count: int, seed: int = 0) -> Drawing:
    degrees = np.bincount(edges.ravel(), minlength=node_count)
    return choose_drawing(degrees, edges_inside(edges), lambda ids: [f"n{at}" for at in ids.tolist()], seed)


def random_graph(nodes: int, links: int, seed: int) -> np.ndarray:
    graph = nx.gnm_random_graph(nodes, links, seed=seed)
    return np.array(graph.edges, np.int32).reshape(-1, 2)


def named_edges(found: Drawing) -> set[frozenset[str]]:
    return {frozenset((found.names[u], found.names[v])) for u, v in found.edges}


@pytest.mark.parametrize("name", AWKWARD)
def test_a_small_overlay_is_drawn_whole(name: str) -> None:
    overlay = mw.build(AWKWARD[name], "gm")
    found = drawing_of(overlay)
    nodes = overlay.interests.nodes.to_pylist()
    assert found.names == nodes
    assert found.degrees == overlay.degrees().tolist()
    assert named_edges(found) == {frozenset((nodes[u], nodes[v])) for u, v in overlay.edges.tolist()}


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(151, 400), st.floats(0, 6))
def test_a_sample_has_true_degrees_and_all_links_among_its_nodes(
    seed: int, nodes: int, density: float
) -> None:
    edges = random_graph(nodes, int(nodes * density), seed)
    found = drawing(edges, nodes, seed)
    graph = nx.Graph()
    graph.add_nodes_from(f"n{at}" for at in range(nodes))
    graph.add_edges_from((f"n{u}", f"n{v}") for u, v in edges.tolist())
    assert len(set(found.names)) == len(found.names) <= 120
    assert found.of_nodes == nodes
    assert found.degrees == [graph.degree[name] for name in found.names]
    assert named_edges(found) == {frozenset(edge) for edge in graph.subgraph(found.names).edges}


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(160, 400))
def test_a_sample_of_a_connected_overlay_is_connected_and_around_its_busiest_node(
    seed: int, nodes: int
) -> None:
    graph = nx.barabasi_albert_graph(nodes, 2, seed=seed)
    found = drawing(np.array(graph.edges), nodes, seed)
    assert found.degrees[0] == max(dict(graph.degree).values())
    shown = nx.Graph([tuple(edge) for edge in found.edges])
    assert len(shown) == len(found.names) == 120
    assert nx.is_connected(shown)


def test_islands_are_drawn_until_there_are_enough() -> None:
    pairs = np.arange(2_000).reshape(-1, 2)
    found = drawing(pairs, 2_000)
    assert len(found.names) > 20
    assert len(found.edges) > 10


def test_the_order_and_direction_of_edges_do_not_matter_but_the_seed_does() -> None:
    edges = random_graph(500, 1_500, 1)
    shuffled = np.random.default_rng(1).permutation(edges)[:, ::-1]
    assert drawing(edges, 500, 3) == drawing(shuffled, 500, 3)
    assert drawing(edges, 500, 3) != drawing(edges, 500, 4)


def test_edges_are_asked_for_few_nodes_and_few_times() -> None:
    edges = random_graph(3_000, 9_000, 1)
    asked: list[int] = []

    def edges_at(ids: np.ndarray) -> np.ndarray:
        asked.append(len(ids))
        return edges_inside(edges)(ids)

    degrees = np.bincount(edges.ravel(), minlength=3_000)
    choose_drawing(degrees, edges_at, lambda ids: [str(at) for at in ids])
    assert max(asked) <= 150
    assert len(asked) <= 9


def test_names_in_a_drawing_do_not_cover_each_other():
    edges = [list(pair) for pair in combinations(range(6), 2)]
    edges += [[hub, 6 + 5 * hub + leaf] for hub in range(6) for leaf in range(5)]
    names = [f"a hub of name {at}" for at in range(6)] + [f"leaf {at}" for at in range(30)]
    found = drawn(Drawing(names=names, degrees=[10] * 6 + [1] * 30, edges=edges, of_nodes=36))
    labels = re.findall(r'<text x="(\d+)" y="(-?\d+)">([^<]*)', found)
    assert labels
    boxes = [(int(x), int(y), 10 * len(words)) for x, y, words in labels]
    for (x, y, half), (u, v, other) in combinations(boxes, 2):
        assert abs(x - u) >= half + other or abs(y - v) >= 38
