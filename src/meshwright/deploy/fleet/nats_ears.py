"""Ears for NATS, by the library nats-py; all connections in one event loop.

A client that subscribes to everything would draw everything to its server. So what a server takes in is
counted by its monitor: copies that came over its leaf nodes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from meshwright.deploy.drivers.nats import CLIENT_PORTS, user_name
from meshwright.deploy.fleet.ears import Heard, earlier_filters
from meshwright.deploy.fleet.links import taken_in
from meshwright.deploy.plan.plan import Plan, Topic
from meshwright.filters.filter import Filter
from meshwright.runtime.errors import InputError, quoted

if TYPE_CHECKING:
    from nats.aio.client import Client


class NatsEars:
    """A client at each server for each account that its node has topics in."""

    def __init__(self, plan: Plan, heard: Heard) -> None:
        self.heard = heard
        self._plan = plan
        self._loop = asyncio.new_event_loop()
        self._clients: dict[tuple[str, int], Client] = {}
        self._accounts = _accounts_of_wants(plan)
        try:
            for host in plan.hosts:
                self._loop.run_until_complete(self._join(host.node))
        except BaseException:
            self.close()
            raise

    async def _join(self, node: str) -> None:
        wants = self._plan.wants[node]
        earlier = earlier_filters(wants, "nats")
        for number in sorted({self._accounts[each] for each in wants}):
            host = self._plan.host_of[node]
            client = await _connect(f"nats://{host.host}:{host.port + CLIENT_PORTS}", user_name(number))
            self._clients[node, number] = client
            for at, each in enumerate(wants):
                if self._accounts[each] == number:
                    with _accepting(each):
                        await client.subscribe(each, cb=self._hearing(node, earlier[at]))
            await client.flush()

    def _hearing(self, node: str, earlier: list[Filter]) -> Callable[[Any], Awaitable[None]]:
        """Counts what a subscription gets, unless an earlier one of the node gets it as well."""

        async def hear(message: Any) -> None:
            if not any(each.matches(message.subject) for each in earlier):
                self.heard.subscriber(node, message.data)

        return hear

    def publish(self, node: str, topic: Topic, number: int) -> None:
        """Publish a numbered message at a node."""
        self.heard.sent[number] = time.monotonic_ns()
        client = self._clients[node, topic.account]
        with _accepting(topic.example):
            self._loop.run_until_complete(client.publish(topic.example, b"%d" % number))

    def pump(self, seconds: float) -> None:
        """Take in what has arrived; wait for it at most this long."""
        heard = self.heard.count

        async def wait() -> None:
            end = time.monotonic() + seconds
            while self.heard.count == heard and time.monotonic() < end:
                await asyncio.sleep(0.002)

        self._loop.run_until_complete(wait())

    def taken_in(self) -> dict[str, int]:
        """By node, the messages that have come over links so far."""
        return {host.node: taken_in(host) for host in self._plan.hosts}

    def close(self) -> None:
        """Let go of all connections."""
        for client in self._clients.values():
            self._loop.run_until_complete(client.close())
        self._loop.close()


@contextmanager
def _accepting(subject: str) -> Iterator[None]:
    """Say so where the library does not take a subject that servers take, such as a.b>."""
    from nats.errors import BadSubjectError

    try:
        yield
    except BadSubjectError:
        raise InputError(
            f"the library nats-py does not take the subject {quoted(subject)}, so the plan can't be proved; "
            f"rename it, without * and > inside of words"
        ) from None


async def _connect(address: str, user: str) -> Client:
    try:
        import nats
    except ImportError:
        raise InputError(
            "deploy needs the library nats-py for NATS servers; pip install 'meshwright[deploy]'"
        ) from None
    return await nats.connect(address, user=user, password=user, allow_reconnect=False, pending_size=1 << 26)


def _accounts_of_wants(plan: Plan) -> dict[str, int]:
    """By filter or topic that a node wants, the account that it is in."""
    found = {topic.name: topic.account for topic in plan.topics}
    for each in {each for wants in plan.wants.values() for each in wants} - found.keys():
        own = Filter(each, "nats")
        found[each] = next(topic.account for topic in plan.topics if own.matches(topic.example))
    return found
