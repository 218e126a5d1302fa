"""Zenoh: a router for each node, in a file of its own that is the router's whole configuration.

Routers bear cycles and choose the ways of messages themselves, the same for all topics. So every link of the
overlay is opened, and a message may pass a router that does not want it. On links that no other way leads
around, access control denies the topics that nobody beyond them wants. To deny more would lose messages:
routers don't look for another way around a denial (tried with 1.10.2 on a triangle).

The file is JSON, which is JSON5, so nothing in a name can end a string in it.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import networkx as nx
import xxhash

from meshwright.deploy.drivers.driver import (
    Driver,
    Lines,
    check_versions,
    digest,
    in_url,
    opening_line,
    safe_name,
)
from meshwright.deploy.hosts import LOOPBACK, Host
from meshwright.deploy.plan.plan import Link, Plan
from meshwright.deploy.plan.planning import Engine
from meshwright.filters.automata import Automaton
from meshwright.filters.dialects import dialect_of
from meshwright.filters.filter import Filter, rules_of, words_of
from meshwright.runtime.errors import InputError, quoted

DIALECT = "zenoh"
ROUTER_PORTS = 4_000
"""On loopback, how far the port of a router is above the one that others connect to: in between, somebody
counts what crosses."""

EVERYTHING = ("**",)
_MESSAGES = ["put", "delete", "declare_subscriber"]


def check(plan: Plan) -> None:
    """Refuse what a router has once for all its links, but the inventory by link."""
    check_versions(plan, (1, 10))
    for host in plan.hosts:
        if host.user or host.password:
            raise InputError(
                f"the node {quoted(host.node)} has a user or a password, but a Zenoh router logs in "
                f"everywhere as the same user; leave them out, and use certificates (cafile, certfile)"
            )
        authorities = {plan.host_of[link.to].cafile for link in plan.opened_by(host.node)} - {""}
        if len(authorities) > 1:
            raise InputError(
                f"the node {quoted(host.node)} would need {len(authorities)} files of authorities, such as "
                f"{quoted(min(authorities))}, but a Zenoh router has one (cafile); put all certificates "
                f"into one file"
            )


def link_name(opens: str, to: str) -> str:
    """What a link is called in the file."""
    return f"{safe_name(to)[:40]}-{digest(opens, to)[:8]}"


def router_id(node: str) -> str:
    """The id of a node's router: 32 hexadecimal digits, of which the first is not 0."""
    return format(xxhash.xxh3_128_intdigest(node.encode()) | 1 << 127, "032x")


def render(plan: Plan, node: str) -> str:
    """The configuration of a node's router."""
    opened = plan.opened_by(node)
    neighbours = {
        router_id(link.to if link.opens == node else link.opens): link
        for link in (*opened, *plan.accepted_by(node))
    }
    denied = {router: denials(plan, link) for router, link in neighbours.items()}
    config = {
        "mode": "router",
        "id": router_id(node),
        "metadata": {
            "name": node,
            "links": {link_name(*link.ends): list(limits(plan, link)) for link in opened},
            "neighbours": {router: list(limits(plan, link)) for router, link in sorted(neighbours.items())},
        },
        "listen": {"endpoints": [_listener(plan, plan.host_of[node])]},
        "connect": {
            "endpoints": [_endpoint(plan.host_of[link.to]) for link in opened],
            "timeout_ms": -1,
            "exit_on_failure": False,
            "retry": {"period_init_ms": 50, "period_max_ms": 2000, "period_increase_factor": 1.5},
        },
        "scouting": {
            "multicast": {"enabled": not plan.loopback, "autoconnect": {"router": []}},
            "gossip": {"enabled": True, "autoconnect": {"router": []}},
        },
        "adminspace": {"enabled": True, "permissions": {"read": True, "write": False}},
        **_transport(plan, node),
        **_access(denied),
    }
    return _text(opening_line(node), config)


def _text(first: str, config: Mapping[str, Any]) -> str:
    # An @ might pass for the end of a password in an address when files are shown.
    return f"// {first}\n{json.dumps(config, indent=1)}\n".replace("@", "\\u0040")


