"""The simulator, with protocols small enough to follow by hand."""

import numpy as np
import pytest

import meshwright as mw
from meshwright.net import Deliver, Protocol, Send, Simulator, Wake, What


class Echo(Protocol[str]):
    """Notes all that happens to it, and does what it is told."""

    def __init__(self, log, on_start=(), on_message=()):
        self.log, self.on_start, self.on_message = log, on_start, on_message

    def start(self, moment):
        self.log.append((moment.now, "start"))
        return self.on_start

    def receive(self, message, sender, moment):
        self.log.append((moment.now, sender, message))
        return self.on_message

    def wake(self, timer, moment):
        self.log.append((moment.now, "timer", timer))
        return ()


class Gossip(Protocol[frozenset]):
    """Every unit of time, tell a random other node all that was heard."""

    def __init__(self, nodes, own):
        self.others = [node for node in range(nodes) if node != own]
        self.heard = frozenset([own])

    def start(self, moment):
        return [Wake(float(moment.random.random()), "round")]

    def receive(self, message, sender, moment):
        self.heard |= message
        return [Deliver(message)]

    def wake(self, timer, moment):
        yield Send(int(moment.random.choice(self.others)), self.heard)
        yield Wake(1.0, timer)


def gossip(seed, *, until=20.0, **conditions):
    course = []
    nodes = {node: Gossip(12, node) for node in range(12)}
    simulator = Simulator(nodes, seed=seed, watch=course.append, **conditions)
    simulator.run(until)
    return simulator, course


def test_the_same_seed_gives_the_same_course_and_another_seed_another():
    def slow(source, target, message, random):
        return random.exponential(0.3)

    courses = [gossip(seed, delay=slow, loss=0.2)[1] for seed in (1, 1, 2)]
    assert courses[0] == courses[1] != courses[2]


def test_gossip_spreads_what_all_know_in_spite_of_loss_and_failures():
    simulator, course = gossip(3, loss=0.2, failures=[(0.5, 4), (2.0, 7)], delay=0.1)
    assert simulator.protocols.keys() == set(range(12)) - {4, 7}
    assert all(protocol.heard >= set(range(12)) - {4} for protocol in simulator.protocols.values())
    assert {happening.what for happening in course} == set(What)
    assert all(happening.time < 0.5 for happening in course if happening.source == 4)


def test_a_node_draws_from_a_stream_of_its_own_whatever_the_others_do():
    drawn = []

    class Draws(Protocol[str]):
        def start(self, moment):
            drawn.append(moment.random.random())
            return ()

        def receive(self, message, sender, moment):
            return ()

    Simulator({3: Draws()}, seed=5).run()
    Simulator({1: Draws(), 2: Draws(), 3: Draws()}, seed=5).run()
    assert drawn[0] == drawn[3]
    assert len(set(drawn)) == 3


def test_messages_take_their_delay_and_come_in_the_order_of_time():
    log = []
    sends = [Send(2, "far"), Send(1, "near"), Send(1, "near too")]
    nodes = {0: Echo([], sends), 1: Echo(log), 2: Echo(log)}
    Simulator(nodes, delay=lambda source, target, message, random: 2.5 * target).run()
    assert log[2:] == [(2.5, 0, "near"), (2.5, 0, "near too"), (5.0, 0, "far")]


def test_at_one_moment_nodes_leave_then_join_then_messages_come_then_timers():
    log = []
    leaver, joiner = Echo(log, [Wake(1.0, "never")]), Echo(log, [Wake(0.0, "once")])
    simulator = Simulator({0: Echo([], [Send(1, "to the new one"), Wake(1.0, "own")]), 1: leaver})
    simulator.add(1, joiner, at=1.0)
    simulator.remove(1, at=1.0)
    simulator.run()
    assert log == [(0.0, "start"), (1.0, "start"), (1.0, 0, "to the new one"), (1.0, "timer", "once")]


def test_a_node_that_fails_at_the_start_hears_nothing():
    log = []
    Simulator({0: Echo([], [Send(1, "anybody?")]), 1: Echo(log)}, failures=[(0.0, 1)]).run()
    assert log == [(0.0, "start")]


