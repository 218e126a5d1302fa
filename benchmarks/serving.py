"""Load a control plane: events a second with fsync, acknowledgements, open streams, and kills.

    python -m benchmarks.serving [--nodes N] [--seconds S] [--rate N] [--streams N] [--kills N] [--seed N]

A real `meshwright serve` on loopback gets events in NDJSON of up to 100: 10% joins, 10% leaves, the rest
subscriptions. Every acknowledged event is on disk. Beside it, streams of changes stay open, one of which
reads nothing until the end. Then the server is killed with SIGKILL at random moments, while three clients
send events, and started again: what was acknowledged must be there, nothing twice, and a stream that
continues through all kills must have no gap. The exit code is 1 if any of it does not hold.
"""

import argparse
import itertools
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import meshwright as mw
from meshwright.serve.client import Client

_AT_ONCE = 100
_SENDERS = 3
_STEP = re.compile(rb'data: {"since":(-?\d+),"revision":(\d+),')
"""Readers don't parse the rest: two hundred of them would take the processor that the server needs."""


@dataclass
class Server:
    """A server that can be killed and started again, always at the same port."""

    state: Path
    overlay: Path
    port: int = 0
    token: str = ""
    process: subprocess.Popen[str] | None = field(default=None)

    def start(self, *more: str) -> float:
        """Start it, with more options; gives the seconds until it listens."""
        begin = time.perf_counter()
        self.port = self.port or _free_port()
        command = [sys.executable, "-m", "meshwright", "serve", self.state, "--overlay", self.overlay]
        options = ["--port", str(self.port), "--requests-a-second", "100000"]
        self.process = subprocess.Popen(
            [*map(str, command), *options, *more], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("token: "):
                self.token = line.removeprefix("token: ").strip()
            if " at http" in line:
                return time.perf_counter() - begin
        raise SystemExit("the server did not start")

    def end(self, number: int) -> int:
        """End it by a signal; gives its exit code."""
        assert self.process is not None
        assert self.process.stdout is not None
        self.process.send_signal(number)
        code = self.process.wait()
        self.process.stdout.close()
        return code

    def client(self, patience: float = 60.0) -> Client:
        """A client of it."""
        return Client(f"http://127.0.0.1:{self.port}", self.token, patience=patience)

    def memory(self) -> float:
        """The resident memory in MB."""
        assert self.process is not None
        text = Path(f"/proc/{self.process.pid}/statm").read_text()
        return int(text.split()[1]) * 4096 / 1e6


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def events_for(overlay: mw.Overlay, seed: int) -> Iterator[mw.Event]:
    """Endless events that fit: 10% joins, 10% leaves, 80% subscriptions and their ends."""
    rng = random.Random(seed)
    topics = overlay.interests.topics.to_pylist()
    there = overlay.interests.nodes.to_pylist()
    extra: dict[str, list[str]] = {}
    for number in range(10**12):
        chance, key = rng.random(), f"{seed}-{number}"
        at = rng.randrange(len(there))
        if chance < 0.1:
            there.append(f"new-{key}")
            yield mw.Event(number, "join", there[-1], tuple(rng.sample(topics, 10)), key)
        elif chance < 0.2:
            there[at], there[-1] = there[-1], there[at]
            extra.pop(there[-1], None)
            yield mw.Event(number, "leave", there.pop(), (), key)
        elif own := extra.get(there[at]):
            yield mw.Event(number, "unsubscribe", there[at], (own.pop(),), key)
        else:
            extra[there[at]] = [rng.choice(topics)]
            yield mw.Event(number, "subscribe", there[at], tuple(extra[there[at]]), key)


class Reader(threading.Thread):
    """An open stream: how many steps it has seen, and whether one was missing."""

    def __init__(self, server: Server, since: int, *, slow: bool = False) -> None:
        super().__init__(daemon=True)
        self._server, self.seen, self.steps, self.gaps = server, since, 0, 0
        self._slow, self.go = slow, threading.Event()

    def run(self) -> None:
        """Read until the server ends."""
        request = (
            f"GET /v1/changes?since={self.seen} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n"
            f"Authorization: Bearer {self._server.token}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", self._server.port)) as raw:
            raw.sendall(request.encode())
            if self._slow:
                self.go.wait()
            with raw.makefile("rb") as lines:
                for line in lines:
                    if line.startswith(b"data: "):
                        self._take(line)

    def _take(self, line: bytes) -> None:
        since, revision = map(int, _STEP.match(line).groups())  # type: ignore[union-attr]
        self.gaps += since != self.seen
        self.seen, self.steps = revision, self.steps + 1


