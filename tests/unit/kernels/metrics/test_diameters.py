"""Components and diameters of single graphs, weighted and not, against networkx."""

import networkx as nx
import numpy as np
import pytest

from meshwright.kernels.core.subgraphs import TopicGraphs
from meshwright.kernels.metrics.diameters import EXACT, NO_BUDGET, measure_topics
from meshwright.kernels.metrics.weighted_diameters import weighted_topic_diameters


def with_pendant_trees(graph, seed):
    """The graph with a random tree of a few vertices hung at some of its vertices."""
    rng = np.random.default_rng(seed)
    grown = nx.convert_node_labels_to_integers(graph)
    for _ in range(2 * len(graph)):
        grown.add_edge(int(rng.integers(len(grown))), len(grown))
    return grown


def hubs_with_many_leaves(hubs, leaves, seed):
    """What a few bulk nodes give: all others hold two links, to hubs."""
    rng = np.random.default_rng(seed)
    graph = nx.cycle_graph(hubs)
    for leaf in range(hubs, hubs + leaves):
        graph.add_edges_from((leaf, int(hub)) for hub in rng.choice(hubs, 2, replace=False))
    return graph


def with_tails(graph, longest, seed):
    """The graph with a path of random length hung at every vertex."""
    rng = np.random.default_rng(seed)
    grown = nx.convert_node_labels_to_integers(graph)
    for vertex in range(len(graph)):
        nx.add_path(grown, [vertex, *range(len(grown), len(grown) + int(rng.integers(longest + 1)))])
    return grown


def far_pair_that_is_searched_last():
    """A hub, 150 vertices that reach farthest from it, and two that do not but lie farthest apart.

    All have two links or more, so nothing is peeled. Distances are in costs; the two are the last vertices.
    """
    graph = nx.Graph()
    near = [f"near {i}" for i in range(200)]
    graph.add_edges_from(
        [("hub", vertex) for vertex in near] + list(zip(near[::2], near[1::2], strict=True)), cost=0.5
    )
    graph.add_edge("hub", "middle", cost=0.4)
    graph.add_edge("hub", "other middle", cost=0.4)
    for i in range(150):
        graph.add_edges_from([("middle", i), ("other middle", i)], cost=1.7)
    for end, ways in (("left", "ab"), ("right", "cd")):
        for way in ways:
            graph.add_edges_from([("hub", way), ("middle", way), ("other middle", way), (way, end)], cost=1.0)
    last = ["left", "right"]
    order = [vertex for vertex in graph if vertex not in last] + last
    return nx.relabel_nodes(graph, {vertex: number for number, vertex in enumerate(order)})


CONNECTED = {
    "nothing": nx.empty_graph(0),
    "one vertex": nx.empty_graph(1),
    "one edge": nx.path_graph(2),
    "path": nx.path_graph(200),
    "star": nx.star_graph(100),
    "balanced tree": nx.balanced_tree(3, 4),
    "triangle": nx.cycle_graph(3),
    "even cycle": nx.cycle_graph(130),
    "odd cycle": nx.cycle_graph(131),
    "sun": with_pendant_trees(nx.cycle_graph(30), 1),
    "complete": nx.complete_graph(70),
    "wheel": nx.wheel_graph(80),
    "grid": nx.grid_2d_graph(9, 17),
    "long ladder": nx.ladder_graph(400),
    "lollipop": nx.lollipop_graph(20, 50),
    "barbell": nx.barbell_graph(10, 33),
    "chain of cliques": nx.connected_caveman_graph(12, 6),
    "petersen": nx.petersen_graph(),
    "random regular": nx.random_regular_graph(3, 300, seed=1),
    "small world": nx.connected_watts_strogatz_graph(500, 4, 0.05, seed=1),
    "tree with core": with_pendant_trees(nx.random_regular_graph(3, 100, seed=2), 2),
    "core with tails": with_tails(nx.random_regular_graph(3, 90, seed=6), 9, 6),
    "small core with tails": with_tails(nx.wheel_graph(12), 20, 7),
    "scale free": nx.barabasi_albert_graph(400, 2, seed=3),
    "hubs": hubs_with_many_leaves(9, 600, 4),
    "hubs with trees": with_pendant_trees(hubs_with_many_leaves(5, 200, 5), 5),
}
SCATTERED = {
    "two vertices": nx.empty_graph(2),
    "many vertices": nx.empty_graph(70),
    "two trees": nx.disjoint_union(nx.path_graph(5), nx.star_graph(4)),
    "a tree and a cycle": nx.disjoint_union(nx.path_graph(5), nx.cycle_graph(5)),
    "two cores": nx.disjoint_union(nx.complete_graph(5), nx.petersen_graph()),
    "three cores and a vertex": nx.disjoint_union_all(
        [nx.grid_2d_graph(3, 3), nx.cycle_graph(4), nx.complete_graph(4), nx.empty_graph(1)]
    ),
}
both = pytest.mark.parametrize("name", [*CONNECTED, *SCATTERED])
connected = pytest.mark.parametrize("name", CONNECTED)


def shuffled(name):
    """The graph with vertices 0 to n - 1 in random order, and costs at its edges."""
    graph = {**CONNECTED, **SCATTERED}[name]
    rng = np.random.default_rng(7)
    graph = nx.relabel_nodes(graph, dict(zip(graph, rng.permutation(len(graph)).tolist(), strict=True)))
    for _, _, attributes in graph.edges(data=True):
        attributes["cost"] = float(rng.uniform(0.1, 10))
    return graph


