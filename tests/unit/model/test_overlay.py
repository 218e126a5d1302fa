import dataclasses
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import meshwright as mw
from meshwright.exporting import export
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.runtime.errors import InputError

INTERESTS = Interests.from_pairs([(node, "t") for node in "abcd"], nodes=["007", "7"])
NONE = np.empty((0, 2), np.int32)


@pytest.fixture
def overlay() -> Overlay:
    return Overlay.from_edges(INTERESTS, [("c", "b"), ("a", "d"), ("007", "a")], costs=[3, 2.5, 1])


def names(overlay: Overlay) -> list[tuple[str, str]]:
    listed = overlay.interests.nodes.to_pylist()
    return [(listed[u], listed[v]) for u, v in overlay.edges]


def test_edges_are_sorted_pairs_of_ids_and_costs_follow_them(overlay: Overlay) -> None:
    assert names(overlay) == [("007", "a"), ("a", "d"), ("b", "c")]
    assert overlay.edges.dtype == np.int32
    assert overlay.costs is not None
    assert overlay.costs.tolist() == [1, 2.5, 3]


def test_degrees_count_every_node(overlay: Overlay) -> None:
    assert overlay.degrees().tolist() == [1, 0, 2, 1, 1, 1]
    assert overlay.degrees().dtype == np.int64
    assert Overlay.from_edges(INTERESTS, []).degrees().tolist() == [0] * 6


def test_a_pair_that_comes_twice_in_either_direction_is_one_edge() -> None:
    pairs = [("a", "b"), ("b", "a"), ("a", "b"), ("c", "a")]
    assert names(Overlay.from_edges(INTERESTS, pairs)) == [("a", "b"), ("a", "c")]
    made = Overlay.from_edges(INTERESTS, pairs, costs=[2, 2, 2, 1])
    assert made.costs is not None
    assert made.costs.tolist() == [2, 1]


def test_an_edge_with_two_costs_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"row 3: the link 'a' - 'b' costs 3, but 2 in row 2; a link has one cost$"
    ):
        Overlay.from_edges(INTERESTS, [("c", "a"), ("a", "b"), ("b", "a")], costs=[1, 2, 3])


def test_edges_and_costs_are_read_only(overlay: Overlay) -> None:
    for array in (overlay.edges, overlay.costs):
        assert array is not None
        assert array.flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        overlay.costs = None  # type: ignore[misc]


