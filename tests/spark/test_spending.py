import pytest

from meshwright import Costs, build, workloads
from meshwright.model.storage.manifest import read_manifest
from meshwright.pipeline.summary.job import spending_of


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
