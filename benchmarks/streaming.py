"""A steady stream of numbered messages through a fleet that changes: clients for each engine, and counts."""

import asyncio
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, Protocol

import nats

from meshwright.deploy.drivers.nats import CLIENT_PORTS, user_name
from meshwright.deploy.drivers.zenoh import ROUTER_PORTS
from meshwright.deploy.fleet.mqtt_ears import paho
from meshwright.deploy.fleet.zenoh_sessions import session_at
from meshwright.deploy.hosts import Host
from meshwright.deploy.plan.plan import Plan
from meshwright.deploy.reaching import secret_of

Hear = Callable[[str, int], None]
Subscribers = Mapping[str, Sequence[str]]


class Clients(Protocol):
    """Clients at all nodes that the stream has subscribers at."""

    def publish(self, node: str, topic: str, number: int) -> None:
        """Publish at a node."""

    def follow(self, plan: Plan) -> None:
        """A new plan is applied."""

    def close(self) -> None:
        """Let go."""


class MqttClients:
    """QoS 2, sessions kept, so that what is lost is lost between brokers."""

    def __init__(self, plan: Plan, subscribers: Subscribers, hear: Hear) -> None:
        self._subscribers, self._hear = subscribers, hear
        nodes = sorted({node for own in subscribers.values() for node in own})
        self._clients = {node: self._client(plan.host_of[node]) for node in nodes}

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

    def publish(self, node: str, topic: str, number: int) -> None:
        """Publish at a node."""
        self._clients[node].publish(topic, b"%d" % number, 2)

    def follow(self, plan: Plan) -> None:
        """Addresses and topics stay."""

    def close(self) -> None:
        """Let go."""
        for client in self._clients.values():
            client.loop_stop()


async def _ignore(error: Exception) -> None:
    """A connection to an account that a plan gives up is lost; what counts is what arrives."""
    del error


