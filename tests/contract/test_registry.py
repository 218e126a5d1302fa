"""Every registered algorithm keeps what the registry says of it."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import meshwright as mw
from meshwright.testing import AWKWARD, build, contract_tests, some_costs
from tests import oracles
from tests.helpers import topics_by_node
from tests.shelf import awkward_together

BUILDS = [name for name, algorithm in mw.algorithms().items() if algorithm.kind == "build"]
MERGES = [name for name, algorithm in mw.algorithms().items() if algorithm.kind == "merge"]
CONNECT = [name for name in BUILDS if mw.algorithms()[name].topic_connected]


test_contract = contract_tests(*BUILDS)


@pytest.mark.parametrize("interests", [AWKWARD["none"], awkward_together()], ids=["none", "all together"])
@pytest.mark.parametrize("name", BUILDS)
def test_an_overlay_with_costs_is_read_as_it_was_written(name, interests, tmp_path):
    costs = some_costs(interests)
    overlay = mw.build(interests, name, costs=costs)
    overlay.write(tmp_path / "o")
    assert mw.Overlay.read(tmp_path / "o") == overlay
    assert mw.Costs.read(tmp_path / "o") == costs.of(interests)


@pytest.mark.parametrize("name", BUILDS)
def test_costs_of_other_nodes_are_refused_with_the_first_and_how_many_more(name):
    costs = mw.Costs.from_matrix(np.ones((2, 2)), ["b", "x"])
    with pytest.raises(mw.InputError, match=r"'a' \(and 1 more\) has no costs; the costs are for 2 nodes"):
        mw.build(AWKWARD["no overlap at all"], name, costs=costs)


@pytest.mark.parametrize("name", BUILDS)
def test_what_are_no_costs_is_refused(name):
    with pytest.raises(mw.InputError, match=r"the costs are a list; give Costs"):
        mw.build(AWKWARD["two nodes"], name, costs=[1.0])


@pytest.mark.parametrize("shelf", AWKWARD)
@pytest.mark.parametrize("name", CONNECT)
@pytest.mark.parametrize("with_costs", [False, True])
def test_after_reverse_delete_every_link_is_needed(name, shelf, with_costs):
    interests = AWKWARD[shelf]
    given = {"costs": some_costs(interests)} if with_costs else {}
    before, after = (build(interests, name, reverse_delete=flag, **given) for flag in (False, True))
    edges, topics_of = after.edges.tolist(), topics_by_node(interests)
    assert oracles.is_topic_connected(topics_of, edges)
    assert {tuple(edge) for edge in edges} <= {tuple(edge) for edge in before.edges.tolist()}
    for edge in edges:
        assert not oracles.is_topic_connected(topics_of, [other for other in edges if other != edge])
    deleted = after.facts["edges_deleted"] - before.facts.get("edges_deleted", 0)
    assert deleted == len(before) - len(after)
    assert after.facts["reverse_delete"] is True


@pytest.mark.parametrize("name", [name for name in BUILDS if name not in CONNECT])
def test_reverse_delete_is_refused_where_links_serve_routing(name):
    with pytest.raises(
        mw.OptionError, match=f"reverse_delete would remove links that {name} needs for routing; leave it out"
    ):
        build(AWKWARD["two nodes"], name, reverse_delete=True)


def test_reverse_delete_is_a_flag():
    with pytest.raises(mw.OptionError, match="reverse_delete is 'yes'; give True or False"):
        mw.build(AWKWARD["two nodes"], "gm", reverse_delete="yes")


@pytest.mark.parametrize("name", CONNECT)
def test_build_links_only_nodes_that_share_a_topic(name):
    interests = mw.workloads.zipf(60, 30, subscriptions=4, seed=3)
    topics_of = topics_by_node(interests)
    edges = build(interests, name).edges.tolist()
    assert edges
    assert all(topics_of[u] & topics_of[v] for u, v in edges)


@pytest.mark.parametrize("name", BUILDS)
def test_another_seed_gives_another_overlay(name):
    interests = mw.workloads.unif(60, 12, subscriptions=3, seed=2)
    once, other = (build(interests, name, seed=seed) for seed in (5, 7))
    assert not np.array_equal(once.edges, other.edges)


@pytest.mark.parametrize("name", MERGES)
def test_options_of_a_merge_are_a_frozen_dataclass_with_defaults(name):
    made = mw.algorithms()[name].options()
    with pytest.raises(FrozenInstanceError):
        made.memory_limit = 1


def test_what_is_no_interests_and_no_overlay_is_refused():
    with pytest.raises(mw.InputError, match="build got a str; give Interests"):
        mw.build("workload", "gm")
    with pytest.raises(mw.InputError, match="evaluate got an Interests; give an Overlay"):
        mw.evaluate(AWKWARD["two nodes"])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("gm", {"memory_limit": "1GB"}),
        ("gm", {"weights": [1]}),
        ("gm", {"weights": {1: 2}}),
        ("gm", {"keep_bounds": "no"}),
        ("dc", {"partitions": 2.5}),
        ("dcbc", {"bulk_share": "half"}),
        ("dcbc-direct", {"slack": None}),
    ],
)
def test_options_of_a_wrong_type_are_refused_by_name(name, options):
    with pytest.raises(mw.OptionError, match=next(iter(options)) if "weights" not in options else "weigh"):
        mw.build(AWKWARD["two nodes"], name, **options)


def test_an_unknown_algorithm_is_refused_with_those_that_exist():
    with pytest.raises(mw.OptionError, match=r"no algorithm 'magic' to build with; choose among .*gm.*ring"):
        mw.build(AWKWARD["two nodes"], "magic")


def as_overlays(interests):
    """One overlay for every other node, and one for the rest, both topic-connected."""
    names = interests.nodes.to_pylist()
    pairs = list(interests.to_pairs())
    parts = [names[::2], names[1::2]]
    return [
        mw.build(mw.Interests.from_pairs([pair for pair in pairs if pair[0] in part], nodes=part), "ring")
        for part in parts
    ]


@pytest.mark.parametrize("shelf", AWKWARD)
@pytest.mark.parametrize("name", MERGES)
def test_merge_gives_what_it_promises_on_awkward_overlays(name, shelf):
    overlays = as_overlays(AWKWARD[shelf])
    merged = mw.merge(overlays, name)
    topics_of = topics_by_node(merged.interests)
    assert sorted(merged.interests.to_pairs()) == sorted(AWKWARD[shelf].to_pairs())
    assert oracles.is_topic_connected(topics_of, merged.edges.tolist())


@pytest.mark.parametrize("name", MERGES)
def test_the_same_seed_gives_the_same_merge_and_another_seed_another(name):
    overlays = as_overlays(mw.workloads.unif(80, 12, subscriptions=4, seed=1))
    once, again, other = (mw.merge(overlays, name, seed=seed) for seed in (5, 5, 6))
    assert once == again
    assert not np.array_equal(once.edges, other.edges)


@pytest.mark.parametrize("name", MERGES)
def test_facts_tell_how_to_merge_it_again(name):
    overlays = as_overlays(mw.workloads.unif(40, 8, subscriptions=3, seed=1))
    merged = mw.merge(overlays, name, seed=9)
    facts = merged.facts
    again = {"seed": facts["seed"], "link_cost": facts["link_cost"], **facts["options"]}
    assert mw.merge(overlays, facts["algorithm"], **again) == merged


def test_a_build_does_not_merge_and_a_merge_does_not_build():
    with pytest.raises(mw.OptionError, match=r"no algorithm 'gm' to merge with; .*choose among nm, sm"):
        mw.merge(as_overlays(AWKWARD["two nodes"]), "gm")
    with pytest.raises(mw.OptionError, match="no algorithm 'sm' to build with"):
        mw.build(AWKWARD["two nodes"], "sm")
