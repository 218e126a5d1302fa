import shutil
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import meshwright as mw
from meshwright import cli
from meshwright.construct.parts import dcbc_direct
from meshwright.construct.parts.interest_queries import InProcess
from meshwright.model.storage.manifest import read_manifest, without_files
from meshwright.pipeline.build import edges
from meshwright.pipeline.build.in_process import BuildPlan
from meshwright.pipeline.build.job import build_on_spark
from meshwright.pipeline.build.source import SparkSource
from meshwright.pipeline.cost_files import CostFiles
from meshwright.pipeline.spark.storage import RemotePath, url
from meshwright.runtime import disk
from tests.helpers import reseal, scatter
from tests.shelf import AWKWARD


def scrambled(path):
    """The same dataset with its lists in any order, in several files, and no row for nodes without topics."""
    file = path / "lists" / "part-00000.parquet"
    table = pq.read_table(file)
    pq.write_table(table.filter(pa.compute.list_value_length(table["topic_ids"]).to_numpy() > 0), file)
    scatter(path, "lists")


@pytest.fixture(scope="module")
def ordered(tmp_path_factory):
    """A few hundred nodes, some of them without topics, and a few topics of one or no node."""
    some = mw.workloads.zipf(300, 40, min_subscriptions=1, max_subscriptions=12, seed=3)
    extra = [("n001", "lonely"), ("n002", "of two"), ("n003", "of two")]
    pairs = [*some.to_pairs(), *extra]
    interests = mw.Interests.from_pairs(pairs, nodes=["idle 1", "zz idle 2"], topics=["nobody's"])
    path = tmp_path_factory.mktemp("ordered") / "interests"
    interests.write(path)
    return path


@pytest.fixture(scope="module")
def workload(ordered, tmp_path_factory):
    """The same, scrambled."""
    path = tmp_path_factory.mktemp("workload") / "interests"
    shutil.copytree(ordered, path)
    scrambled(path)
    return path


def built(spark, source, out, algorithm, seed=0, costs=None, reverse_delete=False, **options):
    """The overlay that Spark builds, after a look at its manifest."""
    plan = BuildPlan(
        algorithm=algorithm, settings=options, costs=costs, reverse_delete=reverse_delete, seed=seed
    )
    manifest = build_on_spark(spark, source, out, plan)
    assert manifest == without_files(read_manifest(out))
    assert manifest["engine"] == "spark"
    tables = {"interests", "nodes", "topics", "lists", "edges", "manifest.json"}
    tables |= {"cost_nodes", "cost_sites"} if costs else set()
    overlay = mw.Overlay.read(out)
    assert_sorted_with_names(overlay, out)
    assert {entry.name for entry in out.iterdir()} == tables | overlay.tables.keys()
    return overlay


SPREAD = [  # dc itself is built below, in parts and in a tree
    ("dcbc", {"part_size": 40, "threshold": 9, "guide": "dual", "ties": "bulk-first"}),
    ("dcbc-direct", {"bulk_size": 20, "crowd": 30, "slack": 0.2, "guide": "dual", "resilience": 2}),
    ("dcbc", {"part_size": 60, "resilience": 2}),
    ("dc", {"partitions": 5, "most_stars": 60, "resilience": 2}),
]


@pytest.mark.parametrize(("algorithm", "options"), SPREAD)
def test_spark_builds_what_this_process_builds(spark, workload, tmp_path, monkeypatch, algorithm, options):
    monkeypatch.setattr(dcbc_direct, "NODES_A_PART", 64)
    expected = mw.build(mw.Interests.read(workload), algorithm, seed=4, **options)
    assert built(spark, workload, tmp_path / "o", algorithm, seed=4, **options) == expected
    assert_interests_are_shared(workload, tmp_path / "o")


def assert_interests_are_shared(dataset, overlay):
    """Files of interests are not copied, but have a second name."""
    for table in ("interests", "nodes", "topics", "lists"):
        for file in (dataset / table).iterdir():
            assert file.samefile(overlay / table / file.name)


