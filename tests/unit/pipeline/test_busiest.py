import numpy as np
import pyarrow as pa
import pytest

import meshwright as mw
from meshwright.pipeline.busiest import busiest_of, find_busiest, warnings_of


def star(leaves, **attributes):
    """A hub that everybody else is linked to, and its dataset's interests."""
    names = [f"n{at:03}" for at in range(leaves + 1)]
    interests = mw.Interests.from_pairs(
        [("n000", f"t{at}") for at in range(leaves)] + [(name, f"t{at}") for at, name in enumerate(names[1:])]
    )
    if attributes:
        fields = (interests.indptr, interests.topic_ids, interests.nodes, interests.topics)
        interests = mw.Interests(*fields, node_attributes=pa.table(attributes))
    return mw.Overlay.from_arrays(interests, np.array([[0, at] for at in range(1, leaves + 1)], np.int32))


def test_the_busiest_nodes_come_first_and_a_hub_is_told_by_name(tmp_path):
    star(40).write(tmp_path / "o")
    found = find_busiest(tmp_path / "o")
    assert [(node.name, node.links) for node in found.nodes[:3]] == [("n000", 40), ("n001", 1), ("n002", 1)]
    assert len(found.nodes) == 10
    (said,) = warnings_of(found, "gm")
    assert find_busiest(tmp_path / "o", "gm").warnings == [said]
    assert said.startswith(
        "Node 'n000' has 40 of the 40 links, 'n001' 1, 'n002' 1; the average is 1.95 per node."
    )
    assert "dcbc-direct and low-oda" in said
    assert "low-oda spreads" in warnings_of(found, "ring")[0]


def test_where_links_cost_the_advice_says_that_the_alternatives_ignore_costs(tmp_path):
    free = star(40)
    paid = mw.Overlay(free.interests, free.edges, np.ones(len(free)))
    for name, overlay in (("free", free), ("paid", paid)):
        overlay.write(tmp_path / name)
        for algorithm in ("gm", "gr-maw", "low-oda", ""):
            (said,) = find_busiest(tmp_path / name, algorithm).warnings
            assert said == busiest_of(overlay, algorithm).warnings[0]
            assert ("ignore costs" in said) == (name == "paid")


def test_even_overlays_small_ones_and_empty_ones_give_no_warning(tmp_path):
    interests = mw.workloads.unif(60, 10, subscriptions=3, seed=1)
    mw.build(interests, "gm").write(tmp_path / "even")
    star(9).write(tmp_path / "small")
    mw.build(mw.Interests.from_pairs([]), "gm").write(tmp_path / "none")
    for name in ("even", "small", "none"):
        assert warnings_of(find_busiest(tmp_path / name), "gm") == []
    assert find_busiest(tmp_path / "none").nodes == []


@pytest.mark.parametrize(("limit", "over"), [([3, *[None] * 9], 1), ([3, *[0] * 9], 10), ([9] * 10, 0)])
def test_nodes_over_their_limit_are_counted_and_the_worst_is_named(tmp_path, limit, over):
    star(9, max_links=pa.array(limit, pa.int64())).write(tmp_path / "o")
    found = find_busiest(tmp_path / "o")
    assert found.over_limit == over
    assert [node.limit for node in found.nodes] == limit
    assert [node.name for node in found.furthest_over] == [f"n{at:03}" for at in range(over)]
    said = " ".join(warnings_of(found, "gm"))
    assert ("'n000' is furthest over, with 9 instead of 3" in said) == bool(over)


def test_the_busiest_nodes_in_memory_are_those_of_the_dataset_and_of_networkx(tmp_path):
    overlay = mw.build(mw.workloads.zipf(80, 20, subscriptions=4, seed=2), "gm")
    overlay.write(tmp_path / "o")
    found = busiest_of(overlay, "gm")
    assert found == find_busiest(tmp_path / "o", "gm")
    degrees = sorted(overlay.to_networkx().degree, key=lambda node: (-node[1], node[0]))
    assert [(node.name, node.links) for node in found.nodes] == degrees[:10]


def test_a_long_name_is_cut_in_a_warning():
    pairs = [("x" * 5_000, f"t{at}") for at in range(30)] + [(f"n{at:02}", f"t{at}") for at in range(30)]
    (said,) = busiest_of(mw.build(mw.Interests.from_pairs(pairs), "gm"), "gm").warnings
    assert len(said) < 400
