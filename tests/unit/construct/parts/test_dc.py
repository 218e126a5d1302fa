import numpy as np
import pytest

import meshwright as mw
from meshwright.construct.options import TIES, DcOptions
from meshwright.construct.parts.partitioning import random_parts
from meshwright.runtime import parallel
from tests.shelf import AWKWARD


@pytest.fixture(scope="module")
def interests() -> mw.Interests:
    return mw.workloads.unif(400, 40, min_subscriptions=2, max_subscriptions=20, seed=2)


@pytest.mark.parametrize("ties", TIES)
def test_one_part_is_greedy_merge_edge_for_edge(interests, ties):
    one = mw.build(interests, "dc", partitions=1, ties=ties, seed=3)
    assert np.array_equal(one.edges, mw.build(interests, "gm", ties=ties, seed=3).edges)
    assert one.facts["pn_size"] == 399
    assert one.facts["outer_edges"] == 0


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"choose_by": "time"},
        {"choose_by": "parallel-time"},
        {"part_size": 30},
        {"partitions": 400},
        {"partition_by": "k-means"},
        {"partition_by": "k-means", "partitions": 6},
        {"partitions": 20, "most_stars": 2},
    ],
    ids=str,
)
def test_every_way_to_divide_gives_a_topic_connected_overlay(interests, options):
    assert mw.evaluate(mw.build(interests, "dc", **options)).topic_connected


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_the_overlay_and_its_facts_do_not_depend_on_the_cores(interests, cores, monkeypatch):
    expected = mw.build(interests, "dc", partitions=7)
    monkeypatch.setattr(parallel, "cores", lambda: cores)
    found = mw.build(interests, "dc", partitions=7)
    assert found == expected


def test_facts_count_what_was_built(interests):
    overlay = mw.build(interests, "dc", partitions=8, seed=4)
    part_of = random_parts(400, 8, seed=4)
    inner = int((part_of[overlay.edges[:, 0]] == part_of[overlay.edges[:, 1]]).sum())
    facts = overlay.facts
    assert facts["partitions"] == 8
    assert facts["inner_edges"] == inner
    assert facts["outer_edges"] == len(overlay) - inner
    assert facts["pn_ratio"] == facts["pn_size"] / 400
    assert 49 < facts["pn_size"] < 399
    assert facts["pn_size"] >= 49 + 7 * facts["average_star_set_size"]
    assert facts["combine_levels"] == 1
    assert facts["pairs_examined"] > 0


def test_dividing_examines_fewer_pairs_than_greedy_merge(interests):
    divided = mw.build(interests, "dc").facts["pairs_examined"]
    assert divided < mw.build(interests, "gm").facts["pairs_examined"] / 2


def test_few_stars_a_combine_make_a_tree(interests):
    flat = mw.build(interests, "dc", partitions=16)
    tree = mw.build(interests, "dc", partitions=16, most_stars=2)
    assert flat.facts["combine_levels"] == 1
    assert tree.facts["combine_levels"] == 4
    assert tree.facts["inner_edges"] == flat.facts["inner_edges"]
    assert tree.facts["pairs_examined"] < flat.facts["pairs_examined"]


@pytest.mark.parametrize("options", [{"partition_by": "k-means"}, {"choose_by": "time"}, {"part_size": 1}])
@pytest.mark.parametrize("shelf", AWKWARD)
def test_awkward_interests_are_connected_however_they_are_divided(shelf, options):
    assert mw.evaluate(mw.build(AWKWARD[shelf], "dc", **options)).topic_connected


def test_a_part_without_any_topic_gets_no_edge():
    interests = mw.Interests.from_pairs([("a", "x"), ("b", "x")], nodes=["a", "b", "c", "d", "e", "f"])
    overlay = mw.build(interests, "dc", partitions=6)
    assert overlay.edges.tolist() == [[0, 1]]
    assert overlay.facts["average_star_set_size"] == pytest.approx(2 / 6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"partitions": 0}, "partitions is 0; give a whole number of at least 1"),
        ({"partitions": True}, "partitions is True; give a whole number of at least 1"),
        ({"part_size": 2.5}, "part_size is 2.5; give a whole number of at least 1"),
        ({"most_stars": 1}, "most_stars is 1; give a whole number of at least 2"),
        ({"memory_limit": 0}, "memory_limit is 0; give a whole number of at least 1"),
        ({"partition_by": "colour"}, "partition_by is 'colour'; choose among random, k-means"),
        ({"ties": "best"}, "ties is 'best'; choose among shuffled, small-first, large-first"),
        ({"choose_by": "elbow"}, "choose_by is 'elbow'; choose among pn-size, time, parallel-time"),
        ({"partitions": 2, "part_size": 5}, "partitions and part_size each set the number of parts"),
        ({"part_size": 2, "choose_by": "time"}, "part_size and choose_by each set the number of parts"),
    ],
    ids=str,
)
def test_options_out_of_range_are_refused(options, message):
    with pytest.raises(mw.OptionError, match=message):
        DcOptions(**options)


def test_too_little_memory_is_refused_with_what_to_do_instead(interests):
    with pytest.raises(mw.CapacityError, match="give more partitions, a smaller part_size"):
        mw.build(interests, "dc", partitions=2, memory_limit=10_000)


def test_progress_tells_the_stages(interests):
    class Heard:
        def __init__(self) -> None:
            self.labels: list[str] = []

        def start(self, label: str, total: int) -> None:
            self.labels.append(label)

        def advance(self, done: int) -> None:
            pass

        def finish(self) -> None:
            pass

    heard = Heard()
    mw.build(interests, "dc", progress=heard)
    assert heard.labels == ["choosing the number of parts", "building the parts", "combining the parts"]
