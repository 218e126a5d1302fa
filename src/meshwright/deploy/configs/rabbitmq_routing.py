"""What RabbitMQ routes inside a broker: exchanges, queues and bindings of its definitions.

A vhost's exchanges and queues are accounts of the broker. A message goes once to each queue and exchange that
bindings lead to, in however many ways they do, so all bindings of a broker are one link with one step.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from meshwright.deploy.configs.source import Findings
from meshwright.deploy.configs.subjects import covers, filter_of
from meshwright.deploy.configs.tree import Node
from meshwright.deploy.mesh import Flow, Place
from meshwright.filters.filter import Filter
from meshwright.runtime.errors import quoted

DEFAULT_VHOST = "/"
_BUILT_IN = {
    "amq.topic": "topic",
    "amq.direct": "direct",
    "amq.fanout": "fanout",
    "amq.headers": "headers",
    "amq.match": "headers",
}
_MOST_FILTERS = 64
_MOST_QUEUES = 200


class Exchange(NamedTuple):
    """An exchange; `kind` is None where no file tells it."""

    vhost: str
    name: str
    kind: str | None
    internal: bool = False

    @property
    def account(self) -> str:
        """How flows name it."""
        return account("exchange", self.vhost, self.name)


class Binding(NamedTuple):
    """What goes from an exchange to another one or to a queue: accounts, and the filter of its keys."""

    source: str
    target: str
    filter: str
    place: Place


def account(kind: str, vhost: str, name: str) -> str:
    """How flows name an exchange or a queue; up to the first blank, it is the vhost."""
    return f"{vhost.replace(' ', '%20')} {kind} {name}"


def vhost_of(node: Node) -> str:
    """The vhost of an entry; in definitions of one vhost, entries name none."""
    return node.at("vhost").text or DEFAULT_VHOST


def exchanges_of(root: Node) -> dict[str, Exchange]:
    """By account, the exchanges of a file; those that every vhost has are not in files, and are added."""
    vhosts = {name for each in root.at("vhosts").elements if (name := each.at("name").text)}
    entries = [
        each for key in ("exchanges", "policies", "parameters", "bindings") for each in root.at(key).elements
    ]
    vhosts.update(vhost_of(each) for each in entries)
    found = [Exchange(vhost, name, kind) for vhost in sorted(vhosts) for name, kind in _BUILT_IN.items()]
    for each in root.at("exchanges").elements:
        name = each.at("name").text
        if name:
            internal = each.at("internal").value is True
            found.append(Exchange(vhost_of(each), name, each.at("type").text, internal))
    return {exchange.account: exchange for exchange in found}


def key_filter(exchange: Exchange, key: str) -> str | None:
    """The filter of the routing keys that a binding key selects; None where it can't be told.

    A binding of a direct exchange selects its key alone, one of a fanout exchange everything. Of an exchange
    that no file declares, keys are taken as those of a topic exchange. An empty filter selects empty keys.
    """
    if exchange.kind == "fanout":
        return "#"
    if exchange.kind not in ("topic", "direct", None):
        return None
    if not key:
        return ""
    found = filter_of(key, "amqp")
    if not isinstance(found, Filter) or (exchange.kind == "direct" and {"*", "#"} & set(key.split("."))):
        return None
    return found.text


def bindings_of(
    root: Node, exchanges: dict[str, Exchange], taken: set[str], findings: Findings
) -> list[Binding]:
    """The bindings to exchanges and to the queues that are followed; those that can't be are told.

    Queues are followed if there are few, and otherwise those that shovels of the file take from.
    """
    nodes = [(_target(each), each) for each in root.at("bindings").elements]
    queues = {target for target, each in nodes if not _is_of_exchange(each)}
    left_out = queues - taken if len(queues) > _MOST_QUEUES else set()
    found = (_binding(target, each, exchanges, findings) for target, each in nodes if target not in left_out)
    return [binding for binding in found if binding is not None]


def _is_of_exchange(node: Node) -> bool:
    return node.at("destination_type").text == "exchange"


def _target(node: Node) -> str:
    kind = "exchange" if _is_of_exchange(node) else "queue"
    return account(kind, vhost_of(node), node.at("destination").text or "")


def _binding(target: str, node: Node, exchanges: dict[str, Exchange], findings: Findings) -> Binding | None:
    vhost, source = vhost_of(node), node.at("source").text
    if not source:
        return None
    exchange = exchanges.get(account("exchange", vhost, source), Exchange(vhost, source, None))
    selected = key_filter(exchange, node.at("routing_key").text or "")
    if selected is None:
        what = f"this binding to the exchange {quoted(source)}"
        findings.not_decided(f"lint does not follow {what}: it does not go by routing keys alone", node.place)
    return Binding(exchange.account, target, selected, node.place) if selected else None


def routes(bindings: list[Binding], findings: Findings) -> Iterator[Binding]:
    """From each exchange to each exchange and queue that bindings lead to: what gets there."""
    by_source: dict[str, list[Binding]] = {}
    for binding in bindings:
        by_source.setdefault(binding.source, []).append(binding)
    for source in by_source:
        yield from _routes_from(source, by_source, findings)


def _routes_from(source: str, by_source: dict[str, list[Binding]], findings: Findings) -> Iterator[Binding]:
    """Breadth first; what gets to a place by an earlier route is not followed again."""
    waiting = deque(by_source[source])
    reached: dict[str, list[str]] = {source: ["#"]}
    while waiting:
        route = waiting.popleft()
        filters = reached.setdefault(route.target, [])
        if any(covers(earlier, route.filter, "amqp") for earlier in filters):
            continue
        if len(filters) == _MOST_FILTERS:
            what = f"bindings lead from {quoted(source)} to {quoted(route.target)}"
            findings.not_decided(
                f"{what} in more than {_MOST_FILTERS} ways; lint follows so many", route.place
            )
            filters.append("#")
            continue
        filters.append(route.filter)
        yield route
        for binding in by_source.get(route.target, []):
            both = Filter(route.filter, "amqp").intersect(Filter(binding.filter, "amqp"))
            waiting.extend(Binding(source, binding.target, each.text, route.place) for each in both)


def routing_flows(broker: str, found: Iterable[Binding]) -> Iterator[Flow]:
    """Bindings as flows inside a broker."""
    for route in found:
        yield Flow(
            source=broker,
            target=broker,
            filter=route.filter,
            strip="",
            add="",
            link=f"{broker} bindings",
            place=route.place,
            account=route.source,
            target_account=route.target,
            routes_once=True,
        )
