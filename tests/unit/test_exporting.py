"""Every format is read back by somebody else: networkx, Python's csv and json, DOT by its grammar."""

import csv
import dataclasses
import io
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import pyarrow as pa
import pytest

from meshwright import workloads
from meshwright.building import build
from meshwright.exporting import EXPORTS, crossings, export, write_export
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.runtime.errors import DatasetError, InputError, OptionError

AWKWARD = [
    "007",
    "7",
    " 7 ",
    'say "hi"',
    "a,b",
    "two\nlines",
    "a\r\nb",
    "\t",
    "Ω日本𝄞",
    "\\",
    "a\\n",
    "<&>'",
    "&#65;",
]


def chain(names: list[str], costs: bool = True, attributes: Any = None) -> Overlay:
    interests = Interests.from_pairs([(name, "t") for name in names], nodes=["alone"])
    if attributes is not None:
        interests = dataclasses.replace(interests, node_attributes=pa.table(attributes))
    pairs = list(pairwise(names))
    prices = [0.1 + at for at in range(len(pairs))] if costs else None
    return dataclasses.replace(Overlay.from_edges(interests, pairs, prices), facts={"p": 3})


def text_of(overlay: Overlay, to: str) -> str:
    stream = io.StringIO(newline="")
    write_export(overlay, to, stream)
    return stream.getvalue()


def parsed(to: str, text: str) -> Any:
    if to == "graphml":
        return nx.parse_graphml(text)
    if to == "gml":
        return nx.parse_gml(text)
    return nx.node_link_graph(json.loads(text), edges="edges")


@pytest.mark.parametrize("to", ["graphml", "gml", "json"])
@pytest.mark.parametrize("costs", [True, False])
def test_networkx_reads_back_every_node_edge_and_cost(to: str, costs: bool) -> None:
    overlay = chain(AWKWARD, costs)
    graph = parsed(to, text_of(overlay, to))
    wanted: Any = overlay.to_networkx()
    assert dict(graph.nodes(data=True)) == dict(wanted.nodes(data=True))
    assert nx.to_dict_of_dicts(graph) == nx.to_dict_of_dicts(wanted)


@pytest.mark.parametrize("to", ["graphml", "gml", "json"])
def test_attributes_of_nodes_go_along(to: str) -> None:
    attributes = {
        "site": ["x", None, 'say "hi"\r\n'],
        "lat": [1.5, float("nan"), -2.0],
        "port": [1883, 1884, None],
        "cost": [1, 2, 3],
        "up": [True, False, None],
    }
    overlay = chain(["a", "b"], attributes=attributes)
    graph = parsed(to, text_of(overlay, to))
    assert dict(graph.nodes(data=True)) == {
        "a": {"site": "x", "lat": 1.5, "port": 1883, "cost": 1, "up": True},
        "alone": {"port": 1884, "cost": 2, "up": False},
        "b": {"site": 'say "hi"\r\n', "lat": -2.0, "cost": 3},
    }


def test_json_carries_the_facts() -> None:
    assert json.loads(text_of(chain(["a", "b"]), "json"))["graph"] == {"p": 3}


@pytest.mark.parametrize("costs", [True, False])
def test_csv_is_read_back_by_python_and_by_us(tmp_path: Path, costs: bool) -> None:
    overlay = chain(AWKWARD, costs)
    text = text_of(overlay, "csv")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[0] == ["source", "target", "cost"][: 2 + costs]
    assert {frozenset(row[:2]) for row in rows[1:]} == {
        frozenset(edge) for edge in overlay.to_networkx().edges
    }
    export(overlay, tmp_path / "edges.csv")
    cost = "cost" if costs else None
    made = Overlay.from_csv(overlay.interests, tmp_path / "edges.csv", cost=cost)
    assert made == dataclasses.replace(overlay, facts={})


DOT_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)


def dot_ids(text: str) -> list[str]:
    """The quoted ids of a DOT text, by Graphviz's scanner, and the backslashes as it draws them."""
    return [found.replace('\\"', '"').replace("\\\\", "\\") for found in DOT_STRING.findall(text)]


