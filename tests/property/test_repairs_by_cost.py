"""Single repairs where links cost, against the rule by its definition, in exact fractions."""

from itertools import combinations
from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

import meshwright as mw
from meshwright.construct.greedy import tie_order
from tests import oracles_shadows
from tests.helpers import interests_of
from tests.property.test_repairs import OPTIONS, POLICIES, Edge, by_degree, by_place, normal
from tests.strategies import topic_sets

COSTS = st.integers(0, 2**32 - 1).map(np.random.default_rng)
NEW = "new"


def whole_costs(names: list[str], rng: np.random.Generator) -> mw.Costs:
    """Costs from 1 to 4, so that there are ties, and floats give the same order as fractions."""
    matrix = np.triu(rng.integers(1, 5, (len(names), len(names))), 1)
    return mw.Costs.from_matrix(matrix + matrix.T, names)


def by_pair(costs: mw.Costs, of: dict[str, int]) -> dict[Edge, int]:
    """What each pair of places costs."""
    names = costs.nodes.to_pylist()
    matrix = costs.to_matrix().astype(int).tolist()
    found = {}
    for u, v in combinations(range(len(names)), 2):
        if names[u] in of and names[v] in of:
            a, b = sorted((of[names[u]], of[names[v]]))
            found[a, b] = matrix[u][v]
    return found


def expected_links(
    topics_of: Any, order: list[int], edges: list[Edge], pairs: list[Edge], options: Any, cost: Any
) -> list[Edge]:
    rest = [node for node in topics_of if node not in order]
    minded = order if options["degree_of"] == "shadows" else None
    new = oracles_shadows.construct_cheap_edges(
        topics_of, order + rest, edges, pairs, options["rho"], minded or None, cost
    )
    return normal(new)


@given(topic_sets(), OPTIONS, POLICIES, COSTS, st.data())
def test_a_leave_adds_the_links_of_the_most_contribution_per_cost(topics, options, policy, rng, data):
    assume(topics)
    assume(policy == "shadow" or options["degree_of"] == "overlay")
    interests = interests_of(topics)
    costs = whole_costs(interests.nodes.to_pylist(), rng)
    live = mw.Maintainer(mw.build(interests, "low-oda"), policy, costs=costs, **options)
    of = dict(live._state.nodes.of)
    leaver = data.draw(st.sampled_from(sorted(of)))
    topics_of, edges = by_place(live)
    shadows = {of[name] for name in live.neighbours_of(leaver) | live.backups_of(leaver)}
    repair = live.leave(leaver)
    del topics_of[of[leaver]]
    left = [edge for edge in edges if of[leaver] not in edge]
    order = by_degree(topics_of if policy == "naive" else shadows, left)
    pairs = list(combinations(order, 2))
    expected = expected_links(topics_of, order, left, pairs, options, by_pair(costs, of))
    assert normal([(of[a], of[b]) for a, b in repair.added]) == expected


@given(topic_sets(), st.sets(st.integers(0, 9), max_size=6), OPTIONS, POLICIES, COSTS)
def test_a_join_adds_the_links_of_the_most_contribution_per_cost(topics, own, options, policy, rng):
    assume(policy == "shadow" or options["degree_of"] == "overlay")
    interests = interests_of(topics)
    costs = whole_costs([*interests.nodes.to_pylist(), NEW], rng)
    live = mw.Maintainer(mw.build(interests, "low-oda"), policy, costs=costs, **options)
    repair = live.join(NEW, {f"t{topic}" for topic in own})
    of = live._state.nodes.of
    topics_of, edges = by_place(live)
    before = [edge for edge in edges if of[NEW] not in edge]
    shadows = {of[name] for name in live.backups_of(NEW)}
    others = by_degree(set(topics_of) - {of[NEW]} if policy == "naive" else shadows, before)
    pairs = [(of[NEW], other) for other in others]
    order = [of[NEW], *others]
    expected = expected_links(topics_of, order, before, pairs, options, by_pair(costs, of))
    assert normal([(of[a], of[b]) for a, b in repair.added]) == expected


@given(topic_sets(), st.sampled_from([1, 2, 3]), COSTS, st.data())
def test_a_start_adds_links_by_the_same_rule_among_all_nodes(topics, rho, rng, data):
    interests = interests_of(topics)
    names = interests.nodes.to_pylist()
    places = list(combinations(range(len(names)), 2))
    edges = data.draw(st.lists(st.sampled_from(places), max_size=4, unique=True)) if places else []
    overlay = mw.Overlay.from_edges(interests, [(names[u], names[v]) for u, v in edges])
    costs = whole_costs(names, rng)
    live = mw.Maintainer(overlay, costs=costs, rho=rho)
    of = {name: at for at, name in enumerate(names)}
    topics_of = {at: set(interests.topics_of(name)) for name, at in of.items()}
    order = tie_order(np.diff(interests.indptr), "shuffled", 0).tolist()
    new = oracles_shadows.construct_cheap_edges(
        topics_of, order, overlay.edges.tolist(), None, rho, None, by_pair(costs, of)
    )
    assert normal([(of[a], of[b]) for a, b in live.start.added]) == normal(new)
