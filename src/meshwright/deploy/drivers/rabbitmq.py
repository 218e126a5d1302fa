"""RabbitMQ: federated exchanges, one for each group of topics whose trees form a forest.

At both ends of a link, the exchange has the other one as an upstream. Federation keeps messages from going
back, and brokers tell each other the bindings, so links need no lines; on a forest every message arrives
once. What is ours at a broker: exchanges and policies `mw0`, `mw1` and so on, upstreams and sets of upstreams
for these, and the global parameter `meshwright`. They are brought over the management API; `text_of` is how
they are compared and shown, and can be imported as definitions.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from meshwright.deploy.drivers.driver import (
    Driver,
    Lines,
    check_versions,
    digest,
    in_url,
    opening_line,
    reference,
    safe_name,
)
from meshwright.deploy.drivers.nats import accounts_at
from meshwright.deploy.hosts import Host
from meshwright.deploy.plan.plan import Link, Plan
from meshwright.deploy.plan.planning import Engine
from meshwright.runtime.errors import InputError, quoted

VHOST = "/"
NOTE = "meshwright"
UPSTREAM, SET = "federation-upstream", "federation-upstream-set"
_MOST_HOPS = 1_000

Definitions = Mapping[str, Sequence[Mapping[str, Any]]]
"""By kind (exchanges, parameters, policies, global_parameters), what a broker has of ours."""


def exchange_name(number: int) -> str:
    """The exchange of a group of topics."""
    return f"mw{number}"


def check(plan: Plan) -> None:
    """Refuse brokers that can't be upstreams, and those whose management API is not known."""
    check_versions(plan, (3, 10))
    for host in plan.hosts:
        if not host.accepts:
            raise InputError(
                f"the node {quoted(host.node)} does not accept links, but both ends of a federation connect "
                f"to each other; let it accept, or choose another driver"
            )
        if not plan.loopback and not (host.admin and host.user and host.password):
            raise InputError(
                f"the node {quoted(host.node)} lacks admin, user or password in the inventory; give the "
                f"address of its management API (http://HOST:15672), a user, and env:NAME or file:PATH"
            )


def link_name(opens: str, to: str) -> str:
    """What a link is called at both ends."""
    return f"mw-{safe_name(opens)[:40]}-{safe_name(to)[:40]}-{digest(opens, to)[:8]}"


def links_at(plan: Plan, node: str) -> list[Link]:
    """The links that a node's broker has upstreams for: all."""
    return [*plan.opened_by(node), *plan.accepted_by(node)]


def render(plan: Plan, node: str) -> str:
    """What is ours at the broker of a node."""
    upstreams = [
        _parameter(
            UPSTREAM,
            f"{link_name(*link.ends)}-{exchange_name(number)}",
            {
                "uri": _address(plan.host_of[link.to if link.opens == node else link.opens]),
                "exchange": exchange_name(number),
                "max-hops": _MOST_HOPS,
                "ack-mode": "no-ack" if plan.settings.qos == 0 else "on-confirm",
                "reconnect-delay": 1,
            },
        )
        for link in links_at(plan, node)
        for number in link.accounts
    ]
    names = [exchange_name(number) for number in accounts_at(plan, node)]
    members: dict[str, list[dict[str, str]]] = {}
    for each in upstreams:
        members.setdefault(each["value"]["exchange"], []).append({"upstream": each["name"]})
    return text_of(
        {
            "global_parameters": [{"name": NOTE, "value": opening_line(node)}],
            "exchanges": [_exchange(name) for name in names],
            "parameters": [
                *upstreams,
                *(_parameter(SET, name, own) for name, own in members.items()),
            ],
            "policies": [_policy(name) for name in members],
        }
    )


def text_of(definitions: Definitions) -> str:
    """Definitions in a stable order, a line each; the first line says whose they are."""
    parts = [f'"global_parameters": {json.dumps(definitions["global_parameters"])}']
    for kind in ("exchanges", "parameters", "policies"):
        rows = sorted(definitions[kind], key=lambda row: (row.get("component", ""), row["name"]))
        lines = ",".join(f"\n  {json.dumps(row, sort_keys=True)}" for row in rows)
        parts.append(f'"{kind}": [{lines}\n ]')
    return "{" + ",\n ".join(parts) + "\n}\n"


def _exchange(name: str) -> dict[str, Any]:
    flags = {"durable": True, "auto_delete": False, "internal": False}
    return {"name": name, "vhost": VHOST, "type": "topic", **flags, "arguments": {}}


def _parameter(component: str, name: str, value: Any) -> dict[str, Any]:
    return {"vhost": VHOST, "component": component, "name": name, "value": value}


def _policy(name: str) -> dict[str, Any]:
    definition = {SET: name}
    return {
        "vhost": VHOST,
        "name": name,
        "pattern": f"^{name}$",
        "apply-to": "exchanges",
        "priority": 10,
        "definition": definition,
    }


def _address(to: Host) -> str:
    user = f"{quote(to.user, safe='')}:{reference(to.password)}@" if to.user and to.password else ""
    scheme = f"amqps://{user}" if to.cafile else f"amqp://{user}"
    authority = f"?cacertfile={quote(to.cafile)}&verify=verify_peer" if to.cafile else ""
    return f"{scheme}{in_url(to)}/%2F{authority}"


def read(text: str) -> Lines:
    """The exchanges of each link that a broker has upstreams for."""
    found: dict[str, list[str]] = {}
    for row in json.loads(text)["parameters"]:
        if row["component"] == UPSTREAM:
            name, _, exchange = row["name"].rpartition("-")
            found.setdefault(name, []).append(exchange)
    return {name: tuple(own) for name, own in found.items()}


def addresses(text: str) -> dict[str, str]:
    """Where each link of a broker leads."""
    rows = json.loads(text)["parameters"]
    return {
        row["name"].rpartition("-")[0]: str(row["value"].get("uri", "")).rpartition("@")[2]
        for row in rows
        if row["component"] == UPSTREAM
    }


def _narrowed(link: Link, names: tuple[str, ...]) -> Link:
    return link._replace(accounts=tuple(number for number in link.accounts if exchange_name(number) in names))


DRIVER = Driver(
    engine=Engine("rabbitmq", "amqp", by_accounts=True),
    broker="rabbitmq",
    check=check,
    render=render,
    read=read,
    sessions_of=lambda text: [],
    link_name=link_name,
    whole=None,
    client_port=lambda port: port,
    crossing=lambda link: tuple(map(exchange_name, link.accounts)),
    narrowed=_narrowed,
    file="meshwright.json",
    links_at=links_at,
    addresses=addresses,
)
