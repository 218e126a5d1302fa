"""The laws of migrations, against networkx."""

import itertools

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

import meshwright as mw
from tests.helpers import interests_of
from tests.strategies import topic_sets


@st.composite
def journeys(draw: st.DrawFn) -> tuple[mw.Overlay, mw.Overlay, int]:
    """Any overlay, also with cut topics; one that connects every topic; and the size of a step."""
    interests = interests_of(draw(topic_sets()))
    pairs = list(itertools.combinations(range(interests.node_count), 2))
    some = st.lists(st.sampled_from(pairs), unique=True) if pairs else st.just([])
    whole = mw.build(interests, draw(st.sampled_from(["gm", "ring", "low-oda"]))).edges.tolist()
    today, more = draw(some), draw(some)
    if draw(st.booleans()):
        costs = {pair: draw(st.sampled_from([0.5, 1.0, 2.0, 7.0])) for pair in pairs}
    else:
        costs = {}
    overlays = [
        mw.Overlay.from_arrays(
            interests, list(links) or [], [costs[link] for link in links] if costs else None
        )
        for links in (today, sorted({*map(tuple, whole), *more}))
    ]
    return overlays[0], overlays[1], draw(st.integers(1, 7))


def cut_topics(graph: nx.Graph, subscribers: dict[str, set[str]]) -> set[str]:
    return {
        topic for topic, nodes in subscribers.items() if nodes and not nx.is_connected(graph.subgraph(nodes))
    }


def subscribers_of(interests: mw.Interests) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for node in interests.nodes.to_pylist():
        for topic in interests.topics_of(node):
            found.setdefault(topic, set()).add(node)
    return found


def links_of(graph: nx.Graph) -> set[frozenset[str]]:
    return {frozenset(link) for link in graph.edges}


@given(journeys())
def test_every_step_keeps_what_is_connected_and_the_last_one_leaves_the_target(journey):
    today, target, steps_of = journey
    way = mw.migrate(today, target, steps_of)
    graph, subscribers = today.to_networkx(), subscribers_of(today.interests)
    steps, changes = way.steps.to_pylist(), way.changes.to_pylist()
    cut = cut_topics(graph, subscribers)
    assert (steps[0]["links"], steps[0]["cut_topics"]) == (len(today), len(cut))
    for step in steps[1:]:
        own = [row for row in changes if row["step"] == step["step"]]
        assert 1 <= len(own) <= steps_of
        assert [row["action"] for row in own] == ["open"] * step["opened"] + ["close"] * step["closed"]
        for row in own:
            link = row["source"], row["target"]
            assert graph.has_edge(*link) == (row["action"] == "close")
            (graph.remove_edge if row["action"] == "close" else graph.add_edge)(*link)
        before, cut = cut, cut_topics(graph, subscribers)
        assert cut <= before
        degrees = [degree for _, degree in graph.degree()]
        assert (step["links"], step["cut_topics"]) == (graph.number_of_edges(), len(cut))
        assert step["maximum_degree"] == max(degrees)
        assert step["average_degree"] == sum(degrees) / len(degrees)
    assert links_of(graph) == links_of(target.to_networkx())
    assert way.changes.num_rows == len(links_of(graph) ^ links_of(today.to_networkx()))


@given(journeys())
def test_costs_add_up_and_each_step_says_what_it_saves(journey):
    today, target, steps_of = journey
    way = mw.migrate(today, target, steps_of)
    steps, changes = way.steps.to_pylist(), way.changes.to_pylist()
    assert way.has_costs == (today.costs is not None)
    if not way.has_costs:
        assert all(step["saves"] == step["closed"] - step["opened"] for step in steps)
        return
    cost = float(today.costs.sum())
    for step in steps:
        own = [row for row in changes if row["step"] == step["step"]]
        opened = sum(row["cost"] for row in own if row["action"] == "open")
        closed = sum(row["cost"] for row in own if row["action"] == "close")
        cost += opened - closed
        assert (step["cost_opened"], step["cost_closed"], step["saves"]) == (opened, closed, closed - opened)
        assert step["cost"] == cost
    assert cost == float(target.costs.sum())


@given(journeys())
def test_links_that_no_topic_needs_go_before_any_exchange(journey):
    today, target, _ = journey
    way = mw.migrate(today, target, 1)
    graph, subscribers = today.to_networkx(), subscribers_of(today.interests)
    cut = cut_topics(graph, subscribers)
    wanted = links_of(target.to_networkx())
    for row in way.changes.to_pylist():
        link = row["source"], row["target"]
        if row["action"] == "open" and not cut:
            for old in links_of(graph) - wanted:
                without = graph.copy()
                without.remove_edge(*old)
                assert cut_topics(without, subscribers)
            return
        (graph.remove_edge if row["action"] == "close" else graph.add_edge)(*link)
        cut = cut_topics(graph, subscribers)
