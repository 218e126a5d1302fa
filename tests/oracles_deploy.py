"""Brokers in memory, for `apply`: machines with files, what runs of them, and an end at any moment."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

import networkx as nx

from meshwright.deploy.drivers.driver import Driver, Session
from meshwright.deploy.hosts import Host
from meshwright.deploy.reaching import masked
from meshwright.filters.filter import Filter
from meshwright.runtime.errors import NetworkError


class KilledError(BaseException):
    """The process that applies is gone."""


def machine(number: int) -> Host:
    """A machine with an address and a place for a file, whatever node it is for."""
    return Host("", f"h{number}.example", 1883, config=f"/m{number}", password="env:MESH")


class MemoryBrokers:
    """Brokers that run what their file said at the last reload. Links lead from machine to machine.

    A cycle is noticed at once, if the engine closes first; and so is a broker that lacks a file it includes.
    """

    in_parts = False

    def __init__(self, driver: Driver, names: Iterable[str]) -> None:
        self.files: dict[str, str] = {}
        self.runs: dict[str, str] = {}
        self.actions_left = 1 << 30
        self.unreachable: set[str] = set()
        self.versions: dict[str, str] = {}
        self.down: set[str] = set()
        self._driver, self._names = driver, sorted(set(names))

    def _act(self) -> None:
        self.actions_left -= 1
        if self.actions_left < 0:
            raise KilledError

    def _reach(self, host: Host) -> None:
        if host.config in self.unreachable:
            raise NetworkError(f"{host.config} can't be reached")

    def read(self, host: Host) -> str | None:
        self._reach(host)
        text = self.files.get(host.config)
        return None if text is None else masked(text)

    def check(self, host: Host, text: str | None) -> None:
        self._reach(host)

    def version(self, host: Host) -> str:
        return self.versions.get(host.config, "")

    def check_forget(self, host: Host) -> None:
        pass

    def write(self, host: Host, text: str | None) -> None:
        self._reach(host)
        self._act()
        if text is None:
            self.files.pop(host.config, None)
        else:
            self.files[host.config] = text
        self._act()

    def reload(self, host: Host) -> None:
        self._reach(host)
        self._act()
        if host.config in self.down:
            raise NetworkError(f"{host.config} does not start")
        if self._driver.broker != "mosquitto" and self.runs.get(host.config):
            assert host.config in self.files, "a broker lacks the file that its configuration includes"
        self.runs[host.config] = self.files.get(host.config, "")
        if self._driver.between is None:
            self.check_forests()
        self._act()

    def forget(self, host: Host, session: Session) -> None:
        self._act()

    def listens(self, host: Host) -> bool | None:
        return host.config not in self.down

    def links(self) -> Iterator[tuple[tuple[str, str], tuple[str, ...]]]:
        """The machines of every link that is open, and what crosses it."""
        for own, text in self.runs.items():
            if own in self.down or not text:
                continue
            addresses = self._driver.addresses(text)
            for name, lines in self._driver.read(text).items():
                yield (own, f"/m{addresses[name].removeprefix('h').partition('.')[0]}"), lines

    def check_forests(self) -> None:
        carried = defaultdict(list)
        for ends, lines in self.links():
            for name in self._names:
                if any(Filter(line).matches(name) for line in lines):
                    carried[name].append(ends)
        for name, pairs in carried.items():
            assert nx.is_forest(nx.MultiGraph(pairs)), f"a cycle for {name}"