@pytest.fixture(scope="module")
def cost_files(ordered, tmp_path_factory):
    """Costs between five sites as a list, and the nodes on them."""
    folder = tmp_path_factory.mktemp("costs")
    prices = [f"s{u},s{v},{1 + 10 * abs(u - v) + v}" for u in range(5) for v in range(u)]
    (folder / "between.csv").write_text("\n".join(["source,target,cost", *prices]))
    nodes = mw.Interests.read(ordered).nodes.to_pylist()
    placed = [f"{node},s{at % 5}" for at, node in enumerate(nodes)]
    (folder / "sites.csv").write_text("\n".join(["node,site", *placed]))
    return CostFiles(costs=str(folder / "between.csv"), sites=str(folder / "sites.csv"), local=0.5)


@pytest.mark.parametrize(
    ("algorithm", "given", "most_names"),
    [
        ("dc-maw", {"part_size": 50, "ties": "small-first"}, None),
        ("dc-maw", {"divide_by": "sites", "most_stars": 30}, None),
        ("dcbc-direct", {"bulk_size": 3}, 0),
        ("gr-maw", {}, None),  # on the driver, as all that is not spread
        ("dc", {"partitions": 3, "reverse_delete": True, "guide": "dual"}, None),
    ],
)
def test_links_cost_on_spark_what_they_cost_in_this_process(
    spark, workload, cost_files, tmp_path, monkeypatch, algorithm, given, most_names
):
    if most_names is not None:
        monkeypatch.setattr(edges, "_MOST_NAMES", most_names)
    interests = mw.Interests.read(workload)
    expected = mw.build(interests, algorithm, costs=cost_files.load(interests), seed=4, **given)
    assert built(spark, workload, tmp_path / "o", algorithm, seed=4, costs=cost_files, **given) == expected


def test_ranges_of_nodes_are_the_same_where_files_are_in_the_order_of_ids(
    spark, ordered, tmp_path, monkeypatch
):
    monkeypatch.setattr(dcbc_direct, "NODES_A_PART", 64)
    expected = mw.build(mw.Interests.read(ordered), "dcbc-direct", bulk_size=9, crowd=40)
    assert built(spark, ordered, tmp_path / "o", "dcbc-direct", bulk_size=9, crowd=40) == expected


@pytest.mark.parametrize(
    ("options", "levels", "most_names"),
    [
        ({"partitions": 12, "most_stars": 20}, 3, 1 << 20),
        ({"partitions": 3, "partition_by": "k-means"}, 1, 0),
    ],
)
def test_stars_are_combined_in_the_same_tree_and_edges_sorted_over_all_files_with_names_joined_either_way(
    spark, workload, tmp_path, monkeypatch, options, levels, most_names
):
    monkeypatch.setattr(edges, "_MOST_NAMES", most_names)
    monkeypatch.setattr(edges, "_EDGES_A_RANGE", 100)
    expected = mw.build(mw.Interests.read(workload), "dc", **options)
    assert expected.facts["combine_levels"] >= levels
    assert built(spark, workload, tmp_path / "o", "dc", **options) == expected
    assert len(list((tmp_path / "o" / "edges").glob("*.parquet"))) > 2


def test_stars_are_counted_for_any_number_of_parts_as_in_this_process(spark, workload):
    interests = mw.Interests.read(workload)
    source = SparkSource(spark, workload, read_manifest(workload)["counts"], None)
    for partitions in (7, interests.node_count):
        assert source.count_stars(partitions, 5) == InProcess(interests).count_stars(partitions, 5)


def test_the_number_of_parts_is_the_one_that_this_process_chooses(spark, tmp_path):
    interests = mw.workloads.unif(60, 12, subscriptions=2, seed=6)
    interests.write(tmp_path / "i")
    found = built(spark, tmp_path / "i", tmp_path / "o", "dc")
    assert found == mw.build(interests, "dc")
    assert found.facts["partitions"] > 2


@pytest.mark.parametrize(
    ("shelf", "algorithm"),
    [
        ("none", "dc"),
        ("strange names", "dcbc"),
    ],
)
def test_awkward_interests_give_what_they_give_in_this_process(spark, tmp_path, shelf, algorithm):
    AWKWARD[shelf].write(tmp_path / "i")
    found = built(spark, tmp_path / "i", tmp_path / "o", algorithm)
    assert found == mw.build(AWKWARD[shelf], algorithm)


def assert_sorted_with_names(overlay, path):
    files = sorted((path / "edges").glob("*.parquet"))
    table = pa.concat_tables([pq.read_table(file) for file in files])
    assert np.column_stack([table["source_id"], table["target_id"]]).tolist() == overlay.edges.tolist()
    names = overlay.interests.nodes.to_pylist()
    ends = zip(table["source"].to_pylist(), table["target"].to_pylist(), strict=True)
    assert list(ends) == [(names[u], names[v]) for u, v in overlay.edges.tolist()]


