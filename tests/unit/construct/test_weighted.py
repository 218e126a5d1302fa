"""The algorithms for links that cost, on instances that are known, awkward or large enough to cut."""

from functools import partial

import numpy as np
import pytest

import meshwright as mw
from meshwright.construct import candidates
from meshwright.construct.greedy import GreedyProblem, greedy_merge, tie_order
from meshwright.construct.options import DcMawOptions, GmOptions, GrMawOptions, PdMawOptions, TrMawOptions
from meshwright.construct.reverse_delete import by_cost, by_shared_topics, reverse_delete
from meshwright.construct.weighted import by_price as pricing
from meshwright.construct.weighted.by_price import (
    primal_dual,
    primal_dual_reverse_delete,
    take_cheapest,
    weighted_greedy,
)
from meshwright.construct.weighted.dc_maw import divide, weighted_divide_and_conquer
from meshwright.construct.weighted.tr_maw import tree_per_topic
from meshwright.kernels.greedy.prices import TIGHT
from meshwright.model.costs.costs import Costs
from meshwright.registry import imported
from meshwright.runtime.errors import CapacityError, InputError, OptionError
from tests import oracles, oracles_weighted
from tests.helpers import topics_by_node
from tests.shelf import AWKWARD

ALGORITHMS = {
    "tr-maw": (tree_per_topic, TrMawOptions()),
    "gr-maw": (weighted_greedy, GrMawOptions()),
    "pd-maw": (primal_dual, PdMawOptions()),
    "pdrd-maw": (primal_dual_reverse_delete, PdMawOptions()),
    "dc-maw": (weighted_divide_and_conquer, DcMawOptions(part_size=7)),
    "dc-maw by landmarks": (
        weighted_divide_and_conquer,
        DcMawOptions(divide_by="landmarks", landmarks=3, least_bin=2),
    ),
    "dc-maw, a tree": (
        weighted_divide_and_conquer,
        DcMawOptions(part_size=5, most_stars=4),
    ),
}
everyone = pytest.mark.parametrize("name", ALGORITHMS)


def pairs(edges):
    return [tuple(edge) for edge in np.asarray(edges).reshape(-1, 2).tolist()]


def at_random_points(interests, seed=0):
    points = np.random.default_rng(seed).random((interests.node_count, 2)).tolist()
    places = dict(zip(interests.nodes.to_pylist(), points, strict=True))
    return Costs.coordinates(places, base=0.05, metric="euclidean", columns=("x", "y"))


def on_sites(interests, sites=6, local=0.04, seed=0):
    random = np.random.default_rng(seed)
    points = random.random((sites, 2))
    matrix = 0.1 + np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    names = [f"s{site}" for site in range(sites)]
    where = {node: names[at % sites] for at, node in enumerate(interests.nodes.to_pylist())}
    return Costs.sites(Costs.from_matrix(matrix, names), where, local=local)


@pytest.fixture(scope="module")
def workload():
    return mw.workloads.unif(60, 16, min_subscriptions=3, max_subscriptions=7, seed=5)


@everyone
@pytest.mark.parametrize("interests", AWKWARD.values(), ids=AWKWARD.keys())
def test_awkward_interests_end_up_topic_connected(name, interests):
    build, options = ALGORITHMS[name]
    costs = Costs.from_matrix(np.ones((interests.node_count,) * 2), interests.nodes.to_pylist())
    edges = pairs(build(interests, costs, options, 0, None).edges)
    assert oracles.is_topic_connected(topics_by_node(interests), edges)
    assert len(set(edges)) == len(edges)
    assert all(u != v for u, v in edges)


@everyone
@pytest.mark.parametrize("place", [at_random_points, on_sites, partial(on_sites, local=0.5)])
def test_all_forms_of_costs_give_a_topic_connected_overlay(name, place, workload):
    build, options = ALGORITHMS[name]
    edges = pairs(build(workload, place(workload), options, 3, None).edges)
    assert oracles.is_topic_connected(topics_by_node(workload), edges)


