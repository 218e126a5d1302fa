"""Plans as fleets of real brokers: python -m benchmarks.deploying [PART ...] [--brokers 100] [--topics 200].

Parts, each a table or a line:
  engines   gm and gr-maw (latencies of places on a map) on Mosquitto and NATS; wildcards on Mosquitto
  against   ours beside a star through one hub and one tree for all topics, on the same interests
  large     1,000 Mosquitto brokers: start, memory, proof
  changes   random changes applied to a fleet of 30 under a steady stream of numbered messages
  kills     processes that apply, killed at random moments, and run again

Settled before the runs: zipf with 10 topics a node, seed 1; the industrial scheme with + for wildcards.
Everything is published once at every subscriber. Seconds and latencies are on the clock of this machine.
"""

import argparse
import os
import random
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import meshwright as mw
from benchmarks.naming_schemes import industrial
from meshwright.deploy.applying import apply
from meshwright.deploy.drivers import driver_of
from meshwright.deploy.fleet.fleet import FleetReach, running
from meshwright.deploy.fleet.killing import state_of
from meshwright.deploy.fleet.mqtt_ears import paho
from meshwright.deploy.fleet.verifying import ears_of, publish_everywhere, verify
from meshwright.deploy.hosts import Host
from meshwright.deploy.plan.plan import Plan, Settings
from meshwright.deploy.plan.planning import make_plan
from meshwright.deploy.reaching import Commands
from meshwright.model.filtered import own_filters_of
from meshwright.runtime.errors import DatasetError

SHOWN = [
    "brokers",
    "links",
    "lines",
    "published",
    "delivered",
    "lost",
    "duplicates",
    "uninterested",
    "relayed",
    "latency_ms_p50",
    "latency_ms_p99",
    "messages_per_second",
    "memory_mb",
    "link_seconds",
    "seconds",
]


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="deploying-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def row(name: str, plan: Plan, **more: object) -> None:
    """Prove a plan, and print a row about it."""
    with scratch() as folder:
        found = verify(plan, folder)
    print(
        f"| {name} | "
        + " | ".join(f"{found[key]}" for key in SHOWN)
        + "".join(f" | {each}" for each in more.values())
        + " |",
        flush=True,
    )
    if found["first_trouble"]:
        print(f"  {found['first_trouble']}", flush=True)


def names_of(brokers: int, topics: int) -> mw.Interests:
    """Plain topics."""
    return mw.workloads.zipf(brokers, topics, subscriptions=10, seed=1)


def filters_of(brokers: int) -> mw.Interests:
    """Filters with wildcards, six a broker."""
    numbers = random.Random(1)
    pairs = [
        (f"n{broker:04}", industrial(numbers, True, broker, 1)) for broker in range(brokers) for _ in range(6)
    ]
    return mw.Interests.from_filters(pairs, dialect="mqtt")


def places(interests: mw.Interests) -> mw.Costs:
    """Latencies between points on a map."""
    numbers = random.Random(1)
    points = {
        node: (numbers.uniform(0, 100), numbers.uniform(0, 100)) for node in interests.nodes.to_pylist()
    }
    between = [
        [((x - u) ** 2 + (y - v) ** 2) ** 0.5 + 1 for u, v in points.values()] for x, y in points.values()
    ]
    return mw.Costs.from_matrix(between)


def engines(options: argparse.Namespace) -> None:
    """The engines, with names and wildcards."""
    print("| plan | " + " | ".join(key.replace("_", " ") for key in SHOWN) + " |")
    for driver in options.drivers:
        engine = driver_of(driver).engine
        interests = names_of(options.brokers, options.topics)
        row(f"{driver}, gm", make_plan(mw.build(interests, "gm"), engine))
        weighted = mw.build(interests, "gr-maw", costs=places(interests))
        row(f"{driver}, gr-maw, cheapest", make_plan(weighted, engine, settings=Settings(tree="cheapest")))
        if not engine.by_accounts:  # these filters need relays, which the driver nats refuses
            row(f"{driver}, gm, wildcards", make_plan(mw.build(filters_of(options.brokers), "gm"), engine))


