"""Protocols on real sockets, with the face of the simulator."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping
from secrets import token_bytes
from typing import Any, Generic

import numpy as np

from meshwright.net.live.connections import Traffic
from meshwright.net.live.host import NodeState
from meshwright.net.live.link import PATIENCE
from meshwright.net.live.options import LiveOptions
from meshwright.net.live.processes import Job, Processes, Report
from meshwright.net.protocol import Message, Node, Protocol
from meshwright.net.simulator import Happening
from meshwright.runtime.errors import NetworkError, OptionError

_LEAD = 0.1
"""Seconds from the word to start until the start, so that it reaches all processes before."""

_TICK = 0.05
"""Seconds from one look at the processes to the next."""

_STILL = 5.0
"""Seconds without any event, after which messages that have not arrived are taken for gone."""

_log = logging.getLogger("meshwright.net")


class Live(Generic[Message]):
    """Runs a protocol on each node, over TCP on this machine, the nodes spread over processes.

    Use it in a `with`: entering starts the processes and then, at once, all nodes; leaving stops everything,
    and no process, socket or file is left, whatever happened. A script must start it under
    `if __name__ == "__main__"`, since processes import the script.

    The methods are those of the simulator, and mean the same; only that time passes between them too, and
    that `protocols` are copies. What nodes send is as in the simulator where a protocol does not depend on
    the order in which messages come. Messages from a node to itself cross no socket.

    Args:
        protocols: by node; each process gets those whose turn it is, one after another.
        options: how they run.
        watch: called with all that happens to messages, while `run` waits; in the order of time up to a
            twentieth of a second.

    Attributes:
        complaints: how often something came that should not have, by kind; the first of each kind is logged.
        late: the longest time in seconds that a timer had to wait for the machine, as `run` last saw it.
    """

    def __init__(
        self,
        protocols: Mapping[Node, Protocol[Message]],
        options: LiveOptions,
        *,
        watch: Callable[[Happening], None] | None = None,
    ) -> None:
        if options.port is not None and options.port + max(protocols, default=0) > 65_535:
            raise OptionError(
                f"port {options.port} leaves no port for node {max(protocols)}; give a smaller one, or none"
            )
        self._initial, self._options, self._watch = protocols, options, watch
        self._count = min(options.processes, max(1, len(protocols)))
        self._home = {node: at % self._count for at, node in enumerate(protocols)}
        self._processes: Processes | None = None
        self._start = np.inf
        self._traffic = Traffic()
        self.complaints: Counter[str] = Counter()
        self.late = 0.0

    def __enter__(self) -> "Live[Message]":
        """Start all processes, exchange where nodes listen, and start all nodes."""
        self._processes = Processes(self._jobs())
        try:
            book = {node: where for part in self._ask("open") for node, where in part.items()}
            self._ask("learn", book)
            self._link()
            self._start = time.monotonic() + _LEAD
            self._ask("begin", self._start)
        except BaseException:
            self._processes.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        """Stop all nodes, in all processes, before any connection is closed; then end the processes."""
        assert self._processes is not None
        try:
            if kind is None:
                self._ask("freeze")
                self._look()
        finally:
            self._processes.close()

    @property
    def now(self) -> float:
        """The time since the start, in the protocols' unit."""
        return max(0.0, (time.monotonic() - self._start) / self._options.unit)

    @property
    def protocols(self) -> Mapping[Node, Protocol[Message]]:
        """Copies of what runs on the nodes that are there, as they are now."""
        return _joined(self._ask("protocols"))

    @property
    def peers(self) -> Mapping[Node, set[Node]]:
        """By node, those that it has an open connection to."""
        return _joined(self._ask("peers"))

    @property
    def traffic(self) -> Traffic:
        """What crossed the physical links, as `run` last saw it."""
        return self._traffic

    def add(self, node: Node, protocol: Protocol[Message]) -> None:
        """Let a node join now; one that is there begins anew."""
        self._home.setdefault(node, len(self._home) % self._count)
        self._ask("learn", {node: self._ask_home(node, "add", protocol)})
        self._ask_home(node, "start")

    def inject(self, node: Node, message: Message) -> None:
        """Hand a node a message from its application."""
        self._ask_home(node, "inject", message)

    def remove(self, node: Node) -> None:
        """Let a node die, without a word to anybody: its connections break."""
        self._ask_home(node, "remove")

    def run(self, until: float = np.inf) -> None:
        """Wait until a time; or, unless one is given, until nothing is under way and no timer waits.

        That nothing is under way is known when two looks at all processes, one after the other, find as many
        messages settled in the first as are sent in the second (Mattern's four counters). What was under way
        to a node that died is never settled: then five still seconds end the wait.
        """
        if np.isfinite(until):
            self._run_until(until)
        else:
            self._run_out()

    def _run_until(self, until: float) -> None:
        while (left := (until - self.now) * self._options.unit) > 0:
            time.sleep(min(left, _TICK))
            self._look()
        self._look()

    def _run_out(self) -> None:
        before, changed = self._look(), time.monotonic()
        while True:
            time.sleep(_TICK)
            state = self._look()
            if state != before:
                changed = time.monotonic()
            still = time.monotonic() - changed > _STILL
            arrived = before.settled == state.sent or still
            if arrived and not (before.timers or before.opening or state.timers or state.opening):
                return
            before = state

    def _link(self) -> None:
        """Open the connections of all logical links before the start, so that no message waits for one."""
        self._ask("link")
        end = time.monotonic() + PATIENCE
        while self._look().opening and time.monotonic() < end:
            time.sleep(_TICK)

    def _look(self) -> NodeState:
        """Take what the processes have to say."""
        reports: list[Report] = self._ask("report")
        for report in reports:
            self._note_complaints(report)
            if report.failures:
                raise NetworkError(report.failures[0])
        if self._watch is not None:
            for happening in sorted((h for report in reports for h in report.happenings), key=_time):
                self._watch(happening)
        self.late = max(report.late for report in reports)
        self._traffic = sum((report.traffic for report in reports), Traffic())
        return NodeState(*map(sum, zip(*(report.state for report in reports), strict=True)))

    def _note_complaints(self, report: Report) -> None:
        for kind, words in report.words.items():
            if kind not in self.complaints:
                _log.warning("%s; more of this kind are counted, not logged", words)
        self.complaints += report.complaints

    def _jobs(self) -> list[Job]:
        parts: list[dict[Node, Protocol[Message]]] = [{} for _ in range(self._count)]
        for node, protocol in self._initial.items():
            parts[self._home[node]][node] = protocol
        run, watched = token_bytes(16), self._watch is not None
        return [Job(part, len(self._initial), self._options, run, watched) for part in parts]

    def _ask(self, name: str, *arguments: Any) -> list[Any]:
        return self._running().ask(name, *arguments)

    def _ask_home(self, node: Node, name: str, *arguments: Any) -> Any:
        if node not in self._home:
            raise OptionError(f"there is no node {node}; there are {len(self._home)}")
        return self._running().ask_one(self._home[node], name, node, *arguments)

    def _running(self) -> Processes:
        if self._processes is None:
            raise OptionError("the nodes are not running; use Live in a `with`")
        return self._processes


def _time(happening: Happening) -> float:
    return happening.time


def _joined(parts: list[dict[Node, Any]]) -> dict[Node, Any]:
    return dict(sorted(item for part in parts for item in part.items()))
