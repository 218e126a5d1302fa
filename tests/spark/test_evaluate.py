"""Evaluating on Spark against evaluating in process, and against networkx where only bounds are given."""

import json
from contextlib import contextmanager

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from meshwright import Costs, Interests, Overlay, build, cli, evaluate, workloads
from meshwright.construct import overlaps
from meshwright.metrics import condensed
from meshwright.pipeline.cost_files import CostFiles
from meshwright.pipeline.evaluate import condensed as in_tasks
from meshwright.pipeline.evaluate import grid, hubs, job, triangles
from meshwright.pipeline.evaluate.job import evaluate_on_spark, link_counts
from meshwright.runtime import disk, memory
from meshwright.runtime.errors import CapacityError, DatasetError, OptionError
from meshwright.runtime.progress import StageTimer
from tests.helpers import reseal, scatter
from tests.shelf import AWKWARD, awkward_together

ROUNDED = ("mean", "clustering", "weighted", "average")
PER_TOPIC = (
    "components_per_topic",
    "diameter_per_topic",
    "weighted_diameter_per_topic",
    "subscribers_per_topic",
    "links_per_topic",
    "cost_per_topic",
    "cut_nodes_per_topic",
    "bridges_per_topic",
)


def random_overlay(nodes=60, topics=12, links=0.1, with_costs=False, seed=0):
    rng = np.random.default_rng(seed)
    interests = Interests.from_scipy((rng.random((nodes, topics)) < 0.3).astype(np.int32))
    edges = np.argwhere(np.triu(rng.random((nodes, nodes)) < links, 1))
    return Overlay.from_arrays(interests, edges, rng.uniform(1, 9, len(edges)) if with_costs else None)


def written(overlay, path, parts=1, tables=("edges", "lists")):
    """The overlay as a dataset, some of whose tables are cut into several files, in no order."""
    overlay.write(path)
    if parts > 1:
        scatter(path, *tables, parts=parts)
    return path


def assert_same(found, expected):
    for name, value in expected.to_json().items():
        rounded = any(word in name for word in ROUNDED) and value is not None
        assert found.to_json()[name] == (pytest.approx(value, rel=1e-12) if rounded else value), name
    assert found.degrees.tolist() == expected.degrees.tolist()
    for name in PER_TOPIC:
        if getattr(expected, name) is None:
            assert getattr(found, name) is None
        else:
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12)
    assert found.topic_names.equals(expected.topic_names)
    assert found.distributions() == expected.distributions()


@pytest.fixture
def many_tasks(monkeypatch):
    """Cut even the smallest dataset as a large one is."""
    monkeypatch.setattr(grid, "_SMALL", -1)
    monkeypatch.setattr(grid, "_FEWEST_BLOCKS", 3)
    monkeypatch.setattr(triangles, "_SMALL", -1)
    monkeypatch.setattr(triangles, "_FEWEST_COLOURS", 3)
    monkeypatch.setattr(hubs, "_MOST_HUBS", 5)
    monkeypatch.setattr(hubs, "_FEWEST_LINKS", 2)


@pytest.mark.parametrize("interests", [AWKWARD["none"], awkward_together()], ids=["none", "together"])
def test_awkward_interests_measure_as_in_process(spark, tmp_path, interests):
    overlay = build(interests, "gm")
    assert_same(evaluate_on_spark(spark, written(overlay, tmp_path / "o")), evaluate(overlay))


def test_views_of_nothing_measure_as_in_process(spark, tmp_path):
    overlay = build(AWKWARD["none"], "stan")
    found = evaluate_on_spark(spark, written(overlay, tmp_path / "o"), diameters=False, bound=False)
    assert_same(found, evaluate(overlay, diameters=False, bound=False))


def test_views_are_counted_to_the_same_digits_as_in_process(spark, tmp_path, many_tasks):
    overlay = build(workloads.grid(60, 8, seed=2), "stan", rounds=2)
    path = written(overlay, tmp_path / "o", parts=3, tables=("edges", "lists", "views"))
    found, expected = evaluate_on_spark(spark, path), evaluate(Overlay.read(path))
    assert_same(found, expected)
    for name in ("logical_view_size", "physical_view_size", "in_view_deviation", "maximum_in_view"):
        assert found.to_json()[name] == expected.to_json()[name]


