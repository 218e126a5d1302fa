"""Routing on whatever overlays, subscribers, failures and losses hypothesis finds."""

from collections import Counter
from dataclasses import replace

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import meshwright as mw
from meshwright.net import Simulator, What
from meshwright.routing.protocols import Publication, nsmf_routers, peers_of
from meshwright.routing.trees import topic_trees
from tests import oracles, oracles_small_world
from tests.helpers import interests_of, topics_by_node
from tests.strategies import topic_sets

SMALL_WORLDS = ("chord", "random-sw", "gr-swico")


@st.composite
def one_topic(draw):
    """Up to 200 nodes, any subscribers of a topic, and one of these as issuer; all share another topic."""
    count = draw(st.integers(1, 200))
    subscribers = draw(st.sets(st.integers(0, count - 1), min_size=1))
    issuer = draw(st.sampled_from(sorted(subscribers)))
    return count, subscribers, issuer


@settings(max_examples=150)
@given(
    one_topic(),
    st.sampled_from(SMALL_WORLDS),
    st.one_of(st.none(), st.integers(8, 62)),
    st.booleans(),
    st.booleans(),
    st.integers(0, 2**20),
)
def test_a_publication_reaches_every_subscriber_exactly_once(case, name, bits, whole, both_ways, seed):
    count, subscribers, issuer = case
    names = [f"n{node:03}" for node in range(count)]
    interests = mw.Interests.from_pairs(
        [(names[node], "t") for node in subscribers] + [(node, "u") for node in names[::3]], nodes=names
    )
    fingers = mw.Fingers.of(mw.build(interests, name, bits=bits, whole_phases=whole, seed=seed))
    peers = peers_of(fingers, both_ways)
    routers = nsmf_routers(interests, fingers, peers)
    course = []
    simulator = Simulator(routers, watch=course.append)
    simulator.inject(issuer, routers[issuer].publish(Publication(0, 0)))
    simulator.run()
    delivered = Counter(seen.target for seen in course if seen.what is What.DELIVERED)
    assert delivered == dict.fromkeys(subscribers - {issuer}, 1)
    sent = [(seen.source, seen.target, seen.message.hops) for seen in course if seen.what is What.SENT]
    known = {v: peers.nodes[peers.indptr[v] : peers.indptr[v + 1]].tolist() for v in range(count)}
    positions = dict(enumerate(fingers.positions.tolist()))
    assert sorted(sent) == sorted(
        oracles_small_world.nsmf(subscribers, known, positions, fingers.space, issuer)
    )
    received = Counter(target for _, target, _ in sent)
    assert set(received.values()) <= {1}  # no node is passed twice


@settings(max_examples=60)
@given(
    st.integers(2, 200),
    st.sampled_from(SMALL_WORLDS),
    st.one_of(st.none(), st.integers(8, 62)),
    st.booleans(),
    st.integers(0, 2**20),
)
def test_between_two_nodes_are_at_most_two_hops_a_phase_and_one_on_chord(nodes, name, bits, both_ways, seed):
    sparse = {"bits": bits} if name == "chord" else {}
    pairs = [(f"n{node:03}", f"t{node:03}") for node in range(nodes)]
    pairs += [(f"n{(7 * node + seed) % nodes:03}", f"t{node:03}") for node in range(nodes)]
    overlay = mw.build(mw.Interests.from_pairs(pairs), name, seed=seed, **sparse)
    found = mw.route(overlay, "nsmf", [(topic, node) for node, topic in pairs], both_ways=both_ways)
    assert found.delivered_fraction == 1
    assert found.maximum_path_length <= (1 if name == "chord" else 2) * overlay.facts["phases"]


@st.composite
def ways(draw):
    """An overlay, and how publications are carried over it, perhaps with losses and failures."""
    topics = draw(topic_sets(max_nodes=25, max_topics=6))
    protocol = draw(st.sampled_from(["flood", "tree", "nsmf"]))
    name = draw(st.sampled_from(SMALL_WORLDS if protocol == "nsmf" else ("gm", "ring")))
    options = {"bits": draw(st.sampled_from([None, 9]))} if protocol == "nsmf" else {}
    overlay = mw.build(interests_of(topics), name, seed=draw(st.integers(0, 99)), **options)
    failed = draw(st.sets(st.integers(0, len(topics) - 1), max_size=8)) if topics else set()
    able = any(own for node, own in enumerate(topics) if node not in failed)
    given_ = {
        "publications": 12 if able else 0,
        "loss": draw(st.sampled_from([0.0, 0.2, 1.0])),
        "failed": [f"n{node}" for node in failed],
    }
    if protocol == "nsmf":
        given_["both_ways"] = draw(st.booleans())
    return overlay, protocol, given_


