"""The brokers of a plan as processes on loopback, from the rendered files; all of them end with the fleet."""

import re
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import Popen

from meshwright.deploy.drivers import driver_of
from meshwright.deploy.drivers.driver import Session, safe_name
from meshwright.deploy.fleet.links import LINKS
from meshwright.deploy.fleet.processes import Group, group, reserved_ports
from meshwright.deploy.fleet.programs import command_of
from meshwright.deploy.fleet.taps import Taps, taps_of
from meshwright.deploy.hosts import LOOPBACK, Host
from meshwright.deploy.plan.plan import Plan
from meshwright.deploy.reaching import forget_session, masked
from meshwright.runtime.atomic_files import write_whole
from meshwright.runtime.errors import InputError, NetworkError
from meshwright.runtime.progress import Progress, stage

PATIENCE = 300.0
"""Seconds to wait for brokers and links; only those that don't come take so long."""

_RELOADS = re.compile(r"Reloaded server configuration|Failed to reload server configuration.*")
_PSS = re.compile(r"^Pss:\s+(\d+) kB", re.MULTILINE)


@contextmanager
def running(plan: Plan, folder: Path, progress: Progress | None = None) -> Iterator["Fleet"]:
    """The fleet of a plan, listening and linked; its processes are gone afterwards.

    Raises:
        InputError: brokers of this kind can't be run here.
    """
    if driver_of(plan.driver).broker not in LINKS:
        raise InputError(
            f"deploy verify can't run brokers of the driver {plan.driver}; make the plan for another driver, "
            f"or apply it to brokers that run"
        )
    with ExitStack() as held:
        count = len(plan.hosts)
        ports = held.enter_context(reserved_ports(count, driver_of(plan.driver).ports_beside))
        hosts = {
            host.node: Host(host.node, LOOPBACK, port) for host, port in zip(plan.hosts, ports, strict=True)
        }
        fleet = Fleet(plan.with_hosts(hosts, loopback=True), folder, held.enter_context(group()))
        if fleet.driver.engine.routes_itself:
            fleet.taps = held.enter_context(taps_of(fleet.plan))
        with stage(progress, "starting brokers", count):
            fleet.start()
        with stage(progress, "waiting for links", len(plan.links)):
            fleet.wait_for_links()
        yield fleet


