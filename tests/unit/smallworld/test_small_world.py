"""What the small-world overlays promise beyond their fingers."""

import numpy as np
import pytest

import meshwright as mw
from meshwright.smallworld import algorithms
from meshwright.smallworld.algorithms import place, random_ranks
from meshwright.smallworld.options import FILLS, TARGET_SLOTS, TIES, GrSwicoOptions, SmallWorldOptions


def test_every_identifier_has_a_node_unless_bits_are_given():
    ring = place(10, SmallWorldOptions(), seed=1)
    assert ring.space == 10
    assert ring.positions.tolist() == list(range(10))
    assert sorted(ring.nodes.tolist()) == list(range(10))
    assert ring.nodes.tolist() != list(range(10))


def test_sorted_nodes_stand_by_name():
    assert place(10, SmallWorldOptions(placement="sorted"), seed=1).nodes.tolist() == list(range(10))
    sparse = place(10, SmallWorldOptions(placement="sorted", bits=50), seed=1)
    assert sparse.nodes.tolist() == list(range(10))
    assert 0 <= sparse.positions[0] < sparse.positions[-1] < 2**50


def test_too_few_identifiers_are_refused():
    with pytest.raises(mw.OptionError, match=r"bits is 3, which makes 8 identifiers for 9 nodes; give .* 4"):
        mw.build(mw.workloads.unif(9, 3, subscriptions=1), "chord", bits=3)


@pytest.mark.parametrize(
    "options",
    [
        {"bits": -1},
        {"bits": 63},
        {"bits": 2.0},
        {"placement": "near"},
        {"ties": "x"},
        {"target_slot": "x"},
        {"fill": "x"},
    ],
)
def test_options_out_of_range_are_refused_by_name(options):
    with pytest.raises(mw.OptionError, match=next(iter(options))):
        GrSwicoOptions(**options)


def test_every_node_of_a_phase_is_equally_likely_to_be_the_random_finger():
    ring = place(40, SmallWorldOptions(), seed=0)
    drawn = np.concatenate([(random_ranks(ring, seed)[:, 3] - np.arange(40)) % 40 for seed in range(100)])
    counts = np.bincount(drawn, minlength=40)
    assert counts[:8].sum() == counts[16:].sum() == 0
    assert (abs(counts[8:16] - 500) < 5 * np.sqrt(4000 * 7 / 64)).all()


@pytest.fixture(scope="module")
def interests():
    return mw.workloads.unif(500, 1000, subscriptions=20, seed=1)


def support(interests, name, **options):
    return mw.evaluate(mw.build(interests, name, **options), diameters=False, bound=False).tco_support_ratio


def test_gr_swico_supports_topics_better_than_fingers_that_know_no_interests(interests):
    chord, random, greedy = (support(interests, name) for name in ("chord", "random-sw", "gr-swico"))
    assert greedy > 3 * max(chord, random)


def test_gr_swico_reaches_most_support_with_fingers_of_the_owner_and_least_to_the_letter(interests):
    found = [support(interests, "gr-swico", target_slot=slot) for slot in ("required", "if-free", "never")]
    assert found == sorted(found)
    assert found[0] < found[1] / 2


def test_to_the_letter_at_most_one_link_a_node_is_chosen_on_a_ring_of_a_power_of_two():
    interests = mw.workloads.unif(128, 200, subscriptions=20, seed=1)
    chosen = mw.build(interests, "gr-swico", target_slot="required").facts["links_chosen"]
    assert 0 < chosen <= 128
    assert mw.build(interests, "gr-swico").facts["links_chosen"] > 2 * 128


def test_facts_count_the_links_chosen_and_the_fingers_filled(interests):
    facts = mw.build(interests, "gr-swico").facts
    fingers = mw.Fingers.of(mw.build(interests, "gr-swico")).targets
    assert facts["links_chosen"] <= fingers.size - facts["fingers_filled"] <= 2 * facts["links_chosen"]


@pytest.mark.parametrize("target_slot", TARGET_SLOTS)
@pytest.mark.parametrize("ties", TIES)
def test_however_popular_topics_are_counted_the_choices_are_the_same(monkeypatch, ties, target_slot):
    popular = mw.workloads.zipf(300, 150, subscriptions=20, seed=1)
    found = []
    for paying in (0.0, algorithms._PAYING, np.inf):  # all topics by bits where that is less work, some, none
        monkeypatch.setattr(algorithms, "_PAYING", paying)
        overlay = mw.build(popular, "gr-swico", ties=ties, target_slot=target_slot)
        facts = overlay.facts["links_chosen"], overlay.facts["contributions_counted"]
        found.append((mw.Fingers.of(overlay).targets.tobytes(), *facts))
    fingers, links, counted = zip(*found, strict=True)
    assert len(set(fingers)) == len(set(links)) == 1
    assert len(set(counted)) > 1


def test_ties_are_settled_one_by_one_with_about_the_same_support(interests):
    built = {ties: mw.build(interests, "gr-swico", ties=ties) for ties in TIES}
    assert built["random"] == mw.build(interests, "gr-swico", ties="random")
    assert len({overlay.edges.tobytes() for overlay in built.values()}) == len(TIES)
    found = [support(interests, "gr-swico", ties=ties) for ties in TIES]
    assert max(found) < 1.05 * min(found)


def test_the_nearer_the_finger_among_equals_the_fewer_nodes_forward(interests):
    forwards = [
        mw.route(mw.build(interests, "gr-swico", ties=ties), "nsmf", 5_000).pure_forwards for ties in TIES
    ]
    assert TIES == ("nearest", "random", "farthest")
    assert forwards == sorted(forwards)


def test_the_first_nodes_fill_what_chance_fills_otherwise_and_nothing_else(interests):
    chord, random, first = (
        mw.Fingers.of(mw.build(interests, name, **options)).targets
        for name, options in (("chord", {}), ("gr-swico", {"fill": "random"}), ("gr-swico", {}))
    )
    differ = random != first
    assert differ.any()
    assert np.array_equal(first[differ], chord[differ])


def test_where_topics_are_popular_the_first_nodes_forward_less_than_those_by_chance():
    interests = mw.workloads.unif(400, 10, subscriptions=2, seed=1)
    first, random = (
        mw.route(mw.build(interests, "gr-swico", fill=fill), "nsmf", 2_000).pure_forwards for fill in FILLS
    )
    assert first < 0.95 * random
