"""Single repairs against the paper's pseudo-code, on whatever small overlays hypothesis finds."""

from itertools import combinations
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

import meshwright as mw
from tests import oracles_shadows
from tests.helpers import interests_of
from tests.strategies import topic_sets

OPTIONS = st.fixed_dictionaries(
    {
        "rho": st.sampled_from([1, 2, 3]),
        "degree_of": st.sampled_from(["overlay", "shadows"]),
        "coverage": st.integers(1, 3),
        "backups": st.sampled_from(["greedy", "primal-dual"]),
        "keep_backups": st.just(True),
    }
)
POLICIES = st.sampled_from(["shadow", "naive"])
Edge = tuple[int, int]
Topics = dict[int, set[str]]


def by_place(live: mw.Maintainer) -> tuple[Topics, list[Edge]]:
    """The topics of each node and the links, by place."""
    topics_of = {at: set(live.topics_of(name)) for name, at in live._state.nodes.of.items()}
    return topics_of, [(u, v) for u, v in live._state.edges().tolist()]


def by_degree(nodes: Any, edges: list[Edge]) -> list[int]:
    """The order that settles ties: few links first, then the place."""
    degree = oracles_shadows.degrees(nodes, [])
    for edge in edges:
        for end in edge:
            if end in degree:
                degree[end] += 1
    return sorted(degree, key=lambda node: (degree[node], node))


def normal(edges: list[Edge]) -> list[Edge]:
    return sorted((min(edge), max(edge)) for edge in edges)


def expected_links(
    topics_of: Topics, order: list[int], edges: list[Edge], pairs: list[Edge], options: dict[str, Any]
) -> list[Edge]:
    """The links of Algorithm 2; `order` has the shadow set, and all others come after it."""
    rest = [node for node in topics_of if node not in order]
    minded = order if options["degree_of"] == "shadows" else None
    new = oracles_shadows.construct_low_edges(
        topics_of, order + rest, edges, pairs, options["rho"], minded or None
    )
    return normal(new)


@given(topic_sets(), OPTIONS, POLICIES, st.data())
def test_a_leave_adds_the_links_of_algorithm_7_or_4(topics, options, policy, data):
    assume(topics)
    # Whom a naive repair looks at depends on the topics that fell apart, which the oracle does not ask.
    assume(policy == "shadow" or options["degree_of"] == "overlay")
    live = mw.Maintainer(mw.build(interests_of(topics), "low-oda"), policy, **options)
    of = dict(live._state.nodes.of)
    leaver = data.draw(st.sampled_from(sorted(of)))
    topics_of, edges = by_place(live)
    shadows = {of[name] for name in live.neighbours_of(leaver) | live.backups_of(leaver)}
    gone = [tuple(sorted((leaver, name))) for name in live.neighbours_of(leaver)]
    repair = live.leave(leaver)
    del topics_of[of[leaver]]
    left = [edge for edge in edges if of[leaver] not in edge]
    order = by_degree(topics_of if policy == "naive" else shadows, left)
    expected = expected_links(topics_of, order, left, list(combinations(order, 2)), options)
    assert normal([(of[a], of[b]) for a, b in repair.added]) == expected
    assert sorted(repair.removed) == sorted(gone)


@given(topic_sets(), st.sets(st.integers(0, 9), max_size=6), OPTIONS, POLICIES)
def test_a_join_adds_the_links_of_algorithm_10_or_3(topics, own, options, policy):
    assume(policy == "shadow" or options["degree_of"] == "overlay")
    live = mw.Maintainer(mw.build(interests_of(topics), "low-oda"), policy, **options)
    repair = live.join("new", {f"t{topic}" for topic in own})
    of = live._state.nodes.of
    new = of["new"]
    topics_of, edges = by_place(live)
    before = [edge for edge in edges if new not in edge]
    shadows = {of[name] for name in live.backups_of("new")}
    others = by_degree(set(topics_of) - {new} if policy == "naive" else shadows, before)
    pairs = [(new, other) for other in others]
    expected = expected_links(topics_of, [new, *others], before, pairs, options)
    assert normal([(of[a], of[b]) for a, b in repair.added]) == expected
    assert repair.removed == ()