def test_a_message_to_a_node_that_is_gone_is_missed():
    course, log = [], []
    nodes = {0: Echo([], [Send(1, "a"), Send(9, "b")]), 1: Echo(log)}
    Simulator(nodes, failures=[(0.5, 1)], watch=course.append).run()
    assert log == [(0.0, "start")]
    assert [(seen.what, seen.target) for seen in course] == [
        (What.SENT, 1),
        (What.SENT, 9),
        (What.MISSED, 1),
        (What.MISSED, 9),
    ]


def test_a_period_of_one_comes_eight_times_in_a_run_of_eight_and_goes_on_afterwards():
    rounds = []

    class Clock(Protocol[str]):
        def start(self, moment):
            return [Wake(0.0, None)]

        def receive(self, message, sender, moment):
            return ()

        def wake(self, timer, moment):
            rounds.append(moment.now)
            return [Wake(1.0, timer)]

    simulator = Simulator({0: Clock()})
    simulator.run(8)
    assert rounds == list(range(8))
    assert simulator.now == 8
    simulator.run(9.5)
    assert rounds == list(range(10))


def test_a_message_from_the_application_has_no_sender_and_may_come_later():
    log = []
    simulator = Simulator({0: Echo(log, on_message=[Deliver("thanks")])}, watch=log.append)
    simulator.inject(0, "now")
    simulator.inject(0, "later", at=3.0)
    simulator.run()
    assert [entry for entry in log if isinstance(entry, tuple) and len(entry) == 3] == [
        (0.0, None, "now"),
        (3.0, None, "later"),
    ]
    assert sum(getattr(entry, "what", None) is What.DELIVERED for entry in log) == 2


def test_loss_is_the_share_of_messages_that_are_lost():
    course = []
    nodes = {0: Echo([], [Send(1, str(i)) for i in range(4000)]), 1: Echo([])}
    Simulator(nodes, loss=0.25, seed=1, watch=course.append).run()
    lost = sum(seen.what is What.LOST for seen in course)
    received = sum(seen.what is What.RECEIVED for seen in course)
    assert lost + received == 4000
    assert abs(lost - 1000) < 5 * np.sqrt(4000 * 0.25 * 0.75)


@pytest.mark.parametrize("loss", [-0.1, 1.5, float("nan")])
def test_a_loss_that_is_no_probability_is_refused(loss):
    with pytest.raises(mw.OptionError, match=r"loss is .*; give a probability from 0 to 1"):
        Simulator({}, loss=loss)


@pytest.mark.parametrize("delay", [-1.0, float("inf"), float("nan")])
def test_a_delay_that_leads_nowhere_is_refused(delay):
    with pytest.raises(mw.OptionError, match=r"a delay is .*; give a finite number of at least 0"):
        Simulator({}, delay=delay)
    with pytest.raises(mw.OptionError, match="a delay is"):
        Simulator({0: Echo([], [Send(1, "")])}, delay=lambda *_: delay).run()
    with pytest.raises(mw.OptionError, match="a delay is"):
        Simulator({0: Echo([], [Wake(delay, "")])}).run()


def test_nothing_happens_in_the_past():
    simulator = Simulator({0: Echo([])})
    simulator.run(5)
    with pytest.raises(mw.OptionError, match=r"the time is 5, so nothing can happen at 4; give a later time"):
        simulator.remove(0, at=4)


class Ticking(Protocol[str]):
    """Wakes once a second, and keeps the times."""

    def __init__(self):
        self.times = []

    def start(self, moment):
        return [Wake(1.0, "tick")]

    def receive(self, message, sender, moment):
        return ["rubbish"]

    def wake(self, timer, moment):
        self.times.append(moment.now)
        return [Wake(1.0, "tick")]


def test_timers_of_an_earlier_stay_are_dead_even_where_the_same_protocol_comes_back():
    protocol = Ticking()
    simulator = Simulator({0: protocol})
    simulator.remove(0, at=2.5)
    simulator.add(0, protocol, at=2.75)
    simulator.run(6)
    assert protocol.times == [1.0, 2.0, 3.75, 4.75, 5.75]


def test_what_is_no_action_is_refused():
    simulator = Simulator({0: Ticking()})
    simulator.inject(0, "anything")
    with pytest.raises(TypeError, match="returned 'rubbish'; return Send, Wake or Deliver"):
        simulator.run(1)
