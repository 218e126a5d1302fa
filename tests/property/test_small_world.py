"""Small worlds of whatever interests and rings hypothesis finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import meshwright as mw
from meshwright.model.fingers import NONE
from meshwright.smallworld.algorithms import choose, place
from meshwright.smallworld.options import TARGET_SLOTS, TIES, GrSwicoOptions
from tests import oracles, oracles_small_world
from tests.helpers import interests_of, topics_by_node
from tests.strategies import topic_sets

SMALL_WORLDS = ("chord", "random-sw", "gr-swico")


def some_topics(nodes, topic_count, share, seed):
    """The topics of each node, each of them with the same chance."""
    has = np.random.default_rng(seed).random((nodes, topic_count)) < share
    return [set(np.flatnonzero(row).tolist()) for row in has]


def check_every_choice(topics, target_slot, farthest, spare_bits, seed):
    """Links in order, and fingers, are those of Alg. 4."""
    interests = interests_of(topics)
    bits = (max(1, len(topics)) - 1).bit_length() + spare_bits if spare_bits else None
    ties = "farthest" if farthest else "nearest"
    options = GrSwicoOptions(bits=bits, target_slot=target_slot, ties=ties)
    ring = place(interests.node_count, options, seed)
    taken, _, ranks = choose(interests, ring, options, seed, np.zeros(2, np.int64))
    positions = dict(zip(ring.nodes.tolist(), ring.positions.tolist(), strict=True))
    edges, fingers = oracles_small_world.gr_swico(
        topics_by_node(interests), positions, ring.space, target_slot, farthest
    )
    assert [tuple(edge) for edge in ring.nodes[taken].tolist()] == edges
    found = {(r, i): ranks[r, i] for r, i in zip(*np.nonzero(ranks != NONE), strict=True)}
    assert {(ring.nodes[r], i): ring.nodes[w] for (r, i), w in found.items()} == fingers


@settings(max_examples=50)
@given(
    topic_sets(max_nodes=7),
    st.sampled_from(TARGET_SLOTS),
    st.booleans(),
    st.integers(0, 5),
    st.integers(0, 3),
)
def test_every_choice_of_gr_swico_is_the_oracles(topics, target_slot, farthest, spare_bits, seed):
    check_every_choice(topics, target_slot, farthest, spare_bits, seed)


@settings(max_examples=20)
@given(
    st.integers(2, 16),
    st.sampled_from((12, 40, 70)),
    st.floats(0.2, 0.9),
    st.sampled_from(TARGET_SLOTS),
    st.booleans(),
    st.integers(0, 2),
    st.integers(0, 99),
)
def test_every_choice_among_many_popular_topics_is_the_oracles(
    nodes, topic_count, share, target_slot, farthest, spare_bits, seed
):
    check_every_choice(some_topics(nodes, topic_count, share, seed), target_slot, farthest, spare_bits, seed)


@pytest.mark.parametrize("target_slot", TARGET_SLOTS)
def test_every_choice_is_the_oracles_where_many_components_of_a_topic_grow_at_once(target_slot):
    """Bits count pairs of one unmarked component in vain; few nodes rarely have any."""
    for seed in range(2):
        check_every_choice(some_topics(40, 70, 0.3, seed), target_slot, False, 0, seed)


@settings(max_examples=60)
@given(topic_sets(max_nodes=16, max_topics=8), st.sampled_from(TIES), st.integers(0, 3), st.integers(0, 99))
def test_every_link_of_gr_swico_contributes_most_when_taken_until_none_does(topics, ties, spare_bits, seed):
    interests = interests_of(topics)
    bits = (max(1, len(topics)) - 1).bit_length() + spare_bits if spare_bits else None
    options = GrSwicoOptions(bits=bits, ties=ties)
    ring = place(interests.node_count, options, seed)
    taken, _, _ = choose(interests, ring, options, seed, np.zeros(2, np.int64))
    positions = dict(zip(ring.nodes.tolist(), ring.positions.tolist(), strict=True))
    slot_of = {
        (v, w): (v, i)
        for v in positions
        for i, nodes in oracles_small_world.candidates(v, positions, ring.space).items()
        for w in nodes
    }
    topics_of = topics_by_node(interests)
    free, edges = set(slot_of.values()), []
    for owner, target in [*map(tuple, ring.nodes[taken].tolist()), (None, None)]:
        gains = {frozenset(pair): gain for pair, gain in oracles.contributions(topics_of, edges)}
        best = max((gains[frozenset(pair)] for pair, slot in slot_of.items() if slot in free), default=0)
        if owner is None:
            assert best == 0
            return
        assert slot_of[owner, target] in free
        assert gains[frozenset((owner, target))] == best > 0
        free -= {slot_of[owner, target], slot_of.get((target, owner))}
        edges.append((owner, target))


@settings(max_examples=40)
@given(
    st.integers(0, 200),
    st.sampled_from(SMALL_WORLDS),
    st.one_of(st.none(), st.integers(8, 62)),
    st.booleans(),
    st.integers(0, 2**20),
)
def test_every_node_has_one_finger_into_each_phase_that_is_not_empty(nodes, name, bits, whole, seed):
    interests = mw.workloads.unif(nodes, 12, subscriptions=3, seed=seed)
    overlay = mw.build(interests, name, seed=seed, bits=bits, whole_phases=whole)
    fingers = mw.Fingers.of(overlay)
    positions = dict(enumerate(fingers.positions.tolist()))
    assert fingers.space == (nodes if bits is None else 2**bits)
    for v, targets in enumerate(fingers.targets.tolist()):
        chosen = {i: w for i, w in enumerate(targets) if w != NONE}
        allowed = oracles_small_world.candidates(v, positions, fingers.space)
        if whole and fingers.space & (fingers.space - 1):
            allowed.pop((fingers.space - 1).bit_length() - 1, None)  # cut short
        assert chosen.keys() == allowed.keys()
        assert all(w in allowed[i] for i, w in chosen.items())
        if name == "chord":
            assert all(w == allowed[i][0] for i, w in chosen.items())
    links = {frozenset(edge) for edge in overlay.edges.tolist()}
    ends = zip(*np.nonzero(fingers.targets != NONE), strict=True)
    assert links == {frozenset((v, fingers.targets[v, i])) for v, i in ends}
