"""Kills of `deploy apply`: python -m benchmarks.apply_kills [--drivers mosquitto nats ...] [--kills 100].

Eight brokers, of which some leave and come back. Each time a process applies a random plan, and is killed
with SIGKILL at a random moment of the time that the last whole application took. Then another one goes on
with the same plan, or, every third time, goes back to the plan before. Settled before the runs: seed 1.

  mosquitto, zenoh  brokers are files: a reload copies the file to what runs, and to a history
  nats              real servers, which reload; their monitors say whether they took the file
  rabbitmq          the management API that the tests bring, one for each broker

At every moment of the history, no topic (no account, no exchange) may have a cycle of links; Zenoh routers
bear cycles, so there all links of the plan before or all of the plan after have to be open. In the end each
broker must run just what the plan says, a second `apply` must find nothing to do, and what is not ours must
be as it was.
"""

import argparse
import os
import random
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Protocol

import networkx as nx

import meshwright as mw
from meshwright.deploy.applying import apply
from meshwright.deploy.drivers import driver_of
from meshwright.deploy.drivers.driver import Driver
from meshwright.deploy.drivers.nats import CLIENT_PORTS, MONITOR_PORTS, account_name
from meshwright.deploy.fleet.fleet import within
from meshwright.deploy.fleet.links import leafs_of
from meshwright.deploy.fleet.processes import Group, group, reserved_ports
from meshwright.deploy.fleet.programs import command_of
from meshwright.deploy.hosts import LOOPBACK, Host
from meshwright.deploy.management import Management
from meshwright.deploy.plan.plan import Plan
from meshwright.deploy.plan.planning import make_plan
from meshwright.deploy.reaching import Commands, Reach, masked, resolved, wait_until_listening
from meshwright.runtime.errors import DatasetError
from tests.oracles_rabbitmq import FOREIGN, Mesh

NODES = [f"n{node}" for node in range(8)]
SECRET = "MESH_SECRET"
MINE = "# mine\n"


class Brokers(Protocol):
    """Brokers that plans are applied to."""

    hosts: dict[str, Host]
    reach: Reach

    def check(self, before: Plan | None, plan: Plan) -> None:
        """Look at every state since the last look."""

    def run(self, plan: Plan) -> bool:
        """Whether all brokers run what a plan says, and others have no links."""

    def foreign_is_untouched(self) -> bool:
        """Whether what is not ours is as it was."""


class Files:
    """Brokers that are files: what runs is a copy, and every copy is kept."""

    def __init__(self, driver: Driver, folder: Path, ports: list[int]) -> None:
        self.driver, self.folder = driver, folder
        self.reach: Reach = Commands(check=False)
        (folder / "history").mkdir()
        self.hosts = {node: self._host(node, port) for node, port in zip(NODES, ports, strict=True)}
        self._runs: dict[str, str] = {}
        self._seen: set[str] = set()
        for node in NODES:
            (folder / node).mkdir()
            (folder / node / "mine.conf").write_text(MINE)

    def _host(self, node: str, port: int) -> Host:
        own, past = self.folder / node / "ours.conf", self.folder / "history"
        reload = f"f={past}/$(date +%s%N)-{node}; cp {own} $f.new 2>/dev/null || : > $f.new; mv $f.new $f"
        return Host(node, LOOPBACK, port, config=str(own), reload=reload)

    def check(self, before: Plan | None, plan: Plan) -> None:
        """Go through the history."""
        entries = sorted(path.name for path in (self.folder / "history").iterdir())
        for name in entries:
            if name in self._seen or name.endswith(".new"):
                continue
            self._seen.add(name)
            text = (self.folder / "history" / name).read_text()
            self._runs[name.partition("-")[2]] = masked(text)
            self._check_state(before, plan)

    def _check_state(self, before: Plan | None, plan: Plan) -> None:
        links = set(self._links(self._runs))
        if self.driver.between is None:
            for line in {line for _, line in links}:
                pairs = [ends for ends, own in links if own == line]
                assert nx.is_forest(nx.MultiGraph(pairs)), f"a cycle for {line}"
        elif before is not None:
            ends = {ends for ends, _ in links}
            planned = [{link.ends for link in each.links} for each in (before, plan)]
            assert any(ends >= own for own in planned), "a link was closed before others were open"

    def _links(self, texts: dict[str, str]) -> Iterator[tuple[tuple[str, str], str]]:
        names = {
            self.driver.link_name(one, other): (one, other)
            for one in NODES
            for other in NODES
            if one != other
        }
        for text in texts.values():
            for name, lines in self.driver.read(text).items() if text else ():
                for line in lines:
                    yield names[name], line

    def run(self, plan: Plan) -> bool:
        """Whether the last copies are the files of a plan."""
        for node in NODES:
            text = self._runs.get(node, "")
            if node in plan.host_of:
                wanted = masked(self.driver.render(plan, node))
                same = text == wanted or bool(text and self.driver.will_do(text, wanted))
            else:
                same = not text or not self.driver.read(text)
            if not same:
                return False
        return True

    def foreign_is_untouched(self) -> bool:
        """Files beside ours, in the same folders."""
        return all((self.folder / node / "mine.conf").read_text() == MINE for node in NODES)


