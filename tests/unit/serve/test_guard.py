"""Who is let in, and what every answer carries."""

import asyncio
import re
from pathlib import Path

import pytest

from meshwright.serve.api import make_app
from meshwright.serve.control_plane import ControlPlane
from meshwright.serve.guard import host_of
from meshwright.serve.limits import Limits, Rates
from meshwright.serve.loopback import LOOPBACK
from meshwright.serve.tokens import Access
from tests.asgi import HOST, call
from tests.unit.serve.conftest import Caller

Callers = dict[str, Caller]
PAGES = ("/", "/try", "/app.js", "/try.js", "/app.css", "/page.css", "/icon.svg")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8470", "127.0.0.1.evil.example", "", "a@127.0.0.1", "["]
)
@pytest.mark.parametrize("path", ["/healthz", "/v1/overlay", "/"])
def test_other_hosts_are_refused(still: Callers, host: str, path: str) -> None:
    assert still["read"]("GET", path, host=host).status == 421


@pytest.mark.parametrize(
    ("text", "name"), [("[::1]:8470", "::1"), ("LOCALHOST", "localhost"), ("a:b", None), ("a/b", None)]
)
def test_the_host_of_a_header(text: str, name: str | None) -> None:
    assert host_of(text) == name


@pytest.mark.parametrize("path", [*PAGES, "/healthz", "/v1/overlay", "/nope"])
def test_every_answer_has_a_strict_policy(still: Callers, path: str) -> None:
    headers = still["nobody"]("GET", path).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/", "/try"])
def test_pages_load_nothing_from_elsewhere_and_have_no_inline_code(still: Callers, path: str) -> None:
    text = still["nobody"]("GET", path).body.decode()
    assert re.findall(r"https?://", text) == []
    assert re.findall(r"<script(?! src=\"/)|\son\w+=|style=", text) == []
    for name in re.findall(r"(?:src|href)=\"(/[\w.]*)\"", text):
        assert still["nobody"]("GET", name).status == 200


def session_of(caller: Caller, secret: str) -> str:
    answer = caller("POST", "/v1/session", {"token": secret}, origin=f"http://{HOST}")
    assert answer.status == 200
    cookie = answer.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict"} <= set(cookie.split("; "))
    assert secret not in cookie
    return cookie.partition(";")[0]


JOIN = {"event": "join", "node": "x"}


def test_a_session_stands_for_its_token_until_either_ends(callers: Callers, access: Access) -> None:
    nobody = callers["nobody"]
    token, secret = access.add("page", ["write"])
    cookie = session_of(nobody, secret)
    assert nobody("GET", "/v1/session", cookie=cookie).json == {
        "name": "page",
        "roles": ["write"],
        "fleet": False,
    }
    # A change by cookie has to say that it comes from the page.
    assert nobody("POST", "/v1/events", JOIN, cookie=cookie).status == 403
    assert nobody("POST", "/v1/events", JOIN, cookie=cookie, origin="http://evil.example").status == 403
    assert nobody("POST", "/v1/events", JOIN, cookie=cookie, origin=f"http://{HOST}").status == 200
    other = session_of(nobody, secret)
    assert nobody("DELETE", "/v1/session", cookie=cookie).status == 204
    assert nobody("GET", "/v1/session", cookie=cookie).status == 401
    assert nobody("GET", "/v1/session", cookie=other).status == 200
    access.revoke(token.id)
    assert nobody("GET", "/v1/session", cookie=other).status == 401


def test_no_session_without_a_known_token(still: Callers) -> None:
    for wrong in ({"token": "mw_nope"}, {"token": "x" * 10_000}):
        assert still["nobody"]("POST", "/v1/session", wrong).status == 401
    for malformed in ({}, [], {"token": 3}):
        assert still["nobody"]("POST", "/v1/session", malformed).status == 400


def test_another_site_can_not_change_anything_even_with_a_token(still: Callers) -> None:
    assert still["write"]("POST", "/v1/events", JOIN, origin="http://evil.example").status == 403
    assert still["read"]("GET", "/readyz").json["revision"] == 0


def test_many_requests_of_a_token_are_slowed_down_and_others_are_not(
    plane: ControlPlane, access: Access
) -> None:
    app = make_app(plane, access, Limits(requests=1), LOOPBACK)
    greedy, other = (Caller(app, access.add(name, ["read"])[1]) for name in ("greedy", "other"))
    found = [greedy("GET", "/v1/overlay") for _ in range(10)]
    assert {answer.status for answer in found} == {200, 429}
    assert int(found[-1].headers["retry-after"]) >= 1
    assert other("GET", "/v1/overlay").status == 200


def test_guessing_is_slowed_down_and_known_tokens_are_not(still: Callers) -> None:
    found = [still["stranger"]("GET", "/v1/overlay").status for _ in range(30)]
    assert found[0] == 401
    assert found[-1] == 429
    assert still["read"]("GET", "/v1/overlay").status == 200


def test_rates_remember_a_bounded_number_of_keys() -> None:
    rates = Rates(1, 1)
    rates._MOST_KEYS = 10  # type: ignore[misc]
    for key in range(100):
        assert rates.wait(str(key)) == 0
    assert len(rates._buckets) == 10


def test_an_error_of_the_server_tells_callers_nothing(
    callers: Callers, plane: ControlPlane, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(work: object) -> None:
        raise ZeroDivisionError("a secret of the inside")

    monkeypatch.setattr(plane, "look", broken)
    answer = callers["read"]("GET", "/v1/nodes/private-name")
    assert answer.status == 500
    assert b"secret" not in answer.body
    assert "ZeroDivisionError" in caplog.text
    assert callers["read"].headers["authorization"][7:] not in caplog.text


def test_no_secret_is_in_any_file_or_answer(callers: Callers, tmp_path: Path) -> None:
    callers["write"]("POST", "/v1/events", JOIN)
    cookie = session_of(callers["nobody"], callers["read"].headers["authorization"][7:])
    secrets = [callers[who].headers["authorization"][7:] for who in ("read", "write")]
    secrets.append(cookie.partition("=")[2])
    files = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert len(files) > 4
    for path in files:
        assert not any(secret.encode() in path.read_bytes() for secret in secrets), path
    headers = asyncio.run(call(callers["read"].app, "GET", "/metrics", callers["read"].headers)).headers
    assert not any(secret in str(headers) for secret in secrets)


def test_headers_that_come_at_once_have_a_limit_too(still: Callers) -> None:
    assert still["read"]("GET", "/healthz", x="y" * Limits().header).status == 431
    assert still["read"]("GET", f"/v1/nodes?search={'y' * Limits().header}").status == 431


def test_an_answer_that_does_not_wait_for_the_body_ends_the_connection(still: Callers) -> None:
    body = [b"{", b"}"]
    refused = still["nobody"]("POST", "/v1/events", parts=body, transfer_encoding="chunked")
    assert (refused.status, refused.headers["connection"]) == (401, "close")
    unread = still["nobody"]("GET", "/healthz", parts=body, content_length="2")
    assert (unread.status, unread.headers["connection"]) == (200, "close")
    read = still["read"]("POST", "/v1/what-if", {"nodes": ["n00"]}, content_length="17")
    assert (read.status, "connection" in read.headers) == (200, False)
    assert "connection" not in still["nobody"]("GET", "/healthz", content_length="0").headers
