"""A socket that takes connections. asyncio's own server loses some that come while it closes."""

import asyncio
import socket
from collections.abc import Callable
from typing import NamedTuple

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
