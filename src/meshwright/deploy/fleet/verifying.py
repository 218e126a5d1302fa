"""The proof of a plan: every topic is published at every subscriber, and what arrives is counted."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from meshwright.deploy.fleet.ears import Ears, Heard
from meshwright.deploy.fleet.fleet import Fleet, running
from meshwright.deploy.fleet.mqtt_ears import MqttEars
from meshwright.deploy.fleet.nats_ears import NatsEars
from meshwright.deploy.fleet.zenoh_ears import ZenohEars
from meshwright.deploy.plan.plan import Plan, Topic
from meshwright.runtime.progress import Progress, stage

_AT_A_TIME = 2_000
"""Deliveries that are under way at once."""
_QUIET_SECONDS = 0.5
_ENDLESS = 100
"""So many copies of one message at one broker go round for ever."""
_IN_VAIN_SECONDS = 20.0
"""How long to wait for what may never come; only a plan that does not hold takes so long."""


class Message(NamedTuple):
    """A publication."""

    number: int
    node: str
    topic: Topic


class Proof(NamedTuple):
    """What has arrived of some publications, and what should have."""

    published: int
    expected: int
    delivered: int
    lost: int
    duplicates: int
    uninterested: int
    relayed: int
    """Copies at brokers that the plan names as relays."""
    most_carried: int = 0
    """Copies that came to the busiest broker, over links or from its publishers; of NATS servers and Zenoh
    routers, over links alone."""
    first_trouble: str = ""
    """Of what is lost, doubled or uninterested, the first in words."""

    @property
    def holds(self) -> bool:
        """Whether everything has arrived just where it should."""
        return not (self.lost or self.duplicates or self.uninterested)


def ears_of(fleet: Fleet) -> Ears:
    """Clients at all brokers of a fleet."""
    if fleet.driver.broker == "nats":
        return NatsEars(fleet.plan, Heard())
    if fleet.taps is not None:
        return ZenohEars(fleet.plan, Heard(), fleet.taps)
    return MqttEars(fleet.plan, Heard(), fleet.driver.client_port)


def verify(plan: Plan, folder: Path, rounds: int = 1, progress: Progress | None = None) -> dict[str, Any]:
    """Start the fleet of a plan in a folder, publish, and say what has arrived.

    Guarantee: the processes are gone when it returns, however it does.

    Cost: each topic of n subscribers takes n publications and n² deliveries a round.
    """
    begun = time.monotonic()
    with running(plan, folder, progress) as fleet:
        linked = time.monotonic() - begun
        ears = ears_of(fleet)
        try:
            proof = publish_everywhere(fleet, ears, rounds, progress)
            busy = (ears.heard.last - ears.heard.began) / 1e9
            memory = fleet.memory()
        finally:
            ears.close()
    return {
        **sizes_of(plan),
        **proof._asdict(),
        **latencies(ears.heard.delays),
        "messages_per_second": round(proof.delivered / busy, 1) if busy > 0 else None,
        "memory_mb": round(memory, 1),
        "link_seconds": round(linked, 3),
        "seconds": round(time.monotonic() - begun, 3),
    }


def sizes_of(plan: Plan) -> dict[str, Any]:
    """How large the fleet is."""
    return {
        "driver": plan.driver,
        "brokers": len(plan.hosts),
        "links": len(plan.links),
        "topics": len(plan.topics),
        "lines": sum(len(link.lines) for link in plan.links),
    }


def publish_everywhere(
    fleet: Fleet,
    ears: Ears,
    rounds: int = 1,
    progress: Progress | None = None,
    numbers: Iterator[int] | None = None,
) -> Proof:
    """Publish on every topic at every living subscriber, some at a time, and compare with what arrives."""
    numbers = numbers or count()
    if isinstance(ears, NatsEars):
        _warm_up(fleet, ears, numbers)
        before = ears.taken_in()
        messages = _published(fleet, ears, rounds, progress, numbers)
        proof = proof_of(messages, ears.heard, fleet.dead)
        return _with_taken_in(proof, messages, before, ears.taken_in())
    if fleet.driver.engine.routes_itself:
        _warm_up(fleet, ears, numbers)
        return _proof_of_routers(fleet, ears, rounds, progress, numbers)
    messages = _published(fleet, ears, rounds, progress, numbers)
    return proof_of(messages, ears.heard, fleet.dead)


def _published(
    fleet: Fleet, ears: Ears, rounds: int, progress: Progress | None, numbers: Iterator[int]
) -> list[Message]:
    topics = [topic for topic in fleet.plan.topics if topic.nodes]
    messages: list[Message] = []
    ears.heard.began = time.monotonic_ns()
    with stage(progress, "publishing", rounds * sum(len(topic.nodes) for topic in topics)) as tell:
        for batch in _batches(fleet, topics, rounds, numbers):
            for message in batch:
                ears.publish(message.node, message.topic, message.number)
            wait_for(ears, batch, fleet.dead)
            messages += batch
            tell(len(messages))
    settle(ears)
    return messages


def _proof_of_routers(
    fleet: Fleet, ears: Ears, rounds: int, progress: Progress | None, numbers: Iterator[int]
) -> Proof:
    """The proof of brokers that choose ways themselves: what passes others is counted, and is no trouble."""
    proof = proof_of(_published(fleet, ears, rounds, progress, numbers), ears.heard, fleet.dead)
    if proof.lost or proof.duplicates:
        return proof
    return proof._replace(first_trouble="")


_WARM_UPS = 20


def _warm_up(fleet: Fleet, ears: Ears, numbers: Iterator[int]) -> None:
    """Publish until brokers have told each other who subscribes, which NATS and Zenoh don't wait for."""
    topics = [topic for topic in fleet.plan.topics if topic.nodes]
    for _ in range(_WARM_UPS):
        complete = True
        for batch in _batches(fleet, topics, 1, numbers):
            for message in batch:
                ears.publish(message.node, message.topic, message.number)
            wait_for(ears, batch, fleet.dead, seconds=1.0)
            complete &= not proof_of(batch, ears.heard, fleet.dead).lost
        if complete:
            break
    settle(ears)
    ears.heard.delays.clear()


