"""Real brokers that `meshwright serve --apply` looks after, killed under a steady stream.

    python -m benchmarks.reconciling [--drivers nats mosquitto] [--brokers 30] [--topics 60] [--kills 20]

Brokers on loopback are started with the files of a plan, with clients for all topics. Numbered messages are
published every 20 ms at brokers that are never killed, but between which ways lead over others. Then others
are killed, one after the other, and the last ones two at a time. For each kill: how long it takes until the
plan for the repaired overlay is applied, and how long after the kill messages that were lost were published.
Then a client subscribes at a broker to what nobody there wanted: how long until that is applied. In the end
probes cross all links. The exit code is 1 if a link does not carry then, if a plan took more than 2 s for
NATS, or a subscription more than 5 s. Settled before the runs: zipf with 10 topics a node, seed 1; the first
ten brokers live on. That clients are at all brokers was settled after a first run: without them, brokers are
relays that the plan does not know, and NATS passes nothing on there.
"""

import argparse
import asyncio
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from math import inf
from pathlib import Path

import nats

import meshwright as mw
from benchmarks.live_fleet import LiveFleet, live_fleet
from benchmarks.serving import Server
from benchmarks.streaming import Stream
from meshwright.deploy.fleet.mqtt_ears import paho
from meshwright.deploy.health import look_at_links
from meshwright.deploy.plan.plan import Plan
from meshwright.deploy.state import read_state
from meshwright.serve.client import Client, ServedPlan

SURVIVORS = 10
MOST_SECONDS = {"nats": 2.0}
MOST_SECONDS_OF_A_WISH = 5.0
PATIENCE = 120.0


def wait_until(client: Client, holds: Callable[[ServedPlan], bool]) -> float:
    """Wait until the plan of a server is as it should be; gives the time then."""
    end = time.monotonic() + PATIENCE
    while not holds(found := client.plan()):
        if time.monotonic() > end:
            raise SystemExit(f"waited in vain: {found}")
        time.sleep(0.02)
    return time.monotonic()


def is_applied(before: str | None) -> Callable[[ServedPlan], bool]:
    """Whether another plan than that is applied, and none waits."""
    return lambda plan: plan.applied != before and plan.plan is None and not plan.applying


def applied_plan(place: Path) -> Plan:
    """The plan that brokers follow."""
    found = read_state(place).plan
    assert found is not None
    return found


def victims_of(nodes: Sequence[str], kills: int) -> list[list[str]]:
    """Who is killed, in turn; the last four by twos."""
    others = random.Random(1).sample(sorted(nodes)[SURVIVORS:], kills)
    single = max(0, len(others) - 4)
    return [[node] for node in others[:single]] + [others[at : at + 2] for at in range(single, kills, 2)]


def subscribers_of(overlay: mw.Overlay) -> dict[str, list[str]]:
    """By topic that some survivors share, all its subscribers."""
    interests = overlay.interests
    found: dict[str, list[str]] = {}
    for node in interests.nodes.to_pylist():
        for topic in interests.topics_of(node):
            found.setdefault(topic, []).append(node)
    survivors = set(sorted(interests.nodes.to_pylist())[:SURVIVORS])
    return {topic: nodes for topic, nodes in sorted(found.items()) if len(survivors & {*nodes}) > 1}


def gap_after(stream: Stream, begin: float, end: float) -> float:
    """How long after `begin` the last message was sent of which a copy was lost, before `end`."""
    late = 0.0
    for number, (topic, sent) in list(stream.sent.items()):
        wanted = stream.subscribers[topic]
        if begin <= sent < end and any((node, number) not in stream.heard for node in wanted):
            late = max(late, sent - begin)
    return late


def subscribe(fleet: LiveFleet, plan: Plan, node: str, topic: str) -> Callable[[], object]:
    """Subscribe at a broker; gives what ends it."""
    port = fleet.client_port(node)
    if fleet.driver.broker == "mosquitto":
        client = paho().Client(paho().CallbackAPIVersion.VERSION2)
        client.on_connect = lambda own, *_: own.subscribe(topic)
        client.connect("127.0.0.1", port)
        client.loop_start()
        return client.loop_stop
    account = next(own.account for own in plan.topics if node in own.nodes)
    loop = asyncio.new_event_loop()

    async def begin() -> nats.aio.client.Client:
        own = await nats.connect(f"nats://127.0.0.1:{port}", user=f"mw{account}", password="mesh")
        await own.subscribe(topic)
        await own.flush()
        return own

    def end() -> None:
        loop.run_until_complete(found.close())
        loop.close()

    found = loop.run_until_complete(begin())
    return end