def star(interests: mw.Interests) -> mw.Overlay:
    """Every broker linked to one hub, which takes part in everything."""
    nodes = interests.nodes.to_pylist()
    return hub_overlay(interests, [(nodes[0], node) for node in nodes[1:]])


def one_tree(interests: mw.Interests) -> mw.Overlay:
    """One spanning tree for all topics: each broker under another, at most three below each."""
    nodes = interests.nodes.to_pylist()
    return hub_overlay(interests, [(nodes[(at - 1) // 3], node) for at, node in enumerate(nodes) if at])


def hub_overlay(interests: mw.Interests, edges: list[tuple[str, str]]) -> mw.Overlay:
    """An overlay whose every link carries every topic: all brokers take part in all topics."""
    everything = [
        (node, topic) for node in interests.nodes.to_pylist() for topic in interests.topics.to_pylist()
    ]
    return mw.Overlay.from_edges(mw.Interests.from_pairs(everything), edges)


def as_flooded(plan: Plan, interests: mw.Interests) -> Plan:
    """The plan of a mesh that carries `#` on every link, with what brokers really want."""
    wants = {node: tuple(interests.topics_of(node)) for node in interests.nodes.to_pylist()}
    topics = tuple(topic._replace(nodes=tuple(interests.nodes_of(topic.name))) for topic in plan.topics)
    return replace(
        plan.with_links(link._replace(lines=("#",)) for link in plan.links), wants=wants, topics=topics
    )


def against(options: argparse.Namespace) -> None:
    """What people do instead."""
    print("| mesh | " + " | ".join(key.replace("_", " ") for key in SHOWN) + " | most links of a broker |")
    interests = names_of(options.brokers, options.topics)
    engine = driver_of("mosquitto").engine
    for name, overlay in (
        ("ours (gm)", None),
        ("a star through one hub", star(interests)),
        ("one tree for all topics", one_tree(interests)),
    ):
        if overlay is None:
            plan = make_plan(mw.build(interests, "gm"), engine)
        else:
            plan = as_flooded(make_plan(overlay, engine), interests)
        row(name, plan, most_links=most_links(plan))


def most_links(plan: Plan) -> int:
    """The most links of a broker."""
    return max(len(plan.opened_by(host.node)) + len(plan.accepted_by(host.node)) for host in plan.hosts)


def large(options: argparse.Namespace) -> None:
    """Many Mosquitto brokers."""
    interests = mw.workloads.unif(options.large, options.large // 2, subscriptions=4, seed=1)
    print("| plan | " + " | ".join(key.replace("_", " ") for key in SHOWN) + " |")
    row("mosquitto, gm", make_plan(mw.build(interests, "gm"), driver_of("mosquitto").engine))


STEADY, EXTRA = 10, 5
"""Topics of the stream, and brokers without these, which leave and join."""


class Stream:
    """Numbered messages on steady topics, every 20 ms, while brokers are restarted: QoS 2, sessions kept."""

    def __init__(self, plan: Plan, subscribers: dict[str, list[str]], numbers: random.Random) -> None:
        self._subscribers, self._numbers = subscribers, numbers
        self._over = threading.Event()
        self.sent: dict[int, tuple[str, float]] = {}
        self.heard: Counter[tuple[str, int]] = Counter()
        self.late = 0
        nodes = sorted({node for own in subscribers.values() for node in own})
        self._clients = {node: self._client(plan.host_of[node]) for node in nodes}
        self._thread = threading.Thread(target=self._run)

    def _client(self, host: Host) -> Any:
        library = paho()
        client = library.Client(
            library.CallbackAPIVersion.VERSION2,
            f"stream-{host.node}",
            clean_session=False,
            protocol=library.MQTTv311,
        )
        client.reconnect_delay_set(1, 1)
        own = [(topic, 2) for topic, nodes in self._subscribers.items() if host.node in nodes]
        client.on_connect = lambda client, *_: client.subscribe(own)
        client.on_message = lambda _client, _data, message: self._hear(host.node, int(message.payload))
        client.connect(host.host, host.port)
        client.loop_start()
        return client

    def _hear(self, node: str, number: int) -> None:
        self.heard[node, number] += 1
        self.late += time.monotonic() - self.sent[number][1] > 1

    def _run(self) -> None:
        for number in count():
            if self._over.wait(0.02):
                return
            topic = self._numbers.choice(sorted(self._subscribers))
            node = self._numbers.choice(self._subscribers[topic])
            self.sent[number] = topic, time.monotonic()
            self._clients[node].publish(topic, b"%d" % number, 2)

    def __enter__(self) -> "Stream":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        end, heard = time.monotonic() + 60, -1
        while heard != self.heard.total() and time.monotonic() < end:
            heard = self.heard.total()
            time.sleep(5)
        for client in self._clients.values():
            client.loop_stop()

    def told(self) -> str:
        """What became of the messages."""
        wanted = {
            (node, number) for number, (topic, _) in self.sent.items() for node in self._subscribers[topic]
        }
        lost = sum(key not in self.heard for key in wanted)
        doubled = sum(copies > 1 for copies in self.heard.values())
        return (
            f"{len(self.sent):,} messages sent, {len(wanted):,} deliveries expected: {lost} lost, "
            f"{doubled} doubled, {self.late} later than a second"
        )


def change(live: mw.Maintainer, away: set[str], numbers: random.Random) -> None:
    """One random join, leave, subscribe or unsubscribe of a name or a filter."""
    extra = [f"x{node}" for node in range(EXTRA)]
    kind = numbers.choice(["extra", "subscribe", "subscribe", "unsubscribe"])
    if kind == "extra":
        node = numbers.choice(extra)
        if node in away:
            live.join(node, sorted({industrial(numbers, True, 3, 1) for _ in range(4)}))
            away.discard(node)
        else:
            live.leave(node)
            away.add(node)
        return
    node = numbers.choice(sorted({*live.overlay.interests.nodes.to_pylist()} - {*extra}))
    own = [text for text in own_filters_of(live.overlay.interests)[node] if text.startswith("acme")]
    if kind == "subscribe":
        live.subscribe(node, [industrial(numbers, True, int(node[1:]), 1)])
    elif own:
        live.unsubscribe(node, [numbers.choice(sorted(own))])


def changes(options: argparse.Namespace) -> None:
    """Random changes under a stream, on Mosquitto 2.0, which has to be restarted for each."""
    numbers = random.Random(1)
    steady = {
        f"steady/{topic}": numbers.sample([f"n{node:02}" for node in range(25)], 4) for topic in range(STEADY)
    }
    pairs = {(f"n{node:02}", industrial(numbers, True, node, 1)) for node in range(25) for _ in range(4)}
    pairs |= {(f"x{node}", industrial(numbers, True, 3, 1)) for node in range(EXTRA) for _ in range(4)}
    pairs |= {(node, topic) for topic, nodes in steady.items() for node in nodes}
    live = mw.Maintainer(mw.build(mw.Interests.from_filters(sorted(pairs), dialect="mqtt"), "gm"))
    engine, settings = driver_of("mosquitto").engine, Settings(qos=2)
    steps, gaps, away = 0, [], set[str]()
    with scratch() as folder, running(make_plan(live.overlay, engine, settings=settings), folder) as fleet:
        place = state_of(fleet, folder)
        with Stream(fleet.plan, steady, random.Random(2)) as stream:
            for _ in range(options.changes):
                change(live, away, numbers)
                nodes = live.overlay.interests.nodes.to_pylist()
                hosts = {node: fleet.hosts[node] for node in nodes}
                plan = make_plan(live.overlay, engine, hosts, settings=settings, before=fleet.plan)
                done = apply(plan, place, FleetReach(fleet))
                fleet.wait_for_links(plan)
                steps += done.steps
                gaps.append(done.gap_seconds)
        ears = ears_of(fleet)
        proof = publish_everywhere(fleet, ears)
        ears.close()
    gaps.sort()
    print(
        f"{options.changes} changes, {steps} files brought, each with a restart; closed for "
        f"{gaps[len(gaps) // 2]:.2f} s in the median, {gaps[-1]:.2f} s at most; {stream.told()}; "
        f"afterwards {proof}"
    )


def kills(options: argparse.Namespace) -> None:
    """Processes that apply, killed: brokers are files here, and a reload copies the file to what runs."""
    numbers, render = random.Random(1), driver_of("mosquitto").render
    with scratch() as folder:
        hosts = {node: file_host(folder, node, at) for at, node in enumerate(FILE_NODES)}
        place = folder / "state.json"
        (folder / "foreign.conf").write_text("listener 1883\n")
        resumed = killed = 0
        for _ in range(options.kills):
            pairs = [(node, f"t{numbers.randrange(6)}") for node in hosts for _ in range(3)]
            plan = make_plan(
                mw.build(mw.Interests.from_pairs(pairs), "gm"), driver_of("mosquitto").engine, hosts
            )
            killed += killed_while_applying(plan, place, numbers)
            check_no_cycle(folder)
            apply_patiently(plan, place)
            right = all((folder / f"{node}.runs").read_text() == render(plan, node) for node in plan.host_of)
            resumed += right and apply(plan, place, Commands(check=False)).steps == 0
        foreign = (folder / "foreign.conf").read_text() == "listener 1883\n"
    print(
        f"{options.kills} runs of apply, {killed} of them killed before their end: {resumed} resumed, with "
        f"nothing left to do and no cycle at any time; foreign file untouched: {foreign}"
    )


FILE_NODES = [f"n{node}" for node in range(8)]


def file_host(folder: Path, node: str, at: int) -> Host:
    """A broker that is a file, and another file for what it runs."""
    own, runs = folder / f"{node}.conf", folder / f"{node}.runs"
    reload = f"cp '{own}' '{runs}' 2>/dev/null || rm -f '{runs}'"
    return Host(node, port=20_000 + at, config=str(own), reload=reload)


def apply_patiently(plan: Plan, place: Path) -> None:
    """Apply; what a killed process had just started may hold the lock for a moment."""
    for attempt in count():
        try:
            apply(plan, place, Commands(check=False))
            return
        except DatasetError:
            assert attempt < 100
            time.sleep(0.05)


def killed_while_applying(plan: Plan, place: Path, numbers: random.Random) -> bool:
    """Apply a plan in a process of its own, and kill that after a random time; whether it had not ended."""
    child = os.fork()
    if not child:
        apply(plan, place, Commands(check=False))
        os._exit(0)
    time.sleep(numbers.uniform(0, 0.4))
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def check_no_cycle(folder: Path) -> None:
    """What runs has no cycle for any topic."""
    import networkx as nx

    driver, nodes = driver_of("mosquitto"), FILE_NODES
    ends = {driver.link_name(one, other): (one, other) for one in nodes for other in nodes if one != other}
    carried = [
        (ends[name], line)
        for node in nodes
        if (folder / f"{node}.runs").exists()
        for name, lines in driver.read((folder / f"{node}.runs").read_text()).items()
        for line in lines
    ]
    for topic in {line for _, line in carried}:
        assert nx.is_forest(nx.MultiGraph([pair for pair, line in carried if line == topic])), topic


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "engines": engines,
    "against": against,
    "large": large,
    "changes": changes,
    "kills": kills,
}


def main() -> None:
    """Run the parts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[*PARTS])
    parser.add_argument("--brokers", type=int, default=100)
    parser.add_argument("--topics", type=int, default=200)
    parser.add_argument("--drivers", nargs="+", default=["mosquitto", "nats"])
    parser.add_argument("--large", type=int, default=1_000)
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--kills", type=int, default=100)
    options: Any = parser.parse_args()
    for part in options.parts:
        print(f"## {part}", flush=True)
        PARTS[part](options)


if __name__ == "__main__":
    main()
