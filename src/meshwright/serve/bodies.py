"""Bodies of requests: read within limits, and made into events."""

import asyncio
import json
import time
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import Any

from starlette.requests import ClientDisconnect, Request

from meshwright.model.events import Event, check_name, from_row
from meshwright.runtime.errors import InputError, one_line
from meshwright.serve.idempotency import with_ids
from meshwright.serve.limits import Limits
from meshwright.serve.problems import ProblemError

JSON = "application/json"
LINES = ("application/x-ndjson", "application/jsonl")
_SMALL = 16 << 10
"""What is parsed at once, in bytes; larger bodies are parsed on another thread."""


async def read_body(request: Request, limits: Limits) -> bytes:
    """The body of a request; one that is too large or too slow is refused before it is in memory."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and (len(length) > 18 or int(length) > limits.body):
        raise _too_large(limits)
    if request.headers.get("content-encoding", "identity") != "identity":
        raise ProblemError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body is compressed; send it as it is")
    parts, size = [], 0
    try:
        async with asyncio.timeout(limits.patience):
            async for part in request.stream():
                size += len(part)
                if size > limits.body:
                    raise _too_large(limits)
                parts.append(part)
    except TimeoutError:
        raise ProblemError(
            HTTPStatus.REQUEST_TIMEOUT, f"the body did not come within {limits.patience:g} s; send it again"
        ) from None
    except ClientDisconnect:
        raise ProblemError(HTTPStatus.BAD_REQUEST, "the body is not complete; send it again") from None
    return b"".join(parts)


def _too_large(limits: Limits) -> ProblemError:
    return ProblemError(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        f"the body has more than {limits.body:,} bytes; send events in several requests",
        {"Connection": "close"},
    )


def media_type(request: Request) -> str:
    """The media type of a request's body, without parameters; another charset than UTF-8 is refused."""
    kind, _, rest = request.headers.get("content-type", "").partition(";")
    if "charset" in rest.lower() and "utf-8" not in rest.lower():
        raise ProblemError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body is not in UTF-8; send it in UTF-8")
    return kind.strip().lower()


async def read_json(request: Request, limits: Limits) -> Any:
    """The JSON value of a request's body."""
    kind = media_type(request)
    if kind != JSON:
        raise _unknown_type(kind, [JSON])
    return _parsed(await read_body(request, limits), "the body")


async def read_sent_events(request: Request, limits: Limits) -> list[Event]:
    """The events of a request: a JSON object, an array of them, or a line for each."""
    kind = media_type(request)
    if kind not in (JSON, *LINES):
        raise _unknown_type(kind, [JSON, *LINES])
    key = request.headers.get("idempotency-key")
    if key is not None:
        check_name(key, "the Idempotency-Key")
    body = await read_body(request, limits)
    if len(body) <= _SMALL:
        return sent_events(body, kind, key, limits.events)
    return await asyncio.to_thread(sent_events, body, kind, key, limits.events)


def sent_events(body: bytes, kind: str, key: str | None, most: int) -> list[Event]:
    """Events from a body; if any is none, all are refused, with its place.

    Events without a time get the present one. With a `key`, events without an id get one made of it.
    """
    rows: Iterable[tuple[str, Any]]
    if kind == JSON:
        value = _parsed(body, "the body")
        rows = _numbered(value) if isinstance(value, list) else [("the event", value)]
    else:
        rows = _lines(body)
    now = int(time.time())
    events: list[Event] = []
    for where, row in rows:
        if len(events) == most:
            raise ProblemError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"there are more than {most:,} events; send fewer at a time",
            )
        undated = isinstance(row, dict) and row.get("at") is None
        events.append(from_row({**row, "at": now} if undated else row, where))
    if not events:
        raise InputError("the body has no event; send at least one")
    return events if key is None else with_ids(events, key, body)


def _numbered(rows: list[Any]) -> Iterator[tuple[str, Any]]:
    return ((f"event {at}", row) for at, row in enumerate(rows, 1))


def _lines(body: bytes) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(body.split(b"\n"), 1):
        if line.strip():
            yield f"line {number}", _parsed(line, f"line {number}")


def _parsed(data: bytes, where: str) -> Any:
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_refuse)
    except UnicodeDecodeError:
        raise InputError(f"{where} is not valid UTF-8; send JSON in UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is not JSON: {one_line(error)}") from None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def _unknown_type(kind: str, known: list[str]) -> ProblemError:
    return ProblemError(
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        f"the Content-Type is {kind!r}; send {' or '.join(known)}",
        {"Accept-Post": ", ".join(known)},
    )
