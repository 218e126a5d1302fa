"""Plans as real brokers: what arrives, what a change of plan leaves, and what comes after deaths."""

import json
import time
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from typer.testing import CliRunner

import meshwright as mw
from meshwright.cli import app
from meshwright.deploy.applying import apply
from meshwright.deploy.drivers import driver_of
from meshwright.deploy.fleet.fleet import Fleet, FleetReach, running, within
from meshwright.deploy.fleet.killing import state_of
from meshwright.deploy.fleet.mqtt_ears import paho
from meshwright.deploy.fleet.verifying import Proof, ears_of, publish_everywhere, settle, verify
from meshwright.deploy.plan.plan import Plan, Settings
from meshwright.deploy.plan.planning import make_plan
from meshwright.deploy.plan.standby import with_standby, without
from meshwright.runtime.errors import InputError

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


def plan_for(driver: str, pairs: list[tuple[str, str]], before: Plan | None = None) -> Plan:
    engine = driver_of(driver).engine
    overlay = mw.build(mw.Interests.from_filters(pairs, dialect=engine.dialect), "gm")
    hosts = None if before is None else {node: before.host_of[node] for node, _ in pairs}
    plan = make_plan(overlay, engine, hosts, before=before)
    return plan if before is None else plan.with_hosts(plan.host_of, loopback=True)


def test_nats_servers_deliver_exactly_once_before_and_after_a_change(tmp_path: Path) -> None:
    numbers = count()
    names = [
        (node, f"t{topic}")
        for node, topic in (["a0", "a1", "b0", "b2", "c1", "c2", "d0", "d1", "d2", "a3", "d3"])
    ]
    with running(plan_for("nats", [*NATS, *names]), tmp_path) as fleet:
        place, reach = state_of(fleet, tmp_path), FleetReach(fleet)
        proof = publish(fleet, numbers)
        assert proof.holds, proof.first_trouble
        # d leaves, n4 and c change their accounts: each server has to take its file by a reload.
        stay = [pair for pair in (*NATS[:-2], *names) if pair[0] != "d"]
        changed = plan_for("nats", [*stay, ("c", "t3"), ("b", "t1")], fleet.plan)
        assert apply(changed, place, reach).steps
        assert not driver_of("nats").read(fleet.own_file("d").read_text())
        fleet.wait_for_links(changed)
        proof = publish(fleet, numbers)
        assert proof.holds, proof.first_trouble
        assert apply(changed, place, reach).steps == 0


RELAYED = [
    *(("n0", text) for text in ("c.*", "c.>")),
    *(("n1", text) for text in ("*.x", "c.a")),
    *(("n2", text) for text in ("*.a", "b.*")),
    *(("n3", text) for text in ("*.x", "b.a")),
]


def test_a_subject_that_the_client_library_refuses_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nats-py does not take the subject 't>'"):
        verify(plan_for("nats", [("a", "t>"), ("b", "t>")]), tmp_path)


def test_nats_servers_relay_unless_they_have_opened_the_links_themselves(tmp_path: Path) -> None:
    """The relay n1 carries b.a between n2 and n3. If it opens both links, it does not."""
    plan = plan_for("nats", RELAYED)
    assert [(topic.name, topic.relays) for topic in plan.topics if topic.relays] == [("b.a", ("n1",))]
    driver_of("nats").check(plan)
    found = verify(plan, tmp_path)
    assert (found["lost"], found["duplicates"], found["uninterested"]) == (0, 0, 0), found["first_trouble"]
    assert found["relayed"] == 2
    turned = plan.with_links(
        link._replace(opens=link.to, to=link.opens) if link.to == "n1" else link for link in plan.links
    )
    with pytest.raises(InputError, match="needs the relay 'n1'"):
        driver_of("nats").check(turned)
    (topic,) = (topic for topic in plan.topics if topic.relays)
    with running(turned, tmp_path / "turned") as fleet:
        ears = ears_of(fleet)
        for number in range(3):
            ears.publish("n2", topic, number)
            settle(ears)
        ears.close()
    assert set(ears.heard.wanted) == {("n2", number) for number in range(3)}


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


def test_standby_links_take_over_when_a_broker_has_failed(tmp_path: Path) -> None:
    interests = mw.Interests.from_pairs([(node, "x") for node in "abcd"])
    overlay = mw.build(interests, "gm", resilience=2)
    engine, numbers = driver_of("mosquitto").engine, count()
    first = make_plan(overlay, engine)
    planned = with_standby(first, overlay, engine, first.host_of)
    with running(planned, tmp_path) as fleet:
        place = state_of(fleet, tmp_path)
        failed = next(node for each in planned.standby for node in each.when)
        fleet.end(failed, kill=True)
        detour = make_plan(without(overlay, {failed}), engine, fleet.hosts, before=fleet.plan)
        apply(detour, place, FleetReach(fleet))
        fleet.wait_for_links(detour)
        proof = publish(fleet, numbers)
        assert proof.holds, proof.first_trouble
        assert proof.published == 3
        before, after = ({frozenset(link.ends) for link in each.links} for each in (planned, detour))
        assert after - before == {
            frozenset((each.opens, each.to)) for each in planned.standby if failed in each.when
        }


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


