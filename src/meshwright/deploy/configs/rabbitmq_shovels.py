"""Shovels: what they take from exchanges and queues, and where they put it."""

from collections.abc import Iterator
from typing import NamedTuple

from meshwright.deploy.configs.rabbitmq_links import Definitions, End, end_of, parameters
from meshwright.deploy.configs.rabbitmq_routing import Exchange, account, key_filter, vhost_of
from meshwright.deploy.configs.tree import Node
from meshwright.deploy.mesh import Flow, Place
from meshwright.runtime.errors import quoted

_KEYS_TEXT = """
    ack-mode src-protocol src-uri src-queue src-queue-args src-exchange src-exchange-key
    src-prefetch-count src-delete-after src-address src-consumer-args src-predeclared dest-protocol
    dest-uri dest-queue dest-queue-args dest-exchange dest-exchange-key dest-address
    dest-publish-properties dest-properties dest-message-annotations dest-application-properties
    dest-add-forward-headers dest-add-timestamp-header dest-predeclared prefetch-count reconnect-delay
    add-forward-headers add-timestamp-header publish-properties delete-after
"""
_KEYS = frozenset(_KEYS_TEXT.split())


class Taken(NamedTuple):
    """What a shovel takes: an account, a filter of its keys, and the exchange of publishers, if known."""

    account: str
    filter: str
    exchange: str | None


def shovelled_queues(root: Node, broker: str) -> set[str]:
    """The queues of a broker that its own shovels take from."""
    found: set[str] = set()
    for shovel in parameters(root, "shovel"):
        value = shovel.at("value")
        end, queue = end_of(value.at("src-uri"), broker), value.at("src-queue").text
        if end and queue and end.broker == broker:
            found.add(account("queue", end.vhost, queue))
    return found


def shovel_flows(definitions: Definitions) -> Iterator[Flow]:
    """What the shovels of a file carry. Nothing stops a message from going over a shovel again."""
    for shovel in parameters(definitions.root, "shovel"):
        value = shovel.at("value")
        for key, node in value.entries.items():
            if key not in _KEYS:
                definitions.findings.unknown(key, "a shovel", _KEYS, node.place)
        source = end_of(value.at("src-uri"), definitions.broker)
        target = end_of(value.at("dest-uri"), definitions.broker)
        if source is None or target is None:
            continue
        name, place = quoted(shovel.at("name").text or ""), shovel.place
        if value.at("src-address", "dest-address").text is not None:
            message = f"lint does not follow the shovel {name}, which speaks AMQP 1.0"
            definitions.findings.not_decided(message, place)
            continue
        link = f"{definitions.broker} shovel {vhost_of(shovel)} {name}"
        for taken in _taken(value, source, name, definitions):
            yield from _flows(taken, value, source, target, link, place, definitions)


def _taken(value: Node, source: End, name: str, definitions: Definitions) -> Iterator[Taken]:
    queue, exchange = value.at("src-queue").text, value.at("src-exchange").text
    if exchange is not None:
        known = Exchange(source.vhost, exchange, None)
        known = (
            definitions.exchanges.get(known.account, known) if source.broker == definitions.broker else known
        )
        selected = key_filter(known, value.at("src-exchange-key").text or "")
        if selected:
            yield Taken(known.account, selected, exchange)
        elif selected == "":
            message = (
                f"the shovel {name} takes only messages without a routing key; set src-exchange-key to #"
            )
            definitions.findings.useless(message, value.place)
        else:
            message = f"lint does not follow the shovel {name}: its source does not go by routing keys alone"
            definitions.findings.not_decided(message, value.place)
    elif queue is not None:
        yield Taken(account("queue", source.vhost, queue), "#", None)


def _flows(
    taken: Taken,
    value: Node,
    source: End,
    target: End,
    link: str,
    place: Place,
    definitions: Definitions,
) -> Iterator[Flow]:
    """The flows of one shovel; without a destination, messages keep their exchange and key."""
    flow = Flow(
        source.broker, target.broker, taken.filter, "", "", link, place, account=taken.account, echoes=True
    )
    queue_taken = None if taken.exchange else f"{source.broker} {taken.account}"
    flow = flow._replace(pulls=source.broker != definitions.broker, competes_for=queue_taken)
    queue, exchange = value.at("dest-queue").text, value.at("dest-exchange").text
    key = value.at("dest-exchange-key").text
    if queue is not None:
        yield flow._replace(target_account=account("queue", target.vhost, queue), becomes=queue)
    elif exchange or taken.exchange:
        into = account("exchange", target.vhost, exchange or taken.exchange or "")
        yield flow._replace(target_account=into, becomes=key or None)
    else:
        for route in definitions.routes if source.broker == definitions.broker else []:
            if route.target == taken.account:
                name = route.source.partition(" exchange ")[2]
                into = account("exchange", target.vhost, name)
                yield flow._replace(
                    account=route.source, filter=route.filter, target_account=into, becomes=key
                )
