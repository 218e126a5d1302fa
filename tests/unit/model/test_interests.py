import dataclasses
import subprocess
import sys
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import coo_array, csr_array

from meshwright.model.interests import Interests
from meshwright.runtime.errors import InputError

PAIRS = [("b2", "news"), ("b1", "news"), ("b2", "art"), ("b1", "news"), ("b3", "zoo")]


@pytest.fixture
def interests() -> Interests:
    return Interests.from_pairs(PAIRS, nodes=["b0"], topics=["void"])


def test_pairs_become_sorted_unique_lists_by_rank(interests: Interests) -> None:
    assert interests.nodes.to_pylist() == ["b0", "b1", "b2", "b3"]
    assert interests.topics.to_pylist() == ["art", "news", "void", "zoo"]
    assert interests.indptr.tolist() == [0, 0, 1, 3, 4]
    assert interests.topic_ids.tolist() == [1, 0, 1, 3]
    assert (len(interests), interests.node_count, interests.topic_count) == (4, 4, 4)


def test_the_other_direction_has_the_sorted_nodes_of_each_topic(interests: Interests) -> None:
    assert interests.topic_indptr.tolist() == [0, 1, 3, 3, 4]
    assert interests.node_ids.tolist() == [2, 1, 2, 3]
    assert interests.node_ids is interests.node_ids


def test_names_are_answered_with_names(interests: Interests) -> None:
    assert interests.topics_of("b2") == ["art", "news"]
    assert interests.topics_of("b0") == []
    assert interests.nodes_of("news") == ["b1", "b2"]
    assert interests.nodes_of("void") == []
    with pytest.raises(InputError, match="there is no node 'b9'"):
        interests.topics_of("b9")
    with pytest.raises(InputError, match="there is no topic 'b1'"):
        interests.nodes_of("b1")


@pytest.mark.parametrize("field", ["indptr", "topic_ids", "topic_indptr", "node_ids"])
def test_every_array_is_read_only_contiguous_and_of_its_type(interests: Interests, field: str) -> None:
    array = getattr(interests, field)
    assert array.dtype == (np.int64 if field.endswith("indptr") else np.int32)
    assert array.flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


def test_interests_are_frozen(interests: Interests) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        interests.indptr = np.zeros(1, np.int64)  # type: ignore[misc]


def test_a_caller_who_writes_to_an_array_later_changes_nothing() -> None:
    topic_ids = np.array([0], np.int32)
    interests = Interests.from_arrays([0, 1], topic_ids, ["a"], ["t", "u"])
    topic_ids[0] = 1
    assert interests.topics_of("a") == ["t"]


def test_read_only_arrays_are_taken_without_a_copy() -> None:
    topic_ids = np.array([0], np.int32)
    topic_ids.flags.writeable = False
    interests = Interests.from_arrays([0, 1], topic_ids, ["a"], ["t"])
    assert np.shares_memory(interests.topic_ids, topic_ids)


