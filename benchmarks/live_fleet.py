"""Brokers on loopback as an operator has them: files, an inventory with commands, and kills."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import meshwright as mw
from meshwright.deploy.applying import apply
from meshwright.deploy.drivers import driver_of
from meshwright.deploy.drivers.nats import MONITOR_PORTS
from meshwright.deploy.fleet.fleet import within
from meshwright.deploy.fleet.processes import Group, group, reserved_ports
from meshwright.deploy.fleet.programs import command_of
from meshwright.deploy.health.probes import with_probes
from meshwright.deploy.hosts import Host
from meshwright.deploy.plan.plan import Plan, Settings
from meshwright.deploy.plan.planning import make_plan
from meshwright.deploy.reaching import Commands
from meshwright.runtime.json_values import compact

SECRET = "MESHWRIGHT_FLEET"
"""The variable that has the password of all links."""
_PATIENCE = 300.0
_TELLING = "log_dest topic\nlog_type subscribe\n"
_RESTART = 'old=$(cat {pid}); kill $old; while [ "$(cat {pid})" = "$old" ]; do sleep 0.01; done'
_SUPERVISED = 'until [ -e stop ]; do "$0" -c "$1" & echo $! > pid; wait $!; done'


class LiveFleet:
    """A broker for each node of an overlay, with the files of its plan, as `deploy apply` leaves them.

    Mosquitto is started again whenever it ends, as systemd does, unless it was killed for good.
    """

    def __init__(self, overlay: mw.Overlay, driver: str, folder: Path, ports: list[int], own: Group) -> None:
        os.environ[SECRET] = "mesh"
        self.driver, self.folder, self._processes = driver_of(driver), folder, own
        names = overlay.interests.nodes.to_pylist()
        self.hosts = {name: self._host(name, port) for name, port in zip(names, ports, strict=True)}
        made = make_plan(overlay, self.driver.engine, self.hosts, settings=Settings())
        self.plan: Plan = with_probes(made)
        self.inventory = folder / "inventory.json"
        rows = [
            {key: value for key, value in host._asdict().items() if value is not None}
            for host in self.hosts.values()
        ]
        self.inventory.write_text(compact({"brokers": rows}))

    def folder_of(self, node: str) -> Path:
        """Where the files of a broker are."""
        return self.folder / node

    def _host(self, node: str, port: int) -> Host:
        home = self.folder_of(node)
        nats = self.driver.broker == "nats"
        pid = home / "pid"
        return Host(
            node,
            port=port,
            config=str(home / "conf.d" / self.driver.file),
            reload=f"kill -HUP $(cat {pid})" if nats else _RESTART.format(pid=pid),
            password=f"env:{SECRET}" if nats else "",
            admin=f"http://127.0.0.1:{port + MONITOR_PORTS}" if nats else "",
        )

    def start(self, place: Path) -> None:
        """Bring the plan to files, noted in the state `place`, and start all brokers with them."""
        place.parent.mkdir(parents=True, exist_ok=True)
        for node, host in self.hosts.items():
            own = Path(host.config)
            own.parent.mkdir(parents=True)
            assert self.driver.whole is not None
            whole = self.driver.whole(self.plan, node, own)
            telling = _TELLING if self.driver.broker == "mosquitto" else ""
            (self.folder_of(node) / "broker.conf").write_text(f"{whole}{telling}")
        quiet = {node: host._replace(reload="true") for node, host in self.hosts.items()}
        apply(self.plan.with_hosts(quiet, loopback=False), place, Commands(check=False))
        for node in self.hosts:
            self.launch(node)
        for node in self.hosts:
            assert within(_PATIENCE, lambda node=node: self.answers(node)), f"{node} does not listen"

    def launch(self, node: str) -> None:
        """Start a broker."""
        home = self.folder_of(node)
        (home / "stop").unlink(missing_ok=True)
        program, *_ = command_of(self.driver.broker, home / "broker.conf")
        command = [program, "-c", home / "broker.conf"]
        if self.driver.broker == "mosquitto":
            command = ["/bin/sh", "-c", _SUPERVISED, program, home / "broker.conf"]
        started = self._processes.start(command, home / "log")
        if self.driver.broker == "nats":
            (home / "pid").write_text(str(started.pid))

    def answers(self, node: str) -> bool:
        """Whether a broker listens for clients."""
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.client_port(node))) == 0

    def client_port(self, node: str) -> int:
        """Where clients connect."""
        return self.driver.client_port(self.hosts[node].port)

    def kill(self, node: str) -> float:
        """Kill a broker for good; gives the time."""
        home = self.folder_of(node)
        (home / "stop").touch()
        os.kill(int((home / "pid").read_text()), signal.SIGKILL)
        return time.monotonic()


@contextmanager
def live_fleet(overlay: mw.Overlay, driver: str, folder: Path, place: Path) -> Iterator[LiveFleet]:
    """A fleet that runs; its processes are gone afterwards."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        beside = driver_of(driver).ports_beside
        ports = held.enter_context(reserved_ports(overlay.interests.node_count, beside))
        found = LiveFleet(overlay, driver, folder, ports, held.enter_context(group()))
        found.start(place)
        yield found