def test_dot_quotes_every_name() -> None:
    overlay = chain(AWKWARD, costs=False)
    text = text_of(overlay, "dot")
    ends = [
        name for u, v in overlay.edges for name in (overlay.interests.nodes[int(i)].as_py() for i in (u, v))
    ]
    assert dot_ids(text) == overlay.interests.nodes.to_pylist() + ends
    assert DOT_STRING.sub("X", text) == "graph {\n" + "  X;\n" * 14 + "  X -- X;\n" * 12 + "}\n"


def test_dot_carries_costs_and_attributes() -> None:
    text = text_of(chain(["a", "b"], attributes={"site": ["x", None, "y"]}), "dot")
    assert '"a" ["site"="x"];' in text
    assert '"alone";' in text
    assert '"a" -- "b" ["cost"="0.1"];' in text


@pytest.mark.parametrize("to", EXPORTS)
def test_an_overlay_without_nodes_can_be_exported(to: str) -> None:
    text = text_of(Overlay.from_edges(Interests.from_pairs([]), []), to)
    if to in ("graphml", "gml", "json"):
        assert len(parsed(to, text)) == 0
    else:
        assert text in ('"source","target"\n', "graph {\n}\n")


@pytest.mark.parametrize(("to", "name"), [("graphml", "a\x01"), ("graphml", "\ufffe"), ("dot", "a\x00b")])
def test_a_name_that_a_format_can_not_hold_is_refused(to: str, name: str) -> None:
    with pytest.raises(InputError, match=r"can't hold; export to json or csv") as caught:
        text_of(chain([name, "b"]), to)
    assert repr(name) in str(caught.value)


def test_an_attribute_that_gml_can_not_name_is_refused() -> None:
    overlay = chain(["a", "b"], attributes={"max-links": [1, 2, 3]})
    with pytest.raises(InputError, match=r"GML can't hold this overlay: .*max-links"):
        text_of(overlay, "gml")


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    overlay = chain(AWKWARD)
    whole = {to: text_of(overlay, to) for to in EXPORTS}
    monkeypatch.setattr("meshwright.model.overlay._ROWS_A_BLOCK", 3)
    assert {to: text_of(overlay, to) for to in EXPORTS} == whole


@pytest.mark.parametrize("to", EXPORTS)
def test_the_suffix_names_the_format(tmp_path: Path, to: str) -> None:
    overlay = chain(AWKWARD)
    export(overlay, tmp_path / f"x.{to}")
    export(overlay, tmp_path / "x", to)
    assert (
        (tmp_path / "x").read_bytes() == (tmp_path / f"x.{to}").read_bytes() == text_of(overlay, to).encode()
    )


@pytest.mark.parametrize("to", ["xlsx", "", "GML"])
def test_an_unknown_format_lists_the_choices(tmp_path: Path, to: str) -> None:
    overlay = chain(["a", "b"])
    with pytest.raises(OptionError, match="choose among graphml, gml, dot, csv, json"):
        export(overlay, tmp_path / f"x.{to}")
    with pytest.raises(OptionError, match="choose among"):
        write_export(overlay, to, io.StringIO())


def test_a_file_is_overwritten_only_with_force_and_only_when_complete(tmp_path: Path) -> None:
    path = tmp_path / "x.graphml"
    export(chain(["c", "d"]), path)
    whole = path.read_text()
    with pytest.raises(DatasetError, match="already exists"):
        export(chain(["a", "b"]), path)
    with pytest.raises(InputError, match="XML can't hold"):
        export(chain(["\x01", "b"]), path, force=True)
    assert path.read_text() == whole
    export(chain(["a", "b"]), path, force=True)
    assert path.read_text() == text_of(chain(["a", "b"]), "graphml")
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.graphml"]


def test_a_place_that_can_not_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="nowhere is not a folder; create it"):
        export(chain(["a", "b"]), tmp_path / "nowhere" / "x.csv")
    with pytest.raises(DatasetError, match="can't be written"):
        export(chain(["a", "b"]), Path("/proc/self/x.csv"))
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DatasetError, match="is a folder, and a file is to be written"):
        export(chain(["a", "b"]), tmp_path / "folder.csv", force=True)


