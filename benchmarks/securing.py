"""Brokers with TLS and passwords, reached over ssh: python -m benchmarks.securing [ENGINE ...] [--sshd PATH].

Four real brokers on loopback (mosquitto, nats or zenoh), with certificates of an authority that is made for
the run, and with passwords where the engine has them. Plans are brought by `meshwright deploy plan | apply |
status`, through an sshd of our own if there is a program (`--sshd`), or else by `sh -c`. Then real clients
publish each topic at each subscriber, and count what arrives; for Mosquitto with QoS 0, 1 and 2, a retained
message, and a subscriber that is away while messages come and its broker restarts. A second plan is applied,
and all of it counted again. Needs openssl, and ssh for `--sshd`.
"""

import argparse
import asyncio
import base64
import csv
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import meshwright as mw
from meshwright.deploy.drivers import driver_of
from meshwright.deploy.drivers.nats import CLIENT_PORTS, MONITOR_PORTS, user_name
from meshwright.deploy.fleet.fleet import within
from meshwright.deploy.fleet.mqtt_ears import paho
from meshwright.deploy.fleet.processes import Group, group, reserved_ports
from meshwright.deploy.fleet.programs import command_of
from meshwright.deploy.plan.plan import Plan, read_plan

NODES = ["north", "south", "east", "west"]
SECRET, USER, PASSWORD = "MESH_PASSWORD", "bridge", "geheim"
HOST = "localhost"
TIMES = 10
FIRST = [("north", "a"), ("south", "a"), ("east", "a"), ("east", "b"), ("west", "b"), ("west", "a")]
SECOND = [("north", "a"), ("south", "a"), ("south", "b"), ("east", "b"), ("west", "b"), ("west", "c")]


def openssl(folder: Path, *words: str) -> None:
    """Run openssl in a folder."""
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def certificates(folder: Path) -> None:
    """An authority, and a certificate for this machine."""
    new = (
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
    )
    openssl(folder, *new, "-subj", "/CN=Authority of the mesh", "-keyout", "ca.key", "-out", "ca.pem")
    openssl(
        folder,
        *(*new, "-CA", "ca.pem", "-CAkey", "ca.key", "-subj", f"/CN={HOST}"),
        *("-addext", f"subjectAltName=DNS:{HOST},IP:127.0.0.1", "-addext", "basicConstraints=CA:FALSE"),
        *("-keyout", "broker.key", "-out", "broker.pem"),
    )


def password_line(user: str, password: str) -> str:
    """A line of a password file of Mosquitto: PBKDF2 with SHA-512."""
    salt = os.urandom(12)
    found = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, 101)
    return f"{user}:$7$101${base64.b64encode(salt).decode()}${base64.b64encode(found).decode()}\n"


