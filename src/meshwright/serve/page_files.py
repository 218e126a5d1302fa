"""The files of the page: its own, and the look of the report."""

from collections.abc import Iterator
from functools import partial
from importlib import resources

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_STATIC = {
    "/": ("index.html", "text/html"),
    "/try": ("try.html", "text/html"),
    "/app.js": ("app.js", "text/javascript"),
    "/common.js": ("common.js", "text/javascript"),
    "/map.js": ("map.js", "text/javascript"),
    "/fleet.js": ("fleet.js", "text/javascript"),
    "/land.json": ("land.json", "application/json"),
    "/try.js": ("try.js", "text/javascript"),
    "/app.css": ("app.css", "text/css"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}


def page_routes() -> Iterator[Route]:
    """A route for each file; anybody may read them."""
    package = resources.files("meshwright.serve") / "page"
    files = {path: ((package / name).read_bytes(), kind) for path, (name, kind) in _STATIC.items()}
    look = (resources.files("meshwright.report") / "page.css").read_bytes()
    files["/page.css"] = (look, "text/css")
    for path, (data, kind) in files.items():
        yield Route(path, partial(_static, data, kind), methods=["GET"])


async def _static(data: bytes, kind: str, request: Request) -> Response:
    del request
    return Response(data, media_type=f"{kind}; charset=utf-8")
