"""Overlays that withstand a failure and keep to caps, by networkx, and by all overlays there are."""

import warnings
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshwright import InfeasibleError, InputError, Interests, Maintainer, build, primary_links, standby_links
from meshwright.construct.resilient import least_edges
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
        now = live.overlay
        assert links == set(map(frozenset, now.to_networkx().edges))
        graphs = dict(zip(now.interests.topics.to_pylist(), topic_graphs(now), strict=True))
        assert all(nx.is_connected(graph) for graph in graphs.values())
        assert repair.unprotected == tuple(name for name, graph in graphs.items() if not survives(graph))
        degrees = zip(now.interests.nodes.to_pylist(), now.degrees().tolist(), strict=True)
        over = tuple(name for name, degree in degrees if degree > (cap or 99))
        assert repair.over_max_links == over
        assert cap is not None or not repair.unprotected
    restored = Maintainer.restore(live.snapshot())
    assert restored.start.over_max_links == tuple(sorted(restored.start.over_max_links))
    assert restored.join("new", ["t0"]).added == live.join("new", ["t0"]).added