@pytest.mark.parametrize(
    ("pairs", "rule"),
    [
        ([("a", "b"), ("x", "b")], "row 2: there is no 'x' among the 6 nodes"),
        ([("a", "x"), ("y", "x"), ("z", "a")], r"row 1: there is no 'x' \(and 2 more\) among"),
        ([("a", "7 ")], "there is no '7 ' among"),
        ([("a", "b"), ("c", "c"), ("d", "d")], r"joins 'c' to itself \(and 1 more\)"),
        ([("a", 7)], r"the target of pair 1 is 7, an int; .* use str"),
        ([("a",)], "pair 1 is"),
    ],
)
def test_pairs_that_are_no_edges_are_refused(pairs: Any, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        Overlay.from_edges(INTERESTS, pairs)


@pytest.mark.parametrize("cost", [float("nan"), -1, 0, float("inf"), float("-inf"), 1.1e100, 1e308, 0.9e-100])
def test_a_cost_that_is_not_positive_and_finite_is_refused(cost: float) -> None:
    with pytest.raises(InputError, match=r"'a' - 'b' costs .*; a cost is a positive finite number"):
        Overlay.from_edges(INTERESTS, [("c", "a"), ("a", "b")], costs=[1, cost])


def test_the_sum_of_the_greatest_costs_is_a_number() -> None:
    overlay = Overlay.from_edges(INTERESTS, [("c", "a"), ("a", "b")], costs=[1e100, 1e100])
    assert mw.evaluate(overlay).to_json()["weighted_average_degree"] == pytest.approx(4e100 / 6)


@pytest.mark.parametrize("costs", [[1], [1, 2, 3], [[1, 2]], 1.0])
def test_there_is_one_cost_for_each_pair(costs: Any) -> None:
    with pytest.raises(InputError, match="for 2 edges; give one number for each"):
        Overlay.from_edges(INTERESTS, [("c", "a"), ("a", "b")], costs=costs)


def test_costs_are_numbers() -> None:
    with pytest.raises(InputError, match="costs is of type"):
        Overlay.from_edges(INTERESTS, [("a", "b")], costs=["1"])


def test_arrays_come_in_any_order_and_direction() -> None:
    made = Overlay.from_arrays(INTERESTS, [[3, 2], [1, 0], [2, 3]], facts={"p": np.int64(3)})
    assert made.edges.tolist() == [[0, 1], [2, 3]]
    assert made.facts == {"p": 3}


def test_arrays_in_their_final_form_are_taken_without_a_copy() -> None:
    edges = np.array([[0, 1], [2, 3]], np.int32)
    edges.flags.writeable = False
    assert np.shares_memory(Overlay.from_arrays(INTERESTS, edges).edges, edges)


@pytest.mark.parametrize(
    ("edges", "rule"),
    [
        ([[0, 6]], r"edge \[0, 6\] names an id outside 0 to 5"),
        ([[-1, 2], [0, 9]], r"edge \[-1, 2\] \(and 1 more\)"),
        ([[1, 1]], "joins '7' to itself"),
        ([0, 1], "shape"),
        ([[0, 1, 2]], "shape"),
        ([[0.0, 1.0]], "type float64; give int32"),
    ],
)
def test_arrays_that_are_no_edges_are_refused(edges: Any, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        Overlay.from_arrays(INTERESTS, edges)


@pytest.mark.parametrize("edges", [[[1, 0]], [[2, 3], [0, 1]], [[0, 1], [0, 1]]])
def test_the_constructor_takes_the_final_form_only(edges: Any) -> None:
    with pytest.raises(InputError, match=r"use Overlay.from_arrays"):
        Overlay(INTERESTS, np.array(edges, np.int32))


@pytest.mark.parametrize("edges", [[], NONE, np.empty((0,))])
def test_no_edges_at_all_are_legal(edges: Any) -> None:
    for interests in (INTERESTS, Interests.from_pairs([])):
        made = Overlay.from_arrays(interests, edges, costs=[])
        assert made.edges.shape == (0, 2)
        assert made.to_scipy().nnz == len(made.to_networkx().edges) == len(made.to_pandas()) == 0


@pytest.mark.parametrize("facts", [{"x": float("nan")}, {"x": object()}, {"x": {1, 2}}])
def test_facts_are_what_json_can_hold(facts: Any) -> None:
    with pytest.raises(InputError, match="facts can't be written as JSON"):
        Overlay(INTERESTS, NONE, facts=facts)


def test_facts_are_a_copy_in_plain_types() -> None:
    @dataclasses.dataclass
    class Options:
        seed: int

    facts = {"a": np.float32(0.5), "b": np.arange(2), "c": Path("x/y"), "d": Options(7), "e": (1,)}
    made = Overlay(INTERESTS, NONE, facts=facts)
    assert made.facts == {"a": 0.5, "b": [0, 1], "c": "x/y", "d": {"seed": 7}, "e": [1]}
    facts["a"] = 1
    assert made.facts["a"] == 0.5


@pytest.mark.parametrize("name", ["edges", "../x", "Fingers", "", "a b", "manifest.json"])
def test_extra_tables_have_names_that_can_be_folders(name: str) -> None:
    with pytest.raises(InputError, match="an extra table can't be called"):
        Overlay(INTERESTS, NONE, tables={name: pa.table({"x": [1]})})


@pytest.mark.parametrize("table", [pa.table({}), [1], None])
def test_extra_tables_are_tables(table: Any) -> None:
    with pytest.raises(InputError, match=r"give a pyarrow.Table"):
        Overlay(INTERESTS, NONE, tables={"fingers": table})


def test_equality_looks_at_everything(overlay: Overlay) -> None:
    assert overlay == dataclasses.replace(overlay)
    other = Interests.from_pairs([(node, "u") for node in "abcd"], nodes=["007", "7"])
    for change in (
        {"interests": other},
        {"edges": [[0, 1], [0, 2], [0, 3]]},
        {"costs": None},
        {"costs": [1, 1, 1]},
        {"facts": {"p": 1}},
        {"tables": {"views": pa.table({"x": [1]})}},
    ):
        assert overlay != dataclasses.replace(overlay, **change)
    assert overlay != 7


def test_networkx_gets_all_nodes_their_attributes_and_the_costs(overlay: Overlay) -> None:
    attributes = pa.table({"site": ["x", None, "y", "x", "x", "x"], "lat": [1.0, 2, 3, 4, 5, float("nan")]})
    interests = dataclasses.replace(overlay.interests, node_attributes=attributes)
    graph: Any = dataclasses.replace(overlay, interests=interests).to_networkx()
    assert list(graph) == overlay.interests.nodes.to_pylist()
    assert {frozenset((u, v)): cost for u, v, cost in graph.edges(data="cost")} == {
        frozenset({"007", "a"}): 1,
        frozenset({"a", "d"}): 2.5,
        frozenset({"b", "c"}): 3,
    }
    assert (graph.nodes["007"], graph.nodes["7"], graph.nodes["d"]) == (
        {"site": "x", "lat": 1},
        {"lat": 2},
        {"site": "x"},
    )


def test_scipy_gets_a_symmetric_matrix(overlay: Overlay) -> None:
    matrix = overlay.to_scipy()
    wanted = nx.to_numpy_array(overlay.to_networkx(), weight="cost")
    assert (matrix.toarray() == wanted).all()
    plain = dataclasses.replace(overlay, costs=None).to_scipy()
    assert plain.dtype == np.int32
    assert (plain.toarray() == (wanted > 0)).all()


def test_pandas_and_arrow_get_names_ids_and_costs(overlay: Overlay) -> None:
    frame = overlay.to_pandas()
    assert list(zip(frame["source"], frame["target"], strict=True)) == names(overlay)
    assert frame[["source_id", "target_id"]].to_numpy().tolist() == overlay.edges.tolist()
    assert frame["cost"].tolist() == [1, 2.5, 3]
    assert dataclasses.replace(overlay, costs=None).to_arrow().column_names == list(frame.columns)[:-1]


def test_edges_are_read_from_csv_and_parquet(tmp_path: Path, overlay: Overlay) -> None:
    (tmp_path / "e.csv").write_text("x,ms,y\nb,3,c\nd,2.5,a\n007,1,a\na,1.0,007\n")
    made = Overlay.from_csv(INTERESTS, tmp_path / "e.csv", source="x", target="y", cost="ms")
    assert made == overlay
    pq.write_table(overlay.to_arrow(), tmp_path / "e.parquet")
    assert Overlay.from_parquet(INTERESTS, tmp_path / "e.parquet", cost="cost") == overlay
    assert Overlay.from_parquet(INTERESTS, tmp_path / "e.parquet", cost=None) == dataclasses.replace(
        overlay, costs=None
    )


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("source,target,cost\na,b,1\na,x,1\n", "e.csv, line 3: there is no 'x' among"),
        (
            "source,target,cost\na,b,\n",
            "line 2: the link 'a' - 'b' has no cost; give it one, or set missing_cost",
        ),
        ("source,target,cost\na,b,cheap\n", r"line 2: column 3 \(cost\) has 'cheap'; give a number"),
        ("source,target\na,b\n", "has no column 'cost'"),
        ("source,target,cost\na,a,1\n", "joins 'a' to itself"),
    ],
)
def test_an_edge_list_that_can_not_be_used_is_refused(tmp_path: Path, text: str, rule: str) -> None:
    (tmp_path / "e.csv").write_text(text)
    with pytest.raises(InputError, match=rule):
        Overlay.from_csv(INTERESTS, tmp_path / "e.csv", cost="cost")