def _listener(plan: Plan, host: Host) -> str:
    if plan.loopback:
        return f"tcp/{LOOPBACK}:{host.port + ROUTER_PORTS}"
    return f"{'tls' if host.certfile else 'tcp'}/[::]:{host.port}"


def _endpoint(to: Host) -> str:
    return f"{'tls' if to.cafile or to.certfile else 'tcp'}/{in_url(to)}"


def _transport(plan: Plan, node: str) -> dict[str, Any]:
    own = plan.host_of[node]
    authority = max((plan.host_of[link.to].cafile for link in plan.opened_by(node)), default="")
    files = {
        "root_ca_certificate": authority,
        "listen_certificate": own.certfile,
        "listen_private_key": own.keyfile,
    }
    given = {key: path for key, path in files.items() if path}
    return {"transport": {"link": {"tls": given}}} if given else {}


def denials(plan: Plan, link: Link) -> tuple[str, ...]:
    """The topics of a plan that must not cross a link.

    One that matches names which may cross it can't be denied: in Zenoh, a denial goes before all else.
    """
    lines = limits(plan, link)
    return () if lines == EVERYTHING else _denials(plan.topics, lines)


def limits(plan: Plan, link: Link) -> tuple[str, ...]:
    """What may cross a link: everything, if some other way leads around it.

    There, few topics could be denied, and every new topic would change the file of every router.
    """
    cut = _bridges(frozenset(each.ends for each in plan.links))
    return link.lines if link.ends in cut else EVERYTHING