class Fleet:
    """Brokers that somebody else set up: their own files, started again whenever they end."""

    def __init__(self, engine: str, folder: Path, ports: Sequence[int], processes: Group) -> None:
        self.engine, self.folder = engine, folder
        self.ports = dict(zip(NODES, ports, strict=True))
        for node in NODES:
            own = folder / node
            (own / "conf.d").mkdir(parents=True)
            self._main(own, self.ports[node])
            words = " ".join(map(str, command_of(engine, self._config(own))))
            note = f"echo $! > {own}/pid.new; mv {own}/pid.new {own}/pid"
            loop = f"while :; do {words} & {note}; wait $!; sleep 0.05; done"
            processes.start(["/bin/sh", "-c", loop], own / "log")

    def _config(self, own: Path) -> Path:
        return self.file(own) if self.engine == "zenoh" else own / "broker.conf"

    def file(self, own: Path) -> Path:
        """The file that is ours."""
        return own / "conf.d" / ("meshwright.json5" if self.engine == "zenoh" else "meshwright.conf")

    def _main(self, own: Path, port: int) -> None:
        if self.engine == "mosquitto":
            (own / "passwords").write_text(password_line(USER, PASSWORD))
            lines = [
                f"listener {port} 127.0.0.1",
                f"certfile {self.folder}/broker.pem",
                f"keyfile {self.folder}/broker.key",
                "allow_anonymous false",
                f"password_file {own}/passwords",
                *(["user root"] if os.geteuid() == 0 else []),
                "persistence true",
                f"persistence_location {own}/",
                f"include_dir {own}/conf.d",
            ]
            (own / "broker.conf").write_text("\n".join(lines) + "\n")
        elif self.engine == "nats":
            self.file(own).write_text("")
            (own / "broker.conf").write_text(
                f'server_name: {own.name}\nlisten: "127.0.0.1:{port + CLIENT_PORTS}"\n'
                f'http: "127.0.0.1:{port + MONITOR_PORTS}"\ninclude "conf.d/meshwright.conf"\n'
                f'tls {{ cert_file: "{self.folder}/broker.pem", key_file: "{self.folder}/broker.key" }}\n'
            )

    def row(self, node: str, reach: str) -> dict[str, object]:
        """What the inventory says of a broker."""
        own, port = self.folder / node, self.ports[node]
        restart = f"old=$(cat {own}/pid); kill $old; while [ $(cat {own}/pid) = $old ]; do sleep 0.05; done"
        row = {
            "node": node,
            "host": HOST,
            "port": port,
            "config": self.file(own),
            "reach": reach,
            "reload": restart,
            "cafile": self.folder / "ca.pem",
        }
        if self.engine != "zenoh":
            row["password"] = f"env:{SECRET}"
        if self.engine == "mosquitto":
            return {**row, "user": USER}
        row |= {"certfile": self.folder / "broker.pem", "keyfile": self.folder / "broker.key"}
        if self.engine == "nats":
            # The first time, a server has to be restarted; afterwards a reload will do.
            row["admin"] = f"http://127.0.0.1:{port + MONITOR_PORTS}"
            row["reload"] = (
                f"if grep -q leafnodes {own}/seen 2>/dev/null; then kill -HUP $(cat {own}/pid); else "
            )
            row["reload"] = f"{row['reload']}{restart}; cp {self.file(own)} {own}/seen; fi"
        return row


def meshwright(*words: object) -> dict[str, Any]:
    """What a command prints, as JSON."""
    command = [sys.executable, "-m", "meshwright", *map(str, words), "--json"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr or done.stdout
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@contextmanager
def reaching(sshd: Path | None, folder: Path, port: int, processes: Group) -> Iterator[str]:
    """How commands get to the brokers: through an sshd of our own, if there is the program."""
    if sshd is None:
        yield "sh -c {command}"
        return
    for name in ("host", "user"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / f"{name}-key"]
        subprocess.run(words, check=True, capture_output=True)
    (folder / "authorized").write_text((folder / "user-key.pub").read_text())
    host_key = (folder / "host-key.pub").read_text().split(" ", 1)[1]
    (folder / "known").write_text(f"[{HOST}]:{port} ssh-ed25519 {host_key}")
    (folder / "sshd.conf").write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {folder}/host-key\nAuthorizedKeysFile {folder}/authorized\n"
        f"PidFile {folder}/sshd.pid\nStrictModes no\nPasswordAuthentication no\nUsePAM no\n"
        f"PermitRootLogin prohibit-password\n"
    )
    (folder / "ssh.conf").write_text(
        f"Host {HOST}\n  Port {port}\n  HostName 127.0.0.1\n  HostKeyAlias [{HOST}]:{port}\n"
        f"  IdentityFile {folder}/user-key\n  IdentitiesOnly yes\n  UserKnownHostsFile {folder}/known\n"
    )
    processes.start([sshd, "-D", "-e", "-f", folder / "sshd.conf"], folder / "sshd.log")
    words = ["ssh", "-F", folder / "ssh.conf", "-o", "BatchMode=yes", HOST, "true"]
    answers = lambda: subprocess.run(words, check=False, capture_output=True).returncode == 0  # noqa: E731
    assert within(20, answers), "no ssh"
    yield f"ssh -F {folder}/ssh.conf -o BatchMode=yes -- {{host}} {{command}}"