def _with_taken_in(
    proof: Proof, messages: Sequence[Message], before: Mapping[str, int], after: Mapping[str, int]
) -> Proof:
    """The proof, with what servers took in over links: each message once wherever else it is wanted."""
    wanted, relayed = Counter[str](), Counter[str]()
    for message in messages:
        wanted.update(node for node in message.topic.nodes if node != message.node)
        relayed.update(message.topic.relays)
    over = {node: after[node] - before[node] - wanted[node] - relayed[node] for node in after}
    astray = {node: copies for node, copies in over.items() if copies > 0}
    trouble = proof.first_trouble
    if astray and not trouble:
        node = min(astray)
        trouble = f"{astray[node]:,} messages come to {node!r} over links that nobody there wants"
    return proof._replace(
        uninterested=sum(astray.values()),
        relayed=relayed.total(),
        most_carried=max((after[node] - before[node] for node in after), default=0),
        first_trouble=trouble,
    )


def _batches(
    fleet: Fleet, topics: Sequence[Topic], rounds: int, numbers: Iterator[int]
) -> Iterator[list[Message]]:
    batch: list[Message] = []
    deliveries = 0
    for _ in range(rounds):
        for topic in topics:
            for node in topic.nodes:
                if node in fleet.dead:
                    continue
                batch.append(Message(next(numbers), node, topic))
                deliveries += len(topic.nodes)
                if deliveries >= _AT_A_TIME:
                    yield batch
                    batch, deliveries = [], 0
    if batch:
        yield batch


def wait_for(
    ears: Ears, messages: Sequence[Message], dead: set[str], seconds: float = _IN_VAIN_SECONDS
) -> None:
    """Wait until messages have arrived at all their living subscribers, as long as anything arrives."""
    missing = {(node, each.number) for each in messages for node in each.topic.nodes if node not in dead}
    end, heard, looked = time.monotonic() + seconds, ears.heard.count, ears.heard.count
    while missing and time.monotonic() < end and ears.heard.most < _ENDLESS:
        ears.pump(0.05)
        now = ears.heard.count
        if now > heard:
            end = time.monotonic() + seconds
        # All that is missing is looked through only after many arrivals, or when a moment brought none.
        if now == heard or now - looked > len(missing) // 8:
            missing = {each for each in missing if each not in ears.heard.wanted}
            looked = now
        heard = now


def settle(ears: Ears) -> None:
    """Wait until nothing arrives any more, unless a loop never ends."""
    end = time.monotonic() + _IN_VAIN_SECONDS
    quiet = time.monotonic() + _QUIET_SECONDS
    heard = ears.heard.count
    while time.monotonic() < min(end, quiet) and ears.heard.most < _ENDLESS:
        ears.pump(0.05)
        if ears.heard.count != heard:
            heard, quiet = ears.heard.count, time.monotonic() + _QUIET_SECONDS


def proof_of(messages: Sequence[Message], heard: Heard, dead: set[str]) -> Proof:
    """What has arrived of messages, from the counts."""
    numbers = {message.number: message for message in messages}
    expected = {(node, each.number) for each in messages for node in each.topic.nodes if node not in dead}
    lost = [key for key in expected if key not in heard.wanted]
    doubled = {key for key, copies in heard.wanted.items() if copies > 1 and key[1] in numbers}
    doubled |= {key for key, copies in heard.seen.items() if copies > 1 and key[1] in numbers}
    seen = [key for key in heard.seen if key[1] in numbers and key not in expected]
    relayed = [key for key in seen if key[0] in numbers[key[1]].topic.relays]
    astray = sorted(set(seen) - set(relayed))
    carried = Counter[str]()
    for (node, number), copies in heard.seen.items():
        if number in numbers:
            carried[node] += copies
    return Proof(
        published=len(messages),
        expected=len(expected),
        delivered=len(expected) - len(lost),
        lost=len(lost),
        duplicates=len(doubled),
        uninterested=len(astray),
        relayed=len(relayed),
        most_carried=max(carried.values(), default=0),
        first_trouble=_first(
            (("is lost at", sorted(lost)), ("comes twice to", sorted(doubled)), ("is not wanted at", astray)),
            numbers,
        ),
    )


def _first(troubles: Sequence[tuple[str, list[tuple[str, int]]]], numbers: dict[int, Message]) -> str:
    for words, keys in troubles:
        for node, number in keys[:1]:
            message = numbers[number]
            return f"a message on {message.topic.example!r} from {message.node!r} {words} {node!r}"
    return ""


def latencies(delays: Sequence[int]) -> dict[str, float | None]:
    """Percentiles in milliseconds of delays in nanoseconds."""
    ordered = sorted(delays)

    def at(share: float) -> float | None:
        return round(ordered[min(int(share * len(ordered)), len(ordered) - 1)] / 1e6, 3) if ordered else None

    return {"latency_ms_p50": at(0.5), "latency_ms_p99": at(0.99)}