@everyone
def test_the_same_seed_gives_the_same_edges_and_another_does_not(name, workload):
    build, options = ALGORITHMS[name]
    costs = on_sites(workload, sites=2)
    first, again, other = (pairs(build(workload, costs, options, seed, None).edges) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@everyone
def test_coordinates_and_their_matrix_give_the_same_edges(name, workload):
    build, options = ALGORITHMS[name]
    costs = at_random_points(workload).of(workload)
    matrix = Costs.from_matrix(costs.to_matrix(), workload.nodes.to_pylist())
    assert pairs(build(workload, costs, options, 0, None).edges) == pairs(
        build(workload, matrix, options, 0, None).edges
    )


@everyone
def test_costs_of_other_nodes_are_refused(name, workload):
    build, options = ALGORITHMS[name]
    costs = Costs.from_matrix(np.ones((3, 3)), ["x", "y", "z"])
    with pytest.raises(InputError, match="has no costs"):
        build(workload, costs, options, 0, None)


def lemma_10(n, extra=0.25):
    """[2], the instance of lemma 10: v0 has all topics, each other pair shares two, and costs 1."""
    topics = {"v0": {f"t{p}{q}" for p in range(1, n + 1) for q in range(1, n + 1)}}
    for p in range(1, n + 1):
        topics[f"v{p}"] = {f"t{p}{q}" for q in range(1, n + 1)} | {f"t{q}{p}" for q in range(1, n + 1)}
    interests = mw.Interests.from_pairs([(node, topic) for node, own in topics.items() for topic in own])
    matrix = np.ones((n + 1, n + 1))
    matrix[0] = matrix[:, 0] = (2 * n - 1) / 2 + extra
    return interests, Costs.from_matrix(matrix, [f"v{p}" for p in range(n + 1)])


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_on_the_instance_of_lemma_10_pd_takes_every_edge_and_pdrd_the_star(n):
    interests, costs = lemma_10(n)
    every = [(u, v) for u in range(n + 1) for v in range(u + 1, n + 1)]
    taken = pairs(primal_dual(interests, costs, PdMawOptions(), 0, None).edges)
    assert sorted((min(edge), max(edge)) for edge in taken) == every
    kept = pairs(primal_dual_reverse_delete(interests, costs, PdMawOptions(), 0, None).edges)
    assert sorted((min(edge), max(edge)) for edge in kept) == [(0, v) for v in range(1, n + 1)]


def test_with_equal_costs_gr_maw_is_gm_for_every_order_of_ties():
    interests = mw.workloads.unif(200, 30, min_subscriptions=3, max_subscriptions=12, seed=1)
    names = interests.nodes.to_pylist()
    costs = Costs.clusters(dict.fromkeys(names, "one"), inner=7.0, outer=7.0)
    for ties in ("shuffled", "small-first", "large-first"):
        built = weighted_greedy(interests, costs, GrMawOptions(ties=ties), 4, None)
        merged = greedy_merge(interests, None, GmOptions(ties=ties), 4, None)
        # gm takes the edges of its last level topic by topic, so only what it takes is the same there.
        assert sorted(pairs(built.edges)) == sorted(pairs(merged.edges))


@pytest.mark.parametrize("build", [weighted_greedy, primal_dual])
def test_neither_room_nor_threads_nor_the_form_of_interests_change_what_is_taken(build, monkeypatch):
    interests = mw.workloads.unif(150, 40, min_subscriptions=2, max_subscriptions=9, seed=3)
    options = GrMawOptions() if build is weighted_greedy else PdMawOptions()
    equal = Costs.clusters(dict.fromkeys(interests.nodes.to_pylist(), "one"), inner=1, outer=1)
    for costs in (on_sites(interests, sites=3), at_random_points(interests), equal):
        expected = pairs(build(interests, costs, options, 0, None).edges)
        with monkeypatch.context() as patch:
            patch.setattr(candidates, "_MOST", 1)
            assert pairs(build(interests, costs, options, 0, None).edges) == expected
            patch.setattr(pricing, "_HEAVY", 1)
            assert pairs(build(interests, costs, options, 0, None).edges) == expected
            patch.setattr(pricing, "cores", lambda: 3)
            patch.setattr(pricing, "threads", lambda: 3)
            assert pairs(build(interests, costs, options, 0, None).edges) == expected
            patch.setattr(GreedyProblem, "words", 0)
            assert pairs(build(interests, costs, options, 0, None).edges) == expected


@pytest.mark.parametrize("rule", ["gr-maw", "pd-maw"])
def test_every_choice_among_thirty_nodes_is_the_transcriptions(rule, monkeypatch):
    """With so little room that levels are cut, which smaller systems never need."""
    interests = mw.workloads.unif(30, 12, min_subscriptions=2, max_subscriptions=6, seed=2)
    costs, topics_of = at_random_points(interests).of(interests), topics_by_node(interests)
    monkeypatch.setattr(candidates, "_MOST", 1)
    matrix = costs.to_matrix()
    cost = lambda u, v: float(matrix[u, v])  # noqa: E731
    if rule == "gr-maw":
        order = tie_order(np.diff(interests.indptr), "shuffled", 0).tolist()
        built = weighted_greedy(interests, costs, GrMawOptions(), 0, None)
        assert pairs(built.edges) == oracles_weighted.weighted_greedy(topics_of, order, cost)
        return
    oracle = oracles_weighted.PrimalDual(topics_of, cost)
    for edge in pairs(take_cheapest(interests, costs, PdMawOptions(), TIGHT, 0, None)[0].edges):
        raises = oracle.raises()
        first = min(raises, key=raises.get)
        assert first == (min(edge), max(edge))
        oracle.take(first, raises[first])
    assert not oracle.raises()


@pytest.mark.parametrize("factor", [1e-12, 1.0, 1e12])
def test_the_unit_of_costs_does_not_matter(workload, factor):
    matrix = 2.0 ** np.random.default_rng(2).integers(0, 9, (60, 60))
    matrix = np.maximum(matrix, matrix.T)
    names = workload.nodes.to_pylist()
    expected = weighted_greedy(workload, Costs.from_matrix(matrix, names), GrMawOptions(), 0, None)
    scaled = Costs.from_matrix(matrix * 2.0 ** np.round(np.log2(factor)), names)
    assert pairs(weighted_greedy(workload, scaled, GrMawOptions(), 0, None).edges) == pairs(expected.edges)


def test_costs_over_many_magnitudes_are_ordered_too():
    few = mw.workloads.unif(10, 6, min_subscriptions=2, max_subscriptions=4, seed=5)
    matrix = 10.0 ** np.random.default_rng(2).integers(-90, 90, (10, 10))
    matrix = np.maximum(matrix, matrix.T)
    built = weighted_greedy(few, Costs.from_matrix(matrix, few.nodes.to_pylist()), GrMawOptions(), 0, None)
    order = tie_order(np.diff(few.indptr), "shuffled", 0).tolist()
    assert pairs(built.edges) == oracles_weighted.weighted_greedy(
        topics_by_node(few), order, lambda u, v: float(matrix[u, v])
    )


def test_dc_maw_with_one_part_is_gr_maw(workload):
    costs = at_random_points(workload)
    whole = weighted_greedy(workload, costs, GrMawOptions(), 6, None)
    one = weighted_divide_and_conquer(workload, costs, DcMawOptions(partitions=1), 6, None)
    assert pairs(one.edges) == pairs(whole.edges)


def test_k_means_finds_the_clusters_that_there_are(workload):
    names = workload.nodes.to_pylist()
    cluster_of = {name: f"c{at % 5}" for at, name in enumerate(names)}
    clusters = Costs.clusters(cluster_of, inner=1.0, outer=10.0).of(workload)
    matrix = Costs.from_matrix(clusters.to_matrix(), names)
    for costs in (clusters, matrix):
        part_of = divide(costs, DcMawOptions(partitions=5), 0)
        assert len(set(zip(part_of.tolist(), cluster_of.values(), strict=True))) == 5


def test_landmarks_keep_the_nodes_of_a_site_together(workload):
    costs = on_sites(workload, sites=4).of(workload)
    part_of = divide(costs, DcMawOptions(divide_by="landmarks", landmarks=4, least_bin=5), 0)
    assert 1 < part_of.max() + 1 <= 5
    for site in range(4):
        # A landmark itself may see the others differently from its neighbours, but not be alone.
        assert len(np.unique(part_of[costs.site_of == site])) == 1


def test_sites_divide_only_where_there_are_some(workload):
    options = DcMawOptions(divide_by="sites")
    assert divide(on_sites(workload, sites=6).of(workload), options, 0).max() == 5
    names = workload.nodes.to_pylist()
    for costs in (at_random_points(workload), Costs.from_matrix(np.ones((60, 60)), names)):
        with pytest.raises(OptionError, match=r"set divide_by .* to k-means or landmarks"):
            divide(costs.of(workload), options, 0)


@pytest.mark.parametrize("algorithm", ["gr-maw", "pd-maw", "dc-maw"])
def test_too_little_memory_is_refused_before_it_is_taken(algorithm, workload):
    build, options = ALGORITHMS[algorithm]
    tight = type(options)(memory_limit=1000)
    with pytest.raises(CapacityError, match="the limit is"):
        build(workload, at_random_points(workload), tight, 0, None)


def test_reverse_delete_tries_the_dearest_first_where_edges_have_no_order(workload):
    costs = at_random_points(workload).of(workload)
    edges = by_cost(np.asarray(tree_per_topic(workload, costs, TrMawOptions(), 0, None).edges), costs)
    prices = costs.between(edges[:, 0], edges[:, 1])
    assert (np.diff(prices) >= 0).all()
    kept = pairs(reverse_delete(workload, edges))
    assert kept == oracles_weighted.reverse_delete(topics_by_node(workload), pairs(edges))


def test_reverse_delete_without_costs_tries_those_who_share_the_fewest_topics_first(workload):
    topics_of = topics_by_node(workload)
    edges = by_shared_topics(mw.build(workload, "ring").edges, workload)
    shared = [len(topics_of[u] & topics_of[v]) for u, v in edges.tolist()]
    assert shared == sorted(shared, reverse=True)
    kept = mw.build(workload, "ring", reverse_delete=True).edges.tolist()
    assert kept == sorted(map(list, oracles_weighted.reverse_delete(topics_of, pairs(edges))))


@pytest.mark.parametrize(
    ("algorithm", "with_costs", "in_order"),
    [
        ("gm", False, True),
        ("gm", True, False),
        ("gr-maw", True, True),
        ("pd-maw", True, True),
        ("tr-maw", True, False),
    ],
)
def test_reverse_delete_keeps_to_the_order_of_an_algorithm_that_chose_by_what_there_is(
    workload, algorithm, with_costs, in_order
):
    costs = on_sites(workload).of(workload) if with_costs else None
    chosen = mw.algorithms()[algorithm]
    built = imported(chosen.load)(workload, costs, chosen.options(), 0, None)
    taken = np.asarray(built.edges) if in_order else by_cost(built.edges, costs)
    expected = oracles_weighted.reverse_delete(topics_by_node(workload), pairs(taken))
    found = mw.build(workload, algorithm, costs=costs, reverse_delete=True)
    assert found.edges.tolist() == sorted([min(edge), max(edge)] for edge in expected)


@pytest.mark.parametrize(
    ("options", "values", "message"),
    [
        (GrMawOptions, {"ties": "random"}, "choose among shuffled"),
        (TrMawOptions, {"ties": "first"}, "choose among shuffled"),
        (PdMawOptions, {"memory_limit": 0}, "of at least 1"),
        (DcMawOptions, {"divide_by": "random"}, "choose among k-means, landmarks, sites"),
        (DcMawOptions, {"partitions": 2, "part_size": 3}, "give only one"),
        (DcMawOptions, {"divide_by": "sites", "partitions": 2}, "apply only to divide_by=k-means"),
        (DcMawOptions, {"landmarks": 0}, "of at least 1"),
        (DcMawOptions, {"most_stars": 1}, "of at least 2"),
    ],
)
def test_options_check_themselves(options, values, message):
    with pytest.raises(OptionError, match=message):
        options(**values)
