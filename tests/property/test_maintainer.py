"""A maintainer under whatever hypothesis does to it, beside a model that networkx checks."""

from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import meshwright as mw
from tests import oracles

NAMES = [f"n{at}" for at in range(12)]
TOPICS = [f"t{at}" for at in range(6)]
TOPIC_SETS = st.sets(st.sampled_from(TOPICS), max_size=5)
SOME_TOPICS = st.sets(st.sampled_from(TOPICS), min_size=1, max_size=3)
STARTS = ("gm", "ring", "low-oda", "some edges")


class Churn(RuleBasedStateMachine):
    """The rules draw events that can be applied; after each, what the maintainer says must fit the model."""

    policy: ClassVar[str]
    options: ClassVar[dict[str, Any]] = {}

    @initialize(
        topics=st.dictionaries(st.sampled_from(NAMES), TOPIC_SETS, max_size=8),
        start=st.sampled_from(STARTS),
        edges=st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=6),
        seed=st.integers(0, 9),
    )
    def begin(self, topics, start, edges, seed):
        self.topics = topics
        pairs = [(node, topic) for node, own in topics.items() for topic in own]
        interests = mw.Interests.from_pairs(pairs, nodes=list(topics))
        names = interests.nodes.to_pylist()
        if start == "some edges":
            ends = [(names[u], names[v]) for u, v in edges if u != v and max(u, v) < len(names)]
            overlay = mw.Overlay.from_edges(interests, ends)
        else:
            overlay = mw.build(interests, start, seed=seed)
        self.links = {(names[u], names[v]) for u, v in overlay.edges.tolist()}
        self.live = self.maintained(overlay, seed)
        self.follow(self.live.start)
        self.at = self.events = 0

    def maintained(self, overlay, seed):
        return mw.Maintainer(overlay, self.policy, seed=seed, **self.options)

    def restored(self, saved):
        return mw.Maintainer.restore(saved)

    def follow(self, repair):
        assert not self.links & set(repair.added)
        assert self.links >= set(repair.removed)
        self.links = self.links - set(repair.removed) | set(repair.added)

    def draw_event(self, data, now):
        """An event that can be applied to the nodes as they are `now`, which it changes."""
        absent = [name for name in NAMES if name not in now]
        kinds = ["join"] * bool(absent) + ["leave", "subscribe", "unsubscribe"] * bool(now)
        kind = data.draw(st.sampled_from(kinds))
        node = data.draw(st.sampled_from(absent if kind == "join" else sorted(now)))
        own = data.draw({"join": TOPIC_SETS, "leave": st.just(set())}.get(kind, SOME_TOPICS))
        if kind == "leave":
            del now[node]
        else:
            had = now.get(node, set())
            now[node] = had - own if kind == "unsubscribe" else had | own
        self.at += 1
        return mw.Event(self.at, kind, node, tuple(sorted(own)))

    @rule(data=st.data())
    def apply_one(self, data):
        event = self.draw_event(data, self.topics)
        call = getattr(self.live, event.event)
        self.follow(call(event.node) if event.event == "leave" else call(event.node, event.topics))
        self.events += 1

    @rule(data=st.data(), count=st.integers(0, 6))
    def apply_several_at_once(self, data, count):
        events = [self.draw_event(data, self.topics) for _ in range(count)]
        repair = self.live.apply(events)
        assert (repair.events, repair.repeated) == (count, 0)
        self.follow(repair)
        self.events += count

    @rule()
    def go_on_from_a_snapshot(self):
        saved = self.live.snapshot()
        self.live = self.restored(saved)
        assert self.live.snapshot() == saved

    @precondition(lambda self: self.links)
    @rule(data=st.data())
    def exchange_links(self, data):
        pairs = [
            (a, b) for a in self.topics for b in self.topics if a < b and self.topics[a] & self.topics[b]
        ]
        new = sorted(set(pairs) - self.links)
        add = data.draw(st.lists(st.sampled_from(new), max_size=3, unique=True)) if new else []
        remove = data.draw(st.lists(st.sampled_from(sorted(self.links)), max_size=4, unique=True))
        repair = self.live.relink(add, remove)
        assert set(repair.added) == set(add)
        self.follow(repair)
        self.events += 1
        for link in set(remove) & self.links:
            assert not oracles.is_topic_connected(self.topics, self.links - {link})

    @invariant()
    def every_topic_is_connected_and_every_link_is_told(self):
        if not hasattr(self, "links"):
            return
        overlay = self.live.overlay
        names = overlay.interests.nodes.to_pylist()
        assert {name: set(overlay.interests.topics_of(name)) for name in names} == self.topics
        assert {(names[u], names[v]) for u, v in overlay.edges.tolist()} == self.links
        assert oracles.is_topic_connected(self.topics, self.links)
        assert self.live.revision == self.events
        degrees = overlay.degrees()
        assert self.live.maximum_degree == degrees.max(initial=0)
        assert self.live.average_degree == pytest.approx(degrees.mean() if len(degrees) else 0)

    @invariant()
    def backups_and_primaries_agree(self):
        if not hasattr(self, "links"):
            return
        for node in self.topics:
            backups = self.live.backups_of(node)
            assert node not in backups
            assert all(self.topics[node] & self.topics[other] for other in backups)
            assert all(node in self.live.primaries_of(other) for other in backups)
            assert all(node in self.live.backups_of(other) for other in self.live.primaries_of(node))


