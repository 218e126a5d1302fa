"""RabbitMQ brokers, reached over their management API: what is ours is read, put and deleted by name."""

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

from meshwright.deploy.drivers.driver import Session
from meshwright.deploy.drivers.rabbitmq import NOTE, SET, UPSTREAM, VHOST, text_of
from meshwright.deploy.hosts import Host
from meshwright.deploy.reaching import listens, masked, resolved, secret_of
from meshwright.runtime.errors import InputError, NetworkError, quoted

_SECONDS = 30
_OURS = re.compile(r"mw\d+")
_OUR_UPSTREAM = re.compile(r"mw-.*-mw\d+", re.DOTALL)
_MISSING, _REFUSED, _UNAUTHORISED = 404, 400, 401

Row = dict[str, Any]


def check_reachable_by_http(host: Host) -> None:
    """Refuse a host without an address of its management API."""
    if not host.admin:
        raise InputError(
            f"the node {quoted(host.node)} has no admin in the inventory; give the address of its management "
            f"API, such as http://north.example.org:15672"
        )


class Management:
    """Brokers whose definitions are ours in part. Whatever has another name is not touched."""

    in_parts = True

    def read(self, host: Host) -> str | None:
        """What is ours at a broker, with passwords masked; None where there is nothing."""
        found = self._definitions(host)
        if not any(found.values()):
            return None
        return masked(text_of(found))

    def check(self, host: Host, text: str | None) -> None:
        """Refuse a user who is no administrator, as the broker says, and a password that is missing."""
        resolved(text or "")
        told = self._call(host, "GET", "/api/whoami", missing_ok=True)
        if told is not None and "administrator" not in told.get("tags", ()):
            raise NetworkError(
                f"the user {quoted(host.user)} is no administrator at the broker of {quoted(host.node)}; "
                f"name another one, or give it the tag (rabbitmqctl set_user_tags); nothing was changed"
            )

    def version(self, host: Host) -> str:
        """The version that the API tells."""
        told = self._call(host, "GET", "/api/overview", missing_ok=True)
        return str(told.get("rabbitmq_version", "")) if isinstance(told, dict) else ""

    def check_forget(self, host: Host) -> None:
        """Links keep no sessions."""

    def write(self, host: Host, text: str | None) -> None:
        """Make a broker have just what a text says; None removes all that is ours.

        What uses something goes before it, and comes after it.
        """
        wanted = {} if text is None else _places(json.loads(resolved(text)))
        there = _places(self._definitions(host))
        gone = sorted(there.keys() - wanted.keys(), key=_rank)
        for path in gone:
            if _rank(path) <= _SETS:
                self._call(host, "DELETE", path, missing_ok=True)
        for path in sorted(wanted, key=_rank, reverse=True):
            if there.get(path) != wanted[path]:
                self._call(host, "PUT", path, wanted[path])
        for path in gone:
            if _rank(path) > _SETS:
                self._call(host, "DELETE", path, missing_ok=True)

    def reload(self, host: Host) -> None:
        """A broker follows its definitions at once."""

    def forget(self, host: Host, session: Session) -> None:
        """Links keep no sessions."""

    def listens(self, host: Host) -> bool | None:
        """Whether a broker answers, by its API or else as a broker; None where nobody can tell."""
        try:
            self._call(host, "GET", "/api/overview", missing_ok=True)
        except NetworkError:
            return listens(host)
        return True

    def _definitions(self, host: Host) -> dict[str, list[Row]]:
        vhost = quote(VHOST, safe="")
        upstreams = self.listed(host, f"/api/parameters/{UPSTREAM}/{vhost}")
        sets = self.listed(host, f"/api/parameters/{SET}/{vhost}")
        exchanges = self.listed(host, f"/api/exchanges/{vhost}")
        policies = self.listed(host, f"/api/policies/{vhost}")
        notes = [row for row in self.listed(host, "/api/global-parameters") if row["name"] == NOTE]
        return {
            "global_parameters": [_only(row, "name", "value") for row in notes],
            "exchanges": [_only(row, *_EXCHANGE) for row in exchanges if _OURS.fullmatch(row["name"])],
            "parameters": [
                _only(row, "vhost", "component", "name", "value")
                for rows, ours in ((upstreams, _OUR_UPSTREAM), (sets, _OURS))
                for row in rows
                if ours.fullmatch(row["name"])
            ],
            "policies": [_only(row, *_POLICY) for row in policies if _OURS.fullmatch(row["name"])],
        }

    def listed(self, host: Host, path: str) -> list[Row]:
        """The resources at a path of the API."""
        found = self._call(host, "GET", path, missing_ok=True)
        if found is None:
            return []
        if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
            raise NetworkError(
                f"the broker of {quoted(host.node)} does not answer GET {path} as RabbitMQ does; check "
                f"its admin in the inventory"
            )
        return found

    def _call(
        self, host: Host, method: str, path: str, row: Row | None = None, *, missing_ok: bool = False
    ) -> Any:
        given = f"{host.user}:{secret_of(host.password) if host.password else ''}"
        request = Request(
            f"{host.admin.rstrip('/')}{path}",
            method=method,
            data=None if row is None else json.dumps(row).encode(),
            headers={
                "Authorization": f"Basic {b64encode(given.encode()).decode()}",
                "Content-Type": "application/json",
            },
        )
        try:
            with urlopen(request, timeout=_SECONDS) as answer:
                return json.loads(answer.read() or b"null")
        except HTTPError as error:
            with error:
                if error.code == _MISSING and missing_ok:
                    return None
                raise NetworkError(f"{_failed(host, method, path)}: {_reason(error)}") from None
        except (URLError, OSError, ValueError) as error:
            raise NetworkError(
                f"{_failed(host, method, path)}: {error}; check its admin in the inventory, and apply again: "
                f"it goes on from here"
            ) from None


