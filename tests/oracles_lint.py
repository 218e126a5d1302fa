"""Mosquitto meshes simulated message by message, as an oracle for lint; shares no code with it.

The rules are those that Mosquitto 2.0.11 was seen to follow: each topic line subscribes at the end from which
it takes; a message crosses a connection once in each direction; of the lines with a prefix that match, the
first renames it; a prefix that a name does not begin with is not removed; nothing goes back by the connection
by which it came, except from the remote end with `try_private false`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import product
from pathlib import Path
from typing import NamedTuple

LONGEST = 7
"""Slashes in a name; names that grow beyond are taken to grow for ever."""


@dataclass(frozen=True)
class Line:
    pattern: str
    direction: str = "both"
    local: str = ""
    remote: str = ""

    def text(self) -> str:
        prefixes = (prefix or '""' for prefix in (self.local, self.remote))
        return f"topic {self.pattern} {self.direction} 0 {' '.join(prefixes)}"


@dataclass(frozen=True)
class Connection:
    opener: int
    other: int
    lines: tuple[Line, ...]
    private: bool = True


class State(NamedTuple):
    """A copy of a message at a broker, and the connection and direction by which it came."""

    broker: int
    name: str
    came: tuple[int, bool] | None


@dataclass
class Verdict:
    """What messages do: names that loop, names that grow without end, and names that arrive twice."""

    loops: set[str] = field(default_factory=set)
    grows: set[str] = field(default_factory=set)
    doubles: set[str] = field(default_factory=set)


def write(folder: Path, brokers: int, connections: Iterable[Connection]) -> None:
    """The configurations of a mesh, one file for each broker."""
    for number in range(brokers):
        own = [each for each in connections if each.opener == number]
        text = [f"listener {20000 + number} 127.0.0.1"]
        for at, connection in enumerate(own):
            text += [
                f"connection to-{connection.other}-{at}",
                f"address 127.0.0.1:{20000 + connection.other}",
            ]
            text += [] if connection.private else ["try_private false"]
            text += [line.text() for line in connection.lines]
        (folder / f"b{number}.conf").write_text("\n".join(text) + "\n")


def matches(pattern: str, name: str) -> bool:
    wanted, words = pattern.split("/"), name.split("/")
    for at, word in enumerate(wanted):
        if word == "#":
            return not (at == 0 and words[0].startswith("$"))
        if at >= len(words) or (
            word != words[at] and (word != "+" or (at == 0 and words[0].startswith("$")))
        ):
            return False
    return len(wanted) == len(words)


def crossing(connection: Connection, name: str, *, outward: bool) -> str | None:
    """What a name is called at the other end; None where it does not cross."""
    ends = [
        (line, line.local, line.remote) if outward else (line, line.remote, line.local)
        for line in connection.lines
        if line.direction in ("both", "out" if outward else "in")
    ]
    if not any(matches(old + line.pattern, name) for line, old, _ in ends):
        return None
    for line, old, new in ends:
        if (old or new) and matches(old + line.pattern, name):
            return new + (name.removeprefix(old) if name.startswith(old) else name)
    return name


def simulate(brokers: int, connections: list[Connection], names: Iterable[str]) -> Verdict:
    """Publish each name at each broker, and follow all copies."""
    verdict = Verdict()
    for name, start in product(names, range(brokers)):
        _publish(start, name, connections, verdict)
    return verdict


def _publish(start: int, name: str, connections: list[Connection], verdict: Verdict) -> None:
    """Follow a message through all states that its copies can be in: broker, name, and how it came there."""
    states = {State(start, name, None): list[State]()}
    waiting = list(states)
    while waiting:
        state = waiting.pop()
        if state.name.count("/") > LONGEST:
            verdict.grows.add(name)
            continue
        states[state] = list(_next(state, connections))
        fresh = [new for new in dict.fromkeys(states[state]) if new not in states]
        states |= {new: [] for new in fresh}
        waiting += fresh
    try:
        order = list(TopologicalSorter(states).static_order())[::-1]
    except CycleError:
        verdict.loops.add(name)
        return
    if name in verdict.grows:
        return
    copies = Counter({State(start, name, None): 1})
    heard: Counter[tuple[int, str]] = Counter()
    for state in order:
        heard[state.broker, state.name] += copies[state]
        for new in states[state]:
            copies[new] += copies[state]
    if any(times > 1 for times in heard.values()):
        verdict.doubles.add(name)


def _next(state: State, connections: list[Connection]) -> Iterator[State]:
    """Where copies of a message go from a state."""
    for (number, connection), outward in product(enumerate(connections), (True, False)):
        source, target = connection.opener, connection.other
        if not outward:
            source, target = target, source
        came = state.came
        if source != state.broker or (came is not None and _is_back(came, number, outward, connection)):
            continue
        new = crossing(connection, state.name, outward=outward)
        if new:
            yield State(target, new, (number, outward))


def _is_back(came: tuple[int, bool], number: int, outward: bool, connection: Connection) -> bool:
    """Whether a message would go back by the end of the connection by which it came."""
    same_end = came == (number, not outward)
    return same_end and (outward or connection.private)
