"""NATS servers: leaf nodes, accounts with their imports, clusters and gateways, as brokers and flows.

docs/lint-formats.md tells what each part becomes.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from meshwright.deploy.clusters import ROUTE
from meshwright.deploy.configs.nats_accounts import (
    GLOBAL,
    Accounts,
    accounts_of,
    doors_of,
    has_operator,
    import_flows,
    lowered,
)
from meshwright.deploy.configs.nats_keys import check_keys, check_secrets, check_types
from meshwright.deploy.configs.nats_syntax import read_nats
from meshwright.deploy.configs.source import (
    Findings,
    UnreadableError,
    Url,
    alternatives,
    listener,
    url_of,
    without_secret,
)
from meshwright.deploy.configs.subjects import checked
from meshwright.deploy.configs.tree import Node, Outside
from meshwright.deploy.mesh import MESHED_STAGE, Broker, Flow, Parsed, Place
from meshwright.runtime.errors import quoted

_CLIENT_PORT, _LEAF_PORT, _ROUTE_PORT = 4222, 7422, 6222
_OF_LINKS_TEXT = """
    server_name listen host port url urls routes account local user username subject to
"""
_OF_LINKS = frozenset(_OF_LINKS_TEXT.split())
_BLOCKS = ("leafnodes", "leaf", "cluster", "gateway", "websocket", "ws", "mqtt")
_HEAD = re.compile(
    rb"(?im)^[ \t{\"']*(?:(?:leafnodes|server_name|accounts|cluster|gateway|jetstream|authorization|mqtt"
    rb"|websocket|http|http_port|monitor_port|max_payload|system_account|no_auth_user|operator|resolver)"
    rb"[\"']?(?:\s*[:={]|\s+\S)|include[ \t]+[\"']"
    rb"|(?:port|listen|host|net|debug|trace|logfile|log_file|pid_file)[\"']?\s*[:=])"
)


def looks_like(path: Path, head: bytes) -> bool:
    """Whether a file begins like the configuration of a NATS server."""
    del path
    return bool(_HEAD.search(head))


def parse(path: Path) -> Parsed:
    """What a server's file and its includes say. Nothing is executed, and the environment is not read."""
    findings = Findings()
    try:
        config = read_nats(path)
    except UnreadableError as error:
        findings.unreadable(error)
        return findings.parsed
    root = lowered(config.root)
    findings.comments(config.comments)
    for key, place, counts in config.repeated:
        if key not in config.variables:
            findings.useless(_said_of_repeated(key, counts), place)
    check_keys(root, config.variables, findings)
    check_types(root, findings)
    check_secrets(root, findings)
    _Server(str(path), root, findings).read()
    return findings.parsed._replace(included=tuple(config.files[1:]))


def _said_of_repeated(key: str, counts: Place) -> str:
    return (
        f"{quoted(without_secret(key))} stands again in line {counts.line}, and nats-server takes that one; "
        f"remove one, or split the file if it holds the configurations of two servers"
    )


