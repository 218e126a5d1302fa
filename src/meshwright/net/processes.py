"""Processes that run nodes, as their parent sees them: started together, asked together, ended for sure."""

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pickle import PicklingError
from typing import Any, NamedTuple

from meshwright.errors import MeshwrightError, NetworkError, OptionError
from meshwright.net.worker import Job, serve

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
            self._gather()
        except BaseException:
            self.close()
            raise

    def ask(self, name: str, *arguments: Any) -> list[Any]:
        """Ask all of them, and wait for all answers."""
        for at in range(len(self._all)):
            self._send(at, name, arguments)
        return self._gather()

    def ask_one(self, at: int, name: str, *arguments: Any) -> Any:
        """Ask one of them, by its number."""
        self._send(at, name, arguments)
        return _answered(self._all[at])

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

    def _gather(self) -> list[Any]:
        """All answers; where there are errors among them, the first one is raised when all have come."""
        answers = [_answer(one) for one in self._all]
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
            f"a protocol can't be sent to a process: {error}; its class must be importable, and its state "
            f"one that pickle takes"
        ) from None
    finally:
        theirs.close()
    return _Process(name, process, ours)


def _answered(one: _Process) -> Any:
    answer = _answer(one)
    if isinstance(answer, MeshwrightError):
        raise answer
    return answer


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
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    came: list[int] = []
    main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, lambda number, _: came.append(number)) if main else None
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        if main:
            signal.signal(signal.SIGINT, handler or signal.SIG_DFL)
        if came:
            signal.raise_signal(signal.SIGINT)
