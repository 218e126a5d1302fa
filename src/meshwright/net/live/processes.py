"""Processes that each host some nodes: what runs inside, and how the parent starts, asks and ends them."""

import asyncio
import signal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pickle import PicklingError
from typing import Any, NamedTuple

from meshwright.net.live.connections import Traffic
from meshwright.net.live.host import Host, NodeState
from meshwright.net.live.options import LiveOptions
from meshwright.net.live.sockets import allow_files
from meshwright.net.protocol import Node, Protocol
from meshwright.net.simulator import Happening
from meshwright.runtime.errors import MeshwrightError, NetworkError, OptionError
from meshwright.runtime.interrupts import held_back


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
    state: NodeState
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
            watch=self._happenings.append if job.watched else None,
            complain=self._complain,
            fail=self._failures.append,
        )

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
        """What the host has by that name, called if it is a method; the names are the parent's own."""
        try:
            found = self._report if name == "report" else getattr(self._host, name)
            return found(*arguments) if callable(found) else found
        except MeshwrightError as error:
            return error

    def _report(self) -> Report:
        report = Report(
            self._happenings.copy(),
            self._complaints,
            self._words,
            self._failures[:1],
            self._host.state,
            self._host.traffic,
            self._host.late,
        )
        self._happenings.clear()
        self._complaints, self._words = Counter(), {}
        return report

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


_ANSWER = 60.0
"""Seconds for a process to answer; it does so at once unless the machine is overloaded."""

_LEAVE = 5.0
"""Seconds for a process to end by itself, before it is killed."""


class _Process(NamedTuple):
    name: str
    process: SpawnProcess
    channel: "Connection[Any, Any]"


class Processes:
    """A process for each job, spawned, so that none inherits threads, locks or sockets.

    Guarantee: after `close` none of them is left, whatever they were doing. They also end when this process
    does, however it ends, since each listens to a pipe from it.
    """

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._all: list[_Process] = []
        try:
            with _interrupts_held_back():
                for number, job in enumerate(jobs, 1):
                    self._all.append(_spawned(f"process {number} of {len(jobs)}", job))
            self._gather(self._all)
        except BaseException:
            self.close()
            raise

    def ask(self, name: str, *arguments: Any) -> list[Any]:
        """Ask all of them, and wait for all answers."""
        for at in range(len(self._all)):
            self._send(at, name, arguments)
        return self._gather(self._all)

    def ask_one(self, at: int, name: str, *arguments: Any) -> Any:
        """Ask one of them, by its number."""
        self._send(at, name, arguments)
        return self._gather(self._all[at : at + 1])[0]

    def close(self) -> None:
        """End all of them: nobody asks any more, and who does not leave then is killed."""
        for one in self._all:
            one.channel.close()
        for one in self._all:
            one.process.join(_LEAVE)
            if one.process.exitcode is None:
                one.process.kill()
                one.process.join()
            one.process.close()
        self._all = []

    def _send(self, at: int, name: str, arguments: tuple[Any, ...]) -> None:
        with suppress(ConnectionError):  # its death is told when its answer is missing
            self._all[at].channel.send((name, arguments))

    def _gather(self, some: Sequence[_Process]) -> list[Any]:
        """All answers; where there are errors among them, the first one is raised when all have come."""
        answers = [_answer(one) for one in some]
        for answer in answers:
            if isinstance(answer, MeshwrightError):
                raise answer
        return answers


def _spawned(name: str, job: Job) -> _Process:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, job), name=f"meshwright: {name}", daemon=True)
    try:
        process.start()
    except (AttributeError, TypeError, PicklingError) as error:
        ours.close()
        raise OptionError(
            f"a protocol can't be sent to a process: {error}; its class must be importable, and pickle "
            f"must be able to store its state"
        ) from None
    finally:
        theirs.close()
    return _Process(name, process, ours)


def _answer(one: _Process) -> Any:
    """What a process says; that it is dead or silent is an answer too."""
    try:
        if one.channel.poll(_ANSWER):
            return one.channel.recv()
    except (EOFError, ConnectionError):
        one.process.join(_LEAVE)
        return NetworkError(
            f"{one.name}, which ran nodes, ended with exit code {one.process.exitcode}; all nodes are stopped"
        )
    return NetworkError(f"{one.name}, which runs nodes, did not answer for {_ANSWER:g} s; run fewer nodes")


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Ctrl-C waits for the end of the block.

    It comes to a child too, which can't handle it until it runs; children inherit what is blocked. In this
    process blocking is not enough: another thread (a BLAS has some) may take the signal, and Python hands it
    to the main thread all the same, which would leave a child with half of its orders.
    """
    resource_tracker.ensure_running()  # the first process starts it, and it would let interrupts through
    with held_back(signal.SIGINT):
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
