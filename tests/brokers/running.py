"""One mesh of the corpus as running brokers, with somebody who listens at each of them."""

import re
import socket
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from subprocess import Popen

from meshwright.deploy.fleet.processes import Group
from tests.brokers.binaries import command
from tests.brokers.clients import CLIENTS, Client
from tests.brokers.corpus import Copies, Mesh, Publication

# So many copies of one message are no accident: no mesh has as many brokers or paths.
ENDLESS = 100
# So many names of one message; each is longer than the one before.
GROWING = 20

_LOGGED = ("error", "warning", "notice", "information", "subscribe", "unsubscribe")
_LOGGING = "".join(f"log_type {kind}\n" for kind in _LOGGED)
# What a broker logs for each line of a bridge, or each leaf node, once it is linked.
_LINKED = {
    "mosquitto": re.compile(r"^\S+: \S+ (?:[012] )?\S+$", re.MULTILINE),
    "nats": re.compile(r"Leafnode connection created for account"),
}


class Running:
    """A mesh, its processes and their clients."""

    def __init__(self, mesh: Mesh, folder: Path, ports: Mapping[str, int]) -> None:
        self.mesh = mesh
        self._folder, self._ports = folder, ports
        self._processes: dict[str, Popen[bytes]] = {}
        self._ears: dict[str, Client] = {}

    def start(self, processes: Group) -> None:
        """Start its brokers."""
        self.mesh.write(self._folder, self._ports)
        for broker in self.mesh.brokers:
            config, log = (self._folder / f"{broker}.{ending}" for ending in ("conf", "log"))
            if self.mesh.kind == "mosquitto":
                config.write_text(_LOGGING + config.read_text())
            self._processes[broker] = processes.start(command(self.mesh.kind, config), log)

    def is_linked(self) -> bool:
        """Whether every broker listens or has ended, and every link is up or has been refused."""
        logs = self.logs()
        if self.mesh.says:
            return self.mesh.says in logs
        ended = [broker for broker, process in self._processes.items() if process.poll() is not None]
        assert not ended, f"{ended[0]} of {self.mesh.name} has ended:\n{logs[-2000:]}"
        wanted = sum(_links(self.mesh.kind, text) for text in self.mesh.files.values())
        linked = len(_LINKED[self.mesh.kind].findall(logs))
        return linked >= wanted and all(map(self._listens, self.mesh.brokers))

    def _listens(self, broker: str) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self._ports[broker])) == 0

    async def listen(self) -> None:
        """Let somebody listen at each of its brokers that runs."""
        for ear in self.mesh.ears:
            broker, _, user = ear.partition(":")
            if self._processes[broker].poll() is None:
                connect = CLIENTS[self.mesh.kind].connect
                self._ears[ear] = await connect(self._ports[broker], user or None, self.mesh.listens)

    def publish(self, publication: Publication, payload: bytes) -> None:
        self._ears[publication.at].publish(publication.topic, payload)

    def heard(self, payload: bytes) -> dict[str, Copies]:
        """The copies of a message at each broker where there are any."""
        counts = {ear: client.heard.get(payload, Counter()) for ear, client in self._ears.items()}
        return {ear: _copies(names) for ear, names in counts.items() if names}

    def heard_in_all(self) -> int:
        """How many copies of any messages are heard by now."""
        return sum(names.total() for ear in self._ears.values() for names in ear.heard.values())

    def logs(self) -> str:
        return "".join(path.read_text(errors="replace") for path in sorted(self._folder.glob("*.log")))

    def end(self) -> None:
        """End its brokers."""
        for process in self._processes.values():
            process.kill()
            process.wait()

    async def close(self) -> None:
        for client in self._ears.values():
            await client.close()


def _links(kind: str, config: str) -> int:
    """How many lines of a configuration its broker and others log once it is linked.

    As soon as it is connected, a Mosquitto bridge subscribes for each line in, and unsubscribes for each line
    out.
    """
    if kind == "nats":
        return len(re.findall(r"nats://.*@\w+\.leaf@", config))
    silent = "bridge_attempt_unsubscribe false" in config
    return len(re.findall(r"^ *topic +\S+ (?:in|both)" if silent else r"^ *topic ", config, re.MULTILINE))


def _copies(names: Counter[str]) -> Copies:
    if max(names.values()) >= ENDLESS:
        return "endless"
    if len(names) >= GROWING:
        return "growing"
    return sorted(names.elements())