@settings(max_examples=100)
@given(ways(), st.integers(0, 99))
def test_the_kernels_count_what_the_protocols_do(way, seed):
    overlay, protocol, given_ = way
    swept, simulated = (
        mw.route(overlay, protocol, seed=seed, simulate=flag, **given_) for flag in (False, True)
    )
    assert swept == simulated
    assert np.array_equal(swept.received, simulated.received)
    assert np.array_equal(swept.sent, simulated.sent)
    assert swept.by_publication.equals(simulated.by_publication)


@settings(max_examples=40)
@given(topic_sets(max_nodes=12), st.sampled_from(["gm", "ring"]), st.integers(0, 99))
def test_a_flood_takes_shortest_paths_and_each_link_once_in_each_direction_but_to_parents(topics, name, seed):
    interests = interests_of(topics)
    overlay = mw.build(interests, name, seed=seed)
    pairs = [(topic, node) for topic in interests.topics.to_pylist() for node in interests.nodes_of(topic)]
    found = mw.route(overlay, "flood", pairs).by_publication.to_pydict()
    ids = {node: at for at, node in enumerate(interests.nodes.to_pylist())}
    for at, (topic, node) in enumerate(pairs):
        graph = oracles.topic_graph(
            topics_by_node(interests), overlay.edges.tolist(), interests.topics.to_pylist().index(topic)
        )
        distances = nx.single_source_shortest_path_length(graph, ids[node])
        assert found["hops"][at] == sum(distances.values())
        assert found["deliveries"][at] == len(graph) - 1
        assert found["messages"][at] == 2 * graph.number_of_edges() - len(graph) + 1
        assert found["duplicates"][at] == found["messages"][at] - found["deliveries"][at]


@settings(max_examples=40)
@given(topic_sets(max_nodes=12), st.sampled_from(["shortest", "cheapest"]), st.integers(0, 99))
def test_a_topics_tree_spans_it_and_is_the_shortest_or_the_cheapest(topics, kind, seed):
    interests = interests_of(topics)
    random = np.random.default_rng(seed)
    costs = random.integers(1, 9, (len(topics), len(topics))).astype(float)
    names = interests.nodes.to_pylist()
    overlay = mw.build(interests, "ring", costs=mw.Costs.from_matrix(costs + costs.T, names), seed=seed)
    price = {tuple(edge): cost for edge, cost in zip(overlay.edges.tolist(), overlay.costs, strict=True)}
    trees = topic_trees(overlay, kind)
    for topic in range(interests.topic_count):
        graph = oracles.topic_graph(topics_by_node(interests), overlay.edges.tolist(), topic)
        for u, v in graph.edges:
            graph[u][v]["weight"] = price[min(u, v), max(u, v)]
        span = slice(trees.topic_indptr[topic], trees.topic_indptr[topic + 1])
        parents = dict(zip(trees.nodes[span].tolist(), trees.parents[span].tolist(), strict=True))
        tree = graph.edge_subgraph((v, parent) for v, parent in parents.items() if parent >= 0).copy()
        tree.add_nodes_from(parents)
        assert nx.is_tree(tree)
        assert set(tree) == set(graph)
        root = next(v for v, parent in parents.items() if parent < 0)
        if kind == "cheapest":
            assert tree.size("weight") == nx.minimum_spanning_tree(graph).size("weight")
        else:
            lengths = (nx.single_source_dijkstra_path_length(found, root) for found in (tree, graph))
            assert next(lengths) == next(lengths)


@given(topic_sets(max_nodes=12), st.sampled_from(["gm", "ring", "low-oda"]), st.integers(0, 99))
def test_trees_by_hops_are_those_of_links_that_all_cost_one(topics, name, seed):
    overlay = mw.build(interests_of(topics), name, seed=seed)
    one, other = (topic_trees(each) for each in (overlay, replace(overlay, costs=np.ones(len(overlay)))))
    assert np.array_equal(one.parents, other.parents)
    assert np.array_equal(one.links.edge_ids, other.links.edge_ids)