@pytest.mark.parametrize(("node", "peer"), [(0, 0), (1, 900), (-1, 2)])
def test_views_that_can_not_be_are_refused(spark, node, peer):
    rows = spark.createDataFrame([(0, 1, 2), (0, node, peer)], "topic_id int, node_id int, peer_id int")
    with pytest.raises(DatasetError, match=f"o: views/ has node {node} with peer {peer}; ids go from 0"):
        link_counts(rows, 20, "o")


@pytest.mark.parametrize("links", [0.17, 0.0], ids=["some topics connected, with costs", "no edges"])
@pytest.mark.usefixtures("many_tasks")
def test_overlays_in_many_tasks_measure_as_in_process(spark, tmp_path, links):
    overlay = random_overlay(with_costs=links > 0, links=links)
    timer = StageTimer(None)
    found = evaluate_on_spark(spark, written(overlay, tmp_path / "o", parts=3), progress=timer)
    assert_same(found, evaluate(overlay))
    assert 0 < found.disconnected_topics < 12 or not links
    measured = ["sorting edges by topic", "measuring topics"] if links else ["sorting edges by topic"]
    assert list(timer.seconds) == [
        "reading interests",
        "counting triangles",
        *measured,
        "bounding the degree",
    ]
    assert spark.sparkContext._jsc.getPersistentRDDs().isEmpty()


@pytest.mark.parametrize("parts", [1, 3], ids=["lists by id", "lists in no order"])
def test_overlays_around_hubs_are_condensed_as_in_process(spark, tmp_path, monkeypatch, parts):
    monkeypatch.setattr(condensed, "FEWEST_INTERESTS", 0)
    monkeypatch.setattr(job, "FEWEST_INTERESTS", 0)
    monkeypatch.setattr(in_tasks, "_ITEMS_A_RANGE", 100)
    interests = workloads.unif(500, 12, min_subscriptions=1, max_subscriptions=9, seed=1)
    overlay = build(interests, "dcbc-direct", bulk_size=12, seed=1)
    timer = StageTimer(None)
    path = written(overlay, tmp_path / "o", parts)
    assert_same(evaluate_on_spark(spark, path, bound=False, progress=timer), evaluate(overlay, bound=False))
    assert "condensing topics" in timer.seconds


