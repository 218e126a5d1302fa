"""A fleet whose brokers are sockets that listen, and files."""

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from meshwright.building import build
from meshwright.deploy.drivers import mosquitto
from meshwright.deploy.reaching import Commands
from meshwright.model.interests import Interests
from meshwright.serve.control_plane import Beginning, ControlPlane
from meshwright.serve.reconciling.options import FleetOptions
from meshwright.serve.reconciling.reconciler import Reconciler
from meshwright.serve.state_folder import StateFolder

NODES = "abcdef"
WINDOW = 30.0


class Brokers:
    """Sockets that stand for brokers, with an inventory and a clock."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.now = folder, 1_000.0
        self._held = {node: socket.socket() for node in NODES}
        for each in self._held.values():
            each.bind(("127.0.0.1", 0))
            each.listen()
        self.ports = {node: each.getsockname()[1] for node, each in self._held.items()}
        self.inventory = folder / "inventory.json"
        self.list(NODES)

    def list(self, nodes: str) -> None:
        rows = [
            {"node": node, "port": self.ports[node], "config": str(self.file_of(node)), "reload": "true"}
            for node in nodes
        ]
        self.inventory.write_text(json.dumps({"brokers": rows}))

    def file_of(self, node: str) -> Path:
        return self.folder / f"{node}.conf"

    def links(self) -> set[frozenset[str]]:
        """The links that the files have."""
        by_name = {mosquitto.link_name(u, v): frozenset((u, v)) for u in NODES for v in NODES if u != v}
        texts = {node: self.file_of(node) for node in NODES}
        return {
            by_name[name]
            for own in texts.values()
            if own.exists()
            for name in mosquitto.read(own.read_text())
        }

    def fail(self, node: str) -> None:
        self._held.pop(node).close()

    def recover(self, node: str) -> None:
        found = socket.socket()
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(("127.0.0.1", self.ports[node]))
        found.listen()
        self._held[node] = found

    def close(self) -> None:
        for each in self._held.values():
            each.close()


@pytest.fixture
def brokers(tmp_path: Path) -> Iterator[Brokers]:
    found = Brokers(tmp_path)
    yield found
    found.close()


@pytest.fixture
def plane(tmp_path: Path) -> Iterator[ControlPlane]:
    pairs = [
        (node, topic) for at, node in enumerate(NODES) for topic in ("all", f"t/{at % 2}", f"u/{at // 2}")
    ]
    with ControlPlane(
        StateFolder(tmp_path / "state"), Beginning(overlay=build(Interests.from_pairs(pairs), "gm"))
    ) as found:
        yield found


Made = Callable[..., Reconciler]


@pytest.fixture
def made(plane: ControlPlane, brokers: Brokers) -> Made:
    """Makes what looks after the fleet, as another process would on the same state."""

    def make(*, reach: Any = None, apply: bool = True, **options: Any) -> Reconciler:
        how = FleetOptions(driver="mosquitto", apply=apply, window=WINDOW, patience=60, **options)
        reach = reach or Commands(check=False)
        return Reconciler(plane, brokers.inventory, how, reach=reach, clock=lambda: brokers.now)

    return make
