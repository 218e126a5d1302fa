"""Plans as real brokers: what arrives, what a change of plan leaves, and what comes after deaths."""

import json
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from typer.testing import CliRunner

import meshwright as mw
from meshwright.cli import app
from meshwright.deploy.applying import apply
from meshwright.deploy.drivers import driver_of
from meshwright.deploy.fleet.fleet import Fleet, FleetReach, running
from meshwright.deploy.fleet.killing import state_of
from meshwright.deploy.fleet.verifying import Proof, ears_of, publish_everywhere, verify
from meshwright.deploy.plan.plan import Plan, Settings
from meshwright.deploy.plan.planning import make_plan

# Filters that cross, so that lines overlap on links, and a relay is needed; and a name that # passes over.
CROSSING = [
    *(("n0", text) for text in ("+/a", "b/+", "$d/x")),
    *(("n1", text) for text in ("+/a", "c/#")),
    *(("n2", text) for text in ("b/+", "c/#", "$d/x")),
    *(("n3", text) for text in ("#", "$d/x")),
    *(("n4", text) for text in ("b/a", "c/a", "e/f")),
]
FEWER = [pair for pair in CROSSING if pair[0] != "n3"]


def plan_of(pairs: list[tuple[str, str]], before: Plan | None = None, **settings: object) -> Plan:
    overlay = mw.build(mw.Interests.from_filters(pairs, dialect="mqtt"), "gm")
    hosts = None if before is None else {node: before.host_of[node] for node, _ in pairs}
    return make_plan(
        overlay,
        driver_of("mosquitto").engine,
        hosts,
        settings=Settings(**settings),
        before=before,  # type: ignore[arg-type]
    )


def publish(fleet: Fleet, numbers: "count[int]") -> Proof:
    ears = ears_of(fleet)
    try:
        return publish_everywhere(fleet, ears, numbers=numbers)
    finally:
        ears.close()


def test_a_plan_delivers_exactly_once_before_and_after_it_changes(tmp_path: Path) -> None:
    numbers = count()
    with running(plan_of(CROSSING, qos=2), tmp_path) as fleet:
        place, reach = state_of(fleet, tmp_path), FleetReach(fleet)
        first = fleet.plan
        assert publish(fleet, numbers).holds
        changed = plan_of(FEWER, first, qos=2)
        left = apply(changed, place, reach)
        assert left.closed
        assert left.forgotten
        fleet.wait_for_links(changed)
        proof = publish(fleet, numbers)
        assert proof.holds, proof.first_trouble
        assert apply(changed, place, reach).steps == 0


NATS = [(node, text.replace("/", ".").replace("+", "*").replace("#", ">")) for node, text in CROSSING]


def nats_plan_of(pairs: list[tuple[str, str]], before: Plan | None = None) -> Plan:
    overlay = mw.build(mw.Interests.from_filters(pairs, dialect="nats"), "gm")
    hosts = None if before is None else {node: before.host_of[node] for node, _ in pairs}
    plan = make_plan(overlay, driver_of("nats").engine, hosts, before=before)
    return plan if before is None else plan.with_hosts(plan.host_of, loopback=True)


def test_nats_servers_deliver_exactly_once_before_and_after_a_change(tmp_path: Path) -> None:
    numbers = count()
    names = [
        (node, f"t{topic}")
        for node, topic in (["a0", "a1", "b0", "b2", "c1", "c2", "d0", "d1", "d2", "a3", "d3"])
    ]
    with running(nats_plan_of([*NATS, *names]), tmp_path) as fleet:
        place, reach = state_of(fleet, tmp_path), FleetReach(fleet)
        proof = publish(fleet, numbers)
        assert proof.holds, proof.first_trouble
        changed = nats_plan_of([*NATS[:-2], *names[:-3]], fleet.plan)
        assert apply(changed, place, reach).steps
        fleet.wait_for_links(changed)
        proof = publish(fleet, numbers)
        assert proof.holds, proof.first_trouble
        assert apply(changed, place, reach).steps == 0


def test_what_nobody_wants_at_a_nats_server_is_noticed(tmp_path: Path) -> None:
    """The links of an account in another order: a node that does not want a topic comes to relay it."""
    names = [("a", "t"), ("c", "t"), ("a", "u"), ("b", "u"), ("c", "u")]
    interests = mw.Interests.from_pairs(names)
    plan = make_plan(
        mw.Overlay.from_edges(interests, [("a", "b"), ("b", "c"), ("a", "c")]), driver_of("nats").engine
    )
    through_b = [link._replace(accounts=(0,)) for link in plan.links if "b" in link.ends]
    astray = (
        [*through_b, through_b[0]._replace(opens="b", to="c", accounts=(0,))]
        if len(through_b) < 2
        else through_b
    )
    topics = tuple(topic._replace(account=0) for topic in plan.topics)
    found = verify(replace(plan.with_links(astray), topics=topics), tmp_path)
    assert found["lost"] == 0
    assert found["uninterested"] == 2
    assert "come to 'b' over links" in found["first_trouble"]


@pytest.mark.parametrize("qos", [0, 1])
def test_a_fleet_proves_every_quality_of_service(qos: int, tmp_path: Path) -> None:
    found = verify(plan_of(CROSSING, qos=qos, sessions="clean"), tmp_path)
    assert (found["lost"], found["duplicates"], found["uninterested"]) == (0, 0, 0), found["first_trouble"]
    assert found["delivered"] == found["expected"] > 30


def test_a_mesh_with_a_cycle_is_not_proved(tmp_path: Path) -> None:
    """The counts must notice: a line that comes twice, and one that nobody wants."""
    plan = make_plan(
        mw.build(mw.Interests.from_pairs([(node, "x") for node in "ab"] + [("c", "y")]), "gm"),
        driver_of("mosquitto").engine,
    )
    astray = plan.links[0]._replace(to="c")
    found = verify(plan.with_links([*plan.links, astray]), tmp_path)
    assert found["uninterested"] == 2
    assert "is not wanted at 'c'" in found["first_trouble"]
    doubled = plan.links[0]._replace(opens=plan.links[0].to, to=plan.links[0].opens)
    found = verify(plan.with_links([*plan.links, doubled]), tmp_path / "doubled")
    assert found["duplicates"]


def test_deaths_are_repaired_from_the_command_line(tmp_path: Path) -> None:
    pairs = [(f"n{node}", topic) for node in range(4) for topic in ("x", "y")]
    mw.build(mw.Interests.from_pairs(pairs), "ring").write(tmp_path / "overlay")
    plan = str(tmp_path / "plan")
    made = CliRunner().invoke(
        app, ["deploy", "plan", str(tmp_path / "overlay"), "--driver", "mosquitto", "--out", plan]
    )
    assert made.exit_code == 0, made.output
    proved = CliRunner().invoke(app, ["deploy", "verify", plan, "--kill", "1", "--json"])
    assert proved.exit_code == 0, proved.output
    told = json.loads(proved.stdout)
    assert told["published"] == 4 * 2 + 3 * 2
    assert told["gap_seconds"] > 0
