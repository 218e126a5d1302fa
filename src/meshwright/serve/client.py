"""A client of a control plane: typed answers, and retries that apply no event twice."""

from __future__ import annotations

import json
import os
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit
from uuid import uuid4

from meshwright.model.events import Event, as_line
from meshwright.runtime.errors import InputError, NetworkError, OptionError, one_line
from meshwright.serve.loopback import is_loopback

TOKEN_VARIABLE = "MESHWRIGHT_TOKEN"
_AT_ONCE = 100
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
_STREAM_QUIET = 60.0
_AGAIN = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)

ServedLink = tuple[str, str]
Made = TypeVar("Made")


@dataclass(frozen=True, kw_only=True)
class ServedOverlay:
    """The numbers of an overlay; `tag` identifies its present state."""

    revision: int
    tag: str
    nodes: int
    topics: int
    links: int
    average_degree: float
    maximum_degree: int
    cost: float | None
    unprotected_topics: int
    nodes_over_max_links: int
    policy: str
    resilience: int


@dataclass(frozen=True, kw_only=True)
class ServedNode:
    """A node; `backups` are None unless the policy is shadow."""

    revision: int
    name: str
    topics: tuple[str, ...]
    filters: tuple[str, ...]
    neighbours: tuple[str, ...]
    backups: tuple[str, ...] | None
    max_links: int | None


@dataclass(frozen=True, kw_only=True)
class ServedTopic:
    """A topic, its subscribers, the links among them, and those of a tree, from its root on."""

    revision: int
    name: str
    subscribers: tuple[str, ...]
    links: tuple[ServedLink, ...]
    tree: tuple[ServedLink, ...]


@dataclass(frozen=True, kw_only=True)
class ServedRefusal:
    """An event that was refused: its place among those that were sent, and the reason."""

    event: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class ServedReceipt:
    """What came of events, all of which is on the server's disk; see `Repair`."""

    since: int
    revision: int
    tag: str
    events: int
    repeated: int
    refused: tuple[ServedRefusal, ...]
    opened: tuple[ServedLink, ...]
    closed: tuple[ServedLink, ...]
    nodes: int
    links: int


@dataclass(frozen=True, kw_only=True)
class ServedStep:
    """A step: the revisions before and after it, what caused it, and which links it opened and closed."""

    since: int
    revision: int
    at: int | None
    cause: str
    events: int
    opened: tuple[ServedLink, ...]
    closed: tuple[ServedLink, ...]
    nodes: int
    links: int
    maximum_degree: int
    repair_seconds: float


@dataclass(frozen=True, kw_only=True)
class ServedWhatIf:
    """What a failure of nodes would part, and how it would be repaired."""

    nodes: tuple[str, ...]
    revision: int
    cut: Mapping[str, int]
    opened: tuple[ServedLink, ...]
    closed: tuple[ServedLink, ...]
    maximum_degree: int


@dataclass(frozen=True, kw_only=True)
class ServedPlan:
    """The plan that waits to be brought to brokers, if any, and what was applied last."""

    driver: str
    mode: str
    paused: bool
    applying: bool
    plan: str | None
    approved: bool
    applied: str | None
    opened: tuple[ServedLink, ...]
    closed: tuple[ServedLink, ...]
    changed: tuple[ServedLink, ...]
    last_applied: Mapping[str, Any] | None
    troubles: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ServedFleet:
    """The brokers, and the health of their links, each as a mapping; see /openapi.json."""

    driver: str
    brokers: tuple[Mapping[str, Any], ...]
    links: tuple[Mapping[str, Any], ...]


