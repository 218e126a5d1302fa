"""Overlays that withstand a failure and keep to caps, by networkx, and by all overlays there are."""

import warnings
from itertools import combinations, pairwise
from unittest.mock import patch

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from meshwright import (
    Costs,
    InfeasibleError,
    InputError,
    Interests,
    Maintainer,
    build,
    building,
    primary_links,
    standby_links,
)
from meshwright.construct import resilient as resilient_module
from meshwright.construct.augmenting import Augmentation
from meshwright.construct.resilient import ends_in_need, least_edges
from meshwright.runtime.errors import MeshwrightWarning
from tests.property.test_evaluate import some_interests, topic_graphs

ALGORITHMS = ["gm", "dg", "low-oda", "dc", "dcbc", "dcbc-direct"]


@pytest.fixture(autouse=True)
def _small_topics_are_no_surprise():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshwrightWarning)
        yield


def survives(graph: nx.Graph) -> bool:
    """Whether a topic stays connected without any one node; a topic of two needs its link."""
    return len(graph) < 2 or (nx.is_connected(graph) and (len(graph) < 3 or nx.is_biconnected(graph)))


@given(some_interests(12, 5), st.sampled_from(ALGORITHMS), st.integers(0, 3))
def test_every_topic_survives_every_single_failure_and_no_link_is_idle(interests, algorithm, seed):
    overlay = build(interests, algorithm, resilience=2, seed=seed)
    assert all(map(survives, topic_graphs(overlay)))
    assert len(overlay) >= (least_edges(interests) or 0)
    assert all(len(graph) == 0 or nx.is_connected(graph) for graph in topic_graphs(primary_links(overlay)))
    if algorithm not in ("gm", "dg", "low-oda"):
        return  # parts can't know which links others make superfluous
    graph = overlay.to_networkx()
    for u, v in list(graph.edges):
        graph.remove_edge(u, v)
        assert not all(survives(graph.subgraph(interests.nodes_of(t))) for t in interests.topics.to_pylist())
        graph.add_edge(u, v)


@given(some_interests(16, 6), st.integers(1, 8), st.integers(2, 9), st.integers(0, 3))
def test_parts_survive_together_whatever_they_are(interests, partitions, most_stars, seed):
    several = min(partitions, max(1, interests.node_count))
    divided = {"partitions": several, "most_stars": most_stars}
    bulk = {"bulk_share": 0.3, "partitions": several, "ties": ("shuffled", "bulk-first")[seed % 2]}
    for algorithm, how in (("dc", divided), ("dcbc", bulk), ("dcbc-direct", {"bulk_size": 4, "crowd": 5})):
        overlay = build(interests, algorithm, resilience=2, seed=seed, **how)
        assert all(map(survives, topic_graphs(overlay))), algorithm


@given(some_interests(12, 5), st.sampled_from(ALGORITHMS), st.integers(1, 6), st.integers(1, 2))
def test_caps_are_kept_or_refused(interests, algorithm, cap, resilience):
    try:
        overlay = build(interests, algorithm, max_links=cap, resilience=resilience)
    except InfeasibleError:
        return
    assert overlay.degrees().max(initial=0) <= cap
    meets = survives if resilience == 2 else lambda graph: len(graph) == 0 or nx.is_connected(graph)
    assert all(map(meets, topic_graphs(overlay)))


@given(some_interests(5, 3), st.integers(1, 3), st.integers(1, 2))
def test_what_is_proved_impossible_no_overlay_does(interests, cap, resilience):
    try:
        build(interests, "gm", max_links=cap, resilience=resilience)
    except InfeasibleError as error:
        if not error.proved:
            return
    else:
        return
    names = interests.nodes.to_pylist()
    members = [interests.nodes_of(topic) for topic in interests.topics.to_pylist()]
    pairs = list(combinations(names, 2))
    for chosen in range(2 ** len(pairs)):
        graph = nx.Graph()
        graph.add_nodes_from(names)
        graph.add_edges_from(pair for at, pair in enumerate(pairs) if chosen >> at & 1)
        if max((degree for _, degree in graph.degree), default=0) <= cap:
            graphs = [graph.subgraph(own) for own in members]
            holds = survives if resilience == 2 else lambda own: len(own) == 0 or nx.is_connected(own)
            assert not all(map(holds, graphs))


@pytest.mark.parametrize("algorithm", ["gm", "dg"])
def test_an_algorithm_whose_links_would_not_count_does_not_run(algorithm):
    interests = Interests.from_scipy((np.random.default_rng(1).random((30, 6)) < 0.4).astype(np.int32))
    with patch.object(resilient_module, "_FEW", 10), patch.object(building, "_run") as run:
        overlay = build(interests, algorithm, resilience=2)
    run.assert_not_called()
    assert all(map(survives, topic_graphs(overlay)))
    assert all(map(nx.is_connected, topic_graphs(primary_links(overlay))))
    assert "links_before" not in overlay.facts