class Servers(Files):
    """Real NATS servers, whose configuration includes our file and one of the operator's."""

    def __init__(self, driver: Driver, folder: Path, ports: list[int], numbers: random.Random) -> None:
        super().__init__(driver, folder, ports)
        self.reach = Commands()
        self.hosts = {
            node: host._replace(
                password=f"env:{SECRET}", admin=f"http://{LOOPBACK}:{host.port + MONITOR_PORTS}"
            )
            for node, host in self.hosts.items()
        }
        self._first = random_plan(driver, self.hosts, numbers, whole=True)

    def start(self, processes: Group) -> None:
        """Start all servers with the files of a first plan: a reload does not begin to listen."""
        for node, host in self.hosts.items():
            own = self.folder / node
            text = self.driver.render(self._first, node)
            (own / "ours.conf").write_text(resolved(text))
            self._runs[node] = masked(text)
            (own / "broker.conf").write_text(
                f'server_name: {node}\nlisten: "{LOOPBACK}:{host.port + CLIENT_PORTS}"\n'
                f'http: "{LOOPBACK}:{host.port + MONITOR_PORTS}"\ninclude mine.conf\ninclude ours.conf\n'
            )
            process = processes.start(command_of("nats", own / "broker.conf"), own / "log")
            self.hosts[node] = host._replace(reload=f"{host.reload}; kill -HUP {process.pid}")
        for host in self.hosts.values():
            wait_until_listening(host)

    def run(self, plan: Plan) -> bool:
        """Whether monitors tell of just the links of a plan, too."""
        wanted = {
            (link.opens, link.to, account_name(number)) for link in plan.links for number in link.accounts
        }

        def linked() -> bool:
            leafs = ((node, leaf) for node, host in self.hosts.items() for leaf in leafs_of(host))
            return {
                (node, leaf["name"], leaf["account"]) for node, leaf in leafs if leaf["is_spoke"]
            } == wanted

        return super().run(plan) and within(60, linked)

    def refusals(self) -> int:
        """Reloads that failed, and links that servers refused because of a cycle."""
        logs = [(self.folder / node / "log").read_text(errors="replace") for node in NODES]
        return sum(text.count("Failed to reload") + text.count("Loop detected") for text in logs)


class Apis:
    """RabbitMQ's management API, as the tests bring it: it looks for cycles after every call."""

    def __init__(self, mesh: Mesh) -> None:
        self._mesh, self.hosts = mesh, mesh.hosts
        self.reach: Reach = Management()

    def check(self, before: Plan | None, plan: Plan) -> None:
        """Each call was looked at; a cycle makes it fail."""
        self._mesh.check()

    def run(self, plan: Plan) -> bool:
        """Whether exchanges are federated as a plan says."""
        found = {(exchange, pair) for exchange, pairs in self._mesh.links().items() for pair in pairs}
        return found == {
            (f"mw{number}", frozenset(link.ends)) for link in plan.links for number in link.accounts
        }

    def foreign_is_untouched(self) -> bool:
        """Exchanges, upstreams and policies with other names."""
        return all(broker.held.items() >= FOREIGN.items() for broker in self._mesh.brokers.values())


