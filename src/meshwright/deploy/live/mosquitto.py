"""Mosquitto: subscriptions of sessions that are kept on disk, and those that come while somebody listens.

A broker does not list subscriptions. With `persistence true` it writes those of sessions that are kept into
mosquitto.db; with `log_type subscribe` and `log_dest topic` it publishes new ones on
$SYS/broker/log/M/subscribe.
"""

import base64
import re
import shlex
import struct
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any

from meshwright.deploy.fleet.mqtt_ears import paho
from meshwright.deploy.hosts import Host
from meshwright.deploy.live.told import Asked, Told
from meshwright.deploy.reaching import log_in, output_of
from meshwright.runtime.errors import InputError, NetworkError, quoted
from meshwright.runtime.progress import Progress, stage

_MAGIC = b"\x00\xb5\x00mosquitto db"
_HEAD, _CHUNK, _SUBSCRIPTION = struct.Struct(">4xI"), struct.Struct(">II"), struct.Struct(">IHHBB2x")
_VERSIONS, _SUBSCRIPTIONS = (5, 6), 5
_LOG = "$SYS/broker/log/M/subscribe"
_LOGGED = re.compile(r"(?:\S+: )?(.+?) [012] (.+)", re.DOTALL)
_BRIDGES = ("mw-", "local.")
_ITSELF = "$SYS/"


def ask(hosts: Mapping[str, Host], asked: Asked, progress: Progress | None) -> Told:
    """What sessions in databases have subscribed to, and what clients subscribe to within some seconds.

    Bridges of ours are left out. Brokers don't tell who publishes, or how far others are.
    """
    if not asked.database and not asked.seconds:
        raise InputError(
            "Mosquitto lists no subscriptions; give --database, the path of mosquitto.db at the brokers, or "
            "--seconds to listen to new ones"
        )
    found: set[tuple[str, str]] = set()
    with stage(progress, "asking brokers", len(hosts)) as tell:
        for number, (node, host) in enumerate(hosts.items(), start=1):
            if asked.database:
                command = f"base64 < {shlex.quote(asked.database)}"
                written = output_of(host, command, "reading its database", "check --database")
                rows = subscriptions_of(base64.b64decode(written), f"{asked.database} of {quoted(node)}")
                found |= {(node, topic) for client, topic in rows if not client.startswith(_BRIDGES)}
            tell(number)
    if asked.seconds:
        found |= _heard(hosts, asked.seconds)
    # What a broker tells of itself there never leaves it.
    return Told(sorted((node, topic) for node, topic in found if not topic.startswith(_ITSELF)))


def subscriptions_of(data: bytes, where: str) -> Iterator[tuple[str, str]]:
    """Client and filter of each subscription in a database of Mosquitto 2.x.

    Raises:
        InputError: it is none, or of a version that is not known.
    """
    begin = len(_MAGIC) + _HEAD.size
    version = _HEAD.unpack_from(data, len(_MAGIC))[0] if len(data) >= begin else 0
    if not data.startswith(_MAGIC) or version not in _VERSIONS:
        raise InputError(
            f"{where} is no database of Mosquitto that can be read (version {version}; known are 5 and 6, as "
            f"in 2.x); give its mosquitto.db"
        )
    at = begin
    while at + _CHUNK.size <= len(data):
        kind, length = _CHUNK.unpack_from(data, at)
        at += _CHUNK.size
        if kind == _SUBSCRIPTIONS and at + length <= len(data):
            _, client, topic, _, _ = _SUBSCRIPTION.unpack_from(data, at)
            start = at + _SUBSCRIPTION.size
            texts = data[start : start + client], data[start + client : start + client + topic]
            yield texts[0].decode(errors="replace"), texts[1].decode(errors="replace")
        at += length


def _heard(hosts: Mapping[str, Host], seconds: float) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    refused: dict[str, str] = {}
    with ExitStack() as held:
        for host in hosts.values():
            client = listening(host, found, refused)
            held.callback(client.loop_stop)
            held.callback(client.disconnect)
        time.sleep(seconds)
    for node, reason in sorted(refused.items()):
        raise NetworkError(
            f"the broker of {quoted(node)} does not let this user listen to {_LOG}: {reason}; "
            f"check user and password, and what the user may read"
        )
    return found


def client_of(host: Host) -> Any:
    """A client that may log in at a broker; it is not connected yet.

    Raises:
        NetworkError: a certificate can't be read.
    """
    library = paho()
    client = library.Client(library.CallbackAPIVersion.VERSION2, protocol=library.MQTTv311)
    try:
        log_in(client, host)
    except OSError as error:
        raise NetworkError(
            f"the certificates of {quoted(host.node)} can't be used on this machine: {error}; check cafile, "
            f"certfile and keyfile in the inventory"
        ) from None
    return client


def listening(host: Host, found: set[tuple[str, str]], refused: dict[str, str] | None = None) -> Any:
    """A client on a thread of its own that adds what others subscribe to, until it is disconnected.

    By node, `refused` gets the reason if the broker does not let it log in or subscribe.

    Raises:
        NetworkError: the broker can't be reached.
    """
    client = client_of(host)

    def hear(_client: Any, _data: Any, message: Any) -> None:
        logged = logged_subscription(message.payload.decode(errors="replace"))
        if logged is not None and not logged[0].startswith(_BRIDGES) and logged[1] != _LOG:
            found.add((host.node, logged[1]))

    def join(client: Any, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        note(client, None, None, [reason], None)
        client.subscribe(_LOG)

    def note(_client: Any, _data: Any, _number: Any, reasons: list[Any], _properties: Any) -> None:
        if refused is not None:
            refused.update((host.node, str(reason)) for reason in reasons if reason.is_failure)

    client.on_message, client.on_connect, client.on_subscribe = hear, join, note
    trouble = _trouble_connecting(client, host)
    if trouble:
        del client  # an error would keep it, and with it its sockets
        raise NetworkError(
            f"the broker of {quoted(host.node)} at {host.host}:{host.port} can't be reached: {trouble}; "
            f"check the inventory"
        )
    client.loop_start()
    return client


def _trouble_connecting(client: Any, host: Host) -> str:
    try:
        client.connect(host.host, host.port)
    except OSError as error:
        return str(error) or type(error).__name__
    return ""


def logged_subscription(text: str) -> tuple[str, str] | None:
    """Client and filter of a line such as `1700000000: client 1 plant/#`; None for another."""
    found = _LOGGED.fullmatch(text)
    return (found[1], found[2]) if found else None
