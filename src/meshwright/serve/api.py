"""The application: routes, what each needs, and what each answers."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from meshwright.runtime.errors import InputError, MeshwrightError
from meshwright.runtime.json_values import compact
from meshwright.serve import views
from meshwright.serve.bodies import read_json, read_sent_events
from meshwright.serve.control_plane import ControlPlane, Receipt
from meshwright.serve.guard import Guard, Shell, Visitor, address_of, check_origin, cookie_name, has_token
from meshwright.serve.limits import Limits
from meshwright.serve.page_files import page_routes
from meshwright.serve.problems import ProblemError, as_response, problem_of
from meshwright.serve.reconciling.gauges import gauges_of
from meshwright.serve.reconciling.reconciler import Reconciler
from meshwright.serve.schema import openapi
from meshwright.serve.streams import event_stream, steps_after
from meshwright.serve.telemetry import Telemetry
from meshwright.serve.tokens import APPLY, READ, SESSION_SECONDS, WRITE, Access, Token

_LOG = logging.getLogger("meshwright.serve")
_MOST_STEPS = 1_000
_MOST_FAILING = 100


class Endpoint(NamedTuple):
    """A route: the role that it needs, or None if it is open to all, and what answers it."""

    method: str
    path: str
    role: str | None
    answer: Callable[[Request, Visitor | None], Awaitable[Response]]


class Api:
    """What answers requests about a control plane."""

    def __init__(
        self, plane: ControlPlane, access: Access, limits: Limits, fleet: Reconciler | None = None
    ) -> None:
        self._plane, self._limits, self._fleet = plane, limits, fleet
        self._guard = Guard(access, limits)
        self._bodies = asyncio.Semaphore(limits.bodies)
        self._schema = _json(openapi())
        self.endpoints = (
            Endpoint("GET", "/healthz", None, self._health),
            Endpoint("GET", "/readyz", None, self._ready),
            Endpoint("GET", "/metrics", READ, self._metrics),
            Endpoint("GET", "/openapi.json", None, self._openapi),
            Endpoint("GET", "/v1/overlay", READ, self._overlay),
            Endpoint("GET", "/v1/evaluation", READ, self._evaluation),
            Endpoint("GET", "/v1/map", READ, self._map),
            Endpoint("GET", "/v1/links", READ, partial(self._page, views.links_page)),
            Endpoint("GET", "/v1/nodes", READ, partial(self._page, views.nodes_page)),
            Endpoint("GET", "/v1/nodes/{name:path}", READ, partial(self._one, views.node, "node")),
            Endpoint("GET", "/v1/topics", READ, partial(self._page, views.topics_page)),
            Endpoint("GET", "/v1/topics/{name:path}", READ, partial(self._one, views.topic, "topic")),
            Endpoint("POST", "/v1/events", WRITE, self._events),
            Endpoint("GET", "/v1/changes", READ, self._changes),
            Endpoint("POST", "/v1/what-if", READ, self._what_if),
            Endpoint("GET", "/v1/fleet", READ, self._brokers),
            Endpoint("GET", "/v1/plan", READ, self._plan),
            Endpoint("POST", "/v1/plan/approve", APPLY, self._approve),
            Endpoint("POST", "/v1/plan/pause", APPLY, self._pause),
            Endpoint("POST", "/v1/session", None, self._begin_session),
            Endpoint("GET", "/v1/session", None, self._session),
            Endpoint("DELETE", "/v1/session", None, self._end_session),
        )

    def guarded(self, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        """An endpoint behind the guard; errors of ours are answers."""

        async def answer(request: Request) -> Response:
            try:
                if endpoint.role is None:
                    check_origin(request)
                    return await endpoint.answer(request, None)
                return await endpoint.answer(request, self._guard.admit(request, endpoint.role))
            except ProblemError as problem:
                return as_response(problem)
            except MeshwrightError as error:
                return as_response(problem_of(error))
            except Exception as error:
                return _failed(request, error)

        return answer

    async def _health(self, request: Request, visitor: Visitor | None) -> Response:
        del request, visitor
        return _answer({"status": "alive"})

    async def _ready(self, request: Request, visitor: Visitor | None) -> Response:
        """Ready while the overlay can be read and no stop has begun."""
        del request, visitor
        if self._plane.stopping or self._plane.broken is not None:
            raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, "the server is stopping", {"Retry-After": "1"})
        return _answer({"status": "ready", "revision": self._plane.revision})

    async def _metrics(self, request: Request, visitor: Visitor | None) -> Response:
        del request, visitor
        found = await self._plane.look(views.summary)
        gauges = {name: (words, found[key]) for name, (key, words) in GAUGES.items()}
        measured = await self._plane.measured_lately()
        if measured["lower_bound_average_degree"]:
            ratio = measured["average_degree"] / measured["lower_bound_average_degree"]
            gauges["drift_from_bound"] = ("Average degree over its lower bound, when last measured.", ratio)
        cut = measured["disconnected_topics"]
        gauges["disconnected_topics"] = ("Topics that are not connected, when last measured.", cut)
        if self._fleet is not None:
            gauges |= gauges_of(self._fleet)
        text = self._plane.telemetry.exposition(gauges)
        return Response(text.encode(), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def _openapi(self, request: Request, visitor: Visitor | None) -> Response:
        del request, visitor
        return Response(self._schema, media_type="application/json")

    async def _overlay(self, request: Request, visitor: Visitor | None) -> Response:
        del visitor
        found, tag = await self._plane.look(lambda live: (views.summary(live), self._plane.tag()))
        headers = {"ETag": f'"{tag}"'}
        if _names(request.headers.get("if-none-match"), tag):
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
        return _answer({**found, "tag": tag}, headers=headers)

    async def _evaluation(self, request: Request, visitor: Visitor | None) -> Response:
        del request, visitor
        return _answer(await self._plane.measure())

    async def _map(self, request: Request, visitor: Visitor | None) -> Response:
        del request, visitor
        found = await self._plane.draw()
        return Response(await asyncio.to_thread(_json, found), media_type="application/json")

    async def _page(
        self, view: Callable[[views.Paging, Any], Any], request: Request, visitor: Visitor | None
    ) -> Response:
        del visitor
        given = _query(request, ("after", "limit", "search"))
        limit = _whole(given, "limit", 100, 1, self._limits.page)
        paging = views.Paging(given.get("after", ""), limit, given.get("search", ""))
        return _answer(await self._plane.look(partial(view, paging)))

    async def _one(
        self, view: Callable[[str, Any], Any], what: str, request: Request, visitor: Visitor | None
    ) -> Response:
        del visitor
        name = request.path_params["name"]
        found = await self._plane.look(partial(view, name))
        if found is None:
            raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no {what} {name!r}")
        return _answer(found)

    async def _events(self, request: Request, visitor: Visitor | None) -> Response:
        assert visitor is not None
        async with self._bodies:
            events = await read_sent_events(request, self._limits)
            expected = _expected(request.headers.get("if-match"))
            receipt = await self._plane.submit(events, visitor.who, expected)
        return _receipt_answer(receipt)

    async def _changes(self, request: Request, visitor: Visitor | None) -> Response:
        assert visitor is not None
        given = _query(request, ("since", "limit"))
        live = "text/event-stream" in request.headers.get("accept", "")
        last = request.headers.get("last-event-id") if live else None
        if last is not None:
            given["since"] = last
        now = self._plane.revision
        since = _whole(given, "since", now if live else -1, -1, 2**63 - 1)
        if since > now:
            raise ProblemError(
                HTTPStatus.CONFLICT,
                f"since is {since}, but the overlay is at revision {now}, as if restored from an older "
                f"copy; read the overlay again, and follow from its revision",
            )
        if live:
            return self._stream(since, request, visitor)
        steps = await steps_after(self._plane, since, _whole(given, "limit", 100, 1, _MOST_STEPS))
        reached = steps[-1].revision if steps else since
        texts = b",".join(step.text for step in steps)
        head = {"since": since, "revision": reached, "latest": self._plane.revision}
        body = compact(head).encode()[:-1] + b',"steps":[' + texts + b"]}"
        return Response(body, media_type="application/json")

    def _stream(self, since: int, request: Request, visitor: Visitor) -> Response:
        telemetry = self._plane.telemetry
        if telemetry.streams >= self._limits.streams:
            raise ProblemError(
                HTTPStatus.SERVICE_UNAVAILABLE, "there are too many open streams", {"Retry-After": "10"}
            )

        def is_welcome() -> bool:
            found = self._guard.identify(request)
            return found is not None and found.token.id == visitor.token.id

        parts = event_stream(self._plane, since, is_welcome)
        return _CountedStream(telemetry, parts, media_type="text/event-stream")

    async def _what_if(self, request: Request, visitor: Visitor | None) -> Response:
        del visitor
        value = await read_json(request, self._limits)
        nodes: Any = value.get("nodes") if isinstance(value, dict) else None
        named = isinstance(nodes, list) and all(isinstance(node, str) for node in nodes)
        if not named or not 1 <= len(nodes) <= _MOST_FAILING:
            raise InputError(f'the body is not {{"nodes": […]}} with 1 to {_MOST_FAILING} names of nodes')
        try:
            found = await self._plane.what_if(nodes)
        except InputError as error:
            raise ProblemError(HTTPStatus.NOT_FOUND, str(error)) from None
        return _answer({"nodes": nodes, **found._asdict()})

    def _looked_after(self) -> Reconciler:
        if self._fleet is None:
            raise ProblemError(
                HTTPStatus.NOT_FOUND, "there is no fleet: the server was started without --inventory"
            )
        return self._fleet

    async def _brokers(self, request: Request, visitor: Visitor | None) -> Response:
        del request, visitor
        fleet = self._looked_after()
        links = [{**own._asdict(), "silent": own.is_silent} for own in fleet.health]
        return _answer({"driver": fleet.options.driver, "brokers": fleet.brokers(), "links": links})

    async def _plan(self, request: Request, visitor: Visitor | None) -> Response:
        del request, visitor
        return _answer(await asyncio.to_thread(self._looked_after().told))

    async def _approve(self, request: Request, visitor: Visitor | None) -> Response:
        assert visitor is not None
        fleet = self._looked_after()
        value = await read_json(request, self._limits)
        given = value if isinstance(value, dict) else {}
        plan, dry = given.get("plan"), given.get("dry_run", False)
        if not isinstance(plan, str) or not isinstance(dry, bool):
            raise InputError('the body is not {"plan": "…", "dry_run": false}')
        work = partial(fleet.try_out, plan) if dry else partial(fleet.approve, plan, visitor.who)
        found = await asyncio.to_thread(work)
        if found is None:
            raise ProblemError(
                HTTPStatus.CONFLICT, f"the plan {plan!r} does not wait; read /v1/plan again, then decide"
            )
        return _answer(found)

    async def _pause(self, request: Request, visitor: Visitor | None) -> Response:
        assert visitor is not None
        fleet = self._looked_after()
        value = await read_json(request, self._limits)
        paused = value.get("paused") if isinstance(value, dict) else None
        if not isinstance(paused, bool):
            raise InputError('the body is not {"paused": true} or {"paused": false}')
        await asyncio.to_thread(fleet.pause, paused, visitor.who)
        return _answer({"paused": fleet.paused})

    async def _begin_session(self, request: Request, visitor: Visitor | None) -> Response:
        """Swap a token for a cookie that no script can read, since EventSource can't send a header."""
        del visitor
        value = await read_json(request, self._limits)
        secret = value.get("token") if isinstance(value, dict) else None
        if not isinstance(secret, str):
            raise InputError('the body is not {"token": "…"}')
        token = self._guard.access.who(secret) if len(secret) <= 200 else None
        if token is None:
            raise self._guard.unknown(request)
        session = await asyncio.to_thread(self._guard.access.begin_session, token)
        self._plane.note(Visitor(token, address_of(request), by_cookie=True).who, "begins a session")
        response = _answer(self._told_session(token))
        how: dict[str, Any] = {
            "httponly": True,
            "samesite": "strict",
            "secure": request.url.scheme == "https",
        }
        response.set_cookie(cookie_name(request), session, max_age=SESSION_SECONDS, **how)
        return response

    async def _session(self, request: Request, visitor: Visitor | None) -> Response:
        """Who asks. It is no error to be nobody: browsers would show that in their console."""
        del visitor
        if not has_token(request):
            return Response(status_code=HTTPStatus.NO_CONTENT)
        return _answer(self._told_session(self._guard.admit(request, READ).token))

    def _told_session(self, token: Token) -> dict[str, Any]:
        return {"name": token.name, "roles": token.roles, "fleet": self._fleet is not None}

    async def _end_session(self, request: Request, visitor: Visitor | None) -> Response:
        del visitor
        name = cookie_name(request)
        await asyncio.to_thread(self._guard.access.end_session, request.cookies.get(name, "")[:200])
        response = Response(status_code=HTTPStatus.NO_CONTENT)
        response.delete_cookie(name, httponly=True, samesite="strict")
        return response


