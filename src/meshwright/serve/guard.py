"""Who is let in: the Host header, tokens and sessions, roles, origins and rates."""

from collections.abc import Iterable
from http import HTTPStatus
from math import ceil
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from meshwright.serve.audit import Who
from meshwright.serve.limits import Limits, Rates
from meshwright.serve.problems import ProblemError, as_response
from meshwright.serve.telemetry import Telemetry
from meshwright.serve.tokens import Access, Token

_SAFE = ("GET", "HEAD")
_FAILURES, _FAILURES_A_SECOND = 20, 1 / 3
_LONGEST_SECRET = 200

_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
_BODY_HEADERS = (b"content-length", b"transfer-encoding")


def host_of(text: str) -> str | None:
    """The name in a Host header, without the port; None if it is none."""
    try:
        parts = urlsplit(f"//{text}")
        _ = parts.port
    except ValueError:
        return None
    plain = parts.username is None and not (parts.path or parts.query or parts.fragment)
    return parts.hostname if plain else None


class Shell:
    """The outermost layer: refuses unknown hosts and long headers, adds the headers of security, counts.

    A page of another site may make a browser send requests to an address of this machine under a name of its
    own (DNS rebinding); the Host header shows that. A connection ends with an answer that did not wait for
    the whole body: otherwise whoever sends a body without an end holds a connection without a token.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str], limits: Limits, telemetry: Telemetry) -> None:
        self._app, self._hosts, self._telemetry = app, frozenset(hosts), telemetry
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        awaited = any(name in _BODY_HEADERS and value != b"0" for name, value in scope["headers"])

        async def counted() -> Message:
            nonlocal awaited
            message = await receive()
            awaited = awaited and bool(message.get("more_body", False))
            return message

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._telemetry.answered(message["status"])
                given = {name for name, _ in message["headers"]}
                own = [*_HEADERS, *([(b"connection", b"close")] if awaited else [])]
                message["headers"] = [
                    *message["headers"],
                    *((name, value) for name, value in own if name not in given),
                ]
            await send(message)

        problem = self._problem(scope)
        await (self._app if problem is None else as_response(problem))(scope, counted, sealed)

    def _problem(self, scope: Scope) -> ProblemError | None:
        """Why a request is refused for its headers alone, if it is."""
        headers = scope["headers"]
        size = len(scope["raw_path"]) + len(scope["query_string"])
        if size + sum(len(name) + len(value) for name, value in headers) > self._limits.header:
            return ProblemError(
                HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
                f"the path and the headers have more than {self._limits.header:,} bytes; send less",
            )
        hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
        if len(hosts) != 1 or host_of(hosts[0]) not in self._hosts:
            return ProblemError(
                HTTPStatus.MISDIRECTED_REQUEST, "the Host header names no host of this server (--allow-host)"
            )
        return None


class Visitor:
    """Whoever was let in: a token, by which means it came, and an address."""

    def __init__(self, token: Token, address: str, *, by_cookie: bool) -> None:
        self.token, self.address, self.by_cookie = token, address, by_cookie

    @property
    def who(self) -> Who:
        """For the audit log."""
        return Who(self.token.id, self.token.name, self.address)


class Guard:
    """Checks requests. A route has a role, or is open to all; there is no route that does not say."""

    def __init__(self, access: Access, limits: Limits) -> None:
        self.access = access
        self._rates = Rates(limits.requests, 4 * limits.requests)
        self._failures = Rates(_FAILURES_A_SECOND, _FAILURES)

    def admit(self, request: Request, role: str) -> Visitor:
        """Let a request in, or refuse it: 401 without a token, 403 without the role, 429 if too many."""
        check_origin(request)
        visitor = self.identify(request)
        if visitor is None:
            raise self.unknown(request)
        if visitor.by_cookie and request.method not in _SAFE and not _is_same_origin(request):
            raise ProblemError(HTTPStatus.FORBIDDEN, "a change by cookie must come from the page itself")
        if not visitor.token.may(role):
            raise ProblemError(
                HTTPStatus.FORBIDDEN,
                f"the token has the roles {', '.join(visitor.token.roles)}; this needs {role}",
            )
        seconds = self._rates.wait(visitor.token.id)
        if seconds:
            raise _too_many(seconds)
        return visitor

    def identify(self, request: Request) -> Visitor | None:
        """Who sends a request, by the token in its header or else by the cookie of the page."""
        address = address_of(request)
        header = request.headers.get("authorization")
        if header is not None:
            kind, _, secret = header.partition(" ")
            known = kind.lower() == "bearer" and len(secret) <= _LONGEST_SECRET
            token = self.access.who(secret.strip()) if known else None
            return None if token is None else Visitor(token, address, by_cookie=False)
        secret = request.cookies.get(cookie_name(request), "")
        found = self.access.who_in_session(secret) if 0 < len(secret) <= _LONGEST_SECRET else None
        return None if found is None else Visitor(found, address, by_cookie=True)

    def unknown(self, request: Request) -> ProblemError:
        """The refusal of a request without a token that is known; after many of them, of their number."""
        seconds = self._failures.wait(address_of(request))
        if seconds:
            return _too_many(seconds)
        return ProblemError(
            HTTPStatus.UNAUTHORIZED,
            "there is no known token in the request; send Authorization: Bearer TOKEN",
            {"WWW-Authenticate": 'Bearer realm="meshwright"'},
        )


def address_of(request: Request) -> str:
    """The address of a caller."""
    return request.client.host if request.client else "unknown"


def cookie_name(request: Request) -> str:
    """The name of the session's cookie: browsers share cookies between the ports of a host."""
    return f"meshwright_{request.url.port or request.url.scheme}"


def has_token(request: Request) -> bool:
    """Whether a request brings a token or a session, known or not."""
    return "authorization" in request.headers or cookie_name(request) in request.cookies


def check_origin(request: Request) -> None:
    """Refuse a change that a page of another site sends."""
    if request.method not in _SAFE and "origin" in request.headers and not _is_same_origin(request):
        raise ProblemError(HTTPStatus.FORBIDDEN, "the Origin is another site; use the page of this server")


def _is_same_origin(request: Request) -> bool:
    return request.headers.get("origin") == f"{request.url.scheme}://{request.headers.get('host')}"


def _too_many(seconds: float) -> ProblemError:
    return ProblemError(
        HTTPStatus.TOO_MANY_REQUESTS, "too many requests; wait a little", {"Retry-After": str(ceil(seconds))}
    )
