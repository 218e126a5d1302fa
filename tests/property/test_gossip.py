"""Laws of gossip on any small system."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import meshwright as mw
from meshwright.metrics.views import count_links
from meshwright.stan.lock_step import draw_views, run_rounds
from tests import oracles_gossip as oracles
from tests.spreading import draw_publishings, spread
from tests.strategies import topic_sets


def as_interests(topics):
    pairs = [(f"n{node}", f"t{topic}") for node, own in enumerate(topics) for topic in own]
    return mw.Interests.from_pairs(pairs, nodes=[f"n{node}" for node in range(len(topics))])


OPTIONS = st.builds(
    mw.StanOptions,
    rounds=st.integers(0, 3),
    ttl=st.integers(0, 3),
    view_size=st.none() | st.integers(1, 4),
    learn=st.booleans(),
    slowest=st.integers(1, 3),
    loss=st.sampled_from([0.0, 0.2]),
)


@settings(max_examples=25)
@given(topic_sets(), OPTIONS, st.integers(0, 3), st.sampled_from(["rounds", "simulator"]))
def test_views_keep_their_size_and_only_grow_lighter(topics, options, seed, engine):
    interests = as_interests(topics)
    found = mw.gossip(interests, options, engine=engine, seed=seed)
    names = interests.nodes.to_pylist()
    for node, (before, after) in enumerate(zip(found.before.by_node(), found.after.by_node(), strict=True)):
        assert before.keys() == after.keys()
        for topic in before:
            assert len(before[topic]) == len(after[topic])
            ranked = oracles.sorted_by_weight(names, node, {*before[topic], *after[topic]}, salt=seed)
            ranks = [[ranked.index(peer) for peer in view] for view in (before[topic], after[topic])]
            assert ranks[1] == sorted(ranks[1])
            assert all(new <= old for old, new in zip(*ranks, strict=True))


@settings(max_examples=20)
@given(topic_sets(), OPTIONS, st.integers(0, 3))
def test_rounds_end_between_where_they_began_and_the_omniscient_choice(topics, options, seed):
    interests = as_interests(topics)
    names = interests.nodes.to_pylist()
    views = draw_views(interests, options, seed)
    after, traffic = run_rounds(views, options, seed)
    assert traffic.walks <= traffic.messages <= (options.ttl + 2) * traffic.walks
    assert (count_links(after).physical <= count_links(after).logical).all()
    for node, own in enumerate(after.by_node()):
        for topic, peers in own.items():
            others = {
                other
                for other, theirs in enumerate(topics)
                if f"t{topic}"
                and peers
                and other != node
                and any(interests.topics[topic].as_py() == f"t{mine}" for mine in theirs)
            }
            assert set(peers) <= others or not peers
            best = oracles.sorted_by_weight(names, node, others, salt=seed)[: len(peers)]
            ranked = {
                peer: at for at, peer in enumerate(oracles.sorted_by_weight(names, node, others, salt=seed))
            }
            assert all(ranked[ours] >= ranked[theirs] for ours, theirs in zip(peers, best, strict=True))


@settings(max_examples=20)
@given(topic_sets().filter(any), st.integers(1, 3), st.booleans(), st.integers(0, 3))
def test_events_reach_nobody_twice_and_no_stranger(topics, view_size, apart, seed):
    interests = as_interests(topics)
    views = draw_views(interests, mw.StanOptions(view_size=view_size), seed)
    most = int(np.diff(interests.indptr).max())
    for count in {1, most}:
        publishings = draw_publishings(interests, 3, count, seed)
        found = spread(views, publishings, apart=apart, seed=seed)
        assert found.foreign == 0
        assert 0 <= found.reached_fraction <= 1
        assert found.messages == found.deliveries + found.duplicates
