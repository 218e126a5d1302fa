"""Rounds in lock step: the same as the protocols, message by message, with the same picks."""

from collections import deque

import numpy as np
import pytest

import meshwright as mw
from meshwright.metrics.views import count_links
from meshwright.model.views import Views
from meshwright.net import Moment, Send
from meshwright.stan.local_views import Weights, node_keys
from meshwright.stan.lock_step import draw_views, omniscient_views, round_keys, run_rounds, view_sizes
from meshwright.stan.messages import CollectReply
from meshwright.stan.options import StanOptions
from meshwright.stan.peer import WALK, Settings, make_peers
from tests import oracles_gossip as oracles


class Picks:
    """Random numbers that say which pick of which walk they are for, and draw what the kernel draws."""

    def __init__(self, key, slot_of):
        self.key, self.slot_of = key, slot_of
        self.topics, self.slot, self.hop = iter(()), 0, 0

    def integers(self, count):
        from meshwright.kernels.core.hashing import pick

        return pick(self.key, self.slot, self.hop, count)


def lock_step(views, options, seed):
    """All protocols begin a round at once, all messages take equally long, and the kernel's losses happen."""
    from meshwright.kernels.core.hashing import is_dropped

    interests = views.interests
    topics = np.repeat(np.arange(interests.topic_count), np.diff(interests.topic_indptr)).tolist()
    slot_of = {pair: slot for slot, pair in enumerate(zip(topics, interests.node_ids.tolist(), strict=True))}
    peers = make_peers(
        views.by_node(),
        Weights(node_keys(interests, seed)),
        Settings(ttl=options.ttl, learn=options.learn, slowest=options.slowest, stagger=False),
    )
    loss, messages = round(options.loss * 2**53), 0
    for key in round_keys(seed, options.rounds):
        picks = Picks(key, slot_of)
        moment = Moment(0.0, picks)
        queue, replies = deque(), []
        for node, peer in peers.items():
            queue.extend(start_walks(node, peer, picks, moment))
        while queue:
            source, topic, hop, sender, action = queue.popleft()
            messages += 1
            slot = slot_of[topic, source]
            if is_dropped(key, slot, hop, loss):
                continue
            if isinstance(action.message, CollectReply):
                replies.append((sender, action))
                continue
            picks.slot, picks.hop = slot, hop + 1
            for answer in peers[action.to].receive(action.message, sender, moment):
                queue.append((source, topic, hop + 1, action.to, answer))
        for sender, action in replies:
            peers[action.to].receive(action.message, sender, moment)
    return [
        {topic: tuple(peer.views.view(topic)) for topic in peer.views.topics} for peer in peers.values()
    ], messages


def start_walks(node, peer, picks, moment):
    """The first messages of a node's walks; each is drawn again for its own topic."""
    picks.slot, picks.hop = 0, 0
    for action in peer.wake(WALK, moment):
        if isinstance(action, Send):
            topic = action.message.topic
            picks.slot = picks.slot_of[topic, node]
            view = peer.views.view(topic)
            yield node, topic, 0, node, Send(view[picks.integers(len(view))], action.message)


@pytest.fixture(scope="module")
def interests():
    return mw.workloads.grid(60, 8, seed=3)


@pytest.mark.parametrize(
    "options",
    [{}, {"ttl": 0}, {"loss": 0.1}, {"slowest": 4, "rounds": 12}, {"loss": 0.05, "slowest": 8, "rounds": 12}],
)
def test_the_kernel_does_what_the_protocols_do_in_lock_step(interests, options):
    chosen = StanOptions(**{"rounds": 4, "ttl": 2} | options)
    views = draw_views(interests, chosen, 5)
    after, traffic = run_rounds(views, chosen, 5)
    expected, messages = lock_step(views, chosen, 5)
    assert after.by_node() == expected
    assert traffic.messages == messages
    assert after.by_node() != views.by_node()


def test_first_views_are_different_others_of_the_topic_lightest_first(interests):
    views = draw_views(interests, StanOptions(), 1)
    names = interests.nodes.to_pylist()
    sizes = view_sizes(interests, StanOptions())
    for node, own in enumerate(views.by_node()):
        for topic, peers in own.items():
            assert len(peers) == len(set(peers)) == sizes[topic]
            assert node not in peers
            assert list(peers) == oracles.sorted_by_weight(names, node, peers, salt=1)


def test_every_other_subscriber_is_equally_likely_to_be_in_a_first_view():
    interests = mw.workloads.unif(21, 600, subscriptions=600)
    counts = np.zeros((21, 21), np.int64)
    for node, own in enumerate(draw_views(interests, StanOptions(view_size=5), 0).by_node()):
        for peers in own.values():
            counts[node, list(peers)] += 1
    assert (counts.diagonal() == 0).all()
    others = counts[~np.eye(21, dtype=bool)]
    assert abs(others - 150).max() < 5.5 * np.sqrt(150 * 0.75)
    assert others.var() == pytest.approx(150 * 0.75, rel=0.25)