def inventory(fleet: Fleet, reach: str) -> Path:
    """The inventory of a fleet."""
    rows = [fleet.row(node, reach) for node in NODES]
    path = fleet.folder / "brokers.csv"
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


class Count:
    """What has arrived, by node and message."""

    def __init__(self) -> None:
        self.copies: Counter[tuple[str, str]] = Counter()
        self.wanted: set[tuple[str, str]] = set()

    def told(self) -> str:
        """What became of all messages."""
        got = sum(key in self.copies for key in self.wanted)
        astray = sum(key not in self.wanted for key in self.copies)
        doubled = sum(copies > 1 for copies in self.copies.values())
        return f"{got} of {len(self.wanted)} delivered, {doubled} doubled, {astray} uninterested"

    def wait(self, turn: Callable[[], object]) -> None:
        """Wait for what is missing, and a second for what should not come."""
        within(30, lambda: bool(turn()) or self.wanted <= self.copies.keys())
        within(1, lambda: bool(turn()))

    @property
    def holds(self) -> bool:
        """Whether each message came just once where it should."""
        return self.wanted == self.copies.keys() and set(self.copies.values()) <= {1}


def mqtt_client(fleet: Fleet, node: str, name: str = "", *, clean: bool = True) -> Any:
    """A client over TLS with a password, connected."""
    library = paho()
    client = library.Client(
        library.CallbackAPIVersion.VERSION2, name, clean_session=clean, protocol=library.MQTTv311
    )
    client.username_pw_set(USER, PASSWORD)
    client.tls_set(ca_certs=str(fleet.folder / "ca.pem"))
    joined: list[int] = []
    client.on_connect = lambda *given: joined.append(given[3].value)

    def connects() -> bool:
        try:
            client.connect(HOST, fleet.ports[node])
        except OSError:
            return False
        return within(5, lambda: bool(client.loop(0.05) or joined))

    assert within(30, connects)
    assert joined[-1] == 0, f"refused with {joined[-1]}"
    return client


def subscribe(
    client: Any,
    topics: Sequence[str],
    hear: Callable[[str], None],
    qos: int,
    kept: Callable[[str], None] | None = None,
) -> None:
    """Subscribe, and wait until the broker says so; `kept` hears retained messages, if it is given."""
    answers: list[bool] = []
    client.on_subscribe = lambda *_: answers.append(True)
    client.on_message = lambda _client, _data, message: (kept if kept and message.retain else hear)(
        message.payload.decode()
    )
    client.subscribe([(topic, qos) for topic in topics])
    assert within(10, lambda: bool(client.loop(0.05) or answers))


def mqtt_rounds(fleet: Fleet, plan: Plan, qos: int, count: Count) -> None:
    """Each topic at each subscriber; everybody else has subscribed to everything as well."""
    clients = {node: mqtt_client(fleet, node) for node in NODES}
    for node, client in clients.items():
        subscribe(client, ["#"], _hearing(count, node), qos)
    for topic in plan.topics:
        for node in topic.nodes:
            for number in range(TIMES):
                message = f"{qos}-{topic.name}-{node}-{number}"
                count.wanted |= {(other, message) for other in topic.nodes}
                clients[node].publish(topic.example, message, qos)
    count.wait(lambda: [client.loop(0.01) for client in clients.values()] and None)
    for client in clients.values():
        client.disconnect()


def _hearing(count: Count, node: str) -> Callable[[str], None]:
    return lambda message: count.copies.update([(node, message)])