def as_topics(*graphs):
    ends = [np.array(list(graph.edges), np.int32).reshape(-1, 2) for graph in graphs]
    sizes = np.array([len(graph) for graph in graphs])
    indptr = np.cumsum([0] + [len(pairs) for pairs in ends])
    edge_ids = np.arange(indptr[-1], dtype=np.int32)
    return TopicGraphs(0, sizes, indptr, np.concatenate(ends), edge_ids)


def measure(*graphs, with_diameters=True):
    components, diameters, least = np.full((3, len(graphs)), -7, np.int32)
    budget = EXACT if with_diameters else NO_BUDGET
    measure_topics(as_topics(*graphs), components, diameters, least, budget, np.zeros(2, np.int64))
    assert least.tolist() == diameters.tolist()
    return components.tolist(), diameters.tolist()


def measure_costs(*graphs, budget=EXACT):
    costs = np.array([cost for graph in graphs for _, _, cost in graph.edges(data="cost")], np.float64)
    costs.flags.writeable = False
    components = np.array(measure(*graphs)[0], np.int32)
    diameters, least = np.full((2, len(graphs)), -7.0)
    ticks = np.zeros(2, np.int64)
    weighted_topic_diameters(as_topics(*graphs), costs, components, diameters, least, budget, ticks)
    assert budget < EXACT or least.tolist() == diameters.tolist()
    return diameters.tolist() if budget == EXACT else (least.tolist(), diameters.tolist())


@both
def test_components_are_those_of_networkx(name):
    graph = shuffled(name)
    assert measure(graph)[0] == [nx.number_connected_components(graph)]
    assert measure(graph, with_diameters=False)[0] == [nx.number_connected_components(graph)]


@connected
def test_the_diameter_is_that_of_networkx(name):
    graph = shuffled(name)
    assert measure(graph)[1] == [nx.diameter(graph) if len(graph) else 0]


@connected
def test_the_weighted_diameter_is_that_of_networkx(name):
    graph = shuffled(name)
    expected = nx.diameter(graph, weight="cost") if len(graph) else 0.0
    assert measure_costs(graph) == pytest.approx([expected], rel=1e-12)


@connected
def test_with_equal_costs_both_diameters_are_the_same_number(name):
    graph = shuffled(name)
    nx.set_edge_attributes(graph, 0.1, "cost")
    assert measure_costs(graph) == pytest.approx([0.1 * d for d in measure(graph)[1]], rel=1e-12)


def test_a_far_pair_is_found_though_many_others_reach_farther_from_the_hub():
    graph = far_pair_that_is_searched_last()
    assert measure(graph)[1] == [4]
    assert measure_costs(graph) == pytest.approx([4.0])


@pytest.mark.parametrize("name", SCATTERED)
def test_what_is_not_connected_has_no_diameter(name):
    graph = shuffled(name)
    assert measure(graph)[1] == [-1]
    assert measure_costs(graph) == [-1.0]


def test_graphs_of_a_row_do_not_touch_each_other():
    graphs = [shuffled(name) for name in [*CONNECTED, *SCATTERED]]
    alone = [measure(graph) for graph in graphs]
    components, diameters = measure(*graphs)
    assert (components, diameters) == ([c[0] for c, _ in alone], [d[0] for _, d in alone])
    assert measure_costs(*graphs) == [measure_costs(graph)[0] for graph in graphs]


def test_without_diameters_none_is_measured():
    assert measure(nx.petersen_graph(), nx.path_graph(3), with_diameters=False)[1] == [-1, -1]


def test_after_a_wish_to_stop_nothing_more_is_measured():
    components, diameters, least = np.full((3, 1), -7, np.int32)
    measure_topics(as_topics(nx.path_graph(3)), components, diameters, least, EXACT, np.array([0, 1]))
    assert (components[0], diameters[0]) == (-7, -7)


@pytest.mark.parametrize("seed", range(4))
def test_within_a_budget_there_are_bounds_on_both_sides_whatever_the_order_of_edges(seed):
    graph = nx.random_regular_graph(3, 2_000, seed=seed)
    rng = np.random.default_rng(seed)
    for _, _, attributes in graph.edges(data=True):
        attributes["cost"] = float(rng.uniform(0.1, 10))
    [true], [true_cost] = measure(graph)[1], measure_costs(graph)
    topics = as_topics(graph)
    found = []
    for ends in (topics.ends, rng.permutation(topics.ends)):
        components, most, least = np.full((3, 1), -7, np.int32)
        measure_topics(topics._replace(ends=ends), components, most, least, 1, np.zeros(2, np.int64))
        found.append((int(least[0]), int(most[0])))
    assert found[0] == found[1]
    assert found[0][0] <= true <= found[0][1]
    [least_cost], [most_cost] = measure_costs(graph, budget=1)
    assert least_cost <= true_cost * (1 + 1e-12)
    assert true_cost <= most_cost * (1 + 1e-12)
    assert least_cost < most_cost


def test_a_larger_budget_gives_bounds_that_are_no_worse():
    graph = nx.random_regular_graph(3, 1_000, seed=1)
    bounds = []
    for budget in (1, 3_000 * 8, 3_000 * 20, EXACT):
        components, most, least = np.full((3, 1), -7, np.int32)
        measure_topics(as_topics(graph), components, most, least, budget, np.zeros(2, np.int64))
        bounds.append((int(least[0]), int(most[0])))
    lows, highs = zip(*bounds, strict=True)
    assert list(lows) == sorted(lows)
    assert list(highs) == sorted(highs, reverse=True)
    assert lows[-1] == highs[-1] == nx.diameter(graph)
    assert lows[0] < highs[0]