@lru_cache(maxsize=16)
def _bridges(links: frozenset[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    found = {frozenset(pair) for pair in nx.bridges(nx.Graph(list(links)))}
    return frozenset(ends for ends in links if frozenset(ends) in found)


@lru_cache(maxsize=256)
def _denials(topics: tuple[Any, ...], lines: tuple[str, ...]) -> tuple[str, ...]:
    rules, words = rules_of(dialect_of(DIALECT)), _words(topics)
    allowed = Automaton((_filter(line).pattern for line in lines), rules)
    crosses = {topic.name: bool(allowed.match(own)) for topic, own in zip(topics, words, strict=True)}
    wild = [name for name, does in crosses.items() if not does and "*" in name]
    around = Automaton((_filter(name).pattern for name in wild), rules)
    matched = {
        wild[at]
        for topic, own in zip(topics, words, strict=True)
        if crosses[topic.name]
        for at in around.match(own)
    }
    return tuple(sorted(name for name, does in crosses.items() if not does and name not in matched))


@lru_cache(maxsize=4)
def _words(topics: tuple[Any, ...]) -> list[Any]:
    """The words of the examples of topics."""
    rules = dialect_of(DIALECT)
    return [words_of(topic.example, rules) for topic in topics]


@lru_cache(maxsize=8192)
def _filter(text: str) -> Filter:
    return Filter(text, DIALECT)


def _access(denied: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """A rule for each list of denials, for the routers at the other ends of those links."""
    routers: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for router, keys in sorted(denied.items()):
        if keys:
            routers[keys].append(router)
    if not routers:
        return {}
    rules, subjects, policies = [], [], []
    for at, (keys, own) in enumerate(routers.items()):
        rule, subject = f"deny-{at}", f"routers-{at}"
        rules.append(
            {
                "id": rule,
                "permission": "deny",
                "flows": ["ingress", "egress"],
                "messages": _MESSAGES,
                "key_exprs": list(keys),
            }
        )
        subjects.append({"id": subject, "zids": own})
        policies.append({"rules": [rule], "subjects": [subject]})
    return {
        "access_control": {
            "enabled": True,
            "default_permission": "allow",
            "rules": rules,
            "subjects": subjects,
            "policies": policies,
        }
    }


def _config(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text.partition("\n")[2])
    return found


def _is_complete(config: Mapping[str, Any]) -> bool:
    """Whether a hand has left in a file what changes need."""
    return isinstance(config["metadata"]["neighbours"], dict) and isinstance(
        config["connect"]["endpoints"], list
    )


def read(text: str) -> Lines:
    """What may cross each link that a rendered file opens."""
    config = _config(text)
    if not _is_complete(config):
        raise ValueError("not as it was rendered")
    _denied(config)
    return {name: tuple(lines) for name, lines in config["metadata"]["links"].items()}


def between(old: str, new: str) -> str:
    """A file with the links of both files, that denies only what both deny."""
    before, after = _config(old), _config(new)
    first, denied = _denied(before), _denied(after)
    for router in first.keys() | denied.keys():
        own = [set(_denied(each).get(router, ())) for each in (before, after) if _is_neighbour(router, each)]
        denied[router] = tuple(sorted(set.intersection(*own)))
    merged = {key: value for key, value in after.items() if key != "access_control"}
    merged["metadata"] = {
        **after["metadata"],
        "links": _sorted({**before["metadata"]["links"], **after["metadata"]["links"]}),
        "neighbours": _sorted({**before["metadata"]["neighbours"], **after["metadata"]["neighbours"]}),
    }
    both = dict.fromkeys([*after["connect"]["endpoints"], *before["connect"]["endpoints"]])
    merged["connect"] = {**after["connect"], "endpoints": list(both)}
    if set(both) == set(after["connect"]["endpoints"]) and denied == _denied(after):
        return new
    if set(both) == set(before["connect"]["endpoints"]) and denied == first:
        return old
    return _text(new.partition("\n")[0].removeprefix("// "), {**merged, **_access(denied)})


def will_do(old: str, new: str) -> bool:
    """Whether a router may keep its file: the same but for denials, which let through all that they should.

    So a new topic restarts no router that does not deny it, and a link none but the router that opens it,
    which denies what must not cross, in both directions.
    """
    before, after = _config(old), _config(new)
    allowed = after["metadata"]["neighbours"]
    return _without_access(before) == _without_access(after) and not any(
        _conflict(keys, tuple(allowed[router]))
        for router, keys in _denied(before).items()
        if router in allowed
    )


def _without_access(config: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in config.items() if key not in ("metadata", "access_control")}


@lru_cache(maxsize=256)
def _conflict(denied: tuple[str, ...], allowed: tuple[str, ...]) -> bool:
    """Whether something is denied that should be allowed."""
    wild = [_filter(key) for key in (*denied, *allowed) if "*" in key]
    return not {*denied}.isdisjoint(allowed) or any(
        one.meets(_filter(other)) for one in wild for other in (allowed if one.text in denied else denied)
    )


def alone(text: str, host: Host) -> str:
    """A router without links: it can't run without its file."""
    del host
    config = _config(text)
    config.pop("access_control", None)
    config["metadata"] |= {"links": {}, "neighbours": {}}
    config["connect"]["endpoints"] = []
    return _text(text.partition("\n")[0].removeprefix("// "), config)


def _is_neighbour(router: str, config: Mapping[str, Any]) -> bool:
    return router in config["metadata"]["neighbours"]


def _sorted(links: Mapping[str, list[str]]) -> dict[str, list[str]]:
    return dict(sorted(links.items()))


def _denied(config: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    control = config.get("access_control", {"rules": [], "subjects": []})
    pairs: Iterable[tuple[Any, Any]] = zip(control["rules"], control["subjects"], strict=True)
    return {router: tuple(rule["key_exprs"]) for rule, subject in pairs for router in subject["zids"]}


DRIVER = Driver(
    engine=Engine("zenoh", DIALECT, routes_itself=True),
    broker="zenoh",
    check=check,
    render=render,
    read=read,
    sessions_of=lambda text: [],
    link_name=link_name,
    whole=None,
    client_port=lambda port: port + ROUTER_PORTS,
    ports_beside=(ROUTER_PORTS,),
    crossing=lambda link: link.lines,
    narrowed=lambda link, lines: link._replace(lines=lines),
    file="meshwright.json5",
    between=between,
    will_do=will_do,
    alone=alone,
)
