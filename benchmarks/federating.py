"""RabbitMQ brokers that run, federated by a plan: python -m benchmarks.federating HOST:PORT=ADMIN ...

Three brokers, each by the address for AMQP and that of its management API, such as
127.0.0.1:5672=http://127.0.0.1:15672, with different cluster names. The administrator is `guest`, with the
password of the variable RABBITMQ_PASSWORD. Each topic is published ten times at each subscriber, by the
management API. What is ours at the brokers is removed in the end.
"""

import argparse
import json
import os
import tempfile
import time
from base64 import b64encode
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import meshwright as mw
from meshwright.deploy.applying import apply
from meshwright.deploy.drivers import rabbitmq
from meshwright.deploy.hosts import Host
from meshwright.deploy.management import Management
from meshwright.deploy.plan.plan import Plan
from meshwright.deploy.plan.planning import make_plan

SECRET, USER, TIMES = "RABBITMQ_PASSWORD", "guest", 10
PAIRS = [
    (0, "t.a"),
    (1, "t.a"),
    (1, "t.b"),
    (2, "t.b"),
    (0, "t.c"),
    (2, "t.c"),
    *((at, "all") for at in range(3)),
]


def call(host: Host, method: str, path: str, body: object = None) -> Any:
    """An answer of the management API."""
    login = b64encode(f"{USER}:{os.environ[SECRET]}".encode()).decode()
    request = Request(
        f"{host.admin}/api/{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Basic {login}", "Content-Type": "application/json"},
    )
    with urlopen(request, timeout=30) as answer:
        return json.loads(answer.read() or b"null")


def plan_of(hosts: dict[str, Host], pairs: list[tuple[int, str]], before: Plan | None = None) -> Plan:
    """A plan for some interests of the brokers."""
    names = list(hosts)
    overlay = mw.build(mw.Interests.from_pairs([(names[at], topic) for at, topic in pairs]), "gm")
    return make_plan(overlay, rabbitmq.DRIVER.engine, hosts, before=before)


def wait_for_links(plan: Plan) -> None:
    """Wait until both directions of every link run."""
    wanted = sum(2 * len(link.accounts) for link in plan.links)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        rows = [row for host in plan.hosts for row in call(host, "GET", "federation-links")]
        if sum(row.get("status") == "running" for row in rows) >= wanted:
            return
        time.sleep(0.2)
    raise SystemExit("the links are not up after a minute")


def proof(plan: Plan) -> str:
    """Publish everything at every subscriber, and count what arrives."""
    for topic in plan.topics:
        for node in topic.nodes:
            host, queue = plan.host_of[node], f"mw-test-{topic.name}"
            call(host, "PUT", f"queues/%2F/{queue}", {"durable": False})
            exchange = rabbitmq.exchange_name(topic.account)
            call(host, "POST", f"bindings/%2F/e/{exchange}/q/{queue}", {"routing_key": topic.name})
    time.sleep(3)  # bindings come to other brokers, which nobody tells
    expected = lost = doubled = 0
    for topic in plan.topics:
        for node in topic.nodes:
            for number in range(TIMES):
                body = {"properties": {}, "routing_key": topic.name, "payload_encoding": "string"}
                path = f"exchanges/%2F/{rabbitmq.exchange_name(topic.account)}/publish"
                call(plan.host_of[node], "POST", path, {**body, "payload": f"{node} {number}"})
    time.sleep(3)
    for topic in plan.topics:
        wanted = {f"{node} {number}" for node in topic.nodes for number in range(TIMES)}
        for node in topic.nodes:
            queue, host = f"mw-test-{topic.name}", plan.host_of[node]
            asked = {"count": 10_000, "ackmode": "ack_requeue_false", "encoding": "auto"}
            heard = [each["payload"] for each in call(host, "POST", f"queues/%2F/{queue}/get", asked)]
            call(host, "DELETE", f"queues/%2F/{queue}")
            expected, lost = expected + len(wanted), lost + len(wanted - {*heard})
            doubled += len(heard) - len({*heard})
    return f"{expected} deliveries expected: {lost} lost, {doubled} doubled"


def main() -> None:
    """Apply a plan and another, and prove both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("brokers", nargs=3, metavar="HOST:PORT=ADMIN")
    hosts = {}
    for at, text in enumerate(parser.parse_args().brokers):
        address, _, admin = text.partition("=")
        host, _, port = address.rpartition(":")
        hosts[f"r{at}"] = Host(f"r{at}", host, int(port), user=USER, password=f"env:{SECRET}", admin=admin)
    with tempfile.TemporaryDirectory() as folder:
        place, before = Path(folder) / "state.json", None
        for pairs in (PAIRS, [pair for pair in PAIRS if pair != (0, "t.c")]):
            plan = plan_of(hosts, pairs, before)
            done = apply(plan, place, Management())
            wait_for_links(plan)
            print(f"{done.steps} brokers changed, closed for {done.gap_seconds} s; {proof(plan)}", flush=True)
            before = plan
        for host in hosts.values():
            Management().write(host, None)


if __name__ == "__main__":
    main()