_EXCHANGE = ("name", "vhost", "type", "durable", "auto_delete", "internal", "arguments")
_POLICY = ("vhost", "name", "pattern", "apply-to", "priority", "definition")


def _only(row: Row, *keys: str) -> Row:
    return {key: row[key] for key in keys if key in row}


def _places(definitions: dict[str, list[Row]]) -> dict[str, Row]:
    """By path of the API, the body that makes it so."""
    return dict(_pairs(definitions))


def _pairs(definitions: dict[str, list[Row]]) -> Iterator[tuple[str, Row]]:
    for row in definitions["global_parameters"]:
        yield f"/api/global-parameters/{quote(row['name'], safe='')}", row
    for kind in ("exchanges", "parameters", "policies"):
        for row in definitions[kind]:
            where = f"{row['component']}/" if kind == "parameters" else ""
            at = f"{quote(row['vhost'], safe='')}/{quote(row['name'], safe='')}"
            unused = "?if-unused=true" if kind == "exchanges" else ""
            yield f"/api/{kind}/{where}{at}{unused}", row


_ORDER = ("/api/policies/", f"/api/parameters/{SET}/", "/api/parameters/", "/api/exchanges/", "/api/")
_SETS = 1


def _rank(path: str) -> int:
    """Policies use sets, which use upstreams, which feed exchanges; the note is first to come, last to go."""
    return next(at for at, start in enumerate(_ORDER) if path.startswith(start))


def _failed(host: Host, method: str, path: str) -> str:
    return f"the broker of {quoted(host.node)} did not do {method} {path}"


def _reason(error: HTTPError) -> str:
    if error.code == _UNAUTHORISED:
        return "it refused the user or password; give an administrator in the inventory"
    said = error.read()[:200].decode(errors="replace")
    if error.code == _REFUSED and "if-unused" in (error.url or ""):
        return f"clients still have bindings there ({said}); unbind them, and apply again"
    return f"{error.code} {said}; correct that, and apply again: it goes on from here"