class Client:
    """A connection to a control plane, `meshwright serve`.

    Guarantee: an event that was sent is applied once, however often the connection breaks or the server is
    killed, as long as the server remembers its id; events without an id get one. `follow` gives every step
    once. What can't be reached is tried again for `patience` seconds.

    Args:
        url: such as `http://127.0.0.1:8470`. Plain HTTP only goes to this machine, since it would show the
            token to others.
        token: by default, the environment variable `MESHWRIGHT_TOKEN`.
        patience: how long to try again, in seconds.
        timeout: how long to wait for one answer, in seconds.
        certificates: a file of certificates to trust, in PEM format, in place of the system's.

    Only one thread at a time may use a client.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        patience: float = 30.0,
        timeout: float = 30.0,
        certificates: str | Path | None = None,
    ) -> None:
        self._scheme, self._host, self._port = _checked(url)
        secret = os.environ.get(TOKEN_VARIABLE) if token is None else token
        if not secret or not secret.isascii() or not secret.isprintable() or " " in secret:
            raise OptionError(
                f"there is no token; give the one that the server printed, or set {TOKEN_VARIABLE}",
                option="token",
            )
        self._headers = {"Authorization": f"Bearer {secret}"}
        self._patience, self._timeout = patience, timeout
        self._tls = ssl.create_default_context(cafile=certificates) if self._scheme == "https" else None
        self._connection: HTTPConnection | None = None

    def overlay(self) -> ServedOverlay:
        """The numbers of the overlay."""
        return _made(ServedOverlay, self._ask("GET", "/v1/overlay"))

    def node(self, name: str) -> ServedNode:
        """A node; one that is not there is an `InputError`."""
        return _made(ServedNode, self._ask("GET", f"/v1/nodes/{quote(name, safe='')}"))

    def topic(self, name: str) -> ServedTopic:
        """A topic; one that has no subscribers is an `InputError`."""
        return _made(ServedTopic, self._ask("GET", f"/v1/topics/{quote(name, safe='')}"))

    def nodes(self, search: str = "") -> Iterator[str]:
        """The names of all nodes that contain a text in any case, in order, page by page."""
        return (row["name"] for row in self._pages("/v1/nodes", "nodes", search))

    def topics(self, search: str = "") -> Iterator[str]:
        """The names of all topics that contain a text in any case, in order, page by page."""
        return (row["name"] for row in self._pages("/v1/topics", "topics", search))

    def links(self) -> Iterator[ServedLink]:
        """All links, page by page; the overlay may change in between."""
        return ((a, b) for a, b in self._pages("/v1/links", "links", ""))

    def _pages(self, path: str, key: str, search: str) -> Iterator[Any]:
        after = ""
        while True:
            query = urlencode({"limit": 1000, "after": after, "search": search})
            page = self._ask("GET", f"{path}?{query}")
            yield from page[key]
            if page["next"] is None:
                return
            after = page["next"]

    def what_if(self, *nodes: str) -> ServedWhatIf:
        """What would break if nodes failed at the same time; nothing is applied."""
        return _made(ServedWhatIf, self._ask("POST", "/v1/what-if", {"nodes": list(nodes)}))

    def plan(self) -> ServedPlan:
        """The plan that waits for brokers; without a fleet, an `InputError`."""
        return _made(ServedPlan, self._ask("GET", "/v1/plan"))

    def fleet(self) -> ServedFleet:
        """The brokers and the health of their links; without a fleet, an `InputError`."""
        return _made(ServedFleet, self._ask("GET", "/v1/fleet"))

    def approve(self, plan: str) -> None:
        """Let the plan that waits be applied; if another one waits meanwhile, an `InputError`."""
        self._ask("POST", "/v1/plan/approve", {"plan": plan})

    def try_out(self, plan: str) -> tuple[Mapping[str, Any], ...]:
        """The files that the plan that waits would bring, in order; nothing is changed."""
        return tuple(self._ask("POST", "/v1/plan/approve", {"plan": plan, "dry_run": True})["steps"])

    def pause(self, paused: bool = True) -> None:
        """Pull the kill switch, so that nothing more is brought to brokers, or resume."""
        self._ask("POST", "/v1/plan/pause", {"paused": paused})

    def send(self, events: Iterable[Event], *, at_once: int = _AT_ONCE) -> Iterator[ServedReceipt]:
        """Send events in order, `at_once` in a request, and give the receipt of each request.

        A request is one step: those of its events that can't be applied are in `refused`, counted from the
        first event of the request.
        """
        marked = (_with_id(event) for event in events)
        while batch := list(islice(marked, at_once)):
            yield self.submit(batch)

    def submit(self, events: Sequence[Event], *, if_tag: str | None = None) -> ServedReceipt:
        """Send events in one request; with a tag, only if the overlay still has it.

        With a tag, a request whose answer is lost can't be repeated safely under it; that is an error.
        """
        lines = "\n".join(as_line(_with_id(event)) for event in events).encode()
        headers = {"Content-Type": "application/x-ndjson"}
        if if_tag is not None:
            headers["If-Match"] = f'"{if_tag}"'
        return _made(ServedReceipt, self._ask("POST", "/v1/events", lines, headers))

    def changes(self, since: int = -1) -> Iterator[ServedStep]:
        """The steps after a revision, up to now; -1 for the whole history."""
        while True:
            page = self._ask("GET", f"/v1/changes?since={since}&limit=1000")
            yield from (_made(ServedStep, step) for step in page["steps"])
            if page["revision"] >= page["latest"]:
                return
            since = page["revision"]

    def follow(self, since: int | None = None) -> Iterator[ServedStep]:
        """The steps after a revision, or from now on, without an end; broken connections are continued."""
        seen = self.overlay().revision if since is None else since
        end, pause = time.monotonic() + self._patience, _FIRST_PAUSE
        while True:
            try:
                for step in self._stream(seen):
                    seen = step.revision
                    end, pause = time.monotonic() + self._patience, _FIRST_PAUSE
                    yield step
            except (OSError, HTTPException, _LaterError) as error:
                if time.monotonic() > end:
                    raise self._unreachable(error) from None
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _stream(self, since: int) -> Iterator[ServedStep]:
        """The steps of one connection, until it ends."""
        connection = self._connect(_STREAM_QUIET)
        try:
            headers = {**self._headers, "Accept": "text/event-stream", "Last-Event-ID": str(since)}
            connection.request("GET", "/v1/changes", headers=headers)
            answer = connection.getresponse()
            if answer.status != HTTPStatus.OK:
                _refuse(answer, answer.read())
            for line in answer:
                if line.startswith(b"data: "):
                    yield _made(ServedStep, json.loads(line[6:]))
        finally:
            connection.close()

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _connect(self, timeout: float) -> HTTPConnection:
        if self._tls is not None:
            return HTTPSConnection(self._host, self._port, timeout=timeout, context=self._tls)
        return HTTPConnection(self._host, self._port, timeout=timeout)

    def _ask(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Any:
        """The JSON of an answer. All that is asked may be asked again: events have ids."""
        if body is not None and not isinstance(body, bytes):
            body, headers = json.dumps(body).encode(), {"Content-Type": "application/json"}
        end, pause = time.monotonic() + self._patience, _FIRST_PAUSE
        again = "If-Match" not in (headers or {})
        while True:
            try:
                return self._ask_once(method, path, body, {**self._headers, **(headers or {})})
            except (OSError, HTTPException, _LaterError) as error:
                self.close()
                lost = not isinstance(error, _LaterError)
                if time.monotonic() > end or (lost and not again):
                    raise self._unreachable(error) from None
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _ask_once(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Any:
        if self._connection is None:
            self._connection = self._connect(self._timeout)
        self._connection.request(method, path, body, dict(headers))
        answer = self._connection.getresponse()
        data = answer.read()
        if answer.status == HTTPStatus.OK:
            return json.loads(data)
        return _refuse(answer, data)

    def _unreachable(self, error: Exception) -> NetworkError:
        where = f"{self._scheme}://{self._host}:{self._port}"
        return NetworkError(
            f"{where} can't be reached: {one_line(error) or type(error).__name__}; start the server there, "
            f"or give another URL"
        )


class _LaterError(Exception):
    """The server asks to come again later."""


def _checked(url: str) -> tuple[str, str, int]:
    """The scheme, host and port of a URL; one that would show the token to others is refused."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise OptionError(f"the URL is {url!r}; give one such as http://127.0.0.1:8470") from None
    plain = not (parts.path.strip("/") or parts.query or parts.fragment or parts.username)
    if parts.scheme not in ("http", "https") or not parts.hostname or not plain:
        raise OptionError(f"the URL is {url!r}; give one such as http://127.0.0.1:8470")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise OptionError(
            f"the URL is {url!r}, by which the token would travel in the clear; use https, or this machine"
        )
    return parts.scheme, parts.hostname, port or (443 if parts.scheme == "https" else 8470)