def test_a_disk_too_small_for_the_edges_is_told_before_they_are_written(
    spark, workload, tmp_path, monkeypatch
):
    monkeypatch.setattr(disk, "_SHARE_OF_FREE_DISK", 0.0)
    with pytest.raises(
        mw.CapacityError, match=r"building .* nodes writes about .* GB, but .* has room for 0"
    ):
        build_on_spark(spark, workload, tmp_path / "o", BuildPlan(algorithm="dcbc-direct"))
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("algorithm", "advice"), [("dc", "give more partitions"), ("dcbc", "smaller bulk_limit")]
)
def test_a_part_that_does_not_fit_is_refused_and_leaves_nothing(spark, workload, tmp_path, algorithm, advice):
    options = {"memory_limit": 10_000, "part_size": 200}
    with pytest.raises(mw.CapacityError, match=advice):
        build_on_spark(spark, workload, tmp_path / "o", BuildPlan(algorithm=algorithm, settings=options))
    assert not (tmp_path / "o").exists()


def test_what_needs_all_interests_on_the_driver_is_refused_where_they_do_not_fit(
    spark, workload, tmp_path, monkeypatch
):
    monkeypatch.setattr("meshwright.runtime.memory.free_memory", lambda: 10_000)
    with pytest.raises(mw.CapacityError, match=r"on the driver needs about .*; use dc or dcbc-direct"):
        build_on_spark(spark, workload, tmp_path / "o", BuildPlan(algorithm="gm"))
    with pytest.raises(mw.CapacityError, match=r"to the driver needs about .*; give a smaller bulk set"):
        build_on_spark(
            spark, workload, tmp_path / "o", BuildPlan(algorithm="dcbc", settings={"threshold": 1})
        )


def test_a_dataset_that_is_damaged_is_refused(spark, tmp_path):
    AWKWARD["all identical"].write(tmp_path / "i")
    lists = pa.table(
        {"node_id": pa.array(range(8), pa.int32()), "topic_ids": pa.array([[3, 1]] * 8, pa.list_(pa.int32()))}
    )
    pq.write_table(lists, tmp_path / "i" / "lists" / "part-00000.parquet")
    with pytest.raises(mw.DatasetError, match=r"lists/part-00000.parquet is damaged"):
        build_on_spark(
            spark, tmp_path / "i", tmp_path / "o", BuildPlan(algorithm="dc", settings={"partitions": 2})
        )
    reseal(tmp_path / "i")
    with pytest.raises(mw.DatasetError, match="not strictly rising"):
        build_on_spark(
            spark, tmp_path / "i", tmp_path / "o", BuildPlan(algorithm="dc", settings={"partitions": 2})
        )


def test_the_command_writes_the_same_dataset_on_either_engine(spark, tmp_path, monkeypatch, capsys):
    @contextmanager
    def this_session(*_, **__):
        yield spark

    AWKWARD["a topic without nodes"].write(tmp_path / "i")
    monkeypatch.setattr("meshwright.cli.build.spark_command", this_session)
    for engine in ("local", "spark"):
        words = ["build", tmp_path / "i", "--algorithm", "dcbc-direct", "--set", "bulk_size=3"]
        words += ["--engine", engine, "--seed", 7, "--out", tmp_path / engine]
        monkeypatch.setattr("sys.argv", ["meshwright", *map(str, words)])
        assert cli.main() == 0
    said = capsys.readouterr().out
    assert "built in this process" in said
    assert "built on Spark" in said
    assert mw.Overlay.read(tmp_path / "local") == mw.Overlay.read(tmp_path / "spark")


@pytest.mark.parametrize("algorithm", ["ring", "dcbc-direct"])
def test_datasets_elsewhere_are_read_and_written_through_spark(spark, ordered, tmp_path, algorithm):
    source, out = RemotePath(spark, url(ordered)), RemotePath(spark, url(tmp_path / "o"))
    build_on_spark(spark, source, out, BuildPlan(algorithm=algorithm))
    assert mw.Overlay.read(tmp_path / "o") == mw.build(mw.Interests.read(ordered), algorithm)
