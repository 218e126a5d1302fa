"""What is planned, applied, damped and resumed."""

import errno
import os
import threading
from collections.abc import Callable
from typing import Any

import pytest

from meshwright.deploy.hosts import Host
from meshwright.deploy.reaching import Commands
from meshwright.model.events import Event
from meshwright.runtime.errors import MeshwrightError
from meshwright.serve.audit import Who
from meshwright.serve.control_plane import ControlPlane
from meshwright.serve.reconciling.reconciler import Reconciler
from tests.patience import PATIENCE
from tests.unit.serve.reconciling.conftest import NODES, WINDOW, Brokers, Made

WHO = Who("id", "tester", "127.0.0.1")


def links_of(plane: ControlPlane) -> set[frozenset[str]]:
    def found(live: Any) -> set[frozenset[str]]:
        return {frozenset((node, other)) for node in live.nodes for other in live.neighbours_of(node)}

    return plane.look_now(found)


def check_in_step(fleet: Reconciler, plane: ControlPlane, brokers: Brokers) -> None:
    """Brokers have a part of the overlay's links, and lack nothing."""
    assert fleet.troubles == []
    assert fleet.waiting() is None
    assert brokers.links() <= links_of(plane)
    graph = {node for link in brokers.links() for node in link}
    assert graph == {node for link in links_of(plane) for node in link}


def test_a_plan_waits_for_approval_and_a_dry_run_changes_nothing(
    made: Made, plane: ControlPlane, brokers: Brokers
) -> None:
    fleet = made(apply=False)
    fleet.tick()
    waiting = fleet.waiting()
    assert waiting is not None
    assert waiting.opened
    tried = fleet.try_out(waiting.hash)
    assert tried is not None
    assert {step["node"] for step in tried["steps"]} == set(NODES)
    fleet.tick()
    assert not brokers.links()
    assert fleet.approve("another", WHO) is None
    assert fleet.approve(waiting.hash, WHO)
    fleet.tick()
    check_in_step(fleet, plane, brokers)
    assert waiting.hash in plane.state.audit.read_text()
    plane.submit_now([Event(0, "leave", "a")], WHO)
    fleet.tick()
    later = fleet.waiting()
    assert later is not None
    assert all("a" in pair for pair in later.closed)
    assert fleet.told()["plan"] == later.hash


def test_the_first_failure_acts_at_once_and_flaps_change_nothing_for_a_window(
    made: Made, plane: ControlPlane, brokers: Brokers
) -> None:
    fleet = made()
    fleet.tick()
    check_in_step(fleet, plane, brokers)
    for _ in range(3):
        brokers.fail("b")
        brokers.now += 1
        fleet.tick()
        assert plane.revision == 1
        check_in_step(fleet, plane, brokers)
        assert not any("b" in link for link in brokers.links())  # its own file included
        brokers.recover("b")
        brokers.now += 1
        fleet.tick()
        assert plane.revision == 1
    brokers.now += WINDOW - 1
    fleet.tick()
    assert plane.revision == 1
    brokers.now += 1
    fleet.tick()
    assert plane.revision == 2
    assert plane.look_now(lambda live: live.topics_of("b")) == {"all", "t/1", "u/0"}
    check_in_step(fleet, plane, brokers)
    assert any("b" in link for link in brokers.links())


def test_who_left_by_an_event_stays_away_and_who_failed_returns_after_a_restart(
    made: Made, plane: ControlPlane, brokers: Brokers
) -> None:
    fleet = made()
    fleet.tick()
    plane.submit_now([Event(0, "leave", "c")], WHO)
    brokers.fail("d")
    fleet.tick()
    brokers.recover("d")
    later = made()
    for _ in range(2):
        later.tick()
        brokers.now += WINDOW
    later.tick()
    assert plane.look_now(lambda live: sorted(live.nodes)) == list("abdef")
    check_in_step(later, plane, brokers)


def test_if_most_brokers_seem_to_be_down_nothing_is_done(
    made: Made, plane: ControlPlane, brokers: Brokers
) -> None:
    fleet = made()
    fleet.tick()
    for node in "abcd":
        brokers.fail(node)
    fleet.tick()
    assert plane.revision == 0
    assert "4 of 6 brokers don't answer" in fleet.troubles[0]
    for node in "ab":
        brokers.recover(node)
    fleet.tick()
    assert plane.look_now(lambda live: sorted(live.nodes)) == list("abef")
    check_in_step(fleet, plane, brokers)


class Stopped(BaseException):
    """In the place of a kill."""