def test_costs_in_parquet_are_numbers(tmp_path: Path) -> None:
    table = pa.table({"source": ["a"], "target": ["b"], "cost": ["1"], "whole": [2]})
    pq.write_table(table, tmp_path / "e.parquet")
    with pytest.raises(InputError, match="column 'cost' is of type string; cast it to double"):
        Overlay.from_parquet(INTERESTS, tmp_path / "e.parquet", cost="cost")
    made = Overlay.from_parquet(INTERESTS, tmp_path / "e.parquet", cost="whole")
    assert made.costs is not None
    assert made.costs.tolist() == [2]


def frame_of(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["source", "target", "cost"])


def graph_of(rows: list[tuple[Any, ...]]) -> nx.Graph:
    graph: nx.Graph = nx.Graph()
    graph.add_edges_from((u, v, {"cost": cost}) for u, v, cost in rows)
    return graph


def test_a_frame_and_a_graph_give_the_overlay_that_they_came_from(overlay: Overlay) -> None:
    frame = overlay.to_pandas()
    assert Overlay.from_pandas(INTERESTS, frame) == overlay
    assert Overlay.from_pandas(INTERESTS, frame, cost="cost") == overlay
    assert Overlay.from_pandas(INTERESTS, frame.astype({"source": str, "target": str})) == overlay
    assert Overlay.from_networkx(INTERESTS, overlay.to_networkx()) == overlay
    free = Overlay.from_arrays(INTERESTS, overlay.edges)
    assert Overlay.from_pandas(INTERESTS, frame, cost=None) == free
    assert Overlay.from_pandas(INTERESTS, free.to_pandas()) == free
    assert Overlay.from_networkx(INTERESTS, overlay.to_networkx(), cost=None) == free
    assert Overlay.from_networkx(INTERESTS, free.to_networkx()) == free


