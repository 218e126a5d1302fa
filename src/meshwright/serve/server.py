"""Run a control plane: addresses, TLS, limits on connections, and a clean stop."""

import logging
import signal
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from meshwright.runtime.errors import MeshwrightError, NetworkError, OptionError, one_line
from meshwright.serve.api import make_app
from meshwright.serve.control_plane import ControlPlane
from meshwright.serve.limits import Limits
from meshwright.serve.loopback import LOOPBACK, is_loopback
from meshwright.serve.reconciling.reconciler import Reconciler
from meshwright.serve.tokens import Access

_GRACE_SECONDS = 10


class Address(NamedTuple):
    """Where to listen, and as whom.

    Attributes:
        host: a name or address of this machine.
        port: 0 for any that is free.
        certificate, key: files for TLS; without them, only this machine can connect.
        names: other names by which callers may call the server.
    """

    host: str = "127.0.0.1"
    port: int = 8470
    certificate: Path | None = None
    key: Path | None = None
    names: tuple[str, ...] = ()

    @property
    def scheme(self) -> str:
        """Of its URL."""
        return "http" if self.certificate is None else "https"

    @property
    def hosts(self) -> frozenset[str]:
        """The names that a Host header may have."""
        return frozenset(name.lower() for name in (self.host, *LOOPBACK, *self.names))

    def check(self) -> None:
        """Refuse to listen beyond this machine without TLS, and files for TLS that are not usable."""
        if (self.certificate is None) != (self.key is None):
            raise OptionError("--tls-cert and --tls-key belong together; give both, or none")
        if self.certificate is None:
            if not is_loopback(self.host):
                raise OptionError(
                    f"--host is {self.host!r}, which other machines can reach, and tokens would travel in "
                    f"the clear; give --tls-cert and --tls-key, or a loopback address",
                    option="--host",
                )
            return
        try:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificate, self.key)
        except (OSError, ssl.SSLError) as error:
            raise OptionError(
                f"{self.certificate} and {self.key} can't be used for TLS: {one_line(error)}; "
                f"give a certificate and its key in PEM format",
                option="--tls-cert",
            ) from None

    def bind(self) -> socket.socket:
        """A socket that is bound, before any work is done; it does not listen yet."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        # asyncio sends without delay only if the protocol is named; else every answer takes 40 ms more.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((self.host, self.port))
        except (OSError, OverflowError) as error:
            listener.close()
            why = one_line(error)
            raise NetworkError(
                f"can't listen at {self.host} port {self.port}: {why}; choose another"
            ) from None
        return listener

    def url(self, listener: socket.socket) -> str:
        """The address as a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{listener.getsockname()[1]}"


class _Server(uvicorn.Server):
    """Stops at SIGTERM and Ctrl-C: ends streams first, then waits for requests that are being answered."""

    def __init__(self, config: uvicorn.Config, plane: ControlPlane) -> None:
        super().__init__(config)
        self._plane = plane

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take signals without raising them again at the end: a stop that is asked for is no failure."""
        on_main = threading.current_thread() is threading.main_thread()
        numbers = (signal.SIGINT, signal.SIGTERM) if on_main else ()
        before = {number: signal.signal(number, self.handle_exit) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def on_tick(self, counter: int) -> bool:
        """Stop also if the journal is lost."""
        return await super().on_tick(counter) or self._plane.broken is not None

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End streams, which would go on for ever, and then what uvicorn ends."""
        self._plane.stop()
        await super().shutdown(sockets)


def _protocol(patience: float) -> type[H11Protocol]:
    """HTTP/1.1, where a connection that sends no complete request in time is closed."""

    class Impatient(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._quiet_since = monotonic()
            self._look_later()

        def on_response_complete(self) -> None:
            self._quiet_since = monotonic()
            super().on_response_complete()

        def _look_later(self) -> None:
            self.loop.call_later(patience, self._look)

        def _look(self) -> None:
            if self.transport.is_closing():
                return
            waits = self.conn.their_state is h11.IDLE
            if waits and monotonic() - self._quiet_since >= patience:
                self.transport.close()
            else:
                self._look_later()

    return Impatient


def make_server(
    plane: ControlPlane,
    access: Access,
    address: Address,
    limits: Limits,
    fleet: Reconciler | None = None,
) -> uvicorn.Server:
    """A server to `run` on a socket; it stops at SIGTERM and Ctrl-C, or if `should_exit` is set."""
    config = uvicorn.Config(
        make_app(plane, access, limits, address.hosts, fleet),
        http=_protocol(limits.patience),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=limits.connections,
        timeout_keep_alive=int(limits.patience) + 1,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        h11_max_incomplete_event_size=limits.header,
        ssl_certfile=None if address.certificate is None else str(address.certificate),
        ssl_keyfile=None if address.key is None else str(address.key),
    )
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    return _Server(config, plane)


def serve(
    plane: ControlPlane,
    access: Access,
    address: Address,
    listener: socket.socket,
    limits: Limits,
    fleet: Reconciler | None = None,
) -> None:
    """Answer requests, and look after a fleet, until SIGTERM or Ctrl-C; then finish what is being done."""
    if fleet is not None:
        fleet.run()
    try:
        make_server(plane, access, address, limits, fleet).run(sockets=[listener])
    finally:
        if fleet is not None:
            fleet.stop()
    if plane.broken is not None:
        raise MeshwrightError(f"the journal can't be used any more: {one_line(plane.broken)}; start again")