@contextmanager
def brokers_of(name: str, numbers: random.Random) -> Iterator[Brokers]:
    """Brokers of a kind, which are gone afterwards."""
    with ExitStack() as held:
        if name == "rabbitmq":
            yield Apis(Mesh(held, NODES))
            return
        folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="kills-")))
        ports = held.enter_context(reserved_ports(len(NODES), driver_of(name).ports_beside))
        if name == "nats":
            servers = Servers(driver_of(name), folder, ports, numbers)
            servers.start(held.enter_context(group()))
            yield servers
            assert servers.refusals() == 0, "a server refused a file or a link"
        else:
            yield Files(driver_of(name), folder, ports)


def random_plan(
    driver: Driver, hosts: dict[str, Host], numbers: random.Random, *, whole: bool = False
) -> Plan:
    """A plan of random topics for most of the brokers, or for all of them."""
    nodes = NODES if whole else numbers.sample(NODES, numbers.randint(5, 8))
    pairs = sorted({(node, f"t{numbers.randrange(6)}") for node in nodes for _ in range(3)})
    plan = make_plan(mw.build(mw.Interests.from_pairs(pairs), "gm"), driver.engine, hosts)
    return plan.with_hosts(hosts, loopback=driver.broker == "nats")


def apply_patiently(plan: Plan, place: Path, reach: Reach, **options: bool) -> int:
    """Apply; what a killed process had just started may hold the lock for a moment."""
    for attempt in count():
        try:
            return apply(plan, place, reach, **options).steps
        except DatasetError:
            assert attempt < 200
            time.sleep(0.05)
    raise AssertionError


def killed(plan: Plan, place: Path, reach: Reach, seconds: float) -> bool:
    """Apply a plan in a process of its own, and kill that after a time; whether it had not ended."""
    child = os.fork()
    if not child:
        try:
            apply(plan, place, reach)
        finally:
            os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def kills_of(name: str, kills: int) -> None:
    """So many processes that apply, killed, and what the next one makes of it."""
    numbers, driver = random.Random(1), driver_of(name)
    tried = done = resumed = back = 0
    with (
        tempfile.TemporaryDirectory(prefix="kills-state-") as folder,
        brokers_of(name, numbers) as brokers,
    ):
        place, before = Path(folder) / "state.json", None
        took = 1.0
        while done < kills:
            tried += 1
            plan = random_plan(driver, brokers.hosts, numbers, whole=before is None)
            was_killed = before is not None and killed(plan, place, brokers.reach, numbers.uniform(0, took))
            go_back = was_killed and before is not None and numbers.random() < 1 / 3
            target = before if go_back and before is not None else plan
            begun = time.monotonic()
            steps = apply_patiently(target, place, brokers.reach, overwrite=before is None)
            took = max(time.monotonic() - begun, 0.02) if steps > 4 else took
            brokers.check(before, plan)
            assert brokers.foreign_is_untouched()
            right = brokers.run(target) and apply_patiently(target, place, brokers.reach) == 0
            done += was_killed
            resumed += was_killed and right
            back += go_back
            assert right, f"run {tried} was not resumed"
            before = target
    print(
        f"{name}: {tried} runs of apply, {done} of them killed before their end: {resumed} resumed, {back} "
        f"of these by going back; nothing left to do, no cycle at any time, nothing foreign touched",
        flush=True,
    )


def main() -> None:
    """Kill for each driver."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--drivers", nargs="+", default=["mosquitto", "nats", "zenoh", "rabbitmq"])
    parser.add_argument("--kills", type=int, default=100)
    options = parser.parse_args()
    os.environ[SECRET] = "geheim"
    for name in options.drivers:
        kills_of(name, options.kills)


if __name__ == "__main__":
    main()