def run(driver: str, overlay: mw.Overlay, kills: int, folder: Path) -> bool:
    """Kill brokers of one kind, and print what came of it; whether it was in time and all links carry."""
    state = folder / "state"
    place = state / "fleet" / "deploy.state.json"
    overlay.write(folder / "overlay")
    with live_fleet(overlay, driver, folder / "brokers", place) as fleet, ExitStack() as held:
        server = Server(state, folder / "overlay")
        more = ["--inventory", fleet.inventory, "--driver", driver, "--apply", "--look-every", "0.25"]
        held.callback(server.end, signal.SIGTERM)
        server.start("--window", "5", "--applies-a-minute", "600", *map(str, more))
        seconds, carried, times = [], [], []
        survivors = sorted(fleet.hosts)[:SURVIVORS]
        everywhere = subscribers_of(overlay)
        streaming = Stream(driver, fleet.plan, everywhere, random.Random(2), counted=survivors)
        with server.client() as client, streaming as stream:
            time.sleep(2)
            for victims in victims_of(list(fleet.hosts), kills):
                before = client.plan().applied
                begin = next(iter([fleet.kill(node) for node in victims]))
                done = wait_until(client, is_applied(before))
                while {*victims} & {*applied_plan(place).host_of}:
                    done = wait_until(client, is_applied(client.plan().applied))
                seconds.append(done - begin)
                plan = applied_plan(place)
                stream.clients.follow(plan)
                while not all(own.carries for own in look_at_links(plan, (), 0.5)):
                    if time.monotonic() - begin > PATIENCE:
                        raise SystemExit("links do not carry")
                carried.append(time.monotonic() - begin)
                time.sleep(1)
                times.append((begin, time.monotonic()))
            plan = applied_plan(place)
            node, topic = new_wish(plan)
            before, begin_wish = client.plan().applied, time.monotonic()
            end_wish = subscribe(fleet, plan, node, topic)
            wished = wait_until(client, is_applied(before)) - begin_wish
            end_wish()
            troubles = client.plan().troubles
        gaps = [gap_after(stream, *own) for own in times]
        final = applied_plan(place)
        health = look_at_links(final, (), 10.0)
    carrying = sum(own.carries is True for own in health)
    print(
        f"{driver}: {kills} of {len(fleet.hosts)} brokers killed in {len(seconds)} kills; seconds after a "
        f"kill, median and most: plan applied {_both(seconds)}, all links carry (probed) {_both(carried)}, "
        f"last message sent that was lost {_both(gaps)}; a new subscription applied after {wished:.2f} s; "
        f"{stream.told()}; {carrying} of {len(final.links)} links carry; "
        f"troubles: {', '.join(troubles) or 'none'}",
        flush=True,
    )
    in_time = max(seconds) <= MOST_SECONDS.get(driver, inf) and wished <= MOST_SECONDS_OF_A_WISH
    print(f"{driver}: {'in time' if in_time else 'TOO LATE'}", flush=True)
    return carrying == len(final.links) and in_time


def _both(seconds: list[float]) -> str:
    return f"{sorted(seconds)[len(seconds) // 2]:.2f} and {max(seconds):.2f}"


def new_wish(plan: Plan) -> tuple[str, str]:
    """A survivor, and a topic that it does not want yet."""
    node = min(plan.host_of)
    return node, next(topic.name for topic in plan.topics if node not in topic.nodes and len(topic.nodes) > 1)


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--drivers", nargs="+", default=["nats", "mosquitto"])
    parser.add_argument("--brokers", type=int, default=30)
    parser.add_argument("--topics", type=int, default=60)
    parser.add_argument("--kills", type=int, default=20)
    args = parser.parse_args()
    interests = mw.workloads.zipf(args.brokers, args.topics, subscriptions=10, seed=1)
    overlay = mw.build(interests, "gm")
    held = []
    for driver in args.drivers:
        with tempfile.TemporaryDirectory(prefix="reconciling-", ignore_cleanup_errors=True) as name:
            held.append(run(driver, overlay, args.kills, Path(name)))
    return int(not all(held))


if __name__ == "__main__":
    sys.exit(main())
