"""What federation and shovels share: the broker at the other end, as a URI names it."""

from typing import NamedTuple
from urllib.parse import unquote

from meshwright.deploy.configs.rabbitmq_routing import DEFAULT_VHOST, Binding, Exchange
from meshwright.deploy.configs.source import Findings, alternatives, url_of
from meshwright.deploy.configs.tree import Node

_PORTS = {"amqp": 5672, "amqps": 5671}
_LOCAL = {f"{host}:{port}" for host in ("localhost", "127.0.0.1", "[::1]") for port in _PORTS.values()}


class End(NamedTuple):
    """One end of a link: a broker by name or by addresses, and a vhost of it."""

    broker: str
    vhost: str


class Definitions(NamedTuple):
    """What links need to know of the file in which they are configured."""

    broker: str
    root: Node
    exchanges: dict[str, Exchange]
    routes: list[Binding]
    findings: Findings


def parameters(root: Node, component: str) -> list[Node]:
    """The parameters of a component."""
    return [each for each in root.at("parameters").elements if each.at("component").text == component]


def end_of(uris: Node, broker: str, vhost: str = DEFAULT_VHOST) -> End | None:
    """Where URIs lead, of which one is in use at a time; `vhost` is taken where they name none.

    A URI without a host, or with this machine and RabbitMQ's own port, leads to the broker itself.
    """
    found = [url for text in uris.texts if (url := url_of(text, _PORTS.get(text.partition(":")[0])))]
    if not found:
        return None
    path = found[0].path
    named = unquote(path[1:]) if len(path) > 1 else vhost
    addresses = [url.address for url in found]
    is_local = any(not address or address in _LOCAL for address in addresses)
    return End(broker if is_local else alternatives(addresses), named)
