"""Processes on loopback that end with the one that started them, however it ends, and ports for them."""

import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from meshwright.runtime.errors import NetworkError

# Above are the ports that the system gives to clients.
_PORTS = range(20_000, 32_000)


class Group:
    """Processes in one group, whose first kills all of them when its standard input ends."""

    def __init__(self) -> None:
        self._guard = subprocess.Popen(
            ["/bin/sh", "-c", "read -r _; kill -KILL 0"], stdin=subprocess.PIPE, process_group=0
        )
        self._started = [self._guard]

    def start(self, command: list[str | Path], log: Path) -> subprocess.Popen[bytes]:
        """Start a command that writes what it says into a log."""
        with log.open("wb") as stream:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                cwd=log.parent,
                process_group=self._guard.pid,
            )
        self._started.append(process)
        return process

    def end(self) -> None:
        """Kill all, and wait until they are gone."""
        assert self._guard.stdin
        self._guard.stdin.close()
        for process in self._started:
            process.wait()


@contextmanager
def group() -> Iterator[Group]:
    """A group of processes that is gone afterwards."""
    processes = Group()
    try:
        yield processes
    finally:
        processes.end()


def _are_bound(ports: Sequence[int], bound: ExitStack) -> bool:
    """Bind ports until the end of a block, all of them or none."""
    with ExitStack() as own:
        for port in ports:
            held = own.enter_context(socket.socket())
            try:
                held.bind(("127.0.0.1", port))
            except OSError:
                return False
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.enter_context(own.pop_all())
    return True


@contextmanager
def reserved_ports(count: int, beside: Sequence[int] = ()) -> Iterator[list[int]]:
    """Ports that no one else is given meanwhile, and those that are so far above each of them.

    They stay bound. A server may bind one all the same, as servers allow addresses to be used again; a second
    reservation may not.
    """
    with ExitStack() as bound:
        ports: list[int] = []
        for port in range(_PORTS.start, _PORTS.stop - max(beside, default=0)):
            if len(ports) == count:
                break
            if _are_bound([port, *(port + far for far in beside)], bound):
                ports.append(port)
        if len(ports) < count:
            raise NetworkError(
                f"{count:,} ports between {_PORTS[0]} and {_PORTS[-1]} are needed, but {len(ports):,} are "
                f"free; end what listens there, or take a smaller plan"
            )
        yield ports
