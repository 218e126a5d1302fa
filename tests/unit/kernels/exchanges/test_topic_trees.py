"""The trees of all topics and the search that changes them, against plain Python."""

import itertools

import networkx as nx
import numpy as np
import pytest

import meshwright as mw
from meshwright.construct.exchanging import trees_of
from meshwright.kernels.exchanges.searching import make_room, search
from meshwright.kernels.exchanges.topic_trees import (
    ENERGY,
    FREE,
    LOGGED,
    NONE,
    USED,
    links_in_use,
    rewire,
    slot_of,
    undo,
    weakest,
)

TICKS = np.zeros(2, np.int64)


@pytest.fixture(params=[1, 2, 3])
def interests(request):
    return mw.workloads.zipf(40, 12, subscriptions=5, seed=request.param)


@pytest.fixture
def trees(interests):
    return trees_of(interests, mw.build(interests, "gm").edges)


def graph_of(trees, topic):
    """The tree of a topic, over its slots, with the link and its load at every edge."""
    graph = nx.Graph()
    for slot in range(trees.topic_indptr[topic], trees.topic_indptr[topic + 1]):
        graph.add_node(slot)
        if trees.parents[slot] != NONE:
            link = int(trees.via[slot])
            graph.add_edge(slot, int(trees.parents[slot]), link=link, load=int(trees.loads[link]))
    return graph


def links_by_node(trees):
    """By node, its links as the lists have them."""
    found = []
    for node in range(len(trees.heads)):
        own, half = [], trees.heads[node]
        while half != NONE:
            assert trees.ends[half >> 1, half & 1] == node
            own.append(int(half) >> 1)
            half = trees.after[half]
        found.append(own)
    return found


def contents(trees):
    """What exchanges change and can be undone."""
    return [array.tolist() for array in (trees.parents, trees.via, trees.loads, trees.counts[[USED, ENERGY]])]


def assert_sound(trees):
    """Every topic has a tree of links that its slots use, and what is counted is as it is counted anew."""
    loads = np.zeros(len(trees.ends), int)
    for topic in range(len(trees.topic_indptr) - 1):
        graph = graph_of(trees, topic)
        assert not len(graph) or nx.is_tree(graph)
        for a, b, link in graph.edges(data="link"):
            assert sorted(trees.ends[link]) == sorted((trees.nodes[a], trees.nodes[b]))
            loads[link] += 1
    assert np.maximum(trees.loads[:-1], 0).tolist() == loads.tolist()
    assert trees.counts[USED] == np.count_nonzero(loads)
    capped = np.minimum(loads, len(trees.energies) - 1)
    assert trees.counts[ENERGY] == trees.energies[capped].sum()
    used = loads > 0
    assert trees.prices[:-1][used].tolist() == trees.shares[capped][used].tolist()
    open_links = sorted(set(range(len(loads))) - set(trees.free[: trees.counts[FREE]].tolist()))
    assert sorted(link for own in links_by_node(trees) for link in own) == sorted(2 * open_links)
    assert set(np.flatnonzero(used)) <= set(open_links)


def test_the_first_trees_are_sound_and_use_links_of_the_overlay(interests, trees):
    assert_sound(trees)
    edges, loads = links_in_use(trees)
    given = {tuple(sorted(edge)) for edge in mw.build(interests, "gm").edges.tolist()}
    assert {tuple(sorted(edge)) for edge in edges.tolist()} <= given
    assert loads.sum() == np.count_nonzero(trees.parents != NONE)


def test_a_slot_is_that_of_the_node_in_the_topic(interests, trees):
    for topic in range(interests.topic_count):
        start, end = trees.topic_indptr[topic], trees.topic_indptr[topic + 1]
        expected = dict(zip(trees.nodes[start:end].tolist(), range(start, end), strict=True))
        for node in range(interests.node_count):
            assert slot_of(trees, node, topic) == expected.get(node, NONE)


def test_the_weakest_link_between_two_slots_has_the_least_load(trees):
    for topic in range(len(trees.topic_indptr) - 1):
        graph = graph_of(trees, topic)
        slots = sorted(graph)[::3]
        for a in slots:
            for b in slots:
                way = nx.shortest_path(graph, a, b)
                loads = [graph.edges[pair]["load"] for pair in itertools.pairwise(way)]
                found, near = weakest(trees, a, b)
                if not loads:
                    assert found == NONE
                    continue
                assert trees.loads[trees.via[found]] == min(loads)
                assert found in way
                above = nx.shortest_path(graph, found, int(trees.parents[found]))[1]
                assert above in way
                assert near == (way.index(above) > way.index(found))


def test_what_is_rewired_is_sound_and_can_be_undone(trees):
    before = contents(trees)
    for topic in range(len(trees.topic_indptr) - 1):
        for half in links_by_node(trees):
            for link in half:
                a, b = (slot_of(trees, int(node), topic) for node in trees.ends[link])
                if NONE in (a, b) or trees.counts[LOGGED] > 1_000:
                    continue
                slot, near = weakest(trees, a, b)
                low, other = (a, b) if near else (b, a)
                if slot != NONE and trees.via[slot] != link:
                    rewire(trees, low, slot, other, link)
    assert trees.counts[LOGGED] > 0
    assert_sound(trees)
    undo(trees, 0)
    assert contents(trees) == before


@pytest.mark.parametrize("warmth", [0.0, 30.0, 3_000.0])
def test_trees_stay_sound_however_warm_the_search_is(interests, trees, warmth):
    room, order = make_room(trees), np.arange(interests.node_count, dtype=np.int32)
    for key in range(5):
        search(trees, room, order, key, warmth, TICKS)
        assert_sound(trees)
        assert not room.scores.any()


def test_a_cold_search_raises_no_energy(interests, trees):
    energy = trees.counts[ENERGY]
    search(trees, make_room(trees), np.arange(interests.node_count, dtype=np.int32), 1, 0.0, TICKS)
    assert trees.counts[ENERGY] < energy


def test_a_cancelled_search_changes_nothing(interests, trees):
    before = trees.parents.tolist()
    order = np.arange(interests.node_count, dtype=np.int32)
    search(trees, make_room(trees), order, 1, 3_000.0, np.array([0, 1]))
    assert trees.parents.tolist() == before
