import numpy as np
import pytest

import meshwright as mw


@pytest.fixture(scope="module")
def interests() -> mw.Interests:
    return mw.workloads.unif(400, 60, min_subscriptions=3, max_subscriptions=25, seed=2)


def test_one_thread_and_several_give_the_same_overlay(interests, monkeypatch):
    several = mw.build(interests, "dcbc", partitions=5)
    monkeypatch.setattr("meshwright.runtime.parallel.cores", lambda: 1)
    assert mw.build(interests, "dcbc", partitions=5) == several


def test_facts_count_the_edges_of_each_kind(interests):
    overlay = mw.build(interests, "dcbc", partitions=4)
    facts = overlay.facts
    assert facts["bulk_edges"] + facts["outer_edges"] + facts["light_edges"] == len(overlay)
    assert facts["partitions"] == 4
    assert facts["pairs_examined"] > 0


def test_lightweight_nodes_of_one_part_may_be_linked(interests):
    assert mw.build(interests, "dcbc", partitions=1).facts["light_edges"] > 0


def test_the_degree_lies_between_those_of_gm_and_of_as_many_parts_without_clones(interests):
    edges = {name: len(mw.build(interests, name, partitions=8)) for name in ("dcbc", "dc")}
    assert len(mw.build(interests, "gm")) < edges["dcbc"] < edges["dc"]


def test_the_part_size_bounds_the_parts(interests):
    facts = mw.build(interests, "dcbc", part_size=50).facts
    assert facts["partitions"] == np.ceil((400 - facts["bulk"]) / 50)


def test_the_number_of_parts_is_chosen_as_for_dc(interests):
    chosen = mw.build(interests, "dc").facts["partitions"]
    assert mw.build(interests, "dcbc").facts["partitions"] == chosen > 1


def test_more_parts_than_lightweight_nodes_are_as_many_as_there_are(interests):
    facts = mw.build(interests, "dcbc", partitions=400).facts
    assert facts["partitions"] == 400 - facts["bulk"]
    assert facts["light_edges"] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"partitions": 401}, "partitions is 401, but there are 400 nodes"),
        ({"partitions": 0}, "partitions is 0; give a whole number of at least 1"),
        ({"part_size": 0}, "part_size is 0; give a whole number of at least 1"),
        ({"partitions": 2, "part_size": 9}, "partitions and part_size each set the number of parts"),
        ({"threshold": 61}, "threshold is 61, but there are 60 topics"),
        ({"threshold": -1}, "threshold is -1; give a whole number of at least 0"),
        ({"bulk_share": 1.5}, "bulk_share is 1.5; give a fraction from 0 to 1"),
        ({"bulk_limit": -1}, "bulk_limit is -1; give a whole number of at least 0"),
    ],
)
def test_options_out_of_range_are_refused(interests, options, message):
    with pytest.raises(mw.OptionError, match=message):
        mw.build(interests, "dcbc", **options)


def test_too_little_memory_is_refused_with_what_to_do_instead(interests):
    with pytest.raises(mw.CapacityError, match=r"smaller bulk_limit or part_size.*dcbc-direct"):
        mw.build(interests, "dcbc", memory_limit=1000)
