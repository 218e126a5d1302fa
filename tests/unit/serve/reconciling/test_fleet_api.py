"""The fleet over HTTP: who may approve and pause, what is told, and what is measured."""

import jsonschema
import pytest

from meshwright.serve.api import make_app
from meshwright.serve.control_plane import ControlPlane
from meshwright.serve.limits import Limits
from meshwright.serve.loopback import LOOPBACK
from meshwright.serve.reconciling.reconciler import Reconciler
from meshwright.serve.schema import openapi
from meshwright.serve.tokens import Access
from tests.unit.serve.conftest import Caller, secrets_of
from tests.unit.serve.reconciling.conftest import Brokers, Made


@pytest.fixture
def fleet(made: Made) -> Reconciler:
    found = made(apply=False)
    found.tick()
    return found


@pytest.fixture
def callers(plane: ControlPlane, fleet: Reconciler) -> dict[str, Caller]:
    app = make_app(plane, Access(plane.state.access), Limits(), LOOPBACK, fleet)
    return {role: Caller(app, secret) for role, secret in secrets_of(plane).items()}


def check(name: str, value: object) -> None:
    whole = openapi()
    jsonschema.validate(value, {**whole, "$ref": f"#/components/schemas/{name}"})


def test_a_plan_is_approved_by_whoever_may_apply_and_by_nobody_else(
    callers: dict[str, Caller], fleet: Reconciler, brokers: Brokers
) -> None:
    told = callers["read"]("GET", "/v1/plan").json
    check("Plan", told)
    assert told["mode"] == "approve"
    assert told["opened"]
    body = {"plan": told["plan"]}
    for who in ("read", "write"):
        assert callers[who]("POST", "/v1/plan/approve", body).status == 403
        assert callers[who]("POST", "/v1/plan/pause", {"paused": True}).status == 403
    other = callers["apply"]("POST", "/v1/plan/approve", {"plan": "0" * 16})
    assert (other.status, "does not wait" in other.json["detail"]) == (409, True)
    tried = callers["apply"]("POST", "/v1/plan/approve", {**body, "dry_run": True}).json
    check("Approval", tried)
    assert len(tried["steps"]) == 6
    fleet.tick()
    assert not brokers.links()
    assert callers["apply"]("POST", "/v1/plan/approve", body).json["approved"] is True
    fleet.tick()
    assert brokers.links()
    after = callers["read"]("GET", "/v1/plan").json
    check("Plan", after)
    assert (after["plan"], after["applied"], after["last_applied"]["steps"]) == (None, told["plan"], 6)


def test_the_kill_switch_works_over_http(callers: dict[str, Caller], fleet: Reconciler) -> None:
    assert callers["apply"]("POST", "/v1/plan/pause", {"paused": True}).json == {"paused": True}
    assert callers["read"]("GET", "/v1/plan").json["paused"] is True
    assert fleet.paused
    assert callers["apply"]("POST", "/v1/plan/pause", {"paused": False}).json == {"paused": False}
    for wrong in ({}, {"paused": 1}, [], {"plan": 3}):
        assert callers["apply"]("POST", "/v1/plan/pause", wrong).status == 400
        assert callers["apply"]("POST", "/v1/plan/approve", wrong).status == 400


def test_brokers_and_links_are_told_and_measured(
    callers: dict[str, Caller], fleet: Reconciler, brokers: Brokers
) -> None:
    brokers.fail("c")
    fleet.tick()
    told = callers["read"]("GET", "/v1/fleet").json
    check("Fleet", told)
    assert [own["name"] for own in told["brokers"] if own["up"] is False] == ["c"]
    assert [own["name"] for own in told["brokers"] if own["left"]] == ["c"]
    text = callers["read"]("GET", "/metrics").body.decode()
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert lines["meshwright_brokers_down"] == "1"
    assert lines["meshwright_plan_waiting"] == "1.0"
    assert lines["meshwright_apply_gap_seconds"] == "0.0"


def test_without_an_inventory_there_is_no_fleet(plane: ControlPlane) -> None:
    app = make_app(plane, Access(plane.state.access), Limits(), LOOPBACK)
    caller = Caller(app, secrets_of(plane)["apply"])
    for method, path, body in (
        ("GET", "/v1/plan", None),
        ("GET", "/v1/fleet", None),
        ("POST", "/v1/plan/approve", {"plan": "x"}),
        ("POST", "/v1/plan/pause", {"paused": True}),
    ):
        answer = caller(method, path, body)
        assert (answer.status, "without --inventory" in answer.json["detail"]) == (404, True)
