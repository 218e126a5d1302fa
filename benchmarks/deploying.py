"""Plans as fleets of real brokers: python -m benchmarks.deploying [PART ...] [--brokers 100] [--topics 200].

Parts, each a table or a line:
  engines   gm and gr-maw (latencies of places on a map) on Mosquitto and NATS; wildcards on Mosquitto
  against   ours beside a star through one hub and one tree for all topics, on the same interests
  routers   30 Zenoh routers: ours beside a star, one tree and a full mesh, with what passes the uninterested
  large     1,000 Mosquitto brokers: start, memory, proof
  changes   random changes applied to a fleet of 30 under a steady stream of numbered messages

Settled before the runs: zipf with 10 topics a node, seed 1; the industrial scheme with + for wildcards.
Everything is published once at every subscriber. Seconds and latencies are on the clock of this machine.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest.mock import patch

import meshwright as mw
from benchmarks.naming_schemes import industrial
from benchmarks.streaming import Stream
from meshwright.deploy.applying import apply
from meshwright.deploy.drivers import driver_of
from meshwright.deploy.fleet.fleet import FleetReach, running
from meshwright.deploy.fleet.killing import state_of
from meshwright.deploy.fleet.verifying import ears_of, publish_everywhere, verify
from meshwright.deploy.plan.plan import Plan, Settings
from meshwright.deploy.plan.planning import make_plan
from meshwright.model.filtered import own_filters_of
from meshwright.runtime.errors import InputError

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
    "most_carried",
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


def filters_of(brokers: int, dialect: str = "mqtt") -> mw.Interests:
    """Filters with wildcards, six a broker."""
    numbers = random.Random(1)
    pairs = [
        (f"n{broker:04}", industrial(numbers, True, broker, 1)) for broker in range(brokers) for _ in range(6)
    ]
    signs = SIGNS["mosquitto" if dialect == "mqtt" else dialect]
    return mw.Interests.from_filters([(node, text.translate(signs)) for node, text in pairs], dialect=dialect)


def places(interests: mw.Interests, cities: Path | None) -> mw.Costs:
    """Round trips between cities, if there is a file of them; or else distances between points on a map."""
    numbers = random.Random(1)
    if cities is not None:
        between = mw.Costs.from_file(cities, symmetrise="mean", missing="path", least_cost=0.1)
        sites = numbers.sample(between.nodes.to_pylist(), len(interests.nodes))
        return mw.Costs.sites(between, dict(zip(interests.nodes.to_pylist(), sites, strict=True)), local=0.5)
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
        if "gm" in options.rows:
            row(f"{driver}, gm", make_plan(mw.build(interests, "gm"), engine))
        if "gr-maw" in options.rows:
            weighted = mw.build(interests, "gr-maw", costs=places(interests, options.cities))
            plan = make_plan(weighted, engine, settings=Settings(tree="cheapest"))
            row(f"{driver}, gr-maw, cheapest", plan)
        if "wildcards" in options.rows:
            filters = filters_of(options.brokers, engine.dialect)
            row(f"{driver}, gm, wildcards", make_plan(mw.build(filters, "gm"), engine))


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
    return wanting(plan.with_links(link._replace(lines=("#",)) for link in plan.links), interests)


def wanting(plan: Plan, interests: mw.Interests) -> Plan:
    """The plan with what brokers really want."""
    wants = {node: tuple(interests.topics_of(node)) for node in interests.nodes.to_pylist()}
    topics = tuple(topic._replace(nodes=tuple(interests.nodes_of(topic.name))) for topic in plan.topics)
    return replace(plan, wants=wants, topics=topics)


def against(options: argparse.Namespace) -> None:
    """What people do instead."""
    print("| mesh | " + " | ".join(key.replace("_", " ") for key in SHOWN) + " | most links of a broker |")
    interests = names_of(options.brokers, options.topics)
    for driver in options.drivers:
        engine = driver_of(driver).engine
        if "ours" in options.rows:
            ours = make_plan(mw.build(interests, "gm"), engine)
            row(f"{driver}, ours (gm)", ours, most_links=most_links(ours))
        for short, name, drawing in (
            ("star", "a star through one hub", star),
            ("tree", "one tree for all topics", one_tree),
        ):
            if short not in options.rows:
                continue
            drawn = make_plan(drawing(interests), engine)
            plan = wanting(drawn, interests) if driver == "nats" else as_flooded(drawn, interests)
            row(f"{driver}, {name}", plan, most_links=most_links(plan))
        if driver == "nats" and "mesh" in options.rows:
            cluster_row(wanting(make_plan(star(interests), engine), interests))


ROUTE_PORTS = 1_000
"""How far the port for routes is above the one for leaf nodes."""


def cluster_row(plan: Plan) -> None:
    """A full mesh of NATS servers: one cluster, whose members find each other."""

    def render(plan: Plan, node: str) -> str:
        port, first = plan.host_of[node].port, plan.hosts[0].port
        return (
            f'cluster {{ name: mesh, listen: "127.0.0.1:{port + ROUTE_PORTS}", pool_size: -1\n'
            f'  routes: [ "nats-route://127.0.0.1:{first + ROUTE_PORTS}" ] }}\n'
            f"accounts {{ MW0 {{ users: [ {{ user: mw0, password: mw0 }} ] }} }}\n"
        )

    usual = driver_of("nats")
    clustered = usual._replace(render=render, ports_beside=(ROUTE_PORTS, *usual.ports_beside))
    count = len(plan.hosts)
    with patch("meshwright.deploy.fleet.fleet.driver_of", lambda name: clustered):
        row("nats, full mesh (one cluster)", plan.with_links([]), most_links=count - 1)


def most_links(plan: Plan) -> int:
    """The most links of a broker."""
    return max(len(plan.opened_by(host.node)) + len(plan.accepted_by(host.node)) for host in plan.hosts)


def routers(options: argparse.Namespace) -> None:
    """Zenoh routers, which choose ways themselves, over our links and over those that people draw."""
    print("| mesh | " + " | ".join(key.replace("_", " ") for key in SHOWN) + " | most links of a broker |")
    interests = names_of(options.routers, 2 * options.routers)
    nodes = interests.nodes.to_pylist()
    engine = driver_of("zenoh").engine
    everybody = list(combinations(nodes, 2))
    for name, overlay in (
        ("ours (gm)", mw.build(interests, "gm")),
        ("ours (gm, resilience 2)", mw.build(interests, "gm", resilience=2)),
        ("a star through one hub", star(interests)),
        ("one tree for all topics", one_tree(interests)),
        ("full mesh", mw.Overlay.from_edges(interests, everybody)),
    ):
        plan = wanting(make_plan(overlay, engine), interests)
        row(name, plan, most_links=most_links(plan))


def large(options: argparse.Namespace) -> None:
    """Many Mosquitto brokers."""
    interests = mw.workloads.unif(options.large, options.large // 2, subscriptions=4, seed=1)
    print("| plan | " + " | ".join(key.replace("_", " ") for key in SHOWN) + " |")
    row("mosquitto, gm", make_plan(mw.build(interests, "gm"), driver_of("mosquitto").engine))


STEADY, EXTRA = 10, 5
"""Topics of the stream, and brokers without these, which leave and join."""


SIGNS = {"mosquitto": {}, "nats": str.maketrans("/+#", ".*>"), "zenoh": {ord("+"): "*", ord("#"): "**"}}
"""How filters of MQTT are written for an engine."""


def filter_of(numbers: random.Random, driver: str, node: int) -> str:
    """A random filter."""
    return industrial(numbers, True, node, 1).translate(SIGNS[driver])


def change(
    live: mw.Maintainer,
    driver: str,
    steady: Mapping[str, list[str]],
    away: set[str],
    numbers: random.Random,
) -> None:
    """One random join, leave, subscribe or unsubscribe of a name or a filter.

    Topics of the stream get and lose subscribers beside those that the stream counts, so their trees change.
    """
    extra = [f"x{node}" for node in range(EXTRA)]
    kind = numbers.choice(["extra", "subscribe", "subscribe", "unsubscribe", "steady"])
    if kind == "extra":
        node = numbers.choice(extra)
        if node in away:
            live.join(node, sorted({filter_of(numbers, driver, 3) for _ in range(4)}))
            away.discard(node)
        else:
            live.leave(node)
            away.add(node)
        return
    node = numbers.choice(sorted({*live.overlay.interests.nodes.to_pylist()} - {*extra}))
    wanted = own_filters_of(live.overlay.interests)[node]
    own = [text for text in wanted if text.startswith("acme")]
    if kind == "steady":
        topic = numbers.choice([topic for topic, counted in steady.items() if node not in counted])
        (live.unsubscribe if topic in wanted else live.subscribe)(node, [topic])
    elif kind == "subscribe":
        live.subscribe(node, [filter_of(numbers, driver, int(node[1:]))])
    elif own:
        live.unsubscribe(node, [numbers.choice(sorted(own))])


def changes(options: argparse.Namespace) -> None:
    """Random changes under a stream: Mosquitto 2.0 and Zenoh restart for each, NATS does not."""
    for driver in options.drivers:
        changes_of(driver, driver, options.changes, options.minutes)
        if options.patient and driver == "zenoh":
            changes_of(driver, "zenoh, patient clients", options.changes, options.minutes)


def changes_of(driver: str, clients: str, most: int, minutes: float) -> None:
    """Random changes of one engine, until there are enough or the time is over."""
    numbers = random.Random(1)
    topic_names = [f"steady/{topic}".translate(SIGNS[driver]) for topic in range(STEADY)]
    steady = {topic: numbers.sample([f"n{node:02}" for node in range(25)], 4) for topic in topic_names}
    pairs = {(f"n{node:02}", filter_of(numbers, driver, node)) for node in range(25) for _ in range(4)}
    pairs |= {(f"x{node}", filter_of(numbers, driver, 3)) for node in range(EXTRA) for _ in range(4)}
    pairs |= {(node, topic) for topic, nodes in steady.items() for node in nodes}
    engine, settings = driver_of(driver).engine, Settings(qos=2)
    interests = mw.Interests.from_filters(sorted(pairs), dialect=engine.dialect)
    live = mw.Maintainer(mw.build(interests, "gm"))
    steps, refused, gaps, away = 0, 0, [], set[str]()
    with scratch() as folder, running(make_plan(live.overlay, engine, settings=settings), folder) as fleet:
        place, end = state_of(fleet, folder), time.monotonic() + 60 * minutes
        with Stream(clients, fleet.plan, steady, random.Random(2)) as stream:
            while len(gaps) + refused < most and time.monotonic() < end:
                change(live, driver, steady, away, numbers)
                nodes = live.overlay.interests.nodes.to_pylist()
                hosts = {node: fleet.hosts[node] for node in nodes}
                plan = make_plan(live.overlay, engine, hosts, settings=settings, before=fleet.plan)
                plan = plan.with_hosts(hosts, loopback=True)
                try:
                    done = apply(plan, place, FleetReach(fleet))
                except InputError:
                    refused += 1
                    continue
                fleet.wait_for_links(plan)
                stream.clients.follow(plan)
                steps += done.steps
                gaps.append(done.gap_seconds)
        ears = ears_of(fleet)
        proof = publish_everywhere(fleet, ears)
        ears.close()
    gaps.sort()
    print(
        f"{clients}: {len(gaps)} changes, {refused} refused, {steps} files brought; closed for "
        f"{gaps[len(gaps) // 2]:.2f} s in the median, {gaps[-1]:.2f} s at most; {stream.told()}; "
        f"afterwards {proof}",
        flush=True,
    )


ROWS = ["gm", "gr-maw", "wildcards", "ours", "star", "tree", "mesh"]

PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "engines": engines,
    "against": against,
    "routers": routers,
    "large": large,
    "changes": changes,
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
    parser.add_argument("--cities", type=Path, help="a matrix of round trips, for gr-maw")
    parser.add_argument(
        "--rows", nargs="+", default=ROWS, choices=ROWS, help="of engines and against, only these"
    )
    parser.add_argument("--routers", type=int, default=30)
    parser.add_argument("--large", type=int, default=1_000)
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--patient", action="store_true", help="Zenoh's clients with its default retry, too")
    parser.add_argument("--minutes", type=float, default=60, help="the most that changes of an engine take")
    options: Any = parser.parse_args()
    for part in options.parts:
        print(f"## {part}", flush=True)
        PARTS[part](options)


if __name__ == "__main__":
    main()