def test_a_disk_too_small_for_scratch_files_is_told_before_they_are_written(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(job, "FEWEST_INTERESTS", 0)
    monkeypatch.setattr(disk, "_SHARE_OF_FREE_DISK", 0.0)
    path = written(random_overlay(), tmp_path / "o")
    with pytest.raises(CapacityError, match=r"evaluating 60 nodes writes about .* GB, but .* has room for 0"):
        evaluate_on_spark(spark, path, bound=False)


@pytest.mark.usefixtures("many_tasks")
def test_what_hubs_leave_unsettled_is_measured_as_in_process(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(condensed, "FEWEST_INTERESTS", 0)
    monkeypatch.setattr(job, "FEWEST_INTERESTS", 0)
    interests = Interests.from_scipy(np.ones((40, 2), np.int32))
    # Two hubs that only joints link, so each joint would cut the topics were it the only one.
    edges = [(u, v) for v in range(2, 39) for u in ((0,) if v % 2 else (1,))] + [(0, 39), (1, 39)]
    overlay = Overlay.from_arrays(interests, np.array(edges))
    found = evaluate_on_spark(spark, written(overlay, tmp_path / "o"), bound=False)
    assert_same(found, evaluate(overlay, bound=False))
    assert found.worst_node_topics == 2
    assert found.cut_nodes == 3


@pytest.mark.usefixtures("many_tasks")
def test_a_budget_gives_the_bounds_of_this_process(spark, tmp_path):
    interests = workloads.unif(3_000, 2, subscriptions=1, seed=1)
    overlay = build(interests, "ring", seed=1)
    random = np.random.default_rng(2)
    more = np.sort(random.integers(0, 3_000, (1_500, 2)), axis=1)
    edges = np.unique(np.concatenate([overlay.edges, more[more[:, 0] != more[:, 1]]]), axis=0)
    mesh = Overlay(interests, edges, random.uniform(1, 9, len(edges)))
    found = evaluate_on_spark(spark, written(mesh, tmp_path / "o", parts=3), diameter_budget=1, bound=False)
    expected = evaluate(mesh, diameter_budget=1, bound=False)
    assert_same(found, expected)
    assert not expected.diameters_exact
    exact = evaluate(mesh, diameter_budget=None, bound=False)
    assert exact.diameters_exact
    assert expected.mean_topic_diameter_lower_bound <= exact.mean_topic_diameter
    assert exact.mean_topic_diameter <= expected.mean_topic_diameter


@pytest.mark.usefixtures("many_tasks")
@pytest.mark.parametrize(("parts", "budget"), [(1, None), (3, 1)], ids=["lists by id", "lists in no order"])
def test_edges_at_hubs_meet_lists_as_in_process(spark, tmp_path, monkeypatch, parts, budget):
    monkeypatch.setattr(hubs, "_MOST_HUBS", 1 << 14)
    overlay = build(workloads.zipf(600, 30, subscriptions=5, seed=1), "dcbc-direct", bulk_size=12, seed=1)
    path = written(overlay, tmp_path / "o", parts)
    found = evaluate_on_spark(spark, path, diameter_budget=budget, bound=False)
    assert_same(found, evaluate(overlay, diameter_budget=budget, bound=False))


@pytest.mark.usefixtures("many_tasks")
def test_weighted_measures_and_the_bound_on_cost_are_those_of_this_process(spark, tmp_path):
    interests = workloads.unif(80, 12, subscriptions=4, seed=2)
    points = np.random.default_rng(3).random((80, 2)).tolist()
    costs = Costs.coordinates(
        dict(zip(interests.nodes.to_pylist(), points, strict=True)), base=0.1, metric="euclidean"
    )
    costs.write(tmp_path / "costs")
    files = CostFiles(costs=str(tmp_path / "costs"))
    own = build(interests, "gr-maw", costs=costs)
    expected = evaluate(own)
    assert expected.lower_bound_weighted_average_degree > 0
    found = evaluate_on_spark(spark, written(own, tmp_path / "own", parts=3), diameters=False)
    assert_same(found, evaluate(own, diameters=False))
    without = Overlay.from_arrays(interests, own.edges)
    assert_same(evaluate_on_spark(spark, written(without, tmp_path / "o", parts=3), costs=files), expected)


@pytest.mark.usefixtures("many_tasks")
def test_topics_too_large_for_a_task_get_exact_components_and_bounds(spark, tmp_path):
    overlay = random_overlay(links=0.17, with_costs=True, seed=4)
    found = evaluate_on_spark(spark, written(overlay, tmp_path / "o"), bound=False, most_edges=3)
    graph, uppers = overlay.to_networkx(), []
    names = overlay.interests.topics.to_pylist()
    graphs = [graph.subgraph(overlay.interests.nodes_of(topic)) for topic in names]
    assert found.components_per_topic.tolist() == [nx.number_connected_components(g) for g in graphs]
    for own, upper, costs in zip(
        graphs, found.diameter_per_topic, found.weighted_diameter_per_topic, strict=True
    ):
        if nx.is_connected(own):
            assert nx.diameter(own) <= upper <= 2 * nx.diameter(own) * len(own)
            assert costs >= nx.diameter(own, weight="cost") * (1 - 1e-12)
            uppers.append(upper)
        else:
            assert (upper, costs) == (-1, -1)
    expected = evaluate(overlay)
    assert found.cut_nodes_per_topic.tolist() == expected.cut_nodes_per_topic.tolist()
    assert found.bridges_per_topic.tolist() == expected.bridges_per_topic.tolist()
    assert found.dangerous_nodes == expected.dangerous_nodes
    assert not found.diameters_exact
    assert 0 < len(uppers) < len(names)
    assert found.maximum_topic_diameter == max(uppers)
    for name in ("topic_diameter", "weighted_topic_diameter"):
        lower, upper = f"maximum_{name}_lower_bound", f"maximum_{name}"
        assert 0 < getattr(found, lower) <= getattr(expected, upper) <= getattr(found, upper)
        lower, upper = f"mean_{name}_lower_bound", f"mean_{name}"
        assert 0 < getattr(found, lower) <= getattr(expected, upper) <= getattr(found, upper)


@pytest.mark.usefixtures("many_tasks")
def test_bounds_that_meet_are_exact(spark, tmp_path):
    nodes = [f"n{node}" for node in range(30)]
    star = Overlay.from_edges(
        Interests.from_pairs([(node, "x") for node in nodes]), [("n0", node) for node in nodes[1:]]
    )
    found = evaluate_on_spark(spark, written(star, tmp_path / "o"), bound=False, most_edges=1)
    assert_same(found, evaluate(star, bound=False))


@pytest.mark.usefixtures("many_tasks")
def test_what_is_not_asked_for_is_none_and_forests_are_enough_for_connectivity(spark, tmp_path):
    overlay = random_overlay(links=0.1)
    found = evaluate_on_spark(
        spark, written(overlay, tmp_path / "o"), diameters=False, bound=False, most_edges=5
    )
    assert_same(found, evaluate(overlay, diameters=False, bound=False))


def test_where_overlaps_take_too_long_the_bound_is_that_of_spanning(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(overlaps, "_MOST_STEPS", 0)
    overlay = build(AWKWARD["two islands"], "gm")
    found = evaluate_on_spark(spark, written(overlay, tmp_path / "o"), diameters=False)
    assert found.lower_bound_method == "spanning"
    assert_same(found, evaluate(overlay, diameters=False))


def add_edge(path):
    table = pq.read_table(path / "edges")
    pq.write_table(pa.concat_tables([table, table.slice(0, 1)]), path / "edges" / "part-00000.parquet")
    reseal(path)


def count_more(path):
    reseal(path, lambda manifest: manifest["counts"].update(edges=manifest["counts"]["edges"] + 1))


def unsort(path):
    table = pa.table({"node_id": np.array([0], np.int32), "topic_ids": [np.array([3, 2], np.int32)]})
    pq.write_table(table, path / "lists" / "part-00000.parquet")
    reseal(path)


def drop_lists(path):
    (path / "lists").rename(path / "list")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (add_edge, "an edge appears twice"),
        (count_more, "holds .* edges, but its manifest says"),
        (unsort, "not strictly rising"),
        (drop_lists, "lists/part-00000.parquet is missing"),
    ],
)
def test_a_spoilt_dataset_is_refused(spark, tmp_path, spoil, said):
    path = written(random_overlay(), tmp_path / "o")
    spoil(path)
    with pytest.raises(DatasetError, match=said):
        evaluate_on_spark(spark, path, bound=False)


def test_a_call_that_can_not_be_answered_is_refused(spark, tmp_path, monkeypatch):
    path = written(random_overlay(), tmp_path / "o")
    with pytest.raises(OptionError, match="most_edges is 0"):
        evaluate_on_spark(spark, path, most_edges=0)
    monkeypatch.setitem(memory.BYTES, "bounding", {"interests": 1 << 50})
    with pytest.raises(CapacityError, match="--no-bound"):
        evaluate_on_spark(spark, path)


def test_the_command_says_the_same_on_either_engine(spark, tmp_path, monkeypatch, capsys):
    @contextmanager
    def this_session(*_, **__):
        yield spark

    path = written(random_overlay(links=0.05), tmp_path / "o")
    monkeypatch.setattr("meshwright.cli.evaluate.spark_command", this_session)
    said = []
    for engine in ("local", "spark"):
        words = ["evaluate", str(path), "--engine", engine, "--no-diameters", "--no-bound", "--json"]
        monkeypatch.setattr("sys.argv", ["meshwright", *words])
        assert cli.main() == 1
        said.append(json.loads(capsys.readouterr().out))
    assert said[0] == said[1]
    assert said[0]["maximum_topic_diameter"] is None
    assert said[0]["lower_bound_method"] is None
