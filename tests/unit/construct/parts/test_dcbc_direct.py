import numpy as np
import pytest

import meshwright as mw
from meshwright.construct.parts import dcbc_direct
from meshwright.runtime.progress import DONE
from tests.helpers import interests_of


@pytest.fixture(scope="module")
def interests() -> mw.Interests:
    return mw.workloads.unif(400, 60, min_subscriptions=3, max_subscriptions=25, seed=2)


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(dcbc_direct, "NODES_A_PART", 32)


@pytest.mark.usefixtures("small_parts")
def test_one_thread_and_several_give_the_same_overlay(interests, monkeypatch):
    several = mw.build(interests, "dcbc-direct")
    monkeypatch.setattr("meshwright.runtime.parallel.cores", lambda: 1)
    assert mw.build(interests, "dcbc-direct") == several


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("guide", ["none", "dual"])
def test_covering_counts_as_many_steps_as_it_announces(interests, monkeypatch, guide):
    ticks, announced = np.zeros(2, np.int64), []

    def in_turn(one, parts, label, total, progress):
        announced.append(total)
        return [one(part, ticks) for part in parts]

    monkeypatch.setattr(dcbc_direct, "map_parts", in_turn)
    mw.build(interests, "dcbc-direct", bulk_size=30, guide=guide)
    assert [ticks[DONE]] == announced


@pytest.mark.usefixtures("small_parts")
def test_facts_count_the_edges_of_each_kind(interests):
    overlay = mw.build(interests, "dcbc-direct", bulk_size=30)
    facts = overlay.facts
    assert facts["bulk_edges"] + facts["outer_edges"] == len(overlay)
    assert facts["bulk"] == 30 + facts["bulk_added"]


def test_more_bulk_nodes_than_there_are_make_it_gm(interests):
    assert np.array_equal(
        mw.build(interests, "dcbc-direct", bulk_size=1000, seed=3).edges,
        mw.build(interests, "gm", seed=3).edges,
    )


def test_slack_lowers_the_maximum_degree_and_takes_more_links(interests):
    tight, loose = (mw.build(interests, "dcbc-direct", bulk_size=60, slack=slack) for slack in (0, 0.3))
    assert loose.degrees().max() < tight.degrees().max()
    assert len(loose) > len(tight)


def test_a_crowd_lowers_the_maximum_degree_where_few_bulk_nodes_have_a_popular_topic():
    interests = interests_of([{0, 1, 2, 3}, {1, 2, 3}, {1, 2, 3}, *[{0}] * 200])
    crowded, spread = (mw.build(interests, "dcbc-direct", bulk_size=3, crowd=n) for n in (1000, 20))
    assert crowded.degrees().max() >= 200
    assert spread.degrees().max() < 50
    assert len(spread) == len(crowded)


def test_equal_bulk_nodes_share_the_load_evenly():
    interests = interests_of([{0, 1}] * 10 + [{0}] * 100)
    degrees = np.sort(mw.build(interests, "dcbc-direct", bulk_size=10).degrees())[-10:]
    assert degrees.sum() == 2 * 9 + 100
    assert degrees.max() - degrees.min() <= 1


def test_a_node_of_more_topics_than_a_gain_can_count_is_bulk(monkeypatch):
    monkeypatch.setattr(dcbc_direct, "MOST_TOPICS", 5)
    interests = interests_of([set(range(8)), set(range(6)), {0}, {1}])
    assert mw.build(interests, "dcbc-direct", bulk_size=1).facts["bulk"] == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bulk_size": 0}, "bulk_size is 0; give a whole number of at least 1"),
        ({"crowd": 0}, "crowd is 0; give a whole number of at least 1"),
        ({"slack": 1.0}, "slack is 1.0; give a fraction of at least 0 and under 1"),
        ({"slack": -1}, "slack is -1; give a fraction of at least 0"),
    ],
)
def test_options_out_of_range_are_refused(interests, options, message):
    with pytest.raises(mw.OptionError, match=message):
        mw.build(interests, "dcbc-direct", **options)


@pytest.fixture
def rare() -> mw.Interests:
    """Many topics of few subscribers, so that they add many nodes to any bulk set."""
    return mw.workloads.zipf(3_000, 1_500, min_subscriptions=1, max_subscriptions=40, alpha=0.6, seed=3)


@pytest.mark.parametrize("algorithm", ["dcbc", "dcbc-direct"])
@pytest.mark.parametrize("resilience", [1, 2])
def test_a_bulk_set_too_large_to_merge_is_joined_by_a_bulk_set_of_its_own(
    rare, monkeypatch, algorithm, resilience
):
    few = {"dcbc": {"bulk_limit": 20, "part_size": 1_000}, "dcbc-direct": {"bulk_size": 20}}[algorithm]
    merged = mw.build(rare, algorithm, resilience=resilience, **few)
    monkeypatch.setattr("meshwright.construct.parts.bulk_sets._MOST_MERGED", 50)
    joined = mw.build(rare, algorithm, resilience=resilience, **few)
    assert joined.facts["bulk"] == merged.facts["bulk"] > 50
    assert joined != merged
    found = mw.evaluate(joined)
    assert found.topic_connected
    assert resilience == 1 or found.cut_nodes_topics == 0


def test_all_nodes_are_merged_however_many_if_all_are_asked_for(rare, monkeypatch):
    monkeypatch.setattr("meshwright.construct.parts.bulk_sets._MOST_MERGED", 50)
    edges = mw.build(rare, "dcbc-direct", bulk_size=3_000, seed=3).edges
    np.testing.assert_array_equal(edges, mw.build(rare, "gm", seed=3).edges)