class _Server:
    """One server's configuration, as a broker with flows."""

    def __init__(self, file: str, root: Node, findings: Findings) -> None:
        self._root = root
        self._leaf = lowered(root.at("leafnodes", "leaf"))
        self._cluster = lowered(root.at("cluster"))
        self._gateway = lowered(root.at("gateway"))
        self._accounts: Accounts = accounts_of(root.at("accounts"))
        self._findings = findings
        self._name = root.at("server_name").text or file

    def read(self) -> None:
        parsed = self._findings.parsed
        doors = doors_of(self._root, self._leaf, self._accounts, self._findings)
        addresses = tuple(dict.fromkeys(self._addresses()))
        is_clustered = self._cluster.value is not None or bool(self._leaf.at("remotes").elements)
        cluster = (self._cluster.at("name").text or f"of {self._name}") if is_clustered else None
        parsed.brokers.append(
            Broker(self._name, "nats", self._root.place, addresses, doors=doors, cluster=cluster)
        )
        parsed.flows.extend(import_flows(self._name, self._accounts, self._findings))
        for number, remote in enumerate(self._remotes(), 1):
            parsed.flows.extend(self._leaf_flows(remote, f"{self._name} leaf {number}"))
        parsed.flows.extend(self._meshed())
        self._say_what_is_not_followed()

    def _addresses(self) -> Iterator[str]:
        yield from _listening(self._root, _CLIENT_PORT)
        for key in _BLOCKS:
            yield from _listening(lowered(self._root.at(key)), None)

    def _remotes(self) -> Iterator[Node]:
        """The remotes, without those that are given twice, with which the server does not start."""
        seen = set()
        for remote in map(lowered, self._leaf.at("remotes").elements):
            urls = (*remote.at("url").texts, *remote.at("urls").texts)
            key = remote.at("account", "local").text or GLOBAL, urls
            if urls and key in seen:
                message = "this remote is given twice, and nats-server does not start with it; remove one"
                self._findings.say("unreadable", "error", message, remote.place)
                continue
            seen.add(key)
            yield remote

    def _leaf_flows(self, remote: Node, link: str) -> Iterator[Flow]:
        account = remote.at("account", "local").text or GLOBAL
        found = self._urls(remote, _LEAF_PORT)
        to = alternatives(url.address for url in found)
        if remote.at("disabled").value is True or not to or not self._has_account(account, remote.place):
            return
        if remote.at("hub").value is True:
            self._findings.not_decided("lint does not follow a remote with hub: true", remote.place)
            return
        user = remote.at("credentials", "creds", "nkey", "seed").text or found[0].user
        out = Flow(self._name, to, ">", "", "", link, remote.place, account=account, user=user)
        out = out._replace(refuses_loops=True, on_demand=True)
        not_out = checked(remote.at("deny_exports", "deny_export"), "nats", self._findings)
        not_in = checked(remote.at("deny_imports", "deny_import"), "nats", self._findings)
        yield out._replace(denies=not_out, stopped_by_wildcards=not_in)
        back = out._replace(source=to, target=self._name, account=None, target_account=account, pulls=True)
        yield back._replace(denies=not_in)

    def _urls(self, holder: Node, port: int) -> list[Url]:
        """The URLs of a remote; the server does not start with one that it can't read, or with none."""
        texts = [*holder.at("url").texts, *holder.at("urls").texts]
        found = [url for text in texts if (url := url_of(text, port)) and url.address]
        given = [holder.at("url"), holder.at("urls"), *holder.at("urls").elements]
        from_outside = any(isinstance(node.value, Outside) for node in given)
        if len(found) < max(len(texts), 0 if from_outside else 1):
            what = "a URL here can't be read" if texts else "there is no URL here"
            message = f"{what}, and nats-server does not start with it; write url: nats://HOST:PORT"
            self._findings.say("unreadable", "error", message, holder.place)
        return found

    def _has_account(self, account: str, place: Place) -> bool:
        if account == GLOBAL or account in self._accounts or has_operator(self._root):
            return True
        message = (
            f"the remote is for account {quoted(account)}, which this server does not have; add the account"
        )
        self._findings.say("useless-line", "error", message, place)
        return False

    def _meshed(self) -> Iterator[Flow]:
        """Routes and gateways; their full mesh is completed when all files are known."""
        for route in self._cluster.at("routes").elements:
            urls = [url for text in route.texts if (url := url_of(text, _ROUTE_PORT)) and url.address]
            if not urls:
                message = (
                    "this route can't be read, and nats-server does not start with it; write nats://HOST:PORT"
                )
                self._findings.say("unreadable", "error", message, route.place)
            yield from self._meshed_with(urls, ROUTE, route.place)
        for other in map(lowered, self._gateway.at("gateways").elements):
            if other.at("name").text != self._gateway.at("name").text:
                yield from self._meshed_with(self._urls(other, _ROUTE_PORT), "gateway", other.place)

    def _meshed_with(self, urls: Iterable[Url], link: str, place: Place) -> Iterator[Flow]:
        to = alternatives(url.address for url in urls)
        if to:
            out = Flow(self._name, to, ">", "", "", link, place, on_demand=True, meshed=True)
            out = out._replace(stage=MESHED_STAGE)
            yield out
            yield out._replace(source=to, target=self._name, pulls=True)

    def _say_what_is_not_followed(self) -> None:
        say = self._findings.not_decided
        for holder in (self._root, *self._accounts.values()):
            mappings = holder.at("mappings", "maps")
            if mappings.entries:
                say(
                    "lint does not follow subject mappings; it takes subjects as they are published",
                    mappings.place,
                )
        for holder in (self._leaf, *map(lowered, self._leaf.at("remotes").elements)):
            isolated = holder.at("isolate_leafnode_interest", "isolate", "request_isolation")
            if isolated.value is True:
                say("lint takes isolated leaf nodes as if they were not isolated", isolated.place)
        if self._cluster.at("permissions").entries:
            place = self._cluster.at("permissions").place
            say("lint does not follow permissions of routes; it takes everything to cross them", place)
        for key, node in self._root.walk():
            for each in node.elements if key.lower() in _OF_LINKS else []:
                if isinstance(each.value, Outside):
                    what = f"{quoted(key)} is ${each.value.name}, which no file sets"
                    say(f"{what}; lint does not read the environment", each.place)


def _listening(block: Node, default: int | None) -> Iterator[str]:
    """The addresses at which a block listens, or says that it can be reached."""
    port = block.at("port").number or default
    texts = block.at("listen", "net").text, *(block.at(key).text for key in _ADVERTISED)
    for text in texts:
        if text and (found := listener(text, port)):
            yield found
    if not texts[0] and port and port > 0 and (found := listener(f"{block.at('host').text or ''}:{port}")):
        yield found


_ADVERTISED = ("advertise", "client_advertise", "cluster_advertise")
