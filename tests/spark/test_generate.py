"""Generating on Spark against generating in process, and what is built without names."""

import pyarrow.parquet as pq
import pytest

from meshwright import Interests, Overlay, build, workloads
from meshwright.pipeline import generate
from meshwright.pipeline.build.in_process import BuildPlan, build_here
from meshwright.pipeline.build.job import build_on_spark
from meshwright.pipeline.generate import generate_on_spark
from meshwright.pipeline.verify import verify
from meshwright.runtime import disk
from meshwright.runtime.errors import CapacityError
from meshwright.workloads.synthetic import NODES_PER_STREAM, law_of

OPTIONS = {"min_subscriptions": 2, "max_subscriptions": 6, "alpha": 1.1}
NODES = 2 * NODES_PER_STREAM + 10


@pytest.fixture
def law(monkeypatch):
    """A law whose nodes are in several files."""
    monkeypatch.setattr(generate, "_NODES_A_FILE", NODES_PER_STREAM)
    return law_of("zipf", NODES, 20, 3, OPTIONS)


def test_what_tasks_draw_and_build_without_names_is_what_this_process_does(spark, tmp_path, law):
    manifest = generate_on_spark(spark, law, tmp_path / "i", {"seed": 3}, names=False)
    whole = workloads.zipf(NODES, 20, seed=3, **OPTIONS)
    assert Interests.read(tmp_path / "i") == whole
    assert manifest["counts"] == {"nodes": NODES, "topics": 20, "interests": len(whole)}
    assert not (tmp_path / "i" / "interests").exists()
    plan = BuildPlan(algorithm="dcbc-direct", settings={"bulk_size": 50}, seed=2)
    build_on_spark(spark, tmp_path / "i", tmp_path / "o", plan)
    build_here(tmp_path / "i", tmp_path / "here", plan)
    expected = build(whole, "dcbc-direct", bulk_size=50, seed=2)
    for name in ("o", "here"):
        assert (Overlay.read(tmp_path / name).edges == expected.edges).all()
        assert pq.read_table(tmp_path / name / "edges").column_names == ["source_id", "target_id"]
        assert not (tmp_path / name / "interests").exists()
        assert verify(tmp_path / name).intact


def test_with_names_tasks_draw_the_same(spark, tmp_path, law):
    generate_on_spark(spark, law, tmp_path / "i", {})
    assert Interests.read(tmp_path / "i") == workloads.zipf(NODES, 20, seed=3, **OPTIONS)
    rows = pq.read_table(tmp_path / "i" / "interests", columns=["node", "topic"]).to_pylist()
    assert sorted((row["node"], row["topic"]) for row in rows) == sorted(
        workloads.zipf(NODES, 20, seed=3, **OPTIONS).to_pairs()
    )


def test_a_disk_that_would_be_full_is_told_before_anything_is_written(spark, tmp_path, law, monkeypatch):
    monkeypatch.setattr(disk, "_SHARE_OF_FREE_DISK", 0.0)
    with pytest.raises(CapacityError, match=r"generating 8,202 nodes writes about .* GB, but .* has room"):
        generate_on_spark(spark, law, tmp_path / "i", {})
    assert not (tmp_path / "i").exists()
