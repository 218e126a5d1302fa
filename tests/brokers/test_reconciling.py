"""Real brokers that a control plane looks after: failures, subscriptions, and links that carry nothing."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nats
import pytest

import meshwright as mw
from benchmarks.live_fleet import LiveFleet, live_fleet
from meshwright.deploy.fleet.mqtt_ears import paho
from meshwright.deploy.health import look_at_links
from meshwright.serve.control_plane import Beginning, ControlPlane
from meshwright.serve.reconciling.options import FleetOptions
from meshwright.serve.reconciling.reconciler import Reconciler
from meshwright.serve.state_folder import StateFolder
from tests.patience import PATIENCE, wait_for

PAIRS = [("a", "t"), ("a", "u"), ("b", "t"), ("b", "v"), ("c", "u"), ("c", "v"), ("d", "t"), ("d", "v")]


@contextmanager
def looked_after(driver: str, folder: Path) -> Iterator[tuple[LiveFleet, ControlPlane, Reconciler]]:
    overlay = mw.build(mw.Interests.from_pairs(PAIRS), "gm")
    state = StateFolder(folder / "state")
    with (
        live_fleet(overlay, driver, folder / "fleet", state.fleet / "deploy.state.json") as fleet,
        ControlPlane(state, Beginning(overlay=overlay)) as plane,
    ):
        options = FleetOptions(driver=driver, apply=True, patience=PATIENCE)
        reconciler = Reconciler(plane, fleet.inventory, options)
        try:
            yield fleet, plane, reconciler
        finally:
            reconciler.stop()


def carry(reconciler: Reconciler) -> bool:
    """Whether all links carry, once brokers have found each other."""
    plan = reconciler._fleet.plan
    assert plan is not None
    found = look_at_links(plan, [node for node, up in reconciler._up.items() if not up], 1.0)
    return len(found) == len(plan.links) > 0 and all(own.carries and own.up for own in found)


@pytest.mark.parametrize("driver", ["nats", "mosquitto"])
def test_a_broker_that_dies_is_repaired_around_and_all_links_carry(driver: str, tmp_path: Path) -> None:
    with looked_after(driver, tmp_path) as (fleet, plane, reconciler):
        reconciler.tick()
        assert (reconciler.troubles, reconciler.waiting(), reconciler.last_applied) == ([], None, {})
        wait_for(lambda: carry(reconciler), "the links carry")
        fleet.kill("b")
        wait_for(lambda: not fleet.answers("b"), "the broker is dead")
        reconciler.tick()
        assert reconciler.troubles == []
        assert reconciler.last_applied["steps"] > 0
        assert plane.look_now(lambda live: "b" in live) is False
        wait_for(lambda: carry(reconciler), "the new links carry")


async def subscribe(port: int, subject: str) -> nats.aio.client.Client:
    client = await nats.connect(f"nats://127.0.0.1:{port}", user="mw0", password="mesh")
    await client.subscribe(subject)
    await client.flush()
    return client


def test_a_subscription_at_a_nats_server_changes_the_plan(tmp_path: Path) -> None:
    with looked_after("nats", tmp_path) as (fleet, plane, reconciler):
        reconciler.tick()

        async def subscribed() -> None:
            client = await subscribe(fleet.client_port("a"), "v")
            await asyncio.to_thread(reconciler.ask)
            await asyncio.to_thread(reconciler.tick)
            await client.close()

        asyncio.run(subscribed())
        assert reconciler.troubles == []
        assert plane.look_now(lambda live: live.subscribers_of("v")) == {"a", "b", "c", "d"}
        assert reconciler.waiting() is None


def test_a_subscription_at_mosquitto_changes_the_plan(tmp_path: Path) -> None:
    with looked_after("mosquitto", tmp_path) as (fleet, plane, reconciler):
        reconciler.tick()
        reconciler.ask()
        client = paho().Client(paho().CallbackAPIVersion.VERSION2)
        client.connect("127.0.0.1", fleet.client_port("a"))
        client.loop_start()

        def planned() -> bool:
            client.subscribe("v")
            reconciler.ask()
            reconciler.tick()
            return plane.revision > 0

        wait_for(planned, "the broker tells of the subscription")
        client.disconnect()
        client.loop_stop()
        assert reconciler.troubles == []
        assert "a" in plane.look_now(lambda live: live.subscribers_of("v"))
        assert reconciler.waiting() is None


def deny(text: str) -> str:
    """The file of a NATS server whose leaf nodes are up, and pass nothing on."""
    return text.replace("{ urls:", '{ deny_imports: ">", deny_exports: ">", urls:')


def other_lines(text: str) -> str:
    """The file of a Mosquitto broker whose bridges are up, and carry something else."""
    return "".join(
        "topic something/else both 1\n" if line.startswith("topic ") else line
        for line in text.splitlines(keepends=True)
    )


@pytest.mark.parametrize(("driver", "spoiled"), [("nats", deny), ("mosquitto", other_lines)])
def test_a_link_that_is_up_and_carries_nothing_is_found(driver: str, spoiled: object, tmp_path: Path) -> None:
    assert callable(spoiled)
    with looked_after(driver, tmp_path) as (fleet, _, reconciler):
        reconciler.tick()
        wait_for(lambda: carry(reconciler), "the links carry")
        opener = fleet.plan.links[0].opens
        own = Path(fleet.hosts[opener].config)
        own.write_text(spoiled(own.read_text()))
        fleet.kill(opener)
        wait_for(lambda: not fleet.answers(opener), "the broker is dead")
        fleet.launch(opener)
        wait_for(lambda: fleet.answers(opener), "the broker is back")

        def silent() -> set[str]:
            found = look_at_links(fleet.plan, (), 0.5)
            return {link.opens for link in found if link.is_silent}

        wait_for(lambda: silent() == {opener}, "the links are silent")
