"""What runs in a process of its own: a host of some nodes, which does what its parent asks."""

import asyncio
import signal
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from meshwright.errors import MeshwrightError
from meshwright.net.connections import Traffic
from meshwright.net.host import Host
from meshwright.net.live_options import LiveOptions
from meshwright.net.protocol import Node, Protocol
from meshwright.net.seats import State
from meshwright.net.shortages import allow_files
from meshwright.net.simulator import Happening


class Job(NamedTuple):
    """What a process is to run: some of all the nodes.

    Attributes:
        protocols: by node.
        nodes: how many there are in all processes.
        options: how they run.
        run: what tells the nodes of this run from others.
        watched: whether the parent wants to know what happens to messages.
    """

    protocols: Mapping[Node, Protocol[Any]]
    nodes: int
    options: LiveOptions
    run: bytes
    watched: bool


class Report(NamedTuple):
    """What happened in a process since the report before.

    Attributes:
        happenings: what happened to messages, if that is watched.
        complaints: how often something came that should not have, by kind.
        words: what there is to say of the first of each kind.
        failures: what nodes failed at by themselves.
        state: what is going on.
        traffic: what crossed the physical links from the start on.
        late: the longest time in seconds that a timer had to wait, from the start on.
    """

    happenings: list[Happening]
    complaints: Counter[str]
    words: dict[str, str]
    failures: list[str]
    state: State
    traffic: Traffic
    late: float


class Worker:
    """Does what the parent asks, one request after another, while the nodes run.

    The parent asks and the worker answers: nothing is sent unasked, so that neither ever waits for a full
    pipe. When the parent is gone, so is the worker.
    """

    def __init__(self, channel: "Connection[Any, Any]", job: Job) -> None:
        self._channel = channel
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(self._caught)
        self._happenings: list[Happening] = []
        self._complaints: Counter[str] = Counter()
        self._words: dict[str, str] = {}
        self._failures: list[str] = []
        _allow_files(job)
        if job.options.prepare is not None:
            job.options.prepare()
        self._host: Host[Any] = Host(
            job.protocols,
            job.options,
            job.run,
            watch=self._happenings_watch if job.watched else None,
            complain=self._complain,
            fail=self._failures.append,
        )
        self._answers: dict[str, Callable[..., Any]] = {
            "open": self._host.open,
            "learn": self._host.learn,
            "link": self._host.link,
            "begin": self._host.begin,
            "add": self._host.add,
            "start": self._host.start,
            "inject": self._host.inject,
            "remove": self._host.remove,
            "report": self._report,
            "protocols": lambda: self._host.protocols,
            "peers": lambda: self._host.peers,
            "freeze": self._host.freeze,
        }

    async def work(self) -> None:
        """Answer until the parent asks no more."""
        try:
            while (request := await self._request()) is not None:
                self._channel.send(self._answer(*request))
        except (EOFError, ConnectionError):
            pass  # the parent is gone
        finally:
            await self._host.close()

    async def _request(self) -> Any:
        ready = asyncio.Event()
        self._loop.add_reader(self._channel.fileno(), ready.set)
        try:
            await ready.wait()
        finally:
            self._loop.remove_reader(self._channel.fileno())
        return self._channel.recv()

    def _answer(self, name: str, arguments: tuple[Any, ...]) -> Any:
        try:
            return self._answers[name](*arguments)
        except MeshwrightError as error:
            return error

    def _report(self) -> Report:
        report = Report(
            self._happenings,
            self._complaints,
            self._words,
            self._failures[:1],
            self._host.state,
            self._host.traffic,
            self._host.late,
        )
        self._happenings, self._complaints, self._words = [], Counter(), {}
        return report

    def _happenings_watch(self, happening: Happening) -> None:
        self._happenings.append(happening)

    def _complain(self, kind: str, words: str) -> None:
        self._complaints[kind] += 1
        self._words.setdefault(kind, words)

    def _caught(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """What asyncio could not do, or what went wrong in a callback."""
        del loop
        self._complain("system", f"{context.get('message')}: {context.get('exception')}")


def serve(channel: "Connection[Any, Any]", job: Job) -> None:
    """The main function of the process. Ctrl-C is the parent's to handle, who then asks no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    asyncio.run(_serve(channel, job))


async def _serve(channel: "Connection[Any, Any]", job: Job) -> None:
    """Say whether the worker is ready, and let it work; a parent that is gone already needs neither."""
    with suppress(ConnectionError):
        try:
            worker = Worker(channel, job)
        except MeshwrightError as error:
            channel.send(error)
            return
        channel.send(None)
        await worker.work()


def _allow_files(job: Job) -> None:
    """A socket to listen on and one for each link that a node has or that others have to it."""
    count, holds = len(job.protocols), job.options.holds
    held = sum(len(set(holds(protocol))) for protocol in job.protocols.values()) if holds else 0
    allow_files(count + 2 * held, count * job.nodes)