def test_primary_links_connect_all_topics_and_the_others_are_standby():
    interests = Interests.from_scipy((np.random.default_rng(1).random((30, 6)) < 0.4).astype(np.int32))
    plain, resilient = build(interests, "gm"), build(interests, "gm", resilience=2)
    after = set(map(tuple, resilient.edges.tolist()))
    table = resilient.tables["standby"]
    listed = set(zip(table["source_id"].to_pylist(), table["target_id"].to_pylist(), strict=True))
    assert set(map(tuple, standby_links(resilient).edges.tolist())) == listed
    assert all(map(nx.is_connected, topic_graphs(primary_links(resilient))))
    assert set(map(tuple, primary_links(resilient).edges.tolist())) == after - listed
    with pytest.raises(InputError, match="has no standby links; build it with resilience=2"):
        standby_links(plain)
    assert resilient.facts["links_before"] == len(plain)
    assert table["source"].to_pylist() == [
        interests.nodes[node].as_py() for node in table["source_id"].to_pylist()
    ]


def check_told(repair, live, cap):
    """Compare what a repair says with networkx: every topic connected, who lacks spares, who is over."""
    now = live.overlay
    graphs = dict(zip(now.interests.topics.to_pylist(), topic_graphs(now), strict=True))
    assert all(nx.is_connected(graph) for graph in graphs.values())
    assert repair.unprotected == tuple(name for name, graph in graphs.items() if not survives(graph))
    degrees = zip(now.interests.nodes.to_pylist(), now.degrees().tolist(), strict=True)
    assert repair.over_max_links == tuple(name for name, degree in degrees if degree > (cap or 99))


@given(some_interests(9, 4))
def test_who_needs_a_link(interests):
    edges = build(interests, "gm").edges
    graphs = topic_graphs(build(interests, "gm"))
    names = interests.nodes.to_pylist()
    links = [(names[u], names[v]) for u, v in edges.tolist()]
    needs = [
        sum(own.degree(end) <= 2 for own in graphs if own.has_edge(*link) for end in link) for link in links
    ]
    assert ends_in_need(interests, edges).tolist() == needs


moves = st.tuples(
    st.sampled_from(["join", "leave", "subscribe", "unsubscribe"]),
    st.integers(0, 11),
    st.sets(st.integers(0, 4), min_size=1),
)


@given(some_interests(10, 5), st.lists(moves, max_size=12), st.sampled_from([None, 3, 6]), st.integers(0, 1))
def test_a_maintainer_keeps_spares_and_caps_or_says_what_is_missing(interests, events, cap, seed):
    overlay = build(interests, "gm", resilience=2)
    live = Maintainer(overlay, policy=("shadow", "naive")[seed], resilience=2, max_links=cap, seed=seed)
    links = {frozenset(pair) for pair in overlay.to_networkx().edges} - set(
        map(frozenset, live.start.removed)
    )
    links |= set(map(frozenset, live.start.added))
    for kind, node, topics in events:
        if (f"n{node}" in live) == (kind == "join"):
            continue
        chosen = [f"t{topic}" for topic in sorted(topics)]
        repair = live.leave(f"n{node}") if kind == "leave" else getattr(live, kind)(f"n{node}", chosen)
        links = (links - set(map(frozenset, repair.removed))) | set(map(frozenset, repair.added))
        assert links == set(map(frozenset, live.overlay.to_networkx().edges))
        check_told(repair, live, cap)
        assert cap is not None or not repair.unprotected
    restored = Maintainer.restore(live.snapshot())
    assert restored.start.over_max_links == tuple(sorted(restored.start.over_max_links))
    assert restored.join("new", ["t0"]).added == live.join("new", ["t0"]).added


@given(some_interests(10, 5), st.sampled_from([None, 2, 4]), st.sampled_from(["gm", "low-oda"]), st.data())
def test_a_relink_keeps_spares_and_tells_what_is_missing(interests, cap, algorithm, data):
    live = Maintainer(build(interests, algorithm), resilience=2, max_links=cap)
    names, graph = interests.nodes.to_pylist(), live.overlay.to_networkx()
    linked = sorted(map(sorted, graph.edges))
    free = [[a, b] for a, b in combinations(names, 2) if live.topics_of(a) & live.topics_of(b)]
    free = [pair for pair in free if not graph.has_edge(*pair)]
    add = data.draw(st.lists(st.sampled_from(free), unique_by=tuple) if free else st.just([]))
    remove = data.draw(st.lists(st.sampled_from(linked), unique_by=tuple) if linked else st.just([]))
    most, before = data.draw(st.integers(0, 3)), live.start.unprotected
    degrees = nx.Graph(list(graph.edges) + add).degree
    over = {end for end, degree in degrees if degree > (cap or 99)} & {end for link in add for end in link}
    if over:
        with pytest.raises(InputError, match=rf"'({'|'.join(over)})' may have {cap} links?, and has"):
            live.relink(add, remove, most_removed=most)
        return
    repair = live.relink(add, remove, most_removed=most)
    assert set(repair.unprotected) <= set(before)
    check_told(repair, live, cap)
    assert len(repair.removed) <= most
    if len(repair.removed) == most or before:
        return
    left = live.overlay.to_networkx()  # nothing that could go has stayed
    for a, b in set(map(tuple, remove)) - set(repair.removed):
        left.remove_edge(a, b)
        assert not all(survives(left.subgraph(interests.nodes_of(t))) for t in interests.topics.to_pylist())
        left.add_edge(a, b)