def _with_id(event: Event) -> Event:
    return event if event.id is not None else replace(event, id=uuid4().hex)


def _refuse(answer: HTTPResponse, data: bytes) -> Any:
    """Raise what an answer means; one with a receipt, of events that were all refused, is an answer."""
    try:
        told = json.loads(data)
        detail = str(told["detail"])
    except (ValueError, KeyError, TypeError):
        told, detail = {}, f"the server answers {answer.status}"
    if answer.status == HTTPStatus.CONFLICT and "refused" in told:
        return told
    if answer.status in _AGAIN:
        raise _LaterError(detail)
    if answer.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        raise OptionError(detail, option="token")
    if answer.status < HTTPStatus.INTERNAL_SERVER_ERROR:
        raise InputError(detail)
    raise NetworkError(detail)


def _made(kind: type[Made], row: Mapping[str, Any]) -> Made:
    """An answer as an object; what a newer server says besides is left out."""
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    missing = [name for name in names if name not in row]
    if missing:
        raise NetworkError(f"the answer has no {missing[0]!r}; use a client of the server's version")
    return kind(**{name: _frozen(name, row[name]) for name in names})


def _frozen(name: str, value: Any) -> Any:
    """Lists as tuples."""
    if name == "refused":
        return tuple(_made(ServedRefusal, row) for row in value)
    if isinstance(value, list):
        return tuple(tuple(own) if isinstance(own, list) else own for own in value)
    return value
