"""Where nodes are drawn."""

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meshwright.report.overlay import lay_out


@settings(max_examples=20)
@given(st.integers(0, 1_000), st.integers(1, 25), st.integers(0, 40))
def test_nodes_lie_on_the_sheet_each_at_a_place_of_its_own(seed: int, nodes: int, links: int) -> None:
    graph = nx.gnm_random_graph(nodes, links, seed=seed)
    found = lay_out(nodes, list(graph.edges))
    assert len(set(found.places)) == nodes
    assert all(0 <= x <= 1_000 and 0 <= y <= found.height <= 1_000 for x, y in found.places)
    assert found == lay_out(nodes, [edge[::-1] for edge in reversed(list(graph.edges))])


def test_pieces_do_not_overlap() -> None:
    graph = nx.disjoint_union_all([nx.cycle_graph(8), nx.path_graph(4), nx.star_graph(5), nx.empty_graph(3)])
    places = lay_out(len(graph), list(graph.edges)).places
    boxes = []
    for piece in nx.connected_components(graph):
        across, down = zip(*(places[at] for at in piece), strict=True)
        boxes.append((min(across), min(down), max(across), max(down)))
    for at, (a, b, c, d) in enumerate(boxes):
        for e, f, g, h in boxes[at + 1 :]:
            assert c < e or g < a or d < f or h < b


@pytest.mark.parametrize("nodes", [0, 1, 2])
def test_a_few_nodes_without_links_have_places(nodes: int) -> None:
    assert len(lay_out(nodes, []).places) == nodes