class _CountedStream(StreamingResponse):
    """A stream that counts from now until it ends: of many that begin at once, none is missed."""

    def __init__(self, telemetry: Telemetry, parts: AsyncIterator[bytes], **how: Any) -> None:
        super().__init__(parts, **how)
        self._telemetry = telemetry
        telemetry.streams += 1

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, until it ends or its reader goes away."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._telemetry.streams -= 1


GAUGES = {
    "nodes": ("nodes", "Nodes of the overlay."),
    "topics": ("topics", "Topics with subscribers."),
    "links": ("links", "Links of the overlay."),
    "average_degree": ("average_degree", "Average number of links of a node."),
    "maximum_degree": ("maximum_degree", "Most links that a node has."),
    "unprotected_topics": ("unprotected_topics", "Topics that a failure would cut, with resilience 2."),
    "nodes_over_max_links": ("nodes_over_max_links", "Nodes that have more links than max_links."),
    "revision": ("revision", "Revision of the overlay."),
}


def _json(value: Any) -> bytes:
    return compact(value).encode("utf-8")


def _answer(value: Any, status: int = HTTPStatus.OK, headers: dict[str, str] | None = None) -> Response:
    return Response(_json(value), status, headers=headers, media_type="application/json")


def _receipt_answer(receipt: Receipt) -> Response:
    """200, or 409 if nothing could be applied, with the reasons."""
    told = receipt._asdict()
    told["refused"] = [{"event": at, "reason": reason} for at, reason in receipt.refused]
    if receipt.refused and not receipt.events and not receipt.repeated:
        problem = ProblemError(HTTPStatus.CONFLICT, receipt.refused[0][1])
        return as_response(problem, **told)
    return _answer(told, headers={"ETag": f'"{receipt.tag}"'})


