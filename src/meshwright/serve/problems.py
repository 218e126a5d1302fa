"""What goes wrong with a request, as an answer (RFC 9457, problem details)."""

from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import Response

from meshwright.runtime.errors import InputError, MeshwrightError, OptionError, shortened, visible
from meshwright.runtime.json_values import compact
from meshwright.serve.control_plane import ConflictError, UnwritableError
from meshwright.serve.idempotency import KeyReusedError

MEDIA_TYPE = "application/problem+json"


class ProblemError(Exception):
    """A request that is refused, with the status, the reason and more headers."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, dict(headers or {})


def problem_of(error: MeshwrightError) -> ProblemError:
    """The refusal that an error of ours means."""
    for kind, status in _STATUSES.items():
        if isinstance(error, kind):
            retry = {"Retry-After": "1"} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
            return ProblemError(status, str(error), retry)
    return ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, str(error), {"Retry-After": "1"})


_STATUSES: Mapping[type[MeshwrightError], int] = {
    ConflictError: HTTPStatus.PRECONDITION_FAILED,
    KeyReusedError: HTTPStatus.UNPROCESSABLE_ENTITY,
    UnwritableError: HTTPStatus.SERVICE_UNAVAILABLE,
    InputError: HTTPStatus.BAD_REQUEST,
    OptionError: HTTPStatus.BAD_REQUEST,
}


def as_response(problem: ProblemError, **more: object) -> Response:
    """The answer to a request that is refused."""
    told = {
        "type": "about:blank",
        "title": HTTPStatus(problem.status).phrase,
        "status": int(problem.status),
        "detail": shortened(visible(problem.detail)),
        **more,
    }
    return Response(
        compact(told).encode("utf-8"), problem.status, headers=problem.headers, media_type=MEDIA_TYPE
    )