def test_files_give_the_links_and_the_costs_that_they_came_from(overlay: Overlay, tmp_path: Path) -> None:
    free = Overlay.from_arrays(INTERESTS, overlay.edges)
    for number, made in enumerate((overlay, free)):
        csv, parquet = tmp_path / f"{number}.csv", tmp_path / f"{number}.parquet"
        export(made, csv)
        made.to_pandas().to_parquet(parquet)
        assert Overlay.from_csv(INTERESTS, csv) == made
        assert Overlay.from_csv(INTERESTS, csv, cost=None) == free
        assert Overlay.from_csv(INTERESTS, csv, 1, 2, header=True) == free
        assert Overlay.from_parquet(INTERESTS, parquet) == made
        assert Overlay.from_parquet(INTERESTS, parquet, cost=None) == free


def test_costs_that_are_asked_for_must_be_there(overlay: Overlay) -> None:
    free = Overlay.from_arrays(INTERESTS, overlay.edges)
    with pytest.raises(InputError, match="has no column 'cost'"):
        Overlay.from_pandas(INTERESTS, free.to_pandas(), cost="cost")
    with pytest.raises(InputError, match="has no 'cost'; give every edge one"):
        Overlay.from_networkx(INTERESTS, free.to_networkx(), cost="cost")


def test_a_column_of_names_that_is_called_cost_holds_no_costs() -> None:
    frame = pd.DataFrame({"cost": ["a"], "target": ["b"]})
    assert names(Overlay.from_pandas(INTERESTS, frame, source="cost")) == [("a", "b")]


def test_files_of_which_only_some_have_costs_are_refused(tmp_path: Path) -> None:
    frame_of([("a", "b", 1.0)]).to_parquet(tmp_path / "1.parquet")
    frame_of([("b", "c", 1.0)]).drop(columns="cost").to_parquet(tmp_path / "2.parquet")
    with pytest.raises(InputError, match=r"only 1 of 2 rows have a column 'cost'; give all files one"):
        Overlay.from_parquet(INTERESTS, tmp_path)
    assert len(Overlay.from_parquet(INTERESTS, tmp_path, cost=None)) == 2


def test_costs_that_are_no_numbers_are_refused_with_the_way_to_leave_them_out(tmp_path: Path) -> None:
    frame = frame_of([("a", "b", "12 euro")])
    with pytest.raises(InputError, match=r"'cost' is of type .*; cast it to double, or .* cost=None"):
        Overlay.from_pandas(INTERESTS, frame)
    frame.to_csv(tmp_path / "e.csv", index=False)
    with pytest.raises(InputError, match="12 euro"):
        Overlay.from_csv(INTERESTS, tmp_path / "e.csv")
    with pytest.raises(InputError, match=r"costs nan; .*; to leave costs out, give cost=None"):
        Overlay.from_pandas(INTERESTS, frame_of([("a", "b", 1.0), ("b", "c", None)]))


def test_a_frame_without_rows_and_a_graph_without_edges_are_overlays_without_links() -> None:
    assert len(Overlay.from_pandas(INTERESTS, frame_of([]), cost="cost")) == 0
    assert len(Overlay.from_networkx(INTERESTS, nx.Graph())) == 0
    assert len(Overlay.from_networkx(INTERESTS, nx.empty_graph(["a", "b"]))) == 0


def test_other_names_of_columns_and_attributes_and_both_directions_are_taken() -> None:
    frame = pd.DataFrame({"from": ["a", "b", "b"], "to": ["b", "a", "c"], "ms": [2, 2, 3]})
    made = Overlay.from_pandas(INTERESTS, frame, "from", "to", cost="ms")
    graph = nx.from_pandas_edgelist(frame, "from", "to", "ms", create_using=nx.MultiDiGraph)
    for one in (made, Overlay.from_networkx(INTERESTS, graph, cost="ms")):
        assert names(one) == [("a", "b"), ("b", "c")]
        assert one.costs is not None
        assert one.costs.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("rows", "rule"),
    [
        (
            [("a", "b", 1.0), ("b", "x", 1.0), ("y", "x", 1.0)],
            r"there is no '\w' \(and 1 more\) among the 6 nodes",
        ),
        ([("a", "b", 1.0), ("c", "c", 1.0)], "joins 'c' to itself; leave self loops out"),
        ([("a", "b", float("nan"))], "the link 'a' - 'b' (costs nan|has no cost); "),
        ([("a", "b", -1.0), ("a", "c", 0.0)], r"'a' - 'b' costs -1 \(and 1 more\); a cost is a positive"),
    ],
)
def test_frames_graphs_and_files_are_refused_in_the_same_words(tmp_path: Path, rows: Any, rule: str) -> None:
    frame_of(rows).to_csv(tmp_path / "e.csv", index=False)
    with pytest.raises(InputError, match=rule):
        Overlay.from_csv(INTERESTS, tmp_path / "e.csv", cost="cost")
    with pytest.raises(InputError, match=rule):
        Overlay.from_pandas(INTERESTS, frame_of(rows), cost="cost")
    with pytest.raises(InputError, match=rule):
        Overlay.from_networkx(INTERESTS, graph_of(rows))