def mqtt_kept(fleet: Fleet, plan: Plan, restart: Callable[[str], None]) -> dict[str, str]:
    """A retained message, and a subscriber that is away while its broker restarts, across a link."""
    told = {}
    topic = next(topic for topic in plan.topics if len(topic.nodes) > 1)
    near, far = topic.nodes[0], topic.nodes[-1]
    sender = mqtt_client(fleet, near)
    mark = f"retained {time.monotonic_ns()}"
    sender.publish(topic.example, mark, 2, retain=True)
    seen: list[str] = []
    assert within(20, lambda: bool(sender.loop(0.05) or retained(fleet, far, topic.example, seen) == [mark]))
    restart(far)
    found = retained(fleet, far, topic.example, seen)
    told["retained, after a restart"] = "once" if found == [mark] else f"{len(found)} times"
    away = mqtt_client(fleet, far, "away", clean=False)
    heard: Counter[str] = Counter()
    subscribe(away, [topic.example], lambda message: heard.update([message]), 2)
    away.disconnect()
    away.loop(0.1)
    numbers = [f"away {number}" for number in range(20)]
    for number in numbers[:10]:
        sender.publish(topic.example, number, 2)
    within(2, lambda: bool(sender.loop(0.05)))
    restart(far)
    for number in numbers[10:]:
        sender.publish(topic.example, number, 2)
    within(8, lambda: bool(sender.loop(0.05)))
    again = mqtt_client(fleet, far, "away", clean=False)
    again.on_message = lambda _client, _data, message: heard.update([message.payload.decode()])
    within(20, lambda: bool(again.loop(0.05)) or all(number in heard for number in numbers))
    once = sum(heard[number] == 1 for number in numbers)
    told["kept for a subscriber that was away"] = f"{once} of {len(numbers)} once"
    sender.publish(topic.example, "", 2, retain=True)
    within(1, lambda: bool(sender.loop(0.05)))
    return told


def retained(fleet: Fleet, node: str, topic: str, seen: list[str]) -> list[str]:
    """What a new subscriber gets that was kept; what comes again over a link that is back is not marked."""
    seen.clear()
    client = mqtt_client(fleet, node)
    subscribe(client, [topic], lambda _: None, 2, seen.append)
    within(0.5, lambda: bool(client.loop(0.05)))
    client.disconnect()
    return list(seen)


def nats_rounds(fleet: Fleet, plan: Plan, count: Count) -> None:
    """Each topic at each subscriber, over TLS."""
    asyncio.run(_nats_rounds(fleet, plan, count))


async def _nats_rounds(fleet: Fleet, plan: Plan, count: Count) -> None:
    import ssl

    import nats

    trusted = ssl.create_default_context(cafile=str(fleet.folder / "ca.pem"))
    clients: dict[tuple[str, int], Any] = {}
    for topic in plan.topics:
        for node in topic.nodes:
            if (node, topic.account) not in clients:
                clients[node, topic.account] = await nats.connect(
                    f"tls://{HOST}:{fleet.ports[node] + CLIENT_PORTS}",
                    user=user_name(topic.account),
                    password=PASSWORD,
                    tls=trusted,
                )
            hear = _hearing(count, node)

            async def heard(message: Any, hear: Callable[[str], None] = hear) -> None:
                if not message.data.startswith(b"warm"):
                    hear(message.data.decode())

            await clients[node, topic.account].subscribe(topic.example, cb=heard)
    for client in clients.values():
        await client.flush()
    await asyncio.sleep(1)  # subscriptions come to other servers, which nobody tells
    for topic in plan.topics:
        for node in topic.nodes:
            for number in range(TIMES):
                message = f"{topic.name}-{node}-{number}"
                count.wanted |= {(other, message) for other in topic.nodes}
                await clients[node, topic.account].publish(topic.example, message.encode())
    for _ in range(100):
        await asyncio.sleep(0.05)
        if count.wanted <= count.copies.keys():
            break
    await asyncio.sleep(0.5)
    for client in clients.values():
        await client.close()


