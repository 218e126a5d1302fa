"""A management API of RabbitMQ, as its documentation describes it, for a few resources.

https://www.rabbitmq.com/docs/management: resources are put, listed and deleted by path, as a user with a
password. After every change, somebody may look at what brokers federate.
"""

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlsplit

import networkx as nx

import meshwright as mw
from meshwright.deploy.drivers import rabbitmq
from meshwright.deploy.hosts import Host
from meshwright.deploy.plan.plan import Plan
from meshwright.deploy.plan.planning import make_plan

Path = tuple[str, ...]
_NAMES = {
    "exchanges": ("vhost", "name"),
    "parameters": ("component", "vhost", "name"),
    "policies": ("vhost", "name"),
    "global-parameters": ("name",),
}
_REQUIRED = {
    "exchanges": {"type"},
    "parameters": {"value"},
    "policies": {"pattern", "definition"},
    "global-parameters": {"value"},
}


class Broker:
    """What one broker holds, by path; some exchanges have bindings of clients."""

    def __init__(self, changed: Callable[[], None] = lambda: None) -> None:
        self.held: dict[Path, dict[str, Any]] = {
            ("exchanges", "/", "amq.topic"): {"type": "topic", "durable": True}
        }
        self.bound: set[str] = set()
        self.writes, self.fails_at = 0, 0
        self.users = {"admin": "geheim"}
        self.version = "3.10.8"
        self._changed = changed
        self._bindings: list[dict[str, Any]] = []

    def bind(self, source: str, to: str, kind: str, key: str) -> None:
        """Bind a queue or an exchange to an exchange, as a client or federation does."""
        row = {"source": source, "destination": to, "destination_type": kind, "routing_key": key}
        self._bindings.append({**row, "vhost": "/", "arguments": {}, "properties_key": key})

    def answer(self, method: str, path: Path, body: bytes) -> tuple[int, Any]:
        kind, own = path[0], path[1:]
        told = {"bindings": self._bindings, "overview": {"rabbitmq_version": self.version}}
        if kind in told:
            return 200, told[kind]
        if kind not in _NAMES:
            return 404, {"error": "Object Not Found"}
        if method == "GET":
            return 200, [
                {**row, **dict(zip(_NAMES[kind], key[1:], strict=True)), "user_who_performed_action": "x"}
                for key, row in self.held.items()
                if key[0] == kind and key[1 : 1 + len(own)] == own
            ]
        if len(own) != len(_NAMES[kind]):
            return 405, {"error": "Method Not Allowed"}
        self.writes += 1
        if self.writes == self.fails_at:
            return 500, {"error": "Internal Server Error"}
        answer = self._put(path, json.loads(body)) if method == "PUT" else self._delete(path)
        self._changed()
        return answer

    def _put(self, path: Path, row: dict[str, Any]) -> tuple[int, Any]:
        if not _REQUIRED[path[0]] <= row.keys():
            return 400, {"error": "bad_request", "reason": "key missing"}
        known = path in self.held
        if path[0] == "exchanges" and known and self.held[path]["type"] != row["type"]:
            return 400, {"error": "bad_request", "reason": "inequivalent arg 'type'"}
        self.held[path] = row
        return (204 if known else 201), None

    def _delete(self, path: Path) -> tuple[int, Any]:
        if path not in self.held:
            return 404, {"error": "Object Not Found"}
        if path[0] == "exchanges" and path[2] in self.bound:
            return 400, {"error": "bad_request", "reason": "exchange in use"}
        del self.held[path]
        return 204, None

    def _values(self, component: str) -> dict[str, Any]:
        return {key[3]: row["value"] for key, row in self.held.items() if key[1] == component}

    def federated(self) -> Iterator[tuple[str, str]]:
        """Exchanges that a policy federates, each with the address of an upstream."""
        sets, upstreams = self._values("federation-upstream-set"), self._values("federation-upstream")
        exchanges = [key[2] for key in self.held if key[0] == "exchanges"]
        for key, row in self.held.items():
            if key[0] != "policies":
                continue
            for exchange in exchanges:
                if re.search(row["pattern"], exchange):
                    for member in sets.get(row["definition"]["federation-upstream-set"], ()):
                        own = upstreams.get(member["upstream"])
                        if own is not None:
                            assert own["exchange"] == exchange
                            yield exchange, str(urlsplit(own["uri"]).port)


@contextmanager
def served(broker: Broker) -> Iterator[str]:
    """The address of a broker's management API."""

    class Handler(BaseHTTPRequestHandler):
        def _do(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            user, _, secret = (
                base64.b64decode(self.headers["Authorization"].split()[1]).decode().partition(":")
            )
            path = tuple(map(unquote, urlsplit(self.path).path.removeprefix("/api/").split("/")))
            if broker.users.get(user) != secret:
                code, value = 401, {"error": "not_authorised"}
            else:
                code, value = broker.answer(self.command, path, body)
            written = b"" if value is None else json.dumps(value).encode()
            self.send_response(code)
            self.send_header("Content-Length", str(len(written)))
            self.end_headers()
            self.wfile.write(written)

        do_GET = do_PUT = do_DELETE = _do  # noqa: N815

        def log_message(self, *given: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


FOREIGN = {
    ("parameters", "federation-upstream", "/", "mine"): {"value": {"uri": "amqp://elsewhere"}},
    ("policies", "/", "mwish"): {"pattern": "^x$", "definition": {"federation-upstream-set": "all"}},
    ("exchanges", "/", "mwother"): {"type": "fanout"},
}


class Mesh:
    """Brokers with their APIs; no exchange may ever have a cycle of upstreams."""

    def __init__(self, held: ExitStack, nodes: Iterable[str]) -> None:
        self.brokers = {node: Broker(self.check) for node in nodes}
        self.hosts = {
            node: Host(
                node,
                port=5000 + at,
                user="admin",
                password="env:MESH_SECRET",
                admin=held.enter_context(served(self.brokers[node])),
            )
            for at, node in enumerate(self.brokers)
        }
        self.nodes = {str(host.port): node for node, host in self.hosts.items()}
        for broker in self.brokers.values():
            broker.held |= FOREIGN

    def links(self) -> dict[str, set[frozenset[str]]]:
        found: dict[str, set[frozenset[str]]] = {}
        for node, broker in self.brokers.items():
            for exchange, port in broker.federated():
                found.setdefault(exchange, set()).add(frozenset((node, self.nodes[port])))
        return found

    def check(self) -> None:
        for exchange, pairs in self.links().items():
            assert nx.is_forest(nx.Graph([tuple(pair) for pair in pairs])), exchange

    def plan(self, pairs: list[tuple[str, str]], before: Plan | None = None) -> Plan:
        overlay = mw.build(mw.Interests.from_pairs(pairs), "gm")
        hosts = {node: self.hosts[node] for node in overlay.interests.nodes.to_pylist()}
        return make_plan(overlay, rabbitmq.DRIVER.engine, hosts, before=before)
