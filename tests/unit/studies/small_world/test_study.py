"""What the study of small worlds says of the paper's numbers, and the reasons where ours differ."""

import numpy as np
import pytest

import meshwright as mw
from meshwright.studies.small_world.statements import (
    FITTED,
    NODES,
    STATEMENTS,
    SUBSCRIPTIONS,
    TO_THE_LETTER,
    TOPICS,
    Found,
    measure_overlay,
    measure_point,
)

FEW = 3_000
"""Publications: enough for these verdicts, where those of the study are not at stake."""


@pytest.fixture(scope="module", params=[FITTED, TO_THE_LETTER], ids=["fitted", "letter"])
def by_nodes(request):
    return [measure_point(nodes, TOPICS, request.param, 1, FEW) for nodes in (500, 2_000)]


def test_the_orders_of_figure_2_hold_on_fewer_nodes_too(by_nodes):
    few, many = by_nodes
    for at in by_nodes:
        others = [at["Chord"], at["RandomSW"]]
        assert min(other.forwards for other in others) > 1.15 * at["GrSwico"].forwards
        assert max(other.support for other in others) < at["GrSwico"].support / 3
    assert few["GrSwico"].support < many["GrSwico"].support
    gaps = [at["Chord"].path / at["GrSwico"].path for at in by_nodes]
    assert 1 < gaps[0] < gaps[1]


def test_how_many_times_as_long_paths_are_is_a_mean_of_ratios():
    points = [
        {name: Found(forwards=1.0, path=path, support=1.0) for name, path in paths.items()}
        for paths in (
            {"Chord": 2.0, "RandomSW": 2.5, "GrSwico": 1.0},
            {"Chord": 40.0, "RandomSW": 50.0, "GrSwico": 10.0},
        )
    ]
    (stated,) = (each for each in STATEMENTS if each.name == "2b-ratio")
    (of_means,) = stated.otherwise
    assert stated.value(points) == pytest.approx((2 + 4) / 2)
    assert of_means.value(points) == pytest.approx(42 / 11)


def _points(*numbers):
    """Points at which the support, hops and forwards of Chord, RandomSW and GrSwico are given numbers."""
    names = ("Chord", "RandomSW", "GrSwico")
    return [
        {name: Found(forwards=own, path=own, support=own) for name, own in zip(names, at, strict=True)}
        for at in numbers
    ]


def test_what_is_said_of_both_overlays_is_not_reproduced_by_one_of_them():
    stated = {each.name: each for each in STATEMENTS}
    apart = _points((0.1, 0.9, 0.5), (0.2, 0.8, 0.5))
    assert stated["2c-Chord"].value(apart) == pytest.approx(0.15)
    assert stated["2c-RandomSW"].value(apart) == pytest.approx(0.85)
    # The advantage over RandomSW falls, and the gap between Chord and GrSwico grows.
    assert stated["3a-rise"].value(apart) == -1
    assert stated["3b-gap"].value(apart) == 1


def hops_by_chance(distances):
    """How many hops RandomSW needs on average over each clockwise distance, by its definition.

    The finger of the phase that the target is in leads to any node of it, and is taken if that is not beyond
    the target; otherwise the finger of the phase before is. Nodes on the way have fingers of their own.
    """
    hops = np.zeros(distances)
    for distance in range(1, distances):
        size = 1 << (distance.bit_length() - 1)
        within = hops[: distance - size + 1].sum()
        beyond = 2 * size - 1 - distance
        if beyond:
            within += beyond * hops[distance - size + 1 : distance - size // 2 + 1].mean()
        hops[distance] = 1 + within / size
    return hops


def test_random_fingers_take_as_many_hops_as_their_definition_says():
    count = 1_024
    pairs = [(f"n{node:04}", f"t{topic:04}") for topic in range(512) for node in (topic, topic + 512)]
    interests = mw.Interests.from_pairs(pairs)
    measured = [
        mw.route(mw.build(interests, name, seed=seed), "nsmf", 5_000, seed=seed).average_path_length
        for name in ("chord", "random-sw")
        for seed in range(3)
    ]
    assert np.mean(measured[:3]) == pytest.approx(np.bitwise_count(np.arange(1, count)).mean(), rel=0.02)
    assert np.mean(measured[3:]) == pytest.approx(hops_by_chance(count)[1:].mean(), rel=0.02)


def test_over_the_gaps_of_figure_2_random_fingers_forward_more_than_chord_and_over_long_ones_less():
    """The reason why RandomSW's overhead can't be under Chord's in Fig. 2(a), whatever GrSwico's is.

    Subscribers of a topic are 2,000 / 20 = 100 identifiers apart on average, at any number of nodes.
    """
    distances = np.arange(1, 4_096)
    chord, random = np.bitwise_count(distances), hops_by_chance(4_096)[1:]

    def forwards_over_chords(gap):
        likely = (1 - 1 / gap) ** distances
        return ((random - 1) * likely).sum() / ((chord - 1) * likely).sum()

    assert forwards_over_chords(TOPICS / SUBSCRIPTIONS) == pytest.approx(1.024, abs=0.001)
    assert forwards_over_chords(1_000) < 1
    at = measure_point(2_000, TOPICS, FITTED, 1, FEW)
    assert at["RandomSW"].forwards / at["Chord"].forwards == pytest.approx(1.024, abs=0.01)


def more_forwards(at):
    return [at[name].forwards / at["GrSwico"].forwards - 1 for name in ("Chord", "RandomSW")]


def test_a_link_that_serves_both_of_its_ends_helps_gr_swico_most_and_more_where_topics_are_many():
    """The reason of the overheads to the letter in Fig. 3(a)."""
    gained = [
        np.subtract(
            *(
                more_forwards(measure_point(NODES, topics, FITTED._replace(both_ways=flag), 1, FEW))
                for flag in (True, False)
            )
        )
        for topics in (1_000, 5_000)
    ]
    assert (gained[0] > 0).all()
    assert (gained[1] > gained[0] + 0.05).all()


def test_where_links_serve_both_ends_paths_shorten_most_with_random_fingers():
    """The reason of the path lengths to the letter in Fig. 2(b)."""
    chord, random = (
        [
            measure_overlay(name, 3_000, TOPICS, FITTED._replace(both_ways=flag), 1, FEW).path
            for flag in (False, True)
        ]
        for name in ("Chord", "RandomSW")
    )
    assert random[1] / random[0] < chord[1] / chord[0] < 1


def test_the_support_of_chord_and_random_sw_is_as_the_number_of_fingers():
    """The reason of their support to the letter: 10 fingers a node in place of 9."""
    for name in ("Chord", "RandomSW"):
        of_nine, of_ten = (
            measure_overlay(name, NODES, 5_000, setting, 1, FEW).support
            for setting in (FITTED, TO_THE_LETTER)
        )
        assert of_ten / of_nine == pytest.approx(10 / 9, rel=0.06)


def test_the_support_of_gr_swico_is_about_44_percent_from_5_000_topics_on():
    """The reason of figure 3c: it is the fewest topics that lift the average."""
    few, middle, many = (
        measure_overlay("GrSwico", NODES, topics, FITTED, 1, FEW).support for topics in (1_000, 5_000, 10_000)
    )
    assert few > 0.7
    assert 0.9 * 0.44 < many < middle < 1.05 * 0.44
