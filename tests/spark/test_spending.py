import pyarrow as pa
import pytest

from meshwright import Costs, Interests, build, workloads
from meshwright.model.storage.manifest import read_manifest
from meshwright.pipeline.busiest import find_busiest
from meshwright.pipeline.summary.job import spending_of
from meshwright.pipeline.summary.on_spark import OnSpark


def test_without_sites_links_come_in_quarters_and_every_node_has_its_place(spark, tmp_path):
    interests = workloads.unif(30, 8, subscriptions=3, seed=3)
    places = {node: (float(at), 9.0) for at, node in enumerate(interests.nodes.to_pylist())}
    overlay = build(interests, "dc-maw", costs=Costs.coordinates(places, base=2.0, factor=0.01))
    overlay.write(tmp_path / "o")
    counts = read_manifest(tmp_path / "o")["counts"]
    found = spending_of(spark, tmp_path / "o", counts, "dc-maw", files=None, seed=4, progress=None)
    assert not found.by_sites
    assert [each.name.partition(",")[0] for each in found.classes][-1] == "dearest quarter"
    assert sum(each.links for each in found.classes) == len(overlay)
    assert found.map.without_place == 0
    assert found.map.lons == pytest.approx([9.0] * len(found.map.names))


def test_the_busiest_nodes_on_spark_are_those_in_this_process(spark, tmp_path):
    interests = workloads.unif(30, 8, subscriptions=3, seed=3)
    fields = (interests.indptr, interests.topic_ids, interests.nodes, interests.topics)
    limits = pa.table({"max_links": pa.array([2, None, *[3] * 28], pa.int32())})
    build(Interests(*fields, node_attributes=limits), "gm").write(tmp_path / "o")
    assert OnSpark(spark, tmp_path / "o").busiest("gm", None) == find_busiest(tmp_path / "o", "gm")