def load(server: Server, events: Iterator[mw.Event], args: argparse.Namespace) -> int:
    """Send events at a rate for some seconds; gives the number of what went wrong."""
    with server.client() as client:
        since = client.overlay().revision
    readers = [Reader(server, since, slow=at == 0) for at in range(args.streams)]
    for reader in readers:
        reader.start()
    milliseconds, behind = [], 0.0
    applied = refused = 0
    memory = [server.memory()]
    with server.client() as client:
        begin = time.perf_counter()
        batches = int(args.seconds * args.rate / _AT_ONCE)
        for number in range(batches):
            due = begin + number * _AT_ONCE / args.rate
            time.sleep(max(0.0, due - time.perf_counter()))
            behind = max(behind, time.perf_counter() - due)
            batch = [next(events) for _ in range(_AT_ONCE)]
            sent = time.perf_counter()
            receipt = client.submit(batch)
            milliseconds.append(1e3 * (time.perf_counter() - sent))
            applied, refused = applied + receipt.events, refused + len(receipt.refused)
            if number % max(1, batches // 10) == 0:
                memory.append(server.memory())
        seconds = time.perf_counter() - begin
        last = client.overlay().revision
    readers[0].go.set() if readers else None
    end = time.monotonic() + 120
    while any(reader.seen < last for reader in readers) and time.monotonic() < end:
        time.sleep(0.05)
    late = sum(reader.seen < last for reader in readers)
    gaps = sum(reader.gaps for reader in readers)
    p50, p99 = np.quantile(milliseconds, [0.5, 0.99])
    print(f"{applied:,} events in {seconds:.1f} s: {applied / seconds:,.0f} a second, {refused} refused")
    print(
        f"acknowledged (100 events, on disk): p50 {p50:.1f} ms, p99 {p99:.1f} ms, "
        f"most {max(milliseconds):.0f} ms"
    )
    sizes = ", ".join(f"{own:.0f}" for own in memory)
    print(f"at most {1e3 * behind:.0f} ms behind the rate; memory {sizes} MB")
    print(f"{len(readers)} streams, one of which read nothing until the end: {gaps} gaps, {late} incomplete")
    return gaps + late + refused


def single_events(server: Server, events: Iterator[mw.Event], count: int) -> None:
    """Send events one by one, and say how long acknowledgements take."""
    milliseconds = []
    with server.client() as client:
        for event in itertools.islice(events, count):
            begin = time.perf_counter()
            client.submit([event])
            milliseconds.append(1e3 * (time.perf_counter() - begin))
    p50, p99 = np.quantile(milliseconds, [0.5, 0.99])
    print(f"{count} single events, one connection: p50 {p50:.1f} ms, p99 {p99:.1f} ms")


class Follower(threading.Thread):
    """A stream by `Client.follow` that goes on through all kills: causes of steps, and gaps between them."""

    def __init__(self, server: Server, since: int) -> None:
        super().__init__(daemon=True)
        self._client, self.seen, self.gaps = server.client(patience=300), since, 0
        self.causes: Counter[str] = Counter()

    def run(self) -> None:
        """Follow until the process ends."""
        for step in self._client.follow(self.seen):
            self.gaps += step.since != self.seen
            self.causes[step.cause] += 1
            self.seen = step.revision

    def reaches(self, revision: int) -> bool:
        """Whether it sees a revision within two minutes."""
        end = time.monotonic() + 120
        while self.seen < revision and time.monotonic() < end:
            time.sleep(0.02)
        return self.seen == revision


class Sender(threading.Thread):
    """Sends joins one by one until the server dies; `sent` says of each whether it was acknowledged."""

    def __init__(self, server: Server, name: str) -> None:
        super().__init__()
        self._server, self._name = server, name
        self.sent: list[tuple[mw.Event, bool]] = []

    def run(self) -> None:
        """Send until the first failure."""
        with self._server.client(patience=0) as client:
            for number in range(10**9):
                node = f"{self._name}-{number}"
                event = mw.Event(number, "join", node, ("one", "two"), node)
                try:
                    self.sent.append((event, client.submit([event]).events == 1))
                except mw.NetworkError:
                    self.sent.append((event, False))
                    return


@dataclass
class Kills:
    """What came of kills: `lost`, `doubled` and `gaps` must be 0."""

    events: int = 0
    unacknowledged: int = 0
    lost: int = 0
    doubled: int = 0
    gaps: int = 0

    def count(self, event: mw.Event, acknowledged: bool, times: int) -> None:
        """Count an event by how many steps it caused."""
        self.events += acknowledged
        self.unacknowledged += not acknowledged and times == 1
        self.lost += acknowledged and times == 0
        self.doubled += times > 1


def kill(server: Server, args: argparse.Namespace) -> int:
    """Kill the server under load, start it again, and compare; gives the number of what went wrong."""
    rng, found = random.Random(args.seed), Kills()
    with server.client() as client:
        follower = Follower(server, client.overlay().revision)
    follower.start()
    for number in range(args.kills):
        senders = [Sender(server, f"kill-{args.seed}-{number}-{at}") for at in range(_SENDERS)]
        for sender in senders:
            sender.start()
        time.sleep(rng.uniform(0.02, 0.6))
        server.end(signal.SIGKILL)
        for sender in senders:
            sender.join()
        server.start()
        with server.client() as client:
            found.gaps += not follower.reaches(client.overlay().revision)
            for event, acknowledged in (one for sender in senders for one in sender.sent):
                found.count(event, acknowledged, follower.causes[f"join {event.node}"])
            last = [sender.sent[-1][0] for sender in senders]
            for event in last:  # whoever got no answer sends again
                client.submit([event])
            found.gaps += not follower.reaches(client.overlay().revision)
            found.doubled += sum(follower.causes[f"join {event.node}"] != 1 for event in last)
        follower.causes.clear()
    found.gaps += follower.gaps
    print(
        f"{args.kills} kills, {found.events:,} acknowledged events: {found.lost} lost, "
        f"{found.doubled} doubled, {found.gaps} gaps in a stream that was continued; "
        f"{found.unacknowledged} steps were on disk when the kill took their answer"
    )
    return found.lost + found.doubled + found.gaps


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=2_000)
    parser.add_argument("--topics", type=int, default=400)
    parser.add_argument("--algorithm", default="gm")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--rate", type=int, default=1_000, help="events a second")
    parser.add_argument("--singles", type=int, default=500)
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    size = {"nodes": args.nodes, "topics": args.topics}
    interests = mw.workloads.unif(**size, min_subscriptions=10, max_subscriptions=10, seed=args.seed)
    overlay = mw.build(interests, args.algorithm)
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="meshwright-serving-") as name:
        overlay.write(Path(name) / "overlay")
        server = Server(Path(name) / "state", Path(name) / "overlay")
        print(
            f"{args.nodes:,} nodes, {len(overlay):,} links: listens after {server.start():.1f} s", flush=True
        )
        events = events_for(overlay, args.seed)
        if args.singles:
            single_events(server, events, args.singles)
        if args.seconds:
            wrong += load(server, events, args)
        if args.kills:
            wrong += kill(server, args)
        with server.client() as client:
            connected = client._ask("GET", "/v1/evaluation")["topic_connected"]
        print("every topic is connected at the end" if connected else "TOPICS ARE CUT AT THE END")
        code = server.end(signal.SIGTERM)
    return int(bool(wrong or code or not connected))


if __name__ == "__main__":
    sys.exit(main())
