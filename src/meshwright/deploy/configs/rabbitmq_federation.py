"""Federated exchanges: which exchange takes from which upstream, by policies, sets and upstreams."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from meshwright.deploy.configs.rabbitmq_links import Definitions, end_of, parameters
from meshwright.deploy.configs.rabbitmq_routing import Exchange, account, vhost_of
from meshwright.deploy.configs.tree import Node
from meshwright.deploy.mesh import Flow, Place
from meshwright.runtime.errors import quoted

_UPSTREAM_KEYS_TEXT = """
    uri prefetch-count reconnect-delay ack-mode trust-user-id max-hops expires message-ttl ha-policy
    exchange queue bind-nowait resource-cleanup-mode channel-use-mode consumer-tag queue-type
"""
_UPSTREAM_KEYS = frozenset(_UPSTREAM_KEYS_TEXT.split())
_REFERENCES = ("federation-upstream", "federation-upstream-set", "federation-upstream-pattern")
_QUANTIFIER = re.compile(r"[*+{]")
_MOST_QUANTIFIERS = 3


class Upstream(NamedTuple):
    """An upstream as one set uses it."""

    name: str
    node: Node
    overrides: Node

    def at(self, key: str) -> Node:
        """A setting of the set, or else of the upstream."""
        own = self.overrides.at(key)
        return own if own.value is not None else self.node.at("value").at(key)


class Policy(NamedTuple):
    """A policy that can be matched."""

    node: Node
    vhost: str
    name: str
    pattern: re.Pattern[str]
    priority: int
    applies_to: str

    @property
    def federates(self) -> bool:
        """Whether it names upstreams."""
        return any(key in self.node.at("definition").entries for key in _REFERENCES)


def federation_flows(definitions: Definitions) -> Iterator[Flow]:
    """What comes from upstreams to the exchanges that policies federate."""
    policies = list(_policies(definitions))
    upstreams = _upstreams(definitions)
    in_force = _in_force(policies, definitions.exchanges.values())
    used: set[tuple[str, str]] = set()
    for exchange, policy in in_force:
        for upstream in _chosen(policy, upstreams, definitions):
            used.add((policy.vhost, upstream.name))
            yield from _flow(exchange, upstream, definitions)
    _say_what_does_nothing(
        policies, {policy.node.place for _, policy in in_force}, upstreams, used, definitions
    )


def _policies(definitions: Definitions) -> Iterator[Policy]:
    for node in definitions.root.at("policies").elements:
        text, name = node.at("pattern").text or "", node.at("name").text or ""
        pattern = _compiled(text)
        if pattern is None:
            message = f"lint does not follow the policy {quoted(name)}: it can't match its pattern"
            definitions.findings.not_decided(message, node.place)
            continue
        priority, to = node.at("priority").number or 0, node.at("apply-to").text or "all"
        yield Policy(node, vhost_of(node), name, pattern, priority, to)


def _compiled(text: str) -> re.Pattern[str] | None:
    """A pattern that can be matched in short time; None for one that is none, or might take for ever."""
    if len(_QUANTIFIER.findall(text)) > _MOST_QUANTIFIERS or re.search(r"\)[*+{]", text):
        return None
    try:
        return re.compile(text)
    except (re.error, RecursionError, OverflowError):
        return None


def _in_force(policies: list[Policy], exchanges: Iterable[Exchange]) -> list[tuple[Exchange, Policy]]:
    """The federated exchanges with their policy: of those that match, the first of the highest priority."""
    found: list[tuple[Exchange, Policy]] = []
    for exchange in exchanges:
        matching = [policy for policy in policies if _matches(policy, exchange)]
        best = max(matching, key=lambda policy: policy.priority, default=None)
        if best is not None and best.federates and not exchange.internal:
            found.append((exchange, best))
    return found


def _matches(policy: Policy, exchange: Exchange) -> bool:
    to_exchanges = policy.applies_to in ("exchanges", "all")
    return to_exchanges and policy.vhost == exchange.vhost and bool(policy.pattern.search(exchange.name))


def _upstreams(definitions: Definitions) -> dict[tuple[str, str], Node]:
    found: dict[tuple[str, str], Node] = {}
    for node in parameters(definitions.root, "federation-upstream"):
        name = node.at("name").text or ""
        found[vhost_of(node), name] = node
        for key, value in node.at("value").entries.items():
            if key not in _UPSTREAM_KEYS:
                definitions.findings.unknown(key, "a federation upstream", _UPSTREAM_KEYS, value.place)
    return found


def _chosen(
    policy: Policy, upstreams: dict[tuple[str, str], Node], definitions: Definitions
) -> Iterator[Upstream]:
    """The upstreams of a policy."""
    definition = policy.node.at("definition")
    nothing = Node(None, policy.node.place)
    own = {name: node for (vhost, name), node in upstreams.items() if vhost == policy.vhost}
    single = definition.at("federation-upstream")
    pattern = _compiled(definition.at("federation-upstream-pattern").text or "$^")
    for name, node in own.items():
        if name == single.text or (pattern is not None and pattern.search(name)):
            yield Upstream(name, node, nothing)
    yield from _of_set(definition.at("federation-upstream-set").text, policy.vhost, own, definitions)


def _of_set(
    wanted: str | None, vhost: str, own: dict[str, Node], definitions: Definitions
) -> Iterator[Upstream]:
    """The upstreams of a set; the set `all` is there without being made."""
    if wanted == "all":
        yield from (Upstream(name, node, Node(None, node.place)) for name, node in own.items())
        return
    for node in parameters(definitions.root, "federation-upstream-set"):
        if node.at("name").text == wanted and vhost_of(node) == vhost:
            for member in node.at("value").elements:
                name = member.at("upstream").text or ""
                if name in own:
                    yield Upstream(name, own[name], member)


def _flow(exchange: Exchange, upstream: Upstream, definitions: Definitions) -> Iterator[Flow]:
    end = end_of(upstream.at("uri"), definitions.broker, exchange.vhost)
    if end is None:
        return
    source = account("exchange", end.vhost, upstream.at("exchange").text or exchange.name)
    place = upstream.node.place
    if (end.broker, source) == (definitions.broker, exchange.account):
        what = f"the exchange {quoted(exchange.name)} is its own upstream {quoted(upstream.name)}"
        message = f"{what}, so that its queues get everything twice; name another broker, vhost or exchange"
        definitions.findings.say("doubled-delivery", "error", message, place)
        return
    yield Flow(
        source=end.broker,
        target=definitions.broker,
        filter="#",
        strip="",
        add="",
        link=f"{definitions.broker} federation {exchange.account} {upstream.name}",
        place=place,
        account=source,
        target_account=exchange.account,
        most_hops=upstream.at("max-hops").number or 1,
        on_demand=True,
        pulls=True,
    )


def _say_what_does_nothing(
    policies: list[Policy],
    in_force: set[Place],
    upstreams: dict[tuple[str, str], Node],
    used: set[tuple[str, str]],
    definitions: Definitions,
) -> None:
    for policy in policies:
        if policy.federates:
            _judge(policy, policy.node.place in in_force, definitions)
    federated_queues = any(policy.federates and policy.applies_to != "exchanges" for policy in policies)
    all_read = len(policies) == len(definitions.root.at("policies").elements)
    for vhost_and_name, node in upstreams.items() if all_read and not federated_queues else ():
        if vhost_and_name not in used:
            message = (
                f"no policy uses the federation upstream {quoted(vhost_and_name[1])}; add one, or remove it"
            )
            definitions.findings.useless(message, node.place)


def _judge(policy: Policy, in_force: bool, definitions: Definitions) -> None:
    """Say what a federating policy does to queues, and whether it does anything to exchanges."""
    findings, place, name = definitions.findings, policy.node.place, quoted(policy.name)
    queues = [each for each in definitions.root.at("queues").elements if vhost_of(each) == policy.vhost]
    names = [each.at("name").text or "" for each in queues]
    if policy.applies_to != "exchanges" and any(policy.pattern.search(each) for each in names):
        findings.not_decided(f"lint does not follow federated queues, which the policy {name} makes", place)
    elif any(_matches(policy, exchange) for exchange in definitions.exchanges.values()) and not in_force:
        message = f"the policy {name} federates nothing, as others go first; raise its priority"
        findings.useless(message, place)
    elif not in_force and policy.applies_to in ("exchanges", "all"):
        findings.useless(f"the policy {name} matches no exchange of the file; correct its pattern", place)
