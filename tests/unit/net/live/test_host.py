"""Protocols on an event loop with real sockets: two hosts, as two processes have them."""

import asyncio
import os
import time
from collections import Counter
from itertools import pairwise

import pytest

import meshwright as mw
from meshwright.net import Deliver, Protocol, Simulator, Wake, What
from meshwright.net.live.host import Host
from meshwright.net.live.options import LiveOptions
from tests.live_protocols import Chatter, Clumsy, Note, Relay, friends
from tests.patience import soon


class Hosts:
    """Two hosts that share the nodes, and all that they say."""

    def __init__(self, protocols, **options):
        self.course, self.complaints, self.failures = [], [], []
        shared = LiveOptions(messages=(Note,), **options)
        self.all = [
            Host(
                {node: protocol for node, protocol in protocols.items() if node % 2 == part},
                shared,
                b"the run of tests",
                watch=self.course.append,
                complain=lambda kind, words: self.complaints.append((kind, words)),
                fail=self.failures.append,
            )
            for part in range(2)
        ]
        self.protocols = protocols

    async def begin(self, late=0.0):
        """Start both, the second one some seconds after the first."""
        book = {}
        for host in self.all:
            book |= host.open()
        start = asyncio.get_running_loop().time()
        for host in self.all:
            host.learn(book)
        self.all[0].begin(start)
        self.all[1].begin(start + late)

    def inject(self, node, message):
        self.all[node % 2].inject(node, message)

    async def until(self, condition, what):
        await soon(condition, what)

    async def quiet(self):
        def still():
            states = [host.state for host in self.all]
            return sum(s.sent for s in states) == sum(s.settled for s in states) and not any(
                s.timers or s.opening for s in states
            )

        await self.until(still, "nothing is under way")

    def count(self, what):
        return sum(seen.what is what for seen in self.course)

    def missed(self):
        """How often each node was missed."""
        return Counter(seen.target for seen in self.course if seen.what is What.MISSED)


def run(protocols, scenario, late=0.0, **options):
    """Run a scenario with hosts; afterwards no task and no file is left open."""

    async def main():
        before = len(os.listdir("/proc/self/fd"))
        hosts = Hosts(protocols, **options)
        try:
            await hosts.begin(late)
            await scenario(hosts)
        finally:
            for host in hosts.all:
                host.freeze()
            await asyncio.gather(*(host.close() for host in hosts.all))
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert len(os.listdir("/proc/self/fd")) == before
        return hosts

    return asyncio.run(main())


def test_a_note_goes_round_and_what_happens_is_what_happens_in_the_simulator():
    def ring():
        return {node: Relay((node + 1) % 4) for node in range(4)}

    async def scenario(hosts):
        hosts.inject(0, Note(9))
        await hosts.quiet()

    course = []
    simulator = Simulator(ring(), watch=course.append)
    simulator.inject(0, Note(9))
    simulator.run()
    hosts = run(ring(), scenario)
    assert [seen[1:] for seen in hosts.course] == [seen[1:] for seen in course]
    assert [seen.time for seen in hosts.course] == sorted(seen.time for seen in hosts.course)
    assert hosts.complaints == hosts.failures == []


def test_a_node_hands_to_itself_what_it_sends_to_itself_over_no_socket():
    async def scenario(hosts):
        hosts.inject(3, Note(5))
        await hosts.quiet()
        assert hosts.all[1].traffic.messages == 0

    hosts = run({3: Relay(3)}, scenario)
    assert hosts.protocols[3].got == [(None, 5), *((3, number) for number in (4, 3, 2, 1, 0))]


def test_a_period_keeps_to_the_clock_however_late_the_loop_is():
    async def scenario(hosts):
        await hosts.until(lambda: len(hosts.protocols[0].times) >= 2, "two rounds")
        time.sleep(0.1)
        await hosts.quiet()

    def makes_up(protocol):
        lags = [came - due for due, came in enumerate(protocol.times)]
        assert min(lags) >= 0
        return any(later < lag for lag, later in pairwise(lags))

    # A busy machine may make every round later than the one before; a lag that is handed on never falls.
    for _ in range(10):
        hosts = run({node: Chatter([1 - node], rounds=8) for node in range(2)}, scenario, unit=0.02)
        assert all((each.told, each.heard) == (8, 8) for each in hosts.protocols.values())
        if all(map(makes_up, hosts.protocols.values())):
            return
    pytest.fail("a lag is handed on, and never made up for")


def test_nodes_draw_what_they_draw_in_the_simulator():
    class Draws(Protocol[Note]):
        def start(self, moment):
            return [Deliver(Note(int(moment.random.integers(1000)))), Wake(0.01, "more")]

        def receive(self, message, sender, moment):
            return ()

        def wake(self, timer, moment):
            return [Deliver(Note(int(moment.random.integers(1000))))]

    course = []
    Simulator({node: Draws() for node in range(3)}, seed=5, watch=course.append).run()

    async def scenario(hosts):
        await hosts.quiet()

    hosts = run({node: Draws() for node in range(3)}, scenario, seed=5)
    drawn = [sorted((seen.target, seen.message.number) for seen in seens) for seens in (course, hosts.course)]
    assert drawn[0] == drawn[1]


def test_what_comes_before_the_start_is_heard_after_it():
    async def scenario(hosts):
        await hosts.quiet()
        assert not hosts.failures

    class Early(Chatter):
        started = False

        def start(self, moment):
            self.started = True
            return super().start(moment)

        def receive(self, message, sender, moment):
            assert self.started
            return super().receive(message, sender, moment)

    hosts = run({node: Early([1 - node], rounds=3) for node in range(2)}, scenario, late=0.3, unit=0.01)
    assert [protocol.heard for protocol in hosts.protocols.values()] == [3, 3]
    assert not hosts.complaints


