"""Call an ASGI application in this process, without sockets."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple
from urllib.parse import unquote

from tests.patience import PATIENCE

HOST = "127.0.0.1:8470"


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def scope_of(method: str, path: str, headers: Mapping[str, str]) -> dict[str, Any]:
    plain, _, query = path.partition("?")
    given = {"host": HOST, **{name.lower(): value for name, value in headers.items()}}
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(plain),
        "raw_path": plain.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in given.items()],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8470),
    }


async def call(
    app: Any, method: str, path: str, headers: Mapping[str, str] | None = None, body: Iterable[bytes] = ()
) -> Answer:
    """The whole answer to a request whose body comes in these parts."""
    parts, told = list(body), []

    async def receive() -> dict[str, Any]:
        part = parts.pop(0) if parts else b""
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    async def send(message: dict[str, Any]) -> None:
        told.append(message)

    await app(scope_of(method, path, headers or {}), receive, send)
    names = {name.decode(): value.decode("latin-1") for name, value in told[0]["headers"]}
    return Answer(told[0]["status"], names, b"".join(message.get("body", b"") for message in told[1:]))


class Stream:
    """An answer without an end, read part by part."""

    def __init__(self, messages: "asyncio.Queue[dict[str, Any]]") -> None:
        self._messages, self._rest = messages, b""

    async def lines(self) -> AsyncIterator[str]:
        """Lines as they come, until the answer ends."""
        more = True
        while more:
            async with asyncio.timeout(PATIENCE):
                message = await self._messages.get()
            more = message.get("more_body", False)
            *whole, self._rest = (self._rest + message.get("body", b"")).split(b"\n")
            for line in whole:
                yield line.decode()

    async def steps(self, until: int) -> list[dict[str, Any]]:
        """The steps up to a revision."""
        found: list[dict[str, Any]] = []
        async for line in self.lines():
            if line.startswith("data: "):
                found.append(json.loads(line[6:]))
                if found[-1]["revision"] >= until:
                    break
        return found


@asynccontextmanager
async def streaming(app: Any, path: str, headers: Mapping[str, str]) -> AsyncIterator[Stream]:
    """An open stream; at the end its reader goes away."""
    messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    gone = asyncio.Event()
    asked = False

    async def receive() -> dict[str, Any]:
        nonlocal asked
        if not asked:
            asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await gone.wait()
        return {"type": "http.disconnect"}

    task = asyncio.create_task(app(scope_of("GET", path, headers), receive, messages.put))
    first = await messages.get()
    assert first["status"] == 200, first
    try:
        yield Stream(messages)
    finally:
        gone.set()
        await task