class NatsClients:
    """A connection for each node and account; a topic that changes its account is subscribed to there."""

    def __init__(self, plan: Plan, subscribers: Subscribers, hear: Hear) -> None:
        self._subscribers, self._hear = subscribers, hear
        self._connections: dict[tuple[str, int], Any] = {}
        self._subscribed: dict[tuple[str, str], tuple[int, Any]] = {}
        self._accounts: dict[str, int] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.follow(plan)

    def _do(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def publish(self, node: str, topic: str, number: int) -> None:
        """Publish at a node."""
        connection = self._connections[node, self._accounts[topic]]
        self._do(connection.publish(topic, b"%d" % number))

    def follow(self, plan: Plan) -> None:
        """Subscribe where topics are now."""
        self._do(self._follow(plan))

    async def _follow(self, plan: Plan) -> None:
        self._forget_closed()
        accounts = {topic.name: topic.account for topic in plan.topics}
        for topic, nodes in self._subscribers.items():
            account = accounts[topic]
            for node in nodes:
                before = self._subscribed.get((node, topic))
                if node not in plan.host_of or (before is not None and before[0] == account):
                    continue
                if (node, account) not in self._connections:
                    host, user = plan.host_of[node], user_name(account)
                    secret = secret_of(host.password) if host.password else user
                    self._connections[node, account] = await nats.connect(
                        f"nats://{host.host}:{host.port + CLIENT_PORTS}",
                        user=user,
                        password=secret,
                        error_cb=_ignore,
                    )
                fresh = await self._connections[node, account].subscribe(topic, cb=self._hearing(node))
                self._subscribed[node, topic] = account, fresh
                if before is not None:
                    with suppress(nats.errors.Error):  # of an account that is given up
                        await before[1].unsubscribe()
            self._accounts[topic] = account
        for connection in self._connections.values():
            if not connection.is_closed:
                await connection.flush()

    def _forget_closed(self) -> None:
        """Forget connections to accounts that were given up: these may come again."""
        self._connections = {key: own for key, own in self._connections.items() if not own.is_closed}
        self._subscribed = {
            (node, topic): (account, own)
            for (node, topic), (account, own) in self._subscribed.items()
            if (node, account) in self._connections
        }

    def _hearing(self, node: str) -> Any:
        async def hear(message: Any) -> None:
            self._hear(node, int(message.data))

        return hear

    def close(self) -> None:
        """Let go."""
        for connection in self._connections.values():
            with suppress(TimeoutError, nats.errors.Error, OSError):  # of an account that is given up
                self._do(asyncio.wait_for(connection.close(), 5))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class ZenohClients:
    """A session at each router, which comes back by itself, 50 ms after it was lost."""

    retry_ms = 50

    def __init__(self, plan: Plan, subscribers: Subscribers, hear: Hear) -> None:
        import zenoh

        self._block = zenoh.CongestionControl.BLOCK
        self._sessions: dict[str, Any] = {}
        for topic, nodes in subscribers.items():
            for node in nodes:
                if node not in self._sessions:
                    host = plan.host_of[node]
                    self._sessions[node] = session_at(host.host, host.port + ROUTER_PORTS, self.retry_ms)
                self._sessions[node].declare_subscriber(topic, self._hearing(node, hear))

    def _hearing(self, node: str, hear: Hear) -> Callable[[Any], None]:
        return lambda sample: hear(node, int(bytes(sample.payload)))

    def publish(self, node: str, topic: str, number: int) -> None:
        """Publish at a node."""
        self._sessions[node].put(topic, b"%d" % number, congestion_control=self._block)

    def follow(self, plan: Plan) -> None:
        """Addresses and topics stay."""

    def close(self) -> None:
        """Let go."""
        for session in self._sessions.values():
            session.close()


class PatientZenohClients(ZenohClients):
    """Sessions that come back after a second, as is Zenoh's default."""

    retry_ms = 1000


CLIENTS: dict[str, Callable[[Plan, Subscribers, Hear], Clients]] = {
    "mosquitto": MqttClients,
    "nats": NatsClients,
    "zenoh": ZenohClients,
    "zenoh, patient clients": PatientZenohClients,
}


class Stream:
    """Numbered messages on steady topics, every 20 ms, while a fleet changes."""

    def __init__(
        self,
        kind: str,
        plan: Plan,
        subscribers: Subscribers,
        numbers: random.Random,
        counted: Sequence[str] | None = None,
    ) -> None:
        """Clients are at all subscribers; it is published, and counts what arrives, at those `counted`."""
        self._numbers = numbers
        self.subscribers = {
            topic: [node for node in nodes if counted is None or node in counted]
            for topic, nodes in subscribers.items()
        }
        self._over = threading.Event()
        self.sent: dict[int, tuple[str, float]] = {}
        self.heard: Counter[tuple[str, int]] = Counter()
        self.late = 0
        self.clients = CLIENTS[kind](plan, subscribers, self._hear)
        self._thread = threading.Thread(target=self._run)

    def _hear(self, node: str, number: int) -> None:
        self.heard[node, number] += 1
        self.late += time.monotonic() - self.sent[number][1] > 1

    def _run(self) -> None:
        for number in count():
            if self._over.wait(0.02):
                return
            topic = self._numbers.choice(sorted(self.subscribers))
            node = self._numbers.choice(self.subscribers[topic])
            self.sent[number] = topic, time.monotonic()
            self.clients.publish(node, topic, number)

    def __enter__(self) -> "Stream":
        time.sleep(2)  # subscriptions come to other brokers, which nobody tells
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        end, heard = time.monotonic() + 60, -1
        while heard != self.heard.total() and time.monotonic() < end:
            heard = self.heard.total()
            time.sleep(5)
        self.clients.close()

    def told(self) -> str:
        """What became of the messages."""
        wanted = {
            (node, number) for number, (topic, _) in self.sent.items() for node in self.subscribers[topic]
        }
        lost = sum(key not in self.heard for key in wanted)
        doubled = sum(copies > 1 for copies in self.heard.values())
        return (
            f"{len(self.sent):,} messages sent, {len(wanted):,} deliveries expected: {lost} lost, "
            f"{doubled} doubled, {self.late} later than a second"
        )
