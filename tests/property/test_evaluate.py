"""Every number of an evaluation against networkx, and the bound against all overlays there are."""

from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshwright import Interests, Overlay, evaluate


def interests_of(rows, topic_count):
    wants = np.zeros((len(rows), topic_count), np.int32)
    for node, topics in enumerate(rows):
        wants[node, list(topics)] = 1
    return Interests.from_scipy(wants)


def some_interests(most_nodes, most_topics):
    return st.integers(1, most_topics).flatmap(
        lambda topics: st.lists(st.sets(st.integers(0, topics - 1)), max_size=most_nodes).map(
            lambda rows: interests_of(rows, topics)
        )
    )


@st.composite
def overlays(draw, with_costs=False):
    interests = draw(some_interests(14, 5))
    pairs = list(combinations(range(interests.node_count), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    costs = draw(st.lists(st.floats(0.01, 100), min_size=len(edges), max_size=len(edges)))
    return Overlay.from_arrays(interests, np.array(edges).reshape(-1, 2), costs if with_costs else None)


def topic_graphs(overlay):
    """By topic: the sub-overlay of its subscribers."""
    graph = overlay.to_networkx()
    return [graph.subgraph(overlay.interests.nodes_of(t)) for t in overlay.interests.topics.to_pylist()]


def star_per_topic(interests):
    starts = interests.topic_indptr
    rows = [interests.node_ids[first:last] for first, last in pairwise(starts)]
    return {(int(row[0]), int(node)) for row in rows for node in row[1:]}


def ring_per_topic(interests):
    starts = interests.topic_indptr
    rows = [interests.node_ids[first:last] for first, last in pairwise(starts)]
    pairs = {tuple(sorted(pair)) for row in rows for pair in pairwise([*row.tolist(), *row[:1].tolist()])}
    return {pair for pair in pairs if pair[0] != pair[1]}


def connects_all_topics(interests, edges):
    """Whether edges, pairs of ids, make a topic-connected overlay: by growing from one subscriber."""
    for first, last in pairwise(interests.topic_indptr):
        missing = set(interests.node_ids[first:last].tolist())
        reached = {missing.pop()} if missing else set()
        while grown := {v for u, v in [*edges, *((v, u) for u, v in edges)] if u in reached and v in missing}:
            reached |= grown
            missing -= grown
        if missing:
            return False
    return True


@given(overlays())
def test_degrees_and_clustering_are_those_of_networkx(overlay):
    graph, found = overlay.to_networkx(), evaluate(overlay)
    degrees = [graph.degree[node] for node in overlay.interests.nodes.to_pylist()]
    assert found.degrees.tolist() == degrees
    assert found.degree_distribution().tolist() == (nx.degree_histogram(graph) if degrees else [0])
    assert found.maximum_degree == max(degrees, default=0)
    assert found.average_degree == pytest.approx(np.mean(degrees) if degrees else 0.0)
    assert found.clustering_coefficient == pytest.approx(nx.average_clustering(graph) if degrees else 0.0)


@given(overlays())
def test_connectivity_and_support_are_those_of_networkx(overlay):
    found, graphs = evaluate(overlay, diameters=False, bound=False), topic_graphs(overlay)
    components = [nx.number_connected_components(graph) for graph in graphs]
    assert found.components_per_topic.tolist() == components
    assert found.topic_connected == all(count <= 1 for count in components)
    names = overlay.interests.topics.to_pylist()
    broken = {name: count for name, count in zip(names, components, strict=True) if count > 1}
    assert found.disconnected_topic_components() == broken
    assert found.disconnected_topics == len(broken)
    alone, needed = len(overlay.interests), sum(len(graph) > 0 for graph in graphs)
    ratio = (alone - sum(components)) / (alone - needed) if alone > needed else 1.0
    assert found.tco_support_ratio == pytest.approx(ratio)


@given(overlays())
def test_cut_nodes_bridges_and_the_worst_node_are_those_of_networkx(overlay):
    found, graphs = evaluate(overlay, diameters=False, bound=False), topic_graphs(overlay)
    cut_nodes = [set(nx.articulation_points(graph)) for graph in graphs]
    assert found.cut_nodes_per_topic.tolist() == [len(nodes) for nodes in cut_nodes]
    assert found.bridges_per_topic.tolist() == [len(list(nx.bridges(graph))) for graph in graphs]
    assert found.cut_nodes_topics == sum(map(bool, cut_nodes))
    assert found.cut_nodes == len(set().union(*cut_nodes))
    lost = {node: [0, 0] for node in sorted(set().union(*cut_nodes))}
    for graph, nodes in zip(graphs, cut_nodes, strict=True):
        for node in nodes:
            left = nx.node_connected_component(graph, node) - {node}
            parts = nx.connected_components(graph.subgraph(left))
            lost[node][0] += 1
            lost[node][1] += len(left) - max(map(len, parts))
    worst = sorted(lost.items(), key=lambda item: -item[1][1])
    told = [(node.name, [node.topics, node.cut_off]) for node in found.dangerous_nodes]
    assert told == worst[:10]
    assert found.worst_node == (worst[0][0] if worst else None)


@given(overlays())
def test_diameters_are_those_of_networkx(overlay):
    found, expected = evaluate(overlay, bound=False), []
    for graph, diameter in zip(topic_graphs(overlay), found.diameter_per_topic.tolist(), strict=True):
        if len(graph) and nx.is_connected(graph):
            expected.append(nx.diameter(graph))
            assert diameter == expected[-1]
        else:
            assert diameter == (-1 if len(graph) else 0)
    if expected:
        assert found.maximum_topic_diameter == max(expected)
        assert found.mean_topic_diameter == pytest.approx(np.mean(expected))


@st.composite
def cores_with_tails(draw):
    """One topic: a connected graph, and at each of its nodes a path of any length."""
    size = draw(st.integers(3, 9))
    pairs = list(combinations(range(size), 2))
    edges = {(draw(st.integers(0, node - 1)), node) for node in range(1, size)}
    edges |= set(draw(st.lists(st.sampled_from(pairs), max_size=8)))
    count = size
    for node in range(size):
        tail = draw(st.integers(0, 5))
        edges |= set(pairwise([node, *range(count, count + tail)]))
        count += tail
    return Overlay.from_arrays(interests_of([{0}] * count, 1), np.array(sorted(edges)))


@given(cores_with_tails())
def test_diameters_with_tails_are_those_of_networkx(overlay):
    assert evaluate(overlay, bound=False).maximum_topic_diameter == nx.diameter(overlay.to_networkx())


@given(overlays(with_costs=True))
def test_weighted_measures_are_those_of_networkx(overlay):
    found, expected = evaluate(overlay, bound=False), []
    for graph, diameter in zip(
        topic_graphs(overlay), found.weighted_diameter_per_topic.tolist(), strict=True
    ):
        if len(graph) and nx.is_connected(graph):
            expected.append(nx.diameter(graph, weight="cost"))
            assert diameter == pytest.approx(expected[-1], rel=1e-9)
        else:
            assert diameter == (-1.0 if len(graph) else 0.0)
    if expected:
        assert found.maximum_weighted_topic_diameter == pytest.approx(max(expected), rel=1e-9)
        assert found.mean_weighted_topic_diameter == pytest.approx(np.mean(expected), rel=1e-9)
    total = sum(cost for _, _, cost in overlay.to_networkx().edges(data="cost"))
    assert found.weighted_average_degree == pytest.approx(2 * total / max(1, overlay.interests.node_count))


@given(st.booleans().flatmap(lambda with_costs: overlays(with_costs=with_costs)))
def test_the_load_of_a_topic_is_that_of_its_subgraph_in_networkx(overlay):
    found, graphs = evaluate(overlay, diameters=False, bound=False), topic_graphs(overlay)
    assert found.subscribers_per_topic.tolist() == [len(graph) for graph in graphs]
    assert found.links_per_topic.tolist() == [graph.number_of_edges() for graph in graphs]
    if overlay.costs is None:
        assert found.cost_per_topic is None
    else:
        assert found.cost_per_topic == pytest.approx([graph.size("cost") for graph in graphs])


@given(some_interests(30, 12), st.sampled_from([star_per_topic, ring_per_topic]))
def test_a_topic_connected_overlay_is_found_so_and_has_at_least_the_bound(interests, builder):
    overlay = Overlay.from_arrays(interests, np.array(sorted(builder(interests)), np.int32).reshape(-1, 2))
    found = evaluate(overlay)
    assert found.topic_connected
    assert found.tco_support_ratio == 1.0
    assert found.lower_bound_average_degree <= found.average_degree + 1e-12


@given(some_interests(5, 8))
def test_no_overlay_at_all_beats_the_bound(interests):
    pairs = list(combinations(range(interests.node_count), 2))
    fewest = next(
        count
        for count in range(len(pairs) + 1)
        if any(connects_all_topics(interests, edges) for edges in combinations(pairs, count))
    )
    overlay = Overlay.from_arrays(interests, np.empty((0, 2), np.int32))
    bound = evaluate(overlay).lower_bound_average_degree
    assert bound <= 2 * fewest / max(1, interests.node_count) + 1e-12