@pytest.mark.parametrize(
    ("subscribers", "size"), [(1, 0), (2, 1), (5, 4), (7, 6), (8, 7), (30, 9), (1000, 12)]
)
def test_view_sizes_are_those_of_the_connection_probability(subscribers, size):
    interests = mw.workloads.unif(subscribers, 1, subscriptions=1)
    assert view_sizes(interests, StanOptions()).tolist() == [size]
    assert view_sizes(interests, StanOptions(view_size=10)).tolist() == [min(10, subscribers - 1)]


def test_who_knows_everybody_takes_the_lightest(interests):
    views = draw_views(interests, StanOptions(), 2)
    names, by_topic = interests.nodes.to_pylist(), interests.topic_indptr
    for node, own in enumerate(omniscient_views(views, 2).by_node()):
        for topic, peers in own.items():
            others = set(interests.node_ids[by_topic[topic] : by_topic[topic + 1]].tolist()) - {node}
            assert list(peers) == oracles.sorted_by_weight(names, node, others, salt=2)[: len(peers)]


@pytest.mark.parametrize("learn", [False, True])
def test_with_many_long_walks_the_omniscient_choice_is_reached(interests, learn):
    options = StanOptions(rounds=40, ttl=20, learn=learn)
    views = draw_views(interests, options, 0)
    assert run_rounds(views, options, 0)[0].by_node() == omniscient_views(views, 0).by_node()


def test_learning_from_passing_walks_reaches_the_limit_in_fewer_rounds():
    interests = mw.workloads.unif(400, 8, subscriptions=4, seed=1)
    views = draw_views(interests, StanOptions(), 0)
    limit = count_links(omniscient_views(views, 0)).physical.mean()
    start = count_links(views).physical.mean()
    left = [
        (
            count_links(run_rounds(views, StanOptions(rounds=2, ttl=2, learn=learn), 0)[0]).physical.mean()
            - limit
        )
        / (start - limit)
        for learn in (False, True)
    ]
    assert left[1] < left[0] - 0.1


def test_in_large_topics_most_nodes_improve_strongly_only_with_learning_or_full_knowledge():
    interests = mw.workloads.unif(1_000, 6, subscriptions=6, seed=0)
    options = ({"ttl": 1}, {"ttl": 1, "learn": True, "rounds": 16}, {"links": "omniscient"})
    shares = [
        mw.gossip(interests, mw.StanOptions(**own), diameters=False).strongly_improved_nodes
        for own in options
    ]
    assert shares[0] < 0.5 < shares[1] <= shares[2]


def test_slowing_down_saves_messages_and_hardly_any_sharing(interests):
    fast, slow = (StanOptions(rounds=32, slowest=slowest) for slowest in (1, 8))
    views = draw_views(interests, fast, 0)
    (quick, costly), (late, cheap) = (run_rounds(views, options, 0) for options in (fast, slow))
    assert cheap.messages < costly.messages / 2
    assert count_links(late).physical.mean() < 1.03 * count_links(quick).physical.mean()


def test_the_more_is_lost_the_fewer_links_are_shared(interests):
    views = draw_views(interests, StanOptions(), 0)
    found = [run_rounds(views, StanOptions(loss=loss), 0) for loss in (0, 0.1, 0.3, 1)]
    sizes = [count_links(after).physical.mean() for after, _ in found]
    assert sizes == sorted(sizes)
    assert sizes[-1] == count_links(views).physical.mean()
    assert found[-1][1].messages == found[-1][1].lost == found[-1][1].walks


def test_results_do_not_depend_on_the_number_of_threads(interests, monkeypatch):
    from meshwright.runtime import parallel as cores

    options = StanOptions(learn=True, loss=0.1, slowest=2)
    found = []
    for threads in (1, 3):
        monkeypatch.setattr(cores, "threads", lambda threads=threads: threads)
        views = draw_views(interests, options, 0)
        after, traffic = run_rounds(views, options, 0)
        found.append((views.by_node(), after.by_node(), traffic))
    assert found[0] == found[1]


def test_the_order_of_peers_in_a_view_does_not_matter(interests):
    options = StanOptions(rounds=4)
    views = draw_views(interests, options, seed=3)
    mixed = views.slots.copy()
    for start, end in zip(views.indptr[:-1], views.indptr[1:], strict=True):
        mixed[start:end] = mixed[start:end][::-1]
    starts = (views, Views(interests, views.indptr, mixed))
    ends = [run_rounds(start, options, 3)[0].slots for start in starts]
    assert np.array_equal(*ends)


def test_views_of_scamp_run_in_lock_step_too():
    joined = mw.SimulationOptions(membership="scamp")
    found = mw.gossip(mw.workloads.grid(60, 8, seed=1), mw.StanOptions(rounds=4), joined)
    assert found.final_physical_view_size < found.initial_physical_view_size
