"""Merging whatever small overlays hypothesis finds."""

from itertools import combinations
from typing import NamedTuple

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import meshwright as mw
from meshwright.construct.merge import naive_merge, star_merge, star_sets
from meshwright.construct.options import MergeOptions
from meshwright.model.union import Union, union
from tests import oracles
from tests.helpers import topics_by_node
from tests.strategies import topic_sets

PARTS = 3
MERGES = pytest.mark.parametrize("algorithm", ["nm", "sm"])


class Meshes(NamedTuple):
    """The topics of nodes n0, n1, ..., the part of each, and edges inside parts."""

    topics: list[set[int]]
    part_of: list[int]
    edges: list[tuple[int, int]]

    def overlays(self) -> list[mw.Overlay]:
        return [self._overlay(part) for part in range(PARTS)]

    def _overlay(self, part: int) -> mw.Overlay:
        own = [u for u, its in enumerate(self.part_of) if its == part]
        interests = mw.Interests.from_pairs(
            [(f"n{u}", f"t{t}") for u in own for t in self.topics[u]], nodes=[f"n{u}" for u in own]
        )
        return mw.Overlay.from_edges(
            interests, [(f"n{u}", f"n{v}") for u, v in self.edges if self.part_of[u] == part]
        )


@st.composite
def meshes(draw) -> Meshes:
    """Parts that need not be topic-connected, and may have no node."""
    topics = draw(topic_sets(max_nodes=8, max_topics=6))
    part_of = draw(st.lists(st.integers(0, PARTS - 1), min_size=len(topics), max_size=len(topics)))
    inner = [(u, v) for u, v in combinations(range(len(topics)), 2) if part_of[u] == part_of[v]]
    edges = draw(st.sets(st.sampled_from(inner))) if inner else set()
    return Meshes(topics, part_of, sorted(edges))


def pairs(edges) -> list[tuple[int, int]]:
    return [(u, v) for u, v in edges.tolist()]


def is_cross(whole: Union, edge: tuple[int, int]) -> bool:
    return bool(whole.part_of[edge[0]] != whole.part_of[edge[1]])


@MERGES
@given(meshes())
def test_a_merge_keeps_every_edge_and_adds_only_edges_between_overlays(algorithm, drawn):
    merged = mw.merge(drawn.overlays(), algorithm)
    kept, all_edges = set(drawn.edges), set(pairs(merged.edges))
    assert kept <= all_edges
    assert all(drawn.part_of[u] != drawn.part_of[v] for u, v in all_edges - kept)
    assert merged.facts["outer_edges"] == len(all_edges - kept)


@MERGES
@given(meshes())
def test_merging_topic_connected_overlays_gives_one(algorithm, drawn):
    overlays = [mw.build(overlay.interests, "gm") for overlay in drawn.overlays()]
    merged = mw.merge(overlays, algorithm)
    assert oracles.is_topic_connected(topics_by_node(merged.interests), pairs(merged.edges))


@MERGES
@given(meshes())
def test_shared_topics_become_connected_and_private_ones_stay_as_they_are(algorithm, drawn):
    merged = mw.merge(drawn.overlays(), algorithm)
    topics_of = dict(enumerate(drawn.topics))
    before = oracles.components_by_topic(topics_of, drawn.edges)
    after = oracles.components_by_topic(topics_of, pairs(merged.edges))
    for topic, count in after.items():
        parts = {drawn.part_of[u] for u, own in topics_of.items() if topic in own}
        assert count == (1 if len(parts) > 1 else before[topic])


def assert_greedy(whole: Union, added: list[tuple[int, int]], candidates: set[int]) -> None:
    """Each edge added has the greatest contribution of all pairs of candidates, and none is left."""
    topics_of, kept = topics_by_node(whole.interests), pairs(whole.edges)
    for count in range(len(added) + 1):
        gains = {
            frozenset(pair): gain
            for pair, gain in oracles.contributions(topics_of, kept + added[:count])
            if is_cross(whole, pair) and candidates.issuperset(pair)
        }
        best = max(gains.values(), default=0)
        assert best == (gains[frozenset(added[count])] if count < len(added) else 0)


@given(meshes(), st.integers(0, 3))
def test_every_choice_of_naive_merge_is_the_best_between_overlays(drawn, seed):
    whole = union(drawn.overlays())
    built = naive_merge(whole, None, MergeOptions(), seed, None)
    assert pairs(built.edges[: len(whole.edges)]) == pairs(whole.edges)
    assert_greedy(whole, pairs(built.edges[len(whole.edges) :]), set(range(len(drawn.topics))))


@given(meshes(), st.integers(0, 3))
def test_every_choice_of_star_merge_is_the_best_between_stars(drawn, seed):
    whole = union(drawn.overlays())
    built = star_merge(whole, None, MergeOptions(), seed, None)
    added = pairs(built.edges[len(whole.edges) :])
    stars = set(star_sets(whole, seed).tolist())
    assert stars.issuperset(node for edge in added for node in edge)
    assert_greedy(whole, added, stars)


@given(meshes(), st.integers(0, 3))
def test_stars_are_a_greedy_cover_of_the_components_of_shared_topics(drawn, seed):
    whole = union(drawn.overlays())
    topics_of = topics_by_node(whole.interests)
    stars = star_sets(whole, seed).tolist()
    for part in range(PARTS):
        rest = _components_to_cover(whole, topics_of, part)
        own = [u for u in topics_of if whole.part_of[u] == part]
        for star in (u for u in stars if whole.part_of[u] == part):
            gains = {u: sum(u in component for component in rest) for u in own}
            assert gains[star] == max(gains.values()) > 0
            rest = [component for component in rest if star not in component]
        assert not rest


def _components_to_cover(whole: Union, topics_of: dict[int, set[int]], part: int) -> list[set[int]]:
    """The components inside a part of each topic that another part has too."""
    own = {u: its for u, its in topics_of.items() if whole.part_of[u] == part}
    others = set().union(*(its for u, its in topics_of.items() if whole.part_of[u] != part))
    shared = others & set().union(*own.values())
    graphs = [oracles.topic_graph(own, pairs(whole.edges), topic) for topic in shared]
    return [component for graph in graphs for component in nx.connected_components(graph)]