def test_an_idle_connection_closes_and_the_next_message_opens_one():
    async def scenario(hosts):
        for _ in range(2):
            hosts.inject(0, Note(11))
            await hosts.quiet()
            assert sum(host.traffic.open for host in hosts.all) in range(13)
            await hosts.until(lambda: not any(host.traffic.open for host in hosts.all), "all are closed")

    hosts = run({node: Relay((node + 1) % 6) for node in range(6)}, scenario, idle=0.05)
    assert sum(len(protocol.got) for protocol in hosts.protocols.values()) == 2 * 12


def test_links_that_are_held_stay_open_and_others_close_when_views_change():
    async def scenario(hosts):
        def linked():
            peers = hosts.all[0].peers | hosts.all[1].peers
            return {frozenset((node, peer)) for node, own in peers.items() for peer in own}

        def wanted():
            return {frozenset((node, friend)) for node, p in hosts.protocols.items() for friend in p.friends}

        await hosts.until(lambda: linked() == wanted(), "a connection for each pair that is linked")
        for node, protocol in hosts.protocols.items():
            protocol.friends = [(node + 3) % 6]
        await hosts.until(lambda: linked() == wanted(), "the connections follow")
        assert len(wanted()) == 3

    nodes = {node: Chatter([(node + 1) % 6, (node + 2) % 6]) for node in range(6)}
    run(nodes, scenario, holds=friends, idle=0.1, unit=0.02)


def test_loss_is_drawn_for_every_message():
    async def scenario(hosts):
        await hosts.quiet()

    nodes = {node: Chatter([other for other in range(4) if other != node], rounds=100) for node in range(4)}
    hosts = run(nodes, scenario, loss=0.25, unit=0.005, seed=3)
    assert hosts.count(What.SENT) == 1200
    assert hosts.count(What.LOST) + hosts.count(What.RECEIVED) == 1200
    assert abs(hosts.count(What.LOST) - 300) < 5 * (1200 * 0.25 * 0.75) ** 0.5


def test_a_node_that_dies_is_missed_and_its_timers_die_with_it():
    async def scenario(hosts):
        await hosts.until(lambda: all(p.heard for p in hosts.protocols.values()), "all talk")
        hosts.all[0].remove(2)
        told = hosts.protocols[2].told
        # A busy machine may miss others too, whose connections take longer to open than it waits.
        await hosts.until(lambda: hosts.missed()[2] > 5, "it is missed")
        assert hosts.protocols[2].told == told
        assert hosts.all[0].protocols.keys() == {0, 4}

    hosts = run({n: Chatter([o for o in range(5) if o != n]) for n in range(5)}, scenario, unit=0.02)
    assert hosts.complaints == hosts.failures == []


def test_a_node_that_comes_back_begins_anew_and_draws_on():
    async def scenario(hosts):
        await hosts.until(lambda: all(p.heard for p in hosts.protocols.values()), "all talk")
        hosts.all[1].remove(1)
        again = Chatter([0, 2])
        book = {1: hosts.all[1].add(1, again)}
        for host in hosts.all:
            host.learn(book)
        heard = [hosts.protocols[node].heard for node in (0, 2)]
        hosts.all[1].start(1)
        await hosts.until(lambda: again.heard >= 4, "the others find it")
        await hosts.until(lambda: again.told >= 4, "its timers run")
        assert hosts.all[1].protocols[1] is again
        assert [hosts.protocols[node].heard for node in (0, 2)] > heard

    nodes = {node: Chatter([other for other in range(3) if other != node]) for node in range(3)}
    hosts = run(nodes, scenario, unit=0.02)
    assert hosts.complaints == hosts.failures == []


def test_a_node_survives_what_it_can_not_handle_and_reports_what_it_does_wrong_itself():
    async def scenario(hosts):
        hosts.inject(0, Note(1))
        hosts.inject(0, Note(1))
        await hosts.quiet()

    hosts = run({0: Relay(1), 1: Clumsy(), 3: Clumsy(at_start=True)}, scenario)
    assert Counter(kind for kind, _ in hosts.complaints) == {"message": 2}
    assert hosts.complaints[0][1].startswith(
        "node 1 can't handle Note(number=0): ValueError: note 0 is too much ("
    )
    assert len(hosts.failures) == 1
    assert hosts.failures[0].startswith("node 3 failed at its start: KeyError: 'nothing to start with' (")


@pytest.mark.parametrize("after", [-1.0, float("inf"), float("nan")])
def test_a_timer_that_leads_nowhere_is_a_failure(after):
    class Odd(Relay):
        def start(self, moment):
            return [Wake(after, "never")]

    async def scenario(hosts):
        await hosts.until(lambda: hosts.failures, "it fails")

    hosts = run({0: Odd(0)}, scenario)
    assert (
        f"OptionError: a timer is set to {after!r}; give a finite number of at least 0" in hosts.failures[0]
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"unit": 0.0}, "unit is 0.0; give a number of seconds above 0"),
        ({"idle": float("inf")}, "idle is inf; give a number of seconds above 0"),
        ({"loss": 2.0}, "loss is 2.0; give a probability from 0 to 1"),
        ({"processes": 0}, "processes is 0; give a whole number from 1 to "),
        ({"processes": 10_000}, "processes is 10000; give a whole number from 1 to .*: on this machine more"),
        ({"port": 70_000}, "port is 70000; give one from 1 to 65535, or none"),
    ],
)
def test_options_that_can_not_be_are_refused(options, words):
    with pytest.raises(mw.OptionError, match=words):
        LiveOptions(messages=(Note,), **options)