def example() -> Overlay:
    """Five nodes; the link between c and e is in no tree."""
    pairs = [
        (node, topic)
        for node, own in {"a": "x", "b": "xy", "c": "xy", "d": "y", "e": "x"}.items()
        for topic in own
    ]
    interests = Interests.from_pairs(pairs)
    links = [("a", "b"), ("b", "c"), ("b", "d"), ("b", "e"), ("c", "e")]
    return Overlay.from_edges(interests, links, [1.0, 2.0, 3.0, 4.0, 5.0])


def crossed(overlay: Overlay, tree: str) -> dict[str, str]:
    """By link, the topics that cross it, read from JSON."""
    stream = io.StringIO()
    write_export(overlay, "json", stream, crossings(overlay, tree))
    return {
        f"{edge['source']}{edge['target']}": "".join(edge["topics"])
        for edge in json.loads(stream.getvalue())["edges"]
    }


def test_every_link_comes_with_the_topics_whose_tree_it_is_in():
    assert crossed(example(), "shortest") == {"ab": "x", "bc": "xy", "bd": "y", "be": "x", "ce": ""}
    assert crossings(example(), "shortest").unused == 1


def test_csv_has_a_row_for_each_link_and_topic_and_can_be_read_as_an_overlay(tmp_path):
    overlay = example()
    export(overlay, tmp_path / "o.csv", tree="cheapest")
    with (tmp_path / "o.csv").open(newline="") as stream:
        rows = [tuple(row.values()) for row in csv.DictReader(stream)]
    assert rows == [
        ("a", "b", "1.0", "x"),
        ("b", "c", "2.0", "x"),
        ("b", "c", "2.0", "y"),
        ("b", "d", "3.0", "y"),
        ("b", "e", "4.0", "x"),
    ]
    found = Overlay.from_csv(overlay.interests, tmp_path / "o.csv", cost="cost")
    assert found.edges.tolist() == overlay.edges[:4].tolist()


@pytest.mark.parametrize("to", ["graphml", "gml", "json", "dot"])
def test_all_formats_hold_the_topics_of_a_link(to):
    awkward = ["a,b", 'say "hi"', "Ω日本"]
    interests = Interests.from_pairs([(node, topic) for node in "pq" for topic in awkward])
    overlay = Overlay.from_edges(interests, [("p", "q")])
    stream = io.StringIO(newline="")
    write_export(overlay, to, stream, crossings(overlay, "shortest"))
    text = stream.getvalue()
    if to == "dot":
        assert (
            json.dumps(sorted(awkward), ensure_ascii=False).replace("\\", "\\\\").replace('"', '\\"') in text
        )
        return
    topics = parsed(to, text).edges["p", "q"]["topics"]
    assert (topics if to == "json" else json.loads(topics)) == sorted(awkward)


def test_the_links_of_a_topic_are_a_tree_on_its_subscribers():
    interests = workloads.unif(60, 12, subscriptions=4, seed=3)
    overlay = build(interests, "ring")
    found = crossings(overlay, "shortest")
    names, topics = interests.nodes.to_pylist(), interests.topics.to_pylist()
    for at, topic in enumerate(topics):
        own = [
            edge
            for edge in range(len(overlay))
            if at in found.topic_ids[found.indptr[edge] : found.indptr[edge + 1]]
        ]
        tree = nx.Graph([(names[u], names[v]) for u, v in overlay.edges[own].tolist()])
        assert nx.is_tree(tree)
        assert sorted(tree) == interests.nodes_of(topic)


def test_topics_need_an_overlay_that_connects_them(tmp_path):
    interests = Interests.from_pairs([("a", "x"), ("b", "x")])
    with pytest.raises(InputError, match="not topic-connected"):
        export(Overlay.from_edges(interests, []), tmp_path / "o.csv", tree="shortest")
    assert not list(tmp_path.iterdir())