@pytest.mark.parametrize("driver", ["mosquitto", "nats"])
def test_deaths_are_repaired_from_the_command_line(driver: str, tmp_path: Path) -> None:
    pairs = [(f"n{node}", topic) for node in range(4) for topic in ("x", "y")]
    mw.build(mw.Interests.from_pairs(pairs), "ring").write(tmp_path / "overlay")
    plan = str(tmp_path / "plan")
    made = CliRunner().invoke(
        app, ["deploy", "plan", str(tmp_path / "overlay"), "--driver", driver, "--out", plan]
    )
    assert made.exit_code == 0, made.output
    proved = CliRunner().invoke(app, ["deploy", "verify", plan, "--kill", "1", "--json"])
    assert proved.exit_code == 0, proved.output
    told = json.loads(proved.stdout)
    assert told["published"] == 4 * 2 + 3 * 2
    assert told["gap_seconds"] > 0


ZENOH = [(node, text.replace("+", "*").replace("#", "**").replace("$", "")) for node, text in CROSSING]


def test_zenoh_routers_deliver_exactly_once_before_and_after_a_change(tmp_path: Path) -> None:
    numbers = count()
    with running(plan_for("zenoh", ZENOH), tmp_path) as fleet:
        place, reach = state_of(fleet, tmp_path), FleetReach(fleet)
        proof = publish(fleet, numbers)
        assert (proof.lost, proof.duplicates) == (0, 0), proof.first_trouble
        changed = plan_for("zenoh", ZENOH[:-3], fleet.plan)
        assert apply(changed, place, reach).steps
        fleet.wait_for_links(changed)
        proof = publish(fleet, numbers)
        assert (proof.lost, proof.duplicates) == (0, 0), proof.first_trouble
        assert apply(changed, place, reach).steps == 0


def test_what_passes_zenoh_routers_that_do_not_want_it_is_counted(tmp_path: Path) -> None:
    """On the way from a to c; and what c must not have does not come there, whoever subscribes to it."""
    interests = mw.Interests.from_pairs([("a", "t"), ("b", "t"), ("b", "u"), ("c", "u")])
    plan = make_plan(mw.Overlay.from_edges(interests, [("a", "b"), ("b", "c")]), driver_of("zenoh").engine)
    relayed = replace(plan, topics=tuple(topic._replace(nodes=("a", "c")) for topic in plan.topics[:1]))
    wants = {"a": ("t",), "b": (), "c": ("t",)}
    open_links = [link._replace(lines=("t", "u")) for link in plan.links]
    found = verify(replace(relayed.with_links(open_links), wants=wants), tmp_path)
    assert (found["lost"], found["duplicates"], found["uninterested"]) == (0, 0, 2)
    assert found["first_trouble"] == ""
    denied = replace(plan, wants={"a": ("t",), "b": ("t", "u"), "c": ("t", "u")})
    found = verify(denied, tmp_path / "denied")
    assert (found["lost"], found["uninterested"]) == (0, 0), found["first_trouble"]


def test_retained_messages_cross_links_that_come_later_once(tmp_path: Path) -> None:
    """What was kept at a broker before a restart of its link arrives at a new subscriber beyond, one copy."""
    plan = plan_of([(node, "kept/#") for node in "abc"], qos=2)
    with running(plan, tmp_path) as fleet:
        ears = ears_of(fleet)
        host = fleet.plan.host_of["a"]
        publish_retained(host.port, "kept/x", b"7")
        wait_until_kept(fleet, "c", "kept/x")
        ears.close()
        for node in "abc":
            fleet.reload(node)
        fleet.wait_for_links()
        for node in "abc":
            assert wait_until_kept(fleet, node, "kept/x") == [b"7"]


def publish_retained(port: int, topic: str, payload: bytes) -> None:
    library = paho()
    client = library.Client(library.CallbackAPIVersion.VERSION2, protocol=library.MQTTv311)
    client.connect("127.0.0.1", port)
    sent = client.publish(topic, payload, 2, retain=True)
    assert within(60, lambda: bool(client.loop(0.1) or sent.is_published()))
    client.disconnect()


def wait_until_kept(fleet: Fleet, node: str, topic: str) -> list[bytes]:
    """What a new subscriber gets that was kept, in the quarter of a second after the first."""
    found: list[bytes] = []

    def asked() -> bool:
        library = paho()
        client = library.Client(library.CallbackAPIVersion.VERSION2, protocol=library.MQTTv311)
        client.on_message = lambda *given: found.append(given[2].payload) if given[2].retain else None
        client.on_connect = lambda client, *_: client.subscribe(topic, 2)
        client.connect("127.0.0.1", fleet.plan.host_of[node].port)
        end = time.monotonic() + 0.25
        while time.monotonic() < end:
            client.loop(0.05)
        client.disconnect()
        return bool(found)

    assert within(60, asked)
    return found
