"""The owner of an overlay: what it acknowledges is kept, whatever the disk does; history has no gaps."""

import asyncio
import errno
import json
import os
from typing import Any

import pytest

from meshwright.model.events import Event
from meshwright.runtime.errors import DatasetError
from meshwright.serve import control_plane, history, streams
from meshwright.serve.api import make_app
from meshwright.serve.audit import Who
from meshwright.serve.control_plane import ControlPlane, UnwritableError
from meshwright.serve.limits import Limits
from meshwright.serve.loopback import LOOPBACK
from meshwright.serve.state_folder import StateFolder, leased
from meshwright.serve.tokens import Access
from tests.asgi import streaming
from tests.patience import soon
from tests.unit.serve.conftest import Opened, callers_of, secrets_of

WHO = Who("id", "tester", "127.0.0.1")


def join(number: int) -> Event:
    return Event(number, "join", f"new {number}", ("t/0", "t/1"), f"join-{number}")


def submit(plane: ControlPlane, *events: Event) -> Any:
    return asyncio.run(plane.submit(events, WHO))


def links_of(plane: ControlPlane) -> list[list[int]]:
    async def found() -> list[list[int]]:
        return await plane.look(lambda live: live.overlay.edges.tolist())

    return asyncio.run(found())


def steps_of(plane: ControlPlane, since: int = -1, most: int = 1_000) -> list[dict[str, Any]]:
    """All steps after a revision, by pages; without the times of repairs, which differ in a replay."""
    found: list[dict[str, Any]] = []
    while page := plane.history.after(since, most):
        assert len(page) <= most
        found += [{**json.loads(step.text), "repair_seconds": 0} for step in page]
        since = page[-1].revision
    return found


def test_a_state_has_one_owner(plane: ControlPlane) -> None:
    with leased(plane.state), pytest.raises(DatasetError, match="one owner"), leased(plane.state):
        pass
    with leased(plane.state):
        pass


@pytest.mark.parametrize("call", ["write", "fdatasync", "pwrite"])
@pytest.mark.parametrize(("code", "said"), [(errno.ENOSPC, "free some space"), (errno.EROFS, "ead-only")])
def test_a_disk_that_is_full_or_read_only_refuses_and_when_the_cause_is_gone_it_goes_on(
    plane: ControlPlane,
    open_plane: Opened,
    monkeypatch: pytest.MonkeyPatch,
    call: str,
    code: int,
    said: str,
) -> None:
    submit(plane, join(1))
    before = links_of(plane)

    def fail(*_: object) -> int:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(UnwritableError, match=said):
            submit(plane, join(2))
    assert links_of(plane) == before
    receipt = submit(plane, join(2))
    assert (receipt.since, receipt.revision, receipt.events) == (1, 2, 1)
    after = links_of(plane)
    later = open_plane()
    assert links_of(later) == after
    assert [(step["since"], step["revision"]) for step in steps_of(later)] == [(-1, 0), (0, 1), (1, 2)]