def test_a_frame_with_two_costs_for_an_edge_or_without_a_column_is_refused() -> None:
    frame = frame_of([("a", "b", 1.0), ("b", "a", 2.0)])
    with pytest.raises(
        InputError, match=r"row 2: the link 'a' - 'b' costs 2, but 1 in row 1; a link has one cost$"
    ):
        Overlay.from_pandas(INTERESTS, frame, cost="cost")
    with pytest.raises(InputError, match=r"no column 'costs'; .*: did you mean 'cost'\?"):
        Overlay.from_pandas(INTERESTS, frame, cost="costs")


def test_a_graph_with_costs_on_some_edges_or_vertices_that_are_no_names_is_refused() -> None:
    graph = graph_of([("a", "b", 1.0)])
    graph.add_edge("b", "c")
    with pytest.raises(InputError, match=r"the edge 'b' - 'c' has no 'cost'; give every edge one, or leave"):
        Overlay.from_networkx(INTERESTS, graph)
    with pytest.raises(InputError, match="has no 'ms'"):
        Overlay.from_networkx(INTERESTS, graph, cost="ms")
    with pytest.raises(InputError, match="strings"):
        Overlay.from_networkx(INTERESTS, nx.path_graph(3))
    with pytest.raises(InputError, match="there is no 'x' among the 6 nodes"):
        Overlay.from_networkx(INTERESTS, nx.empty_graph(["a", "x"]))


def test_repr_counts_in_singular_and_plural() -> None:
    alone = Interests.from_pairs([("a", "t")])
    assert repr(alone) == "Interests(1 node, 1 topic, 1 interest)"
    assert repr(Overlay.from_edges(alone, [])) == "Overlay(1 node, 0 edges)"
    assert repr(Overlay.from_edges(INTERESTS, [("a", "b")])) == "Overlay(6 nodes, 1 edge)"


def test_repr_counts(overlay: Overlay) -> None:
    assert repr(overlay) == "Overlay(6 nodes, 3 edges, with costs)"
    assert repr(dataclasses.replace(overlay, costs=None)) == "Overlay(6 nodes, 3 edges)"


def test_a_near_miss_of_a_node_is_answered_with_the_node_that_was_meant() -> None:
    interests = Interests.from_pairs([("Adelaide", "t"), ("Berlin", "t")])
    with pytest.raises(
        InputError, match=r"no 'adelaide' .*; did you mean 'Adelaide'\? Otherwise add missing"
    ):
        Overlay.from_edges(interests, [("adelaide", "Berlin")])


def test_interests_come_before_the_edges(overlay: Overlay) -> None:
    makers: list[tuple[Any, Any]] = [
        (Overlay.from_networkx, overlay.to_networkx()),
        (Overlay.from_pandas, overlay.to_pandas()),
        (Overlay.from_edges, [("a", "b")]),
        (Overlay.from_arrays, overlay.edges),
        (Overlay.from_csv, "edges.csv"),
        (Overlay.from_parquet, "edges.parquet"),
    ]
    for make, edges in makers:
        with pytest.raises(
            InputError, match=rf"{make.__name__} got an? \w+ first; give Interests first, then"
        ):
            make(edges, INTERESTS)


def test_a_row_without_a_cost_takes_that_of_the_other_direction(tmp_path):
    interests = Interests.from_pairs([(node, "t") for node in "abcd"])
    (tmp_path / "e.csv").write_text("source,target,cost\na,b,\nb,a,0.75\nb,c,2\nc,b,4\nb,c,\nc,d,\n")
    rules = {"symmetrise": "mean", "missing_cost": 100}
    found = Overlay.from_csv(interests, tmp_path / "e.csv", **rules)
    assert found.costs is not None
    assert dict(zip(map(tuple, found.edges.tolist()), found.costs.tolist(), strict=True)) == {
        (0, 1): 0.75,
        (1, 2): 3.0,
        (2, 3): 100.0,
    }
    with pytest.raises(InputError, match=r"line 7: the link 'c' - 'd' has no cost"):
        Overlay.from_csv(interests, tmp_path / "e.csv", symmetrise="mean")
