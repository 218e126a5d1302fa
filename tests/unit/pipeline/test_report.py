"""Reports on overlays of every origin, with numbers by networkx and pandas."""

import json
import re
from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest

import meshwright as mw
from meshwright.model.overlay import priced
from meshwright.pipeline.cost_files import CostFiles
from meshwright.pipeline.report import Given, as_json, report_contents, report_here, short_names
from meshwright.report.report_page import report_page
from meshwright.runtime import memory
from meshwright.testing import some_costs
from tests.raw_files import cost_files
from tests.shelf import AWKWARD
from tests.unit.report.test_page import check_whole

INTERESTS = mw.workloads.unif(40, 8, subscriptions=3, seed=1)
COSTS = some_costs(INTERESTS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same interests as a mesh of today without costs, and as two overlays that were built."""
    path = tmp_path_factory.mktemp("overlays")
    rng = np.random.default_rng(1)
    edges = np.argwhere(np.triu(rng.random((40, 40)) < 0.3, 1))
    mw.Overlay.from_arrays(INTERESTS, edges).write(path / "today", made_by={"command": "import"})
    made_by = {"command": "build", "algorithm": "gr-maw", "options": {"rho": 3}, "seed": 7}
    mw.build(INTERESTS, "gr-maw", costs=COSTS).write(path / "cheap", made_by=made_by)
    mw.build(INTERESTS, "gm").write(path / "gm", made_by={"algorithm": "gm"})
    return path


def graph_of(overlay):
    return priced(overlay, COSTS).to_networkx()


def test_every_number_is_that_of_networkx(folder, tmp_path):
    found = report_here([folder / "today", folder / "cheap"], tmp_path / "page.html")
    today, cheap = (graph_of(mw.Overlay.read(folder / name)) for name in ("today", "cheap"))
    for said, graph in ((found["today"], today), (found["targets"][0], cheap)):
        assert said["edges"] == graph.number_of_edges()
        assert said["maximum_degree"] == max(dict(graph.degree).values())
        assert said["cost"] == pytest.approx(graph.size("cost"))
        subgraphs = [graph.subgraph(INTERESTS.nodes_of(topic)) for topic in INTERESTS.topics.to_pylist()]
        assert said["disconnected_topics"] == sum(not nx.is_connected(own) for own in subgraphs)
        connected = [own for own in subgraphs if nx.is_connected(own)]
        assert said["maximum_topic_diameter"] == max(map(nx.diameter, connected))
    target = found["targets"][0]
    before, after = (set(map(frozenset, graph.edges)) for graph in (today, cheap))
    assert (target["opened"], target["closed"]) == (len(after - before), len(before - after))
    assert target["kept"] == len(before & after)
    assert target["links_saved"] == len(before) - len(after)
    assert target["cost_saved"] == pytest.approx(today.size("cost") - cheap.size("cost"))
    assert found["today"]["lower_bound_cost"] <= cheap.size("cost") * (1 + 1e-9)
    busiest = sorted(today.degree, key=lambda node: (-node[1], node[0]))[:10]
    assert [(node["name"], node["links"]) for node in found["busiest"]["nodes"]] == busiest
    assert target["load"] == mw.expected_load(mw.Overlay.read(folder / "cheap")).to_json()
    assert "Nodes that send most messages with cheap" in (tmp_path / "page.html").read_text("utf-8")
    assert json.loads(json.dumps(found))["targets"][0]["opened"] == target["opened"]


def test_the_page_says_what_the_facts_say(folder, tmp_path):
    found = report_here([folder / "today", folder / "cheap"], tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    check_whole(page)
    words = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    target = found["targets"][0]
    assert "today beside cheap" in words
    assert f"{target['edges']} links instead of {found['today']['edges']}" in words
    assert f"{target['opened']} links would be opened and {target['closed']} closed" in words
    assert "Parameters of cheap" in words
    assert "options: rho 3" in words
    assert "The most expensive topics" in words
    anchors = re.findall('<section id="([^"]*)"', page)
    assert [one for one in anchors if one != "broken"] == [
        "comparison",
        "spending",
        "busiest",
        "failures",
        "load",
        "overlay",
        "making",
        "reading",
    ]


def test_without_costs_between_all_nodes_nothing_is_guessed(folder, tmp_path):
    today = mw.Overlay.read(folder / "today")
    mw.Overlay(INTERESTS, today.edges, np.arange(1.0, len(today) + 1)).write(tmp_path / "paid")
    found = report_here([tmp_path / "paid", folder / "gm"], tmp_path / "page.html")
    (target,) = found["targets"]
    assert found["today"]["cost"] == len(today) * (len(today) + 1) / 2
    assert found["today"]["lower_bound_cost"] is None
    assert (target["cost"], target["cost_saved"]) == (None, None)
    assert target["cost_today"] == found["today"]["cost"]
    missing = len({*map(tuple, mw.Overlay.read(folder / "gm").edges)} - {*map(tuple, today.edges)})
    assert target["no_costs"] == (
        f"The costs can't be compared: gm has none, and {missing} of its links are not in paid. "
        f"Give --costs, --inner or --places to price all links alike."
    )
    part = mw.Overlay(INTERESTS, today.edges[:9])
    part.write(tmp_path / "part")
    (target,) = report_here([tmp_path / "paid", tmp_path / "part"], tmp_path / "part.html")["targets"]
    assert (target["cost_today"], target["cost"]) == (found["today"]["cost"], 45.0)


def test_costs_that_were_measured_and_others_are_shown_each_and_can_be_priced_alike(folder, tmp_path):
    edges, files = mw.Overlay.read(folder / "today").edges, cost_files(tmp_path)
    measured = np.arange(1.0, len(edges) + 1)
    mw.Overlay(INTERESTS, edges, measured).write(tmp_path / "paid")
    found = report_here([tmp_path / "paid", folder / "cheap"], tmp_path / "page.html")
    (target,) = found["targets"]
    cheap = mw.Overlay.read(folder / "cheap")
    shared = {*map(tuple, edges.tolist())} & {*map(tuple, cheap.edges.tolist())}
    assert f" of the {len(shared)} links that both have do not cost the same" in target["no_costs"]
    assert (target["cost_today"], target["cost"]) == (measured.sum(), pytest.approx(cheap.costs.sum()))
    assert target["cost_saved"] is None
    again = report_here([tmp_path / "paid", folder / "gm"], tmp_path / "alike.html", costs=files)
    (told,) = again["repriced"]
    assert (told["name"], told["of_links"], told["cost_before"]) == ("paid", len(edges), measured.sum())
    given = priced(mw.Overlay.read(tmp_path / "paid"), files.load(INTERESTS)).costs
    assert told["links"] == np.count_nonzero(measured != given)
    assert again["targets"][0]["cost_saved"] is not None
    page = (tmp_path / "alike.html").read_text("utf-8")
    assert "count for all links" in page
    assert "Options of this report" in page


def test_paths_and_links_that_no_topic_uses_are_those_of_networkx(folder, tmp_path):
    found = report_here([folder / "today", folder / "gm"], tmp_path / "page.html")
    graphs = [mw.Overlay.read(folder / name).to_networkx() for name in ("today", "gm")]
    subscribers = [INTERESTS.nodes_of(topic) for topic in INTERESTS.topics.to_pylist()]
    shared = [own for own in subscribers if all(nx.is_connected(graph.subgraph(own)) for graph in graphs)]
    assert len(shared) > 0
    for at, graph in enumerate(graphs):
        paths = [nx.diameter(graph.subgraph(own)) for own in shared]
        assert found["paths"]["longest"][at] == max(paths)
        assert found["paths"]["mean"][at] == pytest.approx(sum(paths) / len(paths))
    assert (found["paths"]["topics"], found["paths"]["cut"]) == (len(shared), len(subscribers) - len(shared))
    topics = {node: {at for at, own in enumerate(subscribers) if node in own} for node in graphs[0]}
    for said, graph in ((found["today"], graphs[0]), (found["targets"][0], graphs[1])):
        assert said["idle_links"] == sum(not topics[u] & topics[v] for u, v in graph.edges)
    assert found["today"]["idle_links"]


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("links", ["none", "all"])
def test_every_awkward_overlay_gets_a_whole_page(name, links):
    interests = AWKWARD[name]
    built = mw.build(interests, "ring")
    overlay = built if links == "all" else mw.Overlay.from_arrays(interests, built.edges[:0])
    contents = report_contents([Given("today", overlay), Given("built", built)])
    check_whole(report_page(contents))
    found = as_json(contents)
    assert found["targets"][0]["links_saved"] == len(overlay) - len(built)


def test_overlays_that_were_maintained_merged_or_gossiped_are_reported_on(folder, tmp_path):
    live = mw.Maintainer(mw.Overlay.read(folder / "gm"))
    live.leave(INTERESTS.nodes[0].as_py())
    other = mw.Interests.from_pairs([(f"x{at}", "t0") for at in range(5)])
    made = {
        "kept": live.overlay,
        "merged": mw.merge([mw.Overlay.read(folder / "gm"), mw.build(other, "gm")], "sm"),
        "gossip": mw.build(INTERESTS, "stan", rounds=2),
    }
    for name, overlay in made.items():
        overlay.write(tmp_path / name)
        found = report_here([tmp_path / name], tmp_path / f"{name}.html")
        assert found["today"]["edges"] == len(overlay)
    assert 'id="views"' in (tmp_path / "gossip.html").read_text("utf-8")


def test_a_hub_and_a_limit_are_warned_of_on_the_page(tmp_path):
    names = ["hub", *(f"leaf{at:02}" for at in range(40))]
    pairs = [pair for at, leaf in enumerate(names[1:]) for pair in (("hub", f"t{at}"), (leaf, f"t{at}"))]
    plain = mw.Interests.from_pairs(pairs)
    fields = (plain.indptr, plain.topic_ids, plain.nodes, plain.topics)
    limits = pa.table({"max_links": [7, *[None] * 40]})
    mw.build(mw.Interests(*fields, node_attributes=limits), "gm").write(tmp_path / "o")
    found = report_here([tmp_path / "o"], tmp_path / "page.html")
    hub, limit = found["busiest"]["warnings"]
    assert "Node 'hub' has 40 of the 40 links" in hub
    assert "'hub' is furthest over, with 40 instead of 7" in limit
    page = (tmp_path / "page.html").read_text("utf-8")
    assert 'class="warning"' in page


def test_given_costs_price_all_overlays_and_their_unit_is_behind_every_cost(tmp_path):
    interests = mw.workloads.unif(60, 12, min_subscriptions=2, max_subscriptions=6, seed=3)
    mw.build(interests, "ring").write(tmp_path / "today")
    files = cost_files(tmp_path)
    costs = files.load(interests)
    facts = {"costs": {**costs.description(), "unit": "ms"}}
    built = mw.build(interests, "gr-maw", costs=costs)
    mw.Overlay(interests, built.edges, built.costs, facts, built.tables).write(tmp_path / "cheap")
    priced_here = report_here([tmp_path / "today", tmp_path / "cheap"], tmp_path / "a.html", costs=files)
    assert priced_here["today"]["cost"] == pytest.approx(
        priced(mw.build(interests, "ring"), costs).to_networkx().size("cost")
    )
    assert 'class="map"' in (tmp_path / "a.html").read_text("utf-8")
    found = report_here([tmp_path / "today", tmp_path / "cheap"], tmp_path / "b.html")
    assert found["today"]["cost"] == pytest.approx(priced_here["today"]["cost"])
    assert (found["today"]["unit"], found["targets"][0]["unit"]) == ("ms", "ms")
    page = (tmp_path / "b.html").read_text("utf-8")
    assert page.count("\xa0ms") > 30
    first = re.search('<dl class="tiles"><div><dt>([^<]*)', page)
    assert first[1] == "above the least possible cost"


def test_nodes_with_a_site_each_stand_on_the_map_at_its_place(tmp_path):
    mw.build(INTERESTS, "ring").write(tmp_path / "o")
    names = INTERESTS.nodes.to_pylist()
    (tmp_path / "sites.csv").write_text("node,site\n" + "".join(f"{name},city {name}\n" for name in names))
    places = "".join(f"city {name},{at},9\n" for at, name in enumerate(names))
    (tmp_path / "places.csv").write_text("site,lat,lon\n" + places)
    files = {name: str(tmp_path / f"{name}.csv") for name in ("sites", "places")}
    report_here([tmp_path / "o"], tmp_path / "page.html", costs=CostFiles(**files, local=1.0, base=2.0))
    matrix = "source,target,cost\n" + "".join(f"city {u},city {v},5\n" for u, v in combinations(names, 2))
    (tmp_path / "costs.csv").write_text(matrix)
    costs = CostFiles(**files, local=1.0, costs=str(tmp_path / "costs.csv"))
    report_here([tmp_path / "o"], tmp_path / "again.html", costs=costs)
    for name in ("page.html", "again.html"):
        page = (tmp_path / name).read_text("utf-8")
        assert page.count("<title>n") >= 40
        assert 'class="map"' in page
        assert "coordinates are missing" not in page


def test_what_is_not_an_overlay_or_does_not_fit_or_is_taken_is_refused(folder, tmp_path, monkeypatch):
    INTERESTS.write(tmp_path / "interests")
    with pytest.raises(mw.DatasetError, match="contains interests, not an overlay"):
        report_here([tmp_path / "interests"], tmp_path / "page.html")
    other = mw.build(mw.workloads.unif(41, 8, subscriptions=3, seed=1), "gm")
    other.write(tmp_path / "other")
    with pytest.raises(mw.InputError, match="node 'n40' is only in other"):
        report_here([folder / "gm", tmp_path / "other"], tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()
    (tmp_path / "page.html").write_text("mine")
    with pytest.raises(mw.DatasetError, match="already exists"):
        report_here([folder / "gm"], tmp_path / "page.html")
    with pytest.raises(mw.DatasetError, match="does not look like what Meshwright writes"):
        report_here([folder / "gm"], tmp_path / "page.html", force=True)
    monkeypatch.setattr(memory, "free_memory", lambda: 1)
    with pytest.raises(mw.CapacityError, match="meshwright evaluate --engine spark"):
        report_here([folder / "gm"], tmp_path / "new.html")


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["/x/today"], ["today"]),
        (["/x/result/overlay"], ["result/overlay"]),
        (["/x/today", "/x/result/overlay"], ["today", "result/overlay"]),
        (["/x/a/mesh", "/x/b/mesh"], ["a/mesh", "b/mesh"]),
        (["/x/a/overlay", "/y/a/overlay"], ["x/a/overlay", "y/a/overlay"]),
        (["/x/a", "/x/a"], ["a", "a"]),
    ],
)
def test_names_are_as_short_as_tells_them_apart(paths, names):
    assert short_names([Path(path) for path in paths]) == names