class PricedChurn(Churn):
    """The same with costs: by a matrix for new links, and by a column of its own for those of the start."""

    def maintained(self, overlay, seed):
        rng = np.random.default_rng(seed)
        matrix = np.triu(rng.uniform(1, 9, (len(NAMES), len(NAMES))), 1)
        self.costs = mw.Costs.from_matrix(matrix + matrix.T, NAMES)
        column = rng.uniform(10, 20, len(overlay))
        names = overlay.interests.nodes.to_pylist()
        ends = [(names[u], names[v]) for u, v in overlay.edges.tolist()]
        self.prices = dict(zip(ends, column.tolist(), strict=True))
        priced = mw.Overlay.from_edges(overlay.interests, ends, column)
        return mw.Maintainer(priced, self.policy, costs=self.costs, seed=seed, **self.options)

    def restored(self, saved):
        return mw.Maintainer.restore(saved, self.costs)

    def new_cost(self, link):
        u, v = (NAMES.index(end) for end in link)
        return float(self.costs.form.matrix[u, v])

    def follow(self, repair):
        super().follow(repair)
        assert [self.prices.pop(link) for link in repair.removed] == list(repair.removed_costs)
        opened = {link: self.new_cost(link) for link in repair.added}
        assert list(opened.values()) == list(repair.added_costs)
        self.prices |= opened
        assert repair.cost == pytest.approx(sum(self.prices.values()))
        assert (repair.opened_cost, repair.closed_cost) == (
            pytest.approx(sum(repair.added_costs)),
            pytest.approx(sum(repair.removed_costs)),
        )

    @invariant()
    def every_link_costs_what_it_did_when_it_was_opened(self):
        if not hasattr(self, "prices"):
            return
        overlay = self.live.overlay
        names = overlay.interests.nodes.to_pylist()
        ends = [(names[u], names[v]) for u, v in overlay.edges.tolist()]
        assert dict(zip(ends, overlay.costs.tolist(), strict=True)) == self.prices
        assert self.live.cost == pytest.approx(sum(self.prices.values()))


def machine(policy: str, kind: type[Churn] = Churn, **options: Any) -> Any:
    """The tests of a policy."""
    case = type("Case", (kind,), {"policy": policy, "options": options}).TestCase
    case.settings = settings(max_examples=25, stateful_step_count=12)
    return case


TestShadow = machine("shadow")
TestShadowOfKeptBackups = machine("shadow", keep_backups=True)
TestShadowOfFewBackups = machine("shadow", backups="greedy", coverage=1, degree_of="shadows", ties="shuffled")
TestReoptimised = machine("shadow", reoptimise=6, reoptimise_a_minute=40)
TestNaive = machine("naive")
TestRebuild = machine("rebuild")
TestShadowWithCosts = machine("shadow", PricedChurn)
TestReoptimisedWithCosts = machine("shadow", PricedChurn, reoptimise=6)
TestNaiveWithCosts = machine("naive", PricedChurn, ties="shuffled", degree_of="shadows")
TestRebuildWithCosts = machine("rebuild", PricedChurn)