class Stopping(Commands):
    """Does something before a write."""

    def __init__(self, at: int, what: Callable[[], None]) -> None:
        super().__init__(check=False)
        self._at, self._what = at, what

    def write(self, host: Host, text: str | None) -> None:
        self._at -= 1
        if not self._at:
            self._what()
        super().write(host, text)


def die() -> None:
    raise Stopped


@pytest.mark.parametrize("apply", [True, False])
@pytest.mark.parametrize("at", [1, 3, 6])
def test_what_was_being_applied_at_a_kill_is_finished(
    made: Made, plane: ControlPlane, brokers: Brokers, apply: bool, at: int
) -> None:
    fleet = made(reach=Stopping(at, die), apply=apply)
    if not apply:
        fleet.tick()
        waiting = fleet.waiting()
        assert waiting is not None
        assert fleet.approve(waiting.hash, WHO)
    with pytest.raises(Stopped):
        fleet.tick()
    later = made(apply=apply)
    later.tick()
    check_in_step(later, plane, brokers)


def test_the_kill_switch_stops_before_the_next_broker_and_outlives_the_process(
    made: Made, plane: ControlPlane, brokers: Brokers
) -> None:
    fleet = made()
    fleet._fleet._reach._reach = Stopping(3, lambda: fleet.pause(True, WHO))  # type: ignore[assignment]
    fleet.tick()
    brought = [node for node in NODES if brokers.file_of(node).exists()]
    assert len(brought) == 3
    later = made()
    later.tick()
    assert later.paused
    assert [node for node in NODES if brokers.file_of(node).exists()] == brought
    later.pause(False, WHO)
    later.tick()
    check_in_step(later, plane, brokers)


def test_failures_of_applying_are_told_and_tried_again_after_pauses(
    made: Made, plane: ControlPlane, brokers: Brokers
) -> None:
    brokers.file_of("e").write_text("listener 1883\n")
    fleet = made()
    counted = []
    for _ in range(20):
        fleet.tick()
        brokers.now += 1
        counted.append(plane.telemetry.exposition({}).split('outcome="apply_failed"} ')[1].split("\n")[0])
    assert "not ours" in fleet.troubles[0]
    assert counted[-1] == "5"  # at 0, 1, 3, 7 and 15 s
    brokers.file_of("e").unlink()
    brokers.now += 60
    fleet.tick()
    check_in_step(fleet, plane, brokers)


def test_plans_are_limited_in_a_minute(made: Made, plane: ControlPlane, brokers: Brokers) -> None:
    fleet = made(applies_a_minute=1)
    fleet.tick()
    brokers.fail("a")
    fleet.tick()
    assert "1 plans were applied within a minute" in fleet.troubles[0]
    assert plane.revision == 1
    assert any("a" in link for link in brokers.links())


@pytest.mark.parametrize("text", ["{", '{"brokers": [{"node": "a"}]}'])
def test_an_inventory_that_breaks_under_it_is_told_and_the_old_one_counts(
    made: Made, plane: ControlPlane, brokers: Brokers, text: str
) -> None:
    fleet = made()
    fleet.tick()
    brokers.inventory.write_text(text)
    brokers.fail("f")
    fleet.tick()
    assert "the brokers of before are looked after" in fleet.troubles[0]
    assert not any("f" in link for link in brokers.links())
    brokers.list("abcd")
    fleet.tick()
    assert "lacks the node 'e'" in fleet.troubles[0]
    assert links_of(plane)
    brokers.list(NODES)
    fleet.tick()
    check_in_step(fleet, plane, brokers)


def test_a_full_disk_is_told_and_the_failure_acts_when_there_is_room(
    made: Made, plane: ControlPlane, brokers: Brokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = made()
    fleet.tick()
    brokers.fail("a")

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", full)
        with pytest.raises(MeshwrightError, match="free some space"):
            fleet.tick()
    assert plane.revision == 0
    fleet.tick()
    assert plane.revision == 1
    check_in_step(fleet, plane, brokers)


def test_turns_go_on_after_errors_until_they_are_stopped(
    made: Made, brokers: Brokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = made(look_every=0.001, ask_every=1e6, probe_every=1e6)
    seen = threading.Event()
    times = iter(range(10**9))

    def tick() -> None:
        if next(times) > 3:
            seen.set()
        raise ZeroDivisionError

    tick.__name__ = "tick"
    monkeypatch.setattr(fleet, "tick", tick)
    fleet.run()
    assert seen.wait(PATIENCE)
    fleet.stop()
    assert any("division by zero" in trouble or "see its log" in trouble for trouble in fleet.troubles)