@given(some_interests(10, 5), st.lists(moves, max_size=4), st.sampled_from([None, 3, 5]), st.integers(2, 6))
def test_reoptimising_keeps_spares_and_caps_at_every_step(interests, events, cap, most):
    live = Maintainer(build(interests, "low-oda", resilience=2), resilience=2, max_links=cap)
    for kind, node, topics in events:
        if kind == "subscribe" and f"n{node}" in live:
            live.subscribe(f"n{node}", [f"t{topic}" for topic in sorted(topics)])
    told = live.relink()
    target = build(live.overlay.interests, "gm", resilience=2)
    for repair in live.reoptimise(most, target):
        assert len(repair.added) + len(repair.removed) <= most
        assert set(repair.unprotected) <= set(told.unprotected)
        assert set(repair.over_max_links) <= set(told.over_max_links)
        check_told(repair, live, cap)
        told = repair
    if cap is None:
        assert set(map(frozenset, live.overlay.to_networkx().edges)) == set(
            map(frozenset, target.to_networkx().edges)
        )


def blocks_of(graph: nx.Graph) -> int:
    """How many blocks, or links that no circle has, a graph consists of."""
    return sum(1 for _ in nx.biconnected_components(graph))


@pytest.mark.parametrize("kind", ["connect", "thicken"])
@given(some_interests(8, 4), st.sampled_from([None, 1, 2]), st.sampled_from([3, 99]), st.integers(0, 9))
def test_every_link_is_worth_nearly_the_most_that_any_is_worth(kind, interests, spread, cap, seed):
    """Contribution per cost, by networkx, of all links that the caps allow when a link is taken."""
    nodes, rng = interests.node_count, np.random.default_rng(seed)
    assume(nodes > 1)
    matrix = np.ones((nodes, nodes))
    if spread is not None:
        matrix = 10.0 ** rng.uniform(0, spread, (nodes, nodes))
        matrix = np.maximum(matrix, matrix.T)
    costs = None if spread is None else Costs.from_matrix(matrix)
    order = rng.permutation(nodes).astype(np.int32)
    grown = Augmentation(
        interests, order, np.full(nodes, 99), costs=None if costs is None else costs.arrays()
    )
    ticks, before = np.zeros(2, np.int64), 0
    if kind == "thicken":
        grown.connect(ticks)
        before = len(grown.edges)
    grown.caps = np.full(nodes, cap)
    getattr(grown, kind)(ticks)
    graph = nx.empty_graph(nodes)
    graph.add_edges_from(grown.edges[:before].tolist())
    members = [interests.node_ids[a:b].tolist() for a, b in pairwise(interests.topic_indptr.tolist())]
    measure = nx.number_connected_components if kind == "connect" else blocks_of

    def worth(u, v):
        both = [graph.subgraph(own) for own in members if u in own and v in own]
        was = sum(map(measure, both))
        had = graph.has_edge(u, v)
        graph.add_edge(u, v)
        gain = was - sum(map(measure, both))
        if not had:
            graph.remove_edge(u, v)
        return gain / matrix[u, v]

    for u, v in grown.edges[before:].tolist():
        free = [node for node in graph if graph.degree(node) < cap]
        assert {u, v} <= set(free)
        assert worth(u, v) >= 0.9 * max(worth(*pair) for pair in combinations(free, 2)) > 0
        graph.add_edge(u, v)
    free = [node for node in graph if graph.degree(node) < cap]
    assert all(worth(*pair) <= 0 for pair in combinations(free, 2))


@given(some_interests(10, 5), st.sampled_from([None, 3, 5]), st.integers(1, 2), st.integers(0, 3))
def test_with_costs_caps_and_spares_are_kept_too(interests, cap, resilience, seed):
    points = np.random.default_rng(seed).uniform(0, 9, (interests.node_count, 2)).tolist()
    places = dict(zip(interests.nodes.to_pylist(), points, strict=True))
    costs = Costs.coordinates(places, metric="euclidean", base=1)
    for algorithm in ("gr-maw", "dg-maw"):
        try:
            overlay = build(
                interests, algorithm, costs=costs, max_links=cap, resilience=resilience, seed=seed
            )
        except InfeasibleError:
            continue
        assert overlay.degrees().max(initial=0) <= (cap or 99)
        meets = survives if resilience == 2 else lambda graph: len(graph) == 0 or nx.is_connected(graph)
        assert all(map(meets, topic_graphs(overlay)))
