"""The backups that a maintainer chooses, on whatever small overlays hypothesis finds."""

from hypothesis import example, given
from hypothesis import strategies as st

import meshwright as mw
from meshwright.maintain.options import BACKUPS
from meshwright.maintain.state import row
from meshwright.runtime.seeds import generator
from tests import oracles_shadows
from tests.helpers import interests_of, topics_by_node
from tests.strategies import topic_sets

COVERAGES = st.integers(1, 3)


def oracle_of(overlay: mw.Overlay) -> oracles_shadows.Backups:
    interests = overlay.interests
    topics_of = topics_by_node(interests)
    subscribers = {t: [u for u in topics_of if t in topics_of[u]] for t in range(interests.topic_count)}
    neighbours: dict[int, set[int]] = {node: set() for node in topics_of}
    for u, v in overlay.edges.tolist():
        neighbours[u].add(v)
        neighbours[v].add(u)
    return oracles_shadows.Backups(topics_of, subscribers, neighbours)


def chosen(live: mw.Maintainer, nodes: int) -> list[list[int]]:
    """The backups of each node in the order of choice."""
    return [row(live._state.live.backups, at).tolist() for at in range(nodes)]


@given(topic_sets(), COVERAGES)
def test_every_greedy_choice_is_algorithm_11s(topics, coverage):
    overlay = mw.build(interests_of(topics), "ring")
    oracle = oracle_of(overlay)
    for node in range(len(topics)):
        oracle.greedily(node, coverage)
    live = mw.Maintainer(overlay, backups="greedy", coverage=coverage, keep_backups=True)
    assert chosen(live, len(topics)) == list(oracle.backups.values())


@given(topic_sets(), COVERAGES)
def test_every_choice_of_a_greedy_cover_adds_the_most_topics(topics, coverage):
    live = mw.Maintainer(
        mw.build(interests_of(topics), "ring"), backups="greedy-cover", coverage=coverage, keep_backups=True
    )
    for node, own in enumerate(chosen(live, len(topics))):
        left: set[int] = set()
        others = set(range(len(topics))) - {node}
        for backup in own:
            left = left if any(topics[other] & left for other in others) else set(topics[node])
            assert len(topics[backup] & left) == max(len(topics[other] & left) for other in others) > 0
            left -= topics[backup]
            others.remove(backup)


@given(topic_sets(), COVERAGES, st.integers(0, 3))
@example([{0, 1}, {0, 1, 2}, {2}], 3, 0)  # nobody is left for the third cover of node 0
def test_every_choice_by_primal_dual_is_algorithm_12s(topics, coverage, seed):
    overlay = mw.build(interests_of(topics), "ring")
    oracle, rng = oracle_of(overlay), generator(seed, "maintain")
    for node in range(len(topics)):
        oracle.by_primal_dual(node, coverage, rng)
    live = mw.Maintainer(overlay, coverage=coverage, seed=seed, keep_backups=True)
    assert chosen(live, len(topics)) == list(oracle.backups.values())


@given(topic_sets(), COVERAGES, st.sampled_from(BACKUPS), st.sampled_from([1, 2, 512]))
def test_backups_share_a_topic_and_cover_all_topics_as_often_as_others_have_them(
    topics, coverage, backups, candidates
):
    interests = interests_of(topics)
    overlay = mw.build(interests, "ring")
    how = {"backups": backups, "coverage": coverage, "candidates": candidates}
    live = mw.Maintainer(overlay, keep_backups=True, **how)
    for node in interests.nodes.to_pylist():
        own, sets = live.topics_of(node), [live.topics_of(other) for other in live.backups_of(node)]
        assert node not in live.backups_of(node)
        assert all(own & theirs for theirs in sets)
        assert all(node in live.primaries_of(other) for other in live.backups_of(node))
        for topic in own:
            others = len(interests.nodes_of(topic)) - 1
            assert sum(topic in theirs for theirs in sets) >= min(coverage, others)
