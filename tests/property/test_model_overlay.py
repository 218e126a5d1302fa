"""Laws of overlays: whatever the names and the order, they agree with networkx and survive an export."""

import csv
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from meshwright.exporting import write_export
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.runtime.errors import InputError

ANY = st.characters(exclude_categories=["Cs"])
XML = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff") | st.sampled_from(
    "\n\r\t"
)
NAME = st.text(ANY, min_size=1, max_size=4)
XML_NAME = st.text(XML, min_size=1, max_size=4)
# networkx reads these two as an empty tuple and an empty list.
GML_NAME = NAME.filter(lambda name: name not in ("()", "[]"))

Edges = list[tuple[str, str]]


@st.composite
def meshes(
    draw: st.DrawFn, name: st.SearchStrategy[str] = NAME
) -> tuple[list[str], Edges, list[float] | None]:
    """Nodes, edges in any direction and repeated, and a cost for each edge, or none at all."""
    nodes = draw(st.lists(name, unique=True, max_size=8))
    every = [(u, v) for u in nodes for v in nodes if u != v]
    edges = draw(st.lists(st.sampled_from(every), max_size=20)) if every else []
    if not draw(st.booleans()):
        return nodes, edges, None
    price = st.floats(min_value=1e-100, max_value=1e100)
    by_edge = {edge: draw(price) for edge in sorted({frozenset(edge) for edge in edges}, key=sorted)}
    return nodes, edges, [by_edge[frozenset(edge)] for edge in edges]


def made(nodes: list[str], edges: Edges, costs: list[float] | None) -> Overlay:
    return Overlay.from_edges(Interests.from_pairs([], nodes), edges, costs)


def oracle(nodes: list[str], edges: Edges, costs: list[float] | None) -> Any:
    graph: Any = nx.Graph()
    graph.add_nodes_from(nodes)
    for at, (u, v) in enumerate(edges):
        graph.add_edge(u, v, **({} if costs is None else {"cost": costs[at]}))
    return graph


Mesh = tuple[list[str], Edges, list[float] | None]


@given(meshes())
def test_edges_agree_with_networkx(mesh: Mesh) -> None:
    overlay, graph = made(*mesh), oracle(*mesh)
    names = overlay.interests.nodes.to_pylist()
    assert nx.to_dict_of_dicts(overlay.to_networkx()) == nx.to_dict_of_dicts(graph)
    assert dict(zip(names, overlay.degrees().tolist(), strict=True)) == dict(graph.degree())
    weight: Any = None if mesh[2] is None else "cost"
    if names:
        assert (overlay.to_scipy().toarray() == nx.to_numpy_array(graph, names, weight=weight)).all()


@given(meshes())
def test_edges_have_one_form(mesh: Mesh) -> None:
    edges = made(*mesh).edges
    assert (edges[:, 0] < edges[:, 1]).all()
    rows = [tuple(row) for row in edges.tolist()]
    assert rows == sorted(set(rows))


@given(meshes(), st.data())
def test_order_and_direction_do_not_matter(mesh: Mesh, data: st.DataObject) -> None:
    nodes, edges, costs = mesh
    order = data.draw(st.permutations(range(len(edges))))
    turned = [edges[at][::-1] if data.draw(st.booleans()) else edges[at] for at in order]
    again = made(nodes, turned, None if costs is None else [costs[at] for at in order])
    assert again == made(*mesh)


@given(
    meshes(),
    st.dictionaries(NAME, st.one_of(st.integers(), NAME, st.floats(allow_nan=False, allow_infinity=False))),
)
def test_a_dataset_is_read_as_it_was_written(mesh: Mesh, facts: dict[str, Any]) -> None:
    plain = made(*mesh)
    overlay = Overlay(plain.interests, plain.edges, plain.costs, facts)
    with tempfile.TemporaryDirectory() as folder:
        overlay.write(Path(folder) / "d")
        assert Overlay.read(Path(folder) / "d") == overlay


@given(meshes(), NAME)
def test_an_edge_to_a_stranger_is_refused(mesh: Mesh, stranger: str) -> None:
    nodes, edges, _ = mesh
    assume(nodes and stranger not in nodes)
    with pytest.raises(InputError, match=f"row {len(edges) + 1}: "):
        made(nodes, [*edges, (nodes[0], stranger)], None)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda e: e[0] != e[1]), max_size=30))
def test_ids_and_names_give_the_same_overlay(edges: list[tuple[int, int]]) -> None:
    interests = Interests.from_scipy(np.zeros((6, 0)))
    by_name = Overlay.from_edges(interests, [(f"n{u}", f"n{v}") for u, v in edges])
    assert Overlay.from_arrays(interests, edges) == by_name


def text_of(overlay: Overlay, to: str) -> str:
    stream = io.StringIO(newline="")
    write_export(overlay, to, stream)
    return stream.getvalue()


@given(meshes(XML_NAME))
def test_graphml_is_read_back_by_networkx(mesh: Mesh) -> None:
    graph = nx.parse_graphml(text_of(made(*mesh), "graphml"))
    assert nx.to_dict_of_dicts(graph) == nx.to_dict_of_dicts(oracle(*mesh))


@given(meshes(GML_NAME))
def test_gml_is_read_back_by_networkx(mesh: Mesh) -> None:
    graph = nx.parse_gml(text_of(made(*mesh), "gml"))
    assert nx.to_dict_of_dicts(graph) == nx.to_dict_of_dicts(oracle(*mesh))


@given(meshes())
def test_json_is_read_back_by_networkx(mesh: Mesh) -> None:
    graph = nx.node_link_graph(json.loads(text_of(made(*mesh), "json")), edges="edges")
    assert nx.to_dict_of_dicts(graph) == nx.to_dict_of_dicts(oracle(*mesh))


@given(meshes())
def test_csv_is_read_back_by_python_and_by_us(mesh: Mesh) -> None:
    overlay = made(*mesh)
    text = text_of(overlay, "csv")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert {frozenset((row["source"], row["target"])) for row in rows} == {frozenset(e) for e in mesh[1]}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.csv"
        path.write_bytes(text.encode())
        cost = None if overlay.costs is None else "cost"
        assert Overlay.from_csv(overlay.interests, path, cost=cost) == overlay
