"""Taps: what crosses the links of a fleet, counted on the way, for routers that don't tell.

Routers on loopback connect to each other through a tap, which hands on every byte and looks for the numbers
of messages. Which router has opened a connection is in the first bytes that it sends: its id.
"""

import asyncio
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from queue import SimpleQueue

from meshwright.deploy.drivers.zenoh import ROUTER_PORTS, router_id
from meshwright.deploy.hosts import LOOPBACK
from meshwright.deploy.plan.plan import Plan

_CHUNK = 1 << 16
_NUMBER = re.compile(rb"mw-(\d{12})")
_LENGTH = 15


def numbered(number: int) -> bytes:
    """A payload that taps find."""
    return b"mw-%012d" % number


def number_of(payload: bytes) -> bytes:
    """The digits of such a payload."""
    return payload.removeprefix(b"mw-")


class Taps:
    """A tap before every router; `crossed` gets the receiving node and the digits of every copy."""

    def __init__(self, plan: Plan) -> None:
        self.crossed: SimpleQueue[tuple[str, bytes]] = SimpleQueue()
        self._ports = {host.port: host.node for host in plan.hosts}
        self._ids = {int(router_id(host.node), 16).to_bytes(16, "little"): host.node for host in plan.hosts}
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=[self._serve()])

    def start(self) -> None:
        """Listen at the ports that routers connect to."""
        self._thread.start()
        self._ready.wait()

    def end(self) -> None:
        """Let go of everything."""
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()
        self._loop.close()

    async def _serve(self) -> None:
        servers = [
            await asyncio.start_server(self._accepting(port, node), LOOPBACK, port)
            for port, node in self._ports.items()
        ]
        self._ready.set()
        await self._over.wait()
        for server in servers:
            server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def _accepting(self, port: int, node: str) -> "_Accepting":
        return _Accepting(self.crossed, self._ids, port + ROUTER_PORTS, node)


class _Accepting:
    """What happens at the tap of one router."""

    def __init__(
        self, crossed: "SimpleQueue[tuple[str, bytes]]", ids: Mapping[bytes, str], port: int, node: str
    ) -> None:
        self._crossed, self._ids, self._port, self._node = crossed, ids, port, node

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connect the one who comes with the router, until one of both has enough."""
        try:
            far_reader, far_writer = await asyncio.open_connection(LOOPBACK, self._port)
        except OSError:
            writer.close()
            return
        ways: list[asyncio.Future[None]] = []
        try:
            first = await reader.read(_CHUNK)
            opener = next((node for own, node in self._ids.items() if own in first), "")
            far_writer.write(first)
            ways += [
                asyncio.ensure_future(self._hand_on(reader, far_writer, self._node)),
                asyncio.ensure_future(self._hand_on(far_reader, writer, opener)),
            ]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        except (OSError, asyncio.CancelledError):
            pass  # one of both is gone, or the fleet ends
        finally:
            for way in ways:
                way.cancel()
            writer.close()
            far_writer.close()

    async def _hand_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, to: str) -> None:
        rest = b""
        while chunk := await reader.read(_CHUNK):
            seen = rest + chunk
            end = 0
            for found in _NUMBER.finditer(seen):
                self._crossed.put((to, found[1]))
                end = found.end()
            rest = seen[max(end, len(seen) - _LENGTH + 1) :]
            writer.write(chunk)
            await writer.drain()


@contextmanager
def taps_of(plan: Plan) -> Iterator[Taps]:
    """Taps before all routers of a plan on loopback, until the end of the block."""
    taps = Taps(plan)
    taps.start()
    try:
        yield taps
    finally:
        taps.end()