def _names(header: str | None, tag: str) -> bool:
    """Whether a header with tags names this one."""
    return header is not None and any(one.strip() in ("*", f'"{tag}"') for one in header.split(","))


def _expected(header: str | None) -> str | None:
    """The tag of an If-Match header; None without one, or with a star."""
    if header is None or header.strip() == "*":
        return None
    tag = header.strip()
    if len(tag) < 2 or tag[0] != '"' or tag[-1] != '"' or '"' in tag[1:-1]:
        raise InputError('the If-Match header is not one tag in quotes, such as "12-0badcafe"')
    return tag[1:-1]


def _query(request: Request, known: tuple[str, ...]) -> dict[str, str]:
    """The parameters of a request; unknown and repeated ones are refused."""
    found: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name not in known:
            raise InputError(f"there is no parameter {name!r}; there are {', '.join(known)}")
        if name in found:
            raise InputError(f"the parameter {name!r} is given twice; give it once")
        found[name] = value
    return found


def _whole(given: dict[str, str], name: str, default: int, least: int, most: int) -> int:
    text = given.get(name)
    if text is None:
        return default
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 20 and least <= int(text) <= most):
        raise InputError(f"{name} is {text!r}; give a whole number from {least} to {most}")
    return int(text)


async def _refused(request: Request, error: Exception) -> Response:
    """The answer to a path or method that does not exist."""
    del request
    assert isinstance(error, HTTPException)
    told = {404: "there is no such path; /openapi.json lists all", 405: "the path has other methods"}
    return as_response(
        ProblemError(error.status_code, told.get(error.status_code, error.detail), error.headers)
    )


def _failed(request: Request, error: Exception) -> Response:
    """The answer to an error that is ours; what it was is in the log, without the request's content."""
    _LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return as_response(ProblemError(HTTPStatus.INTERNAL_SERVER_ERROR, "an error of the server; see its log"))


def make_app(
    plane: ControlPlane,
    access: Access,
    limits: Limits,
    hosts: Iterable[str],
    fleet: Reconciler | None = None,
) -> ASGIApp:
    """The application of a control plane, for any ASGI server; `hosts` are names by which it is called."""
    api = Api(plane, access, limits, fleet)
    routes = [Route(own.path, api.guarded(own), methods=[own.method]) for own in api.endpoints]

    @asynccontextmanager
    async def running(app: Starlette) -> AsyncIterator[None]:
        del app
        plane.start()
        yield

    app = Starlette(
        routes=[*routes, *page_routes()],
        exception_handlers={HTTPException: _refused},
        lifespan=running,
    )
    app.router.redirect_slashes = False
    return Shell(app, hosts, limits, plane.telemetry)