@pytest.mark.parametrize(
    ("indptr", "topic_ids", "rule"),
    [
        ([0, 1], [0], "shape"),
        ([0, 1, 3], [0, 1], "indptr must rise"),
        ([1, 1, 2], [0, 1], "indptr must rise"),
        ([0, 2, 1], [0, 1], "indptr must rise"),
        ([0, 1, 2], [0, 2], "between 0 and 1"),
        ([0, 1, 2], [-1, 0], "between 0 and 1"),
        ([0, 0, 2], [1, 0], "node 1 are not strictly rising"),
        ([0, 2, 2], [1, 1], "node 0 are not strictly rising"),
        ([0, 1, 2], [[0], [1]], "one dimension"),
        ([0, 1, 2], [0.0, 1.0], "type float64; give int32"),
        ([0, 1, 2], [0, 2**40], "beyond 2147483647"),
    ],
)
def test_arrays_that_are_no_lists_of_topics_are_refused(indptr: Any, topic_ids: Any, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        Interests.from_arrays(indptr, topic_ids, ["a", "b"], ["t", "u"])


def test_lists_may_fall_from_one_node_to_the_next_past_nodes_without_topics() -> None:
    interests = Interests.from_arrays([0, 0, 2, 2, 3, 3], [0, 1, 0], list("abcde"), ["t", "u"])
    assert interests.nodes_of("t") == ["b", "d"]


@pytest.mark.parametrize(
    ("nodes", "topics"), [(["b", "a"], ["t"]), (["a", "a"], ["t"]), (["a", "b"], ["t", "t"])]
)
def test_names_that_are_not_sorted_and_unique_are_refused(nodes: list[str], topics: list[str]) -> None:
    with pytest.raises(InputError, match="must be"):
        Interests.from_arrays([0, 0, 0], [], nodes, topics)


@pytest.mark.parametrize(
    "empty",
    [
        Interests.from_pairs([]),
        Interests.from_arrays([0], [], [], []),
        Interests.from_pandas(pd.DataFrame({"node": [], "topic": []})),
        Interests.from_arrow({"node": pa.array([], pa.string()), "topic": pa.array([], pa.string())}),
        Interests.from_scipy(csr_array((0, 0))),
        Interests.from_networkx(nx.Graph()),
    ],
)
def test_no_interests_at_all_are_legal(empty: Interests) -> None:
    assert (len(empty), empty.node_count, empty.topic_count) == (0, 0, 0)
    assert (empty.indptr.tolist(), empty.topic_indptr.tolist(), empty.node_ids.tolist()) == ([0], [0], [])
    assert list(empty.to_pairs()) == []
    assert empty.to_arrow().num_rows == len(empty.to_pandas()) == 0
    assert empty.to_scipy().shape == (0, 0)
    assert len(empty.to_networkx()) == 0


@pytest.mark.parametrize(
    ("pairs", "rule"),
    [
        ([("a", "t"), (7, "t")], r"the node of pair 2 is 7, an int; .* use str\(\.\.\.\)"),
        ([("a", None)], "the topic of pair 1 is None"),
        ([("a", b"t")], "the topic of pair 1 is b't'"),
        ([("a", "t"), ("a", "")], "the topic of pair 2 is an empty string"),
        ([("a", "\ud800")], "lone surrogate"),
        ([("a", "t", "x")], "pair 1 is .* give a tuple"),
        (["at"], "pair 1 is 'at'; give a tuple"),
        ([{"a", "t"}], "pair 1 is"),
        ("at", "the pairs are a str"),
        (7, "the pairs are an int"),
    ],
)
def test_what_is_no_pair_of_strings_is_refused_with_its_number(pairs: Any, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        Interests.from_pairs(pairs)


def test_names_stay_as_they_came() -> None:
    names = [
        "007",
        "7",
        " 7",
        "7 ",
        'say "hi"',
        "a,b",
        "two\nlines",
        "\r",
        "Ω",
        "日本",
        "é",
        "e\u0301",
        "NULL",
    ]
    interests = Interests.from_pairs([(name, name) for name in names])
    assert interests.nodes.to_pylist() == sorted(names, key=str.encode)
    assert set(interests.to_pairs()) == {(name, name) for name in names}


def test_a_generator_of_pairs_is_read_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("meshwright.model.pairs._TUPLES_A_CHUNK", 2)
    assert Interests.from_pairs(iter(PAIRS)) == Interests.from_pairs(PAIRS)
    with pytest.raises(InputError, match="pair 6 is"):
        Interests.from_pairs(iter([*PAIRS, ()]))  # type: ignore[arg-type]


def test_equality_looks_at_names_lists_and_attributes(interests: Interests) -> None:
    assert interests == Interests.from_pairs(PAIRS[::-1], nodes=["b0"], topics=["void"])
    assert interests != Interests.from_pairs(PAIRS)
    assert interests != Interests.from_pairs([*PAIRS, ("b0", "art")], topics=["void"])
    assert interests != dataclasses.replace(interests, node_attributes=pa.table({"port": [1, 2, 3, 4]}))
    assert interests != "interests"


def test_repr_counts() -> None:
    assert repr(Interests.from_pairs(PAIRS)) == "Interests(3 nodes, 3 topics, 4 interests)"


def frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame(columns)


@pytest.mark.parametrize(
    "given",
    [
        frame(node=["b", "a"], topic=["t", "t"]),
        frame(node=["b", "a"], topic=["t", "t"]).astype("category"),
        frame(node=["b", "a"], topic=["t", "t"]).astype("string"),
        frame(extra=[1, 2], topic=["t", "t"], node=["b", "a"]),
        frame(node=pd.Categorical(["b", "a"], categories=["zz", "b", "a"]), topic=["t", "t"]),
    ],
)
def test_a_frame_of_strings_or_categories_is_read(given: pd.DataFrame) -> None:
    assert Interests.from_pandas(given) == Interests.from_pairs([("a", "t"), ("b", "t")])


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        (frame(node=[1], topic=["t"]), "column 'node' is of type int64, .* cast it to string"),
        (frame(node=["a"], topic=[1.5]), "column 'topic' is of type double"),
        (frame(node=["a"], topic=["t"]).astype({"node": "category"})[["node"]], "has no column 'topic'"),
        (frame(node=pd.Categorical([7]), topic=["t"]), "column 'node' is of type dictionary<values=int64"),
        (frame(node=["a", 7], topic=["t", "t"]), "can't be read: .*'int' object"),
        (frame(node=["a", None], topic=["t", "t"]), "row 2: the node is missing or empty"),
        (frame(node=["a", "b"], topic=["t", ""]), "row 2: the topic is missing or empty"),
        (frame(node=[None], topic=["t"]), "row 1: the node is missing or empty"),
        (frame(name=["a"], topic=["t"]), "has no column 'node'; its columns are name, topic"),
    ],
)
def test_a_frame_of_other_things_is_refused(given: pd.DataFrame, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        Interests.from_pandas(given)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_every_flavour_of_string_column_is_read(kind: pa.DataType) -> None:
    table = pa.table({"node": pa.array(["b", "a", "b"]).cast(kind), "topic": ["t", "t", "u"]})
    assert Interests.from_arrow(table) == Interests.from_pairs([("a", "t"), ("b", "t"), ("b", "u")])


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
@pytest.mark.parametrize("index", [pa.int8(), pa.uint32(), pa.int64()])
def test_every_flavour_of_dictionary_column_is_read(kind: pa.DataType, index: pa.DataType) -> None:
    node = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], index), pa.array(["b", "a"], kind))
    made = Interests.from_arrow(pa.table({"node": node, "topic": ["t", "t", "u"]}))
    assert made == Interests.from_pairs([("a", "t"), ("b", "t"), ("b", "u")])