def test_an_error_in_the_middle_of_a_repair_loses_and_doubles_nothing(
    plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(plane, join(1))
    with monkeypatch.context() as patch:
        patch.setattr(plane._journal.live, "_repair", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            submit(plane, join(2))
    # The step was on disk before it was taken, so it is there; its sender repeats it and learns that.
    again = submit(plane, join(2), join(3))
    assert (again.events, again.repeated, again.revision) == (1, 1, 3)
    assert [step["cause"] for step in steps_of(plane, 0)] == ["join new 1", "join new 2", "join new 3"]


@pytest.mark.parametrize("kept", [0, 8 << 20])
def test_history_is_the_same_from_memory_from_disk_and_after_restarts(
    open_plane: Opened, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    monkeypatch.setattr(history, "_KEPT_BYTES", kept)
    plane = open_plane(compact_after=4)
    receipts = []
    for number in range(20):
        events = [join(100 * number + own) for own in range(1 + number % 3)]
        receipts.append(submit(plane, *events, Event(0, "leave", "nobody")))
        if number == 11:
            plane = open_plane(compact_after=4)
    everything = steps_of(plane)
    assert [(step["since"], step["revision"]) for step in everything[1:]] == [
        (receipt.since, receipt.revision) for receipt in receipts
    ]
    assert [step["opened"] for step in everything[1:]] == [
        [list(link) for link in receipt.opened] for receipt in receipts
    ]
    assert steps_of(open_plane()) == everything
    for since in range(-1, receipts[-1].revision + 1):
        expected = [step for step in everything if step["revision"] > since]
        assert steps_of(plane, since) == expected
    assert steps_of(plane, most=2) == everything
    assert len(plane.history.after(-1, 1_000)) == len(everything)


def test_the_audit_log_has_who_asked_before_what_came_of_it(plane: ControlPlane) -> None:
    submit(plane, join(1), Event(2, "leave", "nobody"))
    asked, done = map(json.loads, plane.state.audit.read_text().splitlines())
    assert (asked["token"], asked["name"], asked["revision"]) == ("id", "tester", 0)
    assert [event["node"] for event in asked["events"]] == ["new 1", "nobody"]
    assert done["request"] == asked["request"]
    assert (done["revision"], done["events"], len(done["refused"])) == (1, 1, 1)


def test_an_audit_log_that_can_not_be_written_stops_changes(plane: ControlPlane) -> None:
    plane.state.audit.mkdir()
    with pytest.raises(UnwritableError, match=r"audit\.jsonl"):
        submit(plane, join(1))
    assert plane.revision == 0


def test_streams_have_every_step_once_and_go_on_where_they_were(plane: ControlPlane) -> None:
    """Readers join at any time; one never reads until the end, and hurts nobody."""
    access = Access(plane.state.access)
    app = make_app(plane, access, Limits(), LOOPBACK)
    headers = {"authorization": f"Bearer {access.add('x', ['read'])[1]}", "accept": "text/event-stream"}

    async def follow() -> None:
        plane.start()
        async with (
            streaming(app, "/v1/changes?since=-1", headers) as early,
            streaming(app, "/v1/changes", headers) as slow,
        ):
            await plane.submit([join(0)], WHO)
            first = await early.steps(until=1)
            for number in range(1, 30):
                await plane.submit([join(2 * number), join(2 * number + 1)], WHO)
            rest = await early.steps(until=59)
            since = rest[4]["revision"]
            async with streaming(app, "/v1/changes", {**headers, "last-event-id": str(since)}) as again:
                assert await again.steps(until=59) == rest[5:]
            late = await slow.steps(until=59)
        assert [step["since"] for step in first + rest] == [-1, 0, *range(1, 59, 2)]
        assert late == (first + rest)[1:]
        await soon(lambda: plane.telemetry.streams == 0, "streams end")

    asyncio.run(follow())


def test_streams_end_with_the_server_and_with_their_token(
    plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "_QUIET_SECONDS", 0.01)
    access = Access(plane.state.access)
    app = make_app(plane, access, Limits(streams=2), LOOPBACK)
    token, secret = access.add("x", ["read"])
    stays = access.add("y", ["read"])[1]

    def headers(secret: str) -> dict[str, str]:
        return {"authorization": f"Bearer {secret}", "accept": "text/event-stream"}

    async def follow() -> None:
        plane.start()
        async with (
            streaming(app, "/v1/changes", headers(secret)) as one,
            streaming(app, "/v1/changes", headers(stays)) as two,
        ):
            await soon(lambda: plane.telemetry.streams == 2, "both are open")
            with pytest.raises(AssertionError, match="503"):
                async with streaming(app, "/v1/changes", headers(stays)):
                    pass
            access.revoke(token.id)
            async for _ in one.lines():
                pass
            plane.stop()
            async for _ in two.lines():
                pass

    asyncio.run(follow())


def test_a_reader_from_the_future_is_told_to_begin_again(plane: ControlPlane) -> None:
    read = callers_of(plane, secrets_of(plane))["read"]
    assert read("GET", "/v1/changes?since=7").status == 409
    assert read("GET", "/v1/changes?since=-2").status == 400


def test_a_file_in_place_of_the_state_is_refused(tmp_path: Any) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(DatasetError, match="is a file"), leased(StateFolder(tmp_path / "file")):
        pass


def test_of_streams_that_begin_at_once_only_as_many_as_allowed_are_let_in(
    plane: ControlPlane, access: Access
) -> None:
    app = make_app(plane, access, Limits(streams=2), LOOPBACK)
    secret = access.add("x", ["read"])[1]
    headers = {"authorization": f"Bearer {secret}", "accept": "text/event-stream"}

    async def is_let_in() -> bool:
        try:
            async with streaming(app, "/v1/changes", headers) as own:
                async for _ in own.lines():
                    pass
        except AssertionError:
            return False
        return True

    async def burst() -> list[bool]:
        plane.start()
        readers = [asyncio.create_task(is_let_in()) for _ in range(5)]
        await soon(lambda: sum(reader.done() for reader in readers) == 3, "the others are refused")
        plane.stop()
        return await asyncio.gather(*readers)

    assert sum(asyncio.run(burst())) == 2
    assert plane.telemetry.streams == 0


def test_an_overlay_that_takes_long_to_copy_is_measured_seldom(
    plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_plane, "_MEASURED_FOR", 0.0)

    async def measured_revisions() -> list[int]:
        found = []
        for number, seconds in enumerate((0.0, 1e6, 0.0)):
            await plane.submit([join(number)], WHO)
            plane._copy_seconds = seconds
            found.append((await plane.measure())["revision"])
        return found

    assert asyncio.run(measured_revisions()) == [1, 1, 3]
