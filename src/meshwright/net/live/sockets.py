"""Sockets that accept connections, and errors for what a system runs out of when there are many.

asyncio's own server loses connections that arrive while it closes.
"""

import asyncio
import errno
import os
import resource
import socket
from collections.abc import Callable
from typing import NamedTuple

from meshwright.runtime.errors import CapacityError

_SPARE = 64
"""Descriptors for what a process has open besides sockets: pipes, libraries, the event loop."""

_MORE_FILES = "spread the nodes over more processes, or raise the limit of open files (ulimit -n)"
_FEWER = "run fewer nodes"

SHORTAGES = {
    errno.EMFILE: _MORE_FILES,
    errno.ENFILE: _FEWER,
    errno.EADDRNOTAVAIL: _FEWER,  # no port is left to connect from
    errno.ENOBUFS: _FEWER,
    errno.ENOMEM: _FEWER,
}
"""The way out, by the number of the error."""


def reason(error: OSError) -> str:
    """What the system says, without where."""
    return os.strerror(error.errno).lower() if error.errno else str(error)


def allow_files(needed: int, at_most: int) -> None:
    """Let this process open `at_most` sockets, or as many as the system allows it, by raising its soft limit.

    An error says what to do where not even those that are needed are allowed.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if hard != unlimited and hard < needed + _SPARE:
        raise CapacityError(
            f"a process needs about {needed + _SPARE:,} file descriptors, but the system allows it {hard:,}; "
            f"spread the nodes over more processes, run fewer nodes, or raise the limit (ulimit -Hn, as root)"
        )
    wanted = at_most + _SPARE if hard == unlimited else min(at_most + _SPARE, hard)
    if soft not in {unlimited, hard} and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


_BACKLOG = 1024
_PAUSE = 1.0
"""Seconds before connections are taken again, where the system was short of something."""


class Address(NamedTuple):
    """Where a node listens."""

    host: str
    port: int


class Listener:
    """Takes connections on the running loop until it is closed.

    `accepted` gets each socket, whose it is then; `failed` gets what the system says where it can't take one.
    """

    def __init__(
        self,
        address: Address,
        accepted: Callable[[socket.socket], None],
        failed: Callable[[OSError], None],
    ) -> None:
        self._accepted, self._failed = accepted, failed
        self._loop = asyncio.get_running_loop()
        self._pause: asyncio.TimerHandle | None = None
        self._socket = socket.create_server(address, backlog=_BACKLOG)
        self._socket.setblocking(False)
        self.address = Address(*self._socket.getsockname())
        self._resume()

    def close(self) -> None:
        """Take no more connections; what waits for it is refused."""
        if self._pause is not None:
            self._pause.cancel()
        if self._socket.fileno() >= 0:
            self._loop.remove_reader(self._socket)
            self._socket.close()

    def _resume(self) -> None:
        self._loop.add_reader(self._socket, self._accept)

    def _accept(self) -> None:
        try:
            accepted, _ = self._socket.accept()
        except (BlockingIOError, ConnectionError):  # it is gone already
            return
        except OSError as error:
            self._loop.remove_reader(self._socket)
            self._pause = self._loop.call_later(_PAUSE, self._resume)
            self._failed(error)
            return
        accepted.setblocking(False)
        self._accepted(accepted)