def test_other_columns_can_be_named_and_chunks_and_slices_are_followed() -> None:
    whole = pa.table(
        {"who": pa.array(["x", "b", "a", "y"]).dictionary_encode(), "what": ["q", "t", "t", "q"]}
    )
    table = pa.concat_tables([whole.slice(1, 1), whole.slice(2, 1)])
    made = Interests.from_arrow(table, node="who", topic="what")
    assert made == Interests.from_pairs([("a", "t"), ("b", "t")])


def test_what_offers_arrows_stream_interface_is_read() -> None:
    reader = pa.table({"node": ["a"], "topic": ["t"]}).to_reader()
    assert Interests.from_arrow(reader) == Interests.from_pairs([("a", "t")])
    with pytest.raises(InputError, match="an int can't be taken as an Arrow table"):
        Interests.from_arrow(7)


def test_a_null_inside_a_dictionary_is_a_missing_name() -> None:
    node = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array(["a", None]))
    with pytest.raises(InputError, match="row 2: the node is missing"):
        Interests.from_arrow(pa.table({"node": node, "topic": ["t", "t"]}))


def test_one_column_can_not_be_node_and_topic() -> None:
    with pytest.raises(InputError, match="can't be used twice"):
        Interests.from_arrow(pa.table({"x": ["a"]}), node="x", topic="x")


def test_a_matrix_without_names_keeps_its_indices_as_ids() -> None:
    matrix = np.zeros((12, 3), np.int8)
    matrix[11, 2] = matrix[2, 0] = -1
    interests = Interests.from_scipy(csr_array(matrix))
    assert (interests.to_scipy().toarray() == abs(matrix)).all()
    assert interests.nodes_of("t2") == ["n11"]
    assert interests.nodes[2].as_py() == "n02"


def test_a_matrix_with_names_is_sorted_by_them() -> None:
    interests = Interests.from_scipy(np.array([[1, 0], [1, 1]]), nodes=["z", "a"], topics=["u", "t"])
    assert list(interests.to_pairs()) == [("a", "t"), ("a", "u"), ("z", "u")]


def test_stored_zeros_are_no_interests_and_the_matrix_is_left_alone() -> None:
    matrix = coo_array(([1, -1, 0, 2], ([0, 0, 1, 1], [0, 0, 0, 1])), shape=(2, 2))
    assert list(Interests.from_scipy(matrix).to_pairs()) == [("n1", "t1")]
    assert matrix.nnz == 4


