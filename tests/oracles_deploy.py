"""Brokers in memory, for `apply`: files, what runs of them, and an end at any moment."""

from collections.abc import Iterable

import networkx as nx

from meshwright.deploy.drivers import mosquitto
from meshwright.deploy.drivers.driver import Session
from meshwright.deploy.hosts import Host
from meshwright.filters.filter import Filter


class KilledError(BaseException):
    """The process that applies is gone."""


class MemoryBrokers:
    """Mosquitto brokers that run what their file said at the last reload; a cycle is noticed at once."""

    def __init__(self, nodes: Iterable[str], names: Iterable[str]) -> None:
        self.files: dict[str, str] = {}
        self.runs: dict[str, str] = {}
        self.actions_left = 1 << 30
        self._names = sorted(set(names))
        nodes = list(nodes)
        self._links = {
            mosquitto.link_name(one, other): (one, other) for one in nodes for other in nodes if one != other
        }

    def _act(self) -> None:
        self.actions_left -= 1
        if self.actions_left < 0:
            raise KilledError

    def read(self, host: Host) -> str | None:
        return self.files.get(host.node)

    def write(self, host: Host, text: str | None) -> None:
        self._act()
        if text is None:
            self.files.pop(host.node, None)
        else:
            self.files[host.node] = text
        self._act()

    def reload(self, host: Host) -> None:
        self._act()
        self.runs[host.node] = self.files.get(host.node, "")
        self._check_forests()
        self._act()

    def forget(self, host: Host, session: Session) -> None:
        self._act()

    def _check_forests(self) -> None:
        carried = [
            (self._links[name], Filter(line))
            for text in self.runs.values()
            for name, lines in mosquitto.read(text).items()
            for line in lines
        ]
        for name in self._names:
            graph = nx.MultiGraph([*{ends for ends, line in carried if line.matches(name)}])
            assert not graph or nx.is_forest(graph), f"a cycle for {name}"
