"""The proof of a repair: brokers die in the middle, the overlay is repaired, and the new plan is applied."""

import time
from itertools import count
from pathlib import Path
from typing import Any

from meshwright.deploy.applying import apply
from meshwright.deploy.drivers import driver_of
from meshwright.deploy.fleet.fleet import Fleet, FleetReach, running
from meshwright.deploy.fleet.verifying import ears_of, latencies, publish_everywhere, sizes_of
from meshwright.deploy.plan.plan import Plan
from meshwright.deploy.plan.planning import make_plan
from meshwright.deploy.reaching import masked
from meshwright.deploy.state import Entry, State, sum_of_text, write_state
from meshwright.maintain.maintainer import Maintainer
from meshwright.maintain.warm_up import rehearse
from meshwright.model.overlay import Overlay
from meshwright.runtime.errors import OptionError
from meshwright.runtime.progress import Progress


def verify_with_deaths(
    plan: Plan, overlay: Overlay, folder: Path, kills: int, progress: Progress | None = None
) -> dict[str, Any]:
    """Start the fleet of a plan, let its busiest brokers die, repair, apply, and prove the result.

    `gap_seconds` is the time from the deaths until all links of the new plan are up. What repairs need is
    compiled before: on a new machine the gap was 52 s the first time, and 3 s the second.
    """
    if kills >= len(plan.hosts):
        raise OptionError(f"--kill got {kills}, but the plan has {len(plan.hosts):,} brokers; kill fewer")
    rehearse({}, progress, with_costs=overlay.costs is not None)
    begun, numbers = time.monotonic(), count()
    with running(plan, folder, progress) as fleet:
        ears = ears_of(fleet)
        before = publish_everywhere(fleet, ears, progress=progress, numbers=numbers)
        ears.close()
        victims = busiest(fleet.plan, kills)
        died = time.monotonic()
        for node in victims:
            fleet.end(node, kill=True)
        repaired = repair(fleet.plan, overlay, victims, progress)
        done = apply(repaired, state_of(fleet, folder), FleetReach(fleet), progress=progress)
        fleet.wait_for_links(repaired)
        gap = time.monotonic() - died
        ears = ears_of(fleet)
        try:
            after = publish_everywhere(fleet, ears, progress=progress, numbers=numbers)
            memory = fleet.memory()
        finally:
            ears.close()
    both = {key: getattr(before, key) + getattr(after, key) for key in before._fields[:-1]}
    both["most_carried"] = max(before.most_carried, after.most_carried)
    return {
        **sizes_of(plan),
        **both,
        "first_trouble": before.first_trouble or after.first_trouble,
        **latencies(ears.heard.delays),
        "killed": victims,
        "steps": done.steps,
        "gap_seconds": round(gap, 3),
        "memory_mb": round(memory, 1),
        "seconds": round(time.monotonic() - begun, 3),
    }


def busiest(plan: Plan, count: int) -> list[str]:
    """The brokers with most links, whose deaths cut most."""
    links = {
        host.node: len(plan.opened_by(host.node)) + len(plan.accepted_by(host.node)) for host in plan.hosts
    }
    return sorted(links, key=lambda node: (-links[node], node))[:count]


def repair(plan: Plan, overlay: Overlay, gone: list[str], progress: Progress | None = None) -> Plan:
    """The plan for the overlay without some nodes, as the maintainer repairs it."""
    live = Maintainer(overlay)
    for node in gone:
        live.leave(node)
    hosts = {host.node: host for host in plan.hosts if host.node not in gone}
    repaired = make_plan(
        live.overlay,
        driver_of(plan.driver).engine,
        hosts,
        settings=plan.settings,
        before=plan,
        progress=progress,
    )
    return repaired.with_hosts(repaired.host_of, loopback=plan.loopback)


def state_of(fleet: Fleet, folder: Path) -> Path:
    """A state that says what a fleet has been started with."""
    entries = {
        host.node: Entry(host, sum_of_text(masked(fleet.own_file(host.node).read_text())))
        for host in fleet.plan.hosts
    }
    place = folder / "state" / "deploy.state.json"
    place.parent.mkdir(exist_ok=True)
    write_state(place, State(fleet.plan, entries))
    return place