@pytest.mark.parametrize(
    ("matrix", "names", "rule"),
    [
        (np.ones((2, 1)), {"nodes": ["a"]}, "the matrix has 2 rows, but 1 names of nodes were given"),
        (np.ones((1, 2)), {"topics": ["t", "t"]}, "names of topics repeat"),
        (np.ones(3), {}, "1 dimension"),
        ("matrix", {}, "can't be taken as a matrix"),
    ],
)
def test_a_matrix_that_does_not_fit_its_names_is_refused(matrix: Any, names: Any, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        Interests.from_scipy(matrix, **names)


def test_a_product_of_the_matrix_counts_common_topics() -> None:
    many = Interests.from_pairs((node, f"t{i}") for node in "ab" for i in range(300))
    matrix = many.to_scipy()
    assert (matrix @ matrix.T).toarray().tolist() == [[300, 300], [300, 300]]


def test_a_bipartite_graph_goes_there_and_back(interests: Interests) -> None:
    graph = interests.to_networkx()
    assert nx.is_bipartite(graph)
    assert Interests.from_networkx(graph) == interests
    assert Interests.from_networkx(nx.DiGraph(graph)) == interests


def test_a_name_on_both_sides_does_not_fit_into_one_graph() -> None:
    with pytest.raises(InputError, match="'a' is both a node and a topic"):
        Interests.from_pairs([("a", "a")]).to_networkx()


def bipartite(nodes: list[Any], topics: list[Any], edges: list[Any]) -> Any:
    graph: nx.Graph[Any] = nx.Graph()
    graph.add_nodes_from(nodes, bipartite=0)
    graph.add_nodes_from(topics, bipartite=1)
    graph.add_edges_from(edges)
    return graph


@pytest.mark.parametrize(
    ("graph", "rule"),
    [
        (nx.path_graph(2), "vertex 0 has bipartite=None"),
        (bipartite(["a", "b"], [], [("a", "b")]), "joins two nodes"),
        (bipartite([], ["t", "u"], [("t", "u")]), "joins two topics"),
        (bipartite([7], ["t"], [(7, "t")]), r"use str\(\.\.\.\)"),
    ],
)
def test_a_graph_that_is_not_marked_as_bipartite_is_refused(graph: Any, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        Interests.from_networkx(graph)


def test_arrow_and_pandas_get_every_interest(interests: Interests) -> None:
    pairs = list(interests.to_pairs())
    table = interests.to_arrow()
    assert list(zip(*(column.to_pylist() for column in table.columns), strict=True)) == pairs
    assert list(interests.to_pandas().itertuples(index=False, name=None)) == pairs
    assert Interests.from_arrow(table) == Interests.from_pairs(PAIRS)


def test_pairs_come_out_in_blocks_of_nodes(monkeypatch: pytest.MonkeyPatch, interests: Interests) -> None:
    whole = list(interests.to_pairs())
    monkeypatch.setattr("meshwright.model.interests._NODES_A_BLOCK", 2)
    assert list(interests.to_pairs()) == whole


@pytest.mark.parametrize(
    ("attributes", "rule"),
    [
        (pa.table({"port": [1]}), "1 rows for 4 nodes"),
        (pa.table({"port": list("abcd")}), "column 'port' is string, but must be an integer type"),
        (pa.table({"lat": [1, 2, 3, 4]}), "column 'lat' is int64, but must be double"),
        (pa.table({"id": [1, 2, 3, 4]}), "can't have a column 'id'"),
        (pa.table([[1, 2, 3, 4]] * 2, names=["x", "x"]), "can't have a column 'x'"),
    ],
)
def test_attributes_that_do_not_fit_are_refused(interests: Interests, attributes: Any, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        dataclasses.replace(interests, node_attributes=attributes)


def test_a_table_without_columns_is_no_attributes(interests: Interests) -> None:
    assert dataclasses.replace(interests, topic_attributes=pa.table({})).topic_attributes is None


def test_importing_the_model_imports_no_heavy_library() -> None:
    heavy = {"pandas", "networkx", "scipy", "numba", "pyspark"}
    command = f"import sys, meshwright.model; print({heavy!r} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert result.stdout == "set()\n"


def test_a_matrix_with_an_entry_that_is_no_number_is_refused() -> None:
    matrix = np.array([[1, 0], [0, np.nan], [np.nan, 0]])
    with pytest.raises(InputError, match=r"NaN\) in row 2, column 2 \(and 1 more\)"):
        Interests.from_scipy(matrix)