def zenoh_rounds(fleet: Fleet, plan: Plan, count: Count) -> None:
    """Each topic at each subscriber, over TLS."""
    import zenoh

    sessions: dict[str, Any] = {}
    for node in NODES:
        config = {
            "mode": "client",
            "connect": {"endpoints": [f"tls/{HOST}:{fleet.ports[node]}"]},
            "scouting": {"multicast": {"enabled": False}},
            "transport": {"link": {"tls": {"root_ca_certificate": str(fleet.folder / "ca.pem")}}},
        }
        sessions[node] = zenoh.open(zenoh.Config.from_json5(json.dumps(config)))
    for topic in plan.topics:
        for node in topic.nodes:
            hear = _hearing(count, node)
            sessions[node].declare_subscriber(
                topic.example, lambda sample, hear=hear: hear(bytes(sample.payload).decode())
            )
    time.sleep(2)  # subscriptions come to other routers, which nobody tells
    for topic in plan.topics:
        for node in topic.nodes:
            for number in range(TIMES):
                message = f"{topic.name}-{node}-{number}"
                count.wanted |= {(other, message) for other in topic.nodes}
                sessions[node].put(
                    topic.example, message.encode(), congestion_control=zenoh.CongestionControl.BLOCK
                )
    count.wait(lambda: time.sleep(0.05))
    for session in sessions.values():
        session.close()


def prove(fleet: Fleet, plan: Plan, rows: Mapping[str, dict[str, object]]) -> None:
    """Publish, count, and print what arrived."""

    def restart(node: str) -> None:
        subprocess.run(["sh", "-c", str(rows[node]["reload"])], check=True)

    if fleet.engine == "mosquitto":
        for qos in (0, 1, 2):
            count = Count()
            mqtt_rounds(fleet, plan, qos, count)
            print(f"  QoS {qos}: {count.told()}", flush=True)
        for what, found in mqtt_kept(fleet, plan, restart).items():
            print(f"  {what}: {found}", flush=True)
        return
    count = Count()
    (nats_rounds if fleet.engine == "nats" else zenoh_rounds)(fleet, plan, count)
    print(f"  {count.told()}", flush=True)


def engine_run(engine: str, sshd: Path | None) -> None:
    """Both plans on one engine."""
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="securing-")))
        ports = held.enter_context(reserved_ports(len(NODES) + 1, driver_of(engine).ports_beside))
        processes = held.enter_context(group())
        certificates(folder)
        fleet = Fleet(engine, folder, ports[1:], processes)
        reach = held.enter_context(reaching(sshd, folder, ports[0], processes))
        hosts, before = inventory(fleet, reach), None
        rows = {node: fleet.row(node, reach) for node in NODES}
        for number, pairs in enumerate((FIRST, SECOND)):
            overlay = folder / f"overlay-{number}"
            mw.build(mw.Interests.from_pairs(pairs), "gm").write(overlay)
            words = (overlay, "--driver", engine, "--inventory", hosts, "--qos", 2, "--out", folder / "plan")
            meshwright("deploy", "plan", *words, *(["--force"] if before else []))
            done = meshwright("deploy", "apply", folder / "plan")
            left = meshwright("deploy", "status", folder / "plan")
            before = read_plan(folder / "plan")
            secret = any(PASSWORD in path.read_text() for path in folder.glob("plan/**/*") if path.is_file())
            secret |= PASSWORD in (folder / "deploy.state.json").read_text()
            way, open_steps = "ssh" if sshd else "sh", len(left["steps"])
            print(
                f"{engine}, {way}, TLS: {done['steps']} files brought, {open_steps} left; passwords in plan "
                f"or state: {'yes' if secret else 'no'}",
                flush=True,
            )
            prove(fleet, before, rows)


def main() -> None:
    """Run the engines."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("engines", nargs="*", default=["mosquitto", "nats", "zenoh"])
    parser.add_argument("--sshd", type=Path, help="the program sshd, by its whole path")
    options = parser.parse_args()
    os.environ[SECRET] = PASSWORD
    for engine in options.engines:
        engine_run(engine, options.sshd)


if __name__ == "__main__":
    main()
