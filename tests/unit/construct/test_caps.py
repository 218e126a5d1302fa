"""What is said about caps that can't be met, and about wrong ones."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import meshwright as mw
from meshwright.runtime.errors import MeshwrightWarning

STAR = mw.Interests.from_pairs(
    [("hub", f"t{leaf}") for leaf in range(4)] + [(f"n{leaf}", f"t{leaf}") for leaf in range(4)]
)


def test_topics_of_two_force_their_links_and_the_node_is_named():
    with pytest.raises(mw.InfeasibleError, match=r"node 'hub' is in topics of two with 4 different") as found:
        mw.build(STAR, "gm", max_links=3)
    assert found.value.proved
    assert found.value.nodes == ("hub",)
    assert found.value.topics == ("t0", "t1", "t2")
    assert mw.build(STAR, "gm", max_links=4).degrees().max() == 4


def test_a_topic_whose_subscribers_have_too_few_links_is_named():
    line = mw.Interests.from_pairs([(f"n{node}", "news") for node in range(4)])
    with pytest.raises(
        mw.InfeasibleError, match="topic 'news' needs 3 links among its 4 subscribers"
    ) as found:
        mw.build(line, "gm", max_links=1)
    assert (found.value.nodes, found.value.topics) == (("n0", "n1", "n2"), ("news",))
    assert sorted(mw.build(line, "gm", max_links=2).degrees().tolist()) == [1, 1, 2, 2]
    assert mw.build(line, "gm", max_links=2, resilience=2).degrees().tolist() == [2, 2, 2, 2]


def test_caps_come_from_the_column_or_a_mapping():
    attributes = pa.table({"max_links": pa.array([None, 1, 1, 1], pa.int32())})
    pairs = [(f"n{node}", "news") for node in range(4)]
    limited = replace(mw.Interests.from_pairs(pairs), node_attributes=attributes)
    assert mw.build(limited, "gm", max_links="column").degrees().tolist() == [3, 1, 1, 1]
    mapped = mw.build(mw.Interests.from_pairs(pairs), "gm", max_links={"n1": 1, "n2": 1, "n3": 1})
    assert mapped.degrees().tolist() == [3, 1, 1, 1]


@pytest.mark.parametrize("seed", range(6))
def test_caps_that_bind_leave_topics_that_survive(seed):
    wants = np.random.default_rng(seed).random((24, 8)) < 0.4
    interests = mw.Interests.from_scipy(wants.astype(np.int32))
    overlay = mw.build(interests, "gm", resilience=2, max_links=5)
    assert overlay.degrees().max() == 5
    found = mw.evaluate(overlay)
    assert (found.topic_connected, found.cut_nodes_topics) == (True, 0)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_links": 0}, "max_links is 0; give a whole number of links from 1 to 2,147,483,647"),
        ({"max_links": {"hub": -1}}, "max_links of node 'hub' is -1; give a whole number of links from 0 on"),
        ({"max_links": {"hubb": 3}}, "there is no node 'hubb' to limit by max_links; did you mean 'hub'"),
        ({"max_links": "column"}, "nodes/ has no column max_links"),
        ({"resilience": 0}, "resilience is 0; give 1"),
        ({"resilience": 3}, "failure of two nodes at once are not built"),
    ],
)
def test_wrong_options_are_refused(options, said):
    with pytest.raises(mw.OptionError, match=said):
        mw.build(STAR, "gm", **options)


def test_a_node_that_may_have_no_link_and_needs_one_is_told():
    said = "node 'n1' is in topics of two with one, which needs a link to it, and may have 0"
    with pytest.raises(mw.InfeasibleError, match=said):
        mw.build(STAR, "gm", max_links={"n1": 0})


def test_resilience_beyond_every_topic_is_told():
    with pytest.warns(MeshwrightWarning, match="no topic has three subscribers or more"):
        overlay = mw.build(STAR, "gm", resilience=2)
    assert (len(overlay), overlay.facts["topics_of_two"]) == (4, 4)


def test_reverse_delete_after_a_build_in_parts_would_remove_spares_and_is_refused():
    interests = mw.Interests.from_pairs([(node, "t") for node in "abc"])
    for algorithm in ("dc", "dcbc", "dcbc-direct"):
        with pytest.raises(mw.OptionError, match="spare links"):
            mw.build(interests, algorithm, resilience=2, reverse_delete=True)


def test_a_node_without_a_number_in_a_mapping_has_no_limit():
    assert mw.build(STAR, "gm", max_links={"hub": None, "n1": 1}).degrees().max() == 4


def test_numbers_that_no_count_of_links_can_be_are_refused():
    limits = pa.table({"max_links": pa.array([2**64 - 1] * STAR.node_count, pa.uint64())})
    with pytest.raises(mw.InputError, match="too large"):
        mw.build(replace(STAR, node_attributes=limits), "gm", max_links="column")


def test_algorithms_by_cost_take_cheap_spare_links():
    nodes = "abcdefgh"
    interests = mw.Interests.from_pairs([(node, "t") for node in nodes])
    costs = mw.Costs.clusters({node: "eu" if node < "e" else "us" for node in nodes}, inner=1, outer=100)
    for algorithm in ("gr-maw", "pdrd-maw", "dg-maw"):
        spared = mw.build(interests, algorithm, costs=costs, resilience=2)
        assert spared.costs.sum() == 2 * 100 + 6


def test_a_proof_by_the_bound_on_all_links_names_nodes_and_topics():
    interests = mw.workloads.unif(100, 30, subscriptions=10, seed=1)
    with pytest.raises(mw.InfeasibleError, match="every overlay has at least") as found:
        mw.build(interests, "gm", max_links=3)
    sizes = {topic: len(interests.nodes_of(topic)) for topic in interests.topics.to_pylist()}
    largest = sorted(sizes, key=lambda topic: -sizes[topic])[:3]
    assert found.value.topics == tuple(largest)
    assert len(found.value.nodes) == 3


def test_a_node_that_may_have_no_link_is_legal_for_builds_and_maintainers():
    alone = pa.table({"max_links": pa.array([0, None, None], pa.int32())})
    interests = mw.Interests.from_pairs([("b", "t"), ("c", "t"), ("a", "u")])
    interests = replace(interests, node_attributes=alone)
    for caps in ("column", {"a": 0}):
        live = mw.Maintainer(mw.build(interests, "gm", max_links=caps), max_links=caps)
        assert live.join("d", ["t"]).over_max_links == ()
        assert live.join("e", ["u"]).over_max_links == ("a",)


def test_a_cap_makes_an_overlay_by_cost_little_dearer():
    interests = mw.workloads.unif(60, 12, subscriptions=5, seed=1)
    points = np.random.default_rng(1).uniform(0, 100, (60, 2)).tolist()
    costs = mw.Costs.coordinates(
        dict(zip(interests.nodes.to_pylist(), points, strict=True)), metric="euclidean", base=1
    )
    free = mw.build(interests, "gr-maw", costs=costs)
    capped = mw.build(interests, "gr-maw", costs=costs, max_links=int(free.degrees().max()) - 1)
    assert capped.costs.sum() < 1.1 * free.costs.sum()


def test_standby_links_of_a_maintained_overlay_are_those_beside_what_connects_it(tmp_path):
    interests = mw.workloads.unif(30, 6, subscriptions=3, seed=1)
    live = mw.Maintainer(mw.build(interests, "gm"), resilience=2)
    live.leave("n07")
    now = live.overlay
    now.write(tmp_path / "now")
    for overlay in (now, mw.Overlay.read(tmp_path / "now")):
        spare, primary = mw.standby_links(overlay), mw.primary_links(overlay)
        assert len(spare) + len(primary) == len(now)
        assert len(spare)
        assert mw.evaluate(primary).topic_connected