class Fleet:
    """Brokers that run. Restarts are in its own hands, so that `apply` can be tried on it."""

    def __init__(self, plan: Plan, folder: Path, processes: Group) -> None:
        self.plan = plan
        self.driver = driver_of(plan.driver)
        self.taps: Taps | None = None
        """What counts the messages on all links, where brokers can't be asked."""
        self.dead: set[str] = set()
        self.hosts = dict(plan.host_of)
        self._folder, self._processes = folder, processes
        self._running: dict[str, Popen[bytes]] = {}
        self._links = LINKS[self.driver.broker]()

    def folder_of(self, node: str) -> Path:
        """Where the files of a broker are."""
        return self._folder / safe_name(node)

    def own_file(self, node: str) -> Path:
        """The rendered file of a broker."""
        return self.folder_of(node) / "conf.d" / self.driver.file

    def start(self) -> None:
        """Write all files, start all brokers, and wait until they listen."""
        for host in self.plan.hosts:
            self.own_file(host.node).parent.mkdir(parents=True, exist_ok=True)
            self.own_file(host.node).write_text(self.driver.render(self.plan, host.node))
            if self.driver.whole is not None:
                whole = self.driver.whole(self.plan, host.node, self.own_file(host.node))
                self._config_of(host.node).write_text(whole)
        # Those that accept most links first: a bridge that finds nobody tries again only after seconds.
        for host in sorted(self.plan.hosts, key=lambda host: -len(self.plan.accepted_by(host.node))):
            self._launch(host.node)
        for host in self.plan.hosts:
            self.wait_until_listening(host.node)

    def _launch(self, node: str) -> None:
        command = command_of(self.driver.broker, self._config_of(node))
        self._running[node] = self._processes.start(command, self.log_of(node))

    def _config_of(self, node: str) -> Path:
        if self.driver.whole is None:
            return self.own_file(node)
        return self.folder_of(node) / "broker.conf"

    def wait_until_listening(self, node: str) -> None:
        """Wait until a broker accepts connections.

        Raises:
            NetworkError: it has ended, and what it said last.
        """
        port = self.driver.client_port(self.hosts[node].port)

        def listens() -> bool:
            self._check_running(node)
            with socket.socket() as probe:
                return probe.connect_ex((LOOPBACK, port)) == 0

        if not within(PATIENCE, listens):
            raise NetworkError(
                f"the broker of {node!r} does not listen on port {port}; see {self.log_of(node)}"
            )

    def _check_running(self, node: str) -> None:
        if self._running[node].poll() is not None:
            said = self.log_of(node).read_text(errors="replace").strip().splitlines()[-1:]
            raise NetworkError(f"the broker of {node!r} has ended: {' '.join(said)}; see {self.log_of(node)}")

    def log_of(self, node: str) -> Path:
        """What a broker says."""
        return self.folder_of(node) / "log"

    def end(self, node: str, *, kill: bool = False) -> None:
        """End a broker, at once if `kill`, and wait until it is gone."""
        process = self._running[node]
        process.kill() if kill else process.terminate()
        process.wait()
        if kill:
            self.dead.add(node)

    def reload(self, node: str) -> None:
        """Let a broker read the files that it has now: a NATS server does, Mosquitto has to start again."""
        if self.driver.broker == "nats":
            self._reread(node)
            return
        self.end(node)
        own = self.own_file(node)
        self._links.restarting(own.read_text() if own.exists() else "", self.log_of(node))
        self._launch(node)
        self.wait_until_listening(node)

    def _reread(self, node: str) -> None:
        def answers() -> list[str]:
            return _RELOADS.findall(self.log_of(node).read_text(errors="replace"))

        before = len(answers())
        self._running[node].send_signal(signal.SIGHUP)
        if not within(PATIENCE, lambda: len(answers()) > before):
            raise NetworkError(f"the server of {node!r} does not reload; see {self.log_of(node)}")
        if (said := answers()[-1]).startswith("Failed"):
            raise NetworkError(f"the server of {node!r} refuses its file: {said}; see {self.log_of(node)}")

    def wait_for_links(self, plan: Plan | None = None) -> None:
        """Wait until every link of living brokers carries all that the plan says."""
        self.plan = plan or self.plan
        missing = [link for link in self.plan.links if self.dead.isdisjoint(link.ends)]

        def up() -> bool:
            missing[:] = [
                link for link in missing if not self._links.is_up(self.plan, link, self.log_of(link.to))
            ]
            return not missing

        if not within(PATIENCE, up):
            link = missing[0]
            raise NetworkError(
                f"the link from {link.opens!r} to {link.to!r} is not up after {PATIENCE:.0f} s; see "
                f"{self.log_of(link.opens)}"
            )

    def memory(self) -> float:
        """The memory of all brokers in MB; what they share counts once."""
        total = 0
        for process in self._running.values():
            try:
                rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
            except OSError:
                continue
            total += sum(map(int, _PSS.findall(rollup)))
        return total / 1000


class FleetReach:
    """What `apply` can do at the brokers of a fleet: files, restarts, clients in the place of links."""

    in_parts = False

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self.restarted: set[str] = set()

    def read(self, host: Host) -> str | None:
        """Its file, with passwords masked; None where there is none."""
        if host.node in self._fleet.dead:
            raise NetworkError(f"the broker of {host.node!r} is dead")
        own = self._fleet.own_file(host.node)
        return masked(own.read_text()) if own.exists() else None

    def check(self, host: Host, text: str | None) -> None:
        """All files of a fleet can be written."""

    def version(self, host: Host) -> str:
        """The programs of this machine are as they are."""
        return ""

    def check_forget(self, host: Host) -> None:
        """All brokers of a fleet can be asked."""

    def write(self, host: Host, text: str | None) -> None:
        """Put a file in place; None removes it."""
        own = self._fleet.own_file(host.node)
        if text is None:
            own.unlink(missing_ok=True)
        else:
            write_whole(own, text.encode())

    def reload(self, host: Host) -> None:
        """Let the broker read its file."""
        self._fleet.reload(host.node)
        self.restarted.add(host.node)

    def forget(self, host: Host, session: Session) -> None:
        """Drop what a living broker keeps for a link that is gone."""
        if host.node not in self._fleet.dead:
            forget_session(session, host)

    def listens(self, host: Host) -> bool | None:
        """Whether a broker lives."""
        return host.node not in self._fleet.dead


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    """Wait until a condition holds, but not longer than this; whether it does."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
