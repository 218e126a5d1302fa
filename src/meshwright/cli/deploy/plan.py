"""`meshwright deploy plan`: what each broker has to do for an overlay."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from meshwright.cli.common import Force, Json, print_json, print_table, progress_bar
from meshwright.runtime.wording import count

if TYPE_CHECKING:
    from meshwright.deploy.plan.plan import Plan

EPILOG = """For each topic, a tree of links is chosen inside the overlay, so that every message takes one
way to each subscriber, and passes no broker that does not want it. The folder has plan.json to review, and
a file for each broker. `meshwright lint` finds nothing in them. Nothing is contacted.

**Examples**

`meshwright deploy plan overlay --driver mosquitto --out plan`

`meshwright deploy plan overlay --driver mosquitto --inventory brokers.csv --tree cheapest --qos 2 --out plan`

When a broker has failed, and the overlay was built with resilience, its standby links take over:

`meshwright deploy plan overlay --driver mosquitto --inventory brokers.csv --down north --out detour`

The inventory is a CSV file with a header, or JSON or YAML: node, host, port, and more (docs/deploy.md).
"""

State = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="What was applied last; by default deploy.state.json beside the plan's folder."
    ),
]


def plan(
    overlay: Annotated[Path, typer.Argument(metavar="OVERLAY", help="A topic-connected overlay.")],
    driver: Annotated[
        str,
        typer.Option(metavar="NAME", help="Kind of broker: mosquitto, nats, zenoh, rabbitmq or files."),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="PLAN", help="The folder to write.")],
    inventory: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where the brokers are; without it, ports of loopback."),
    ] = None,
    tree: Annotated[
        str, typer.Option(metavar="KIND", help="The tree of each topic: shortest or cheapest.")
    ] = "shortest",
    qos: Annotated[int, typer.Option(min=0, max=2, help="MQTT: the quality of service on links.")] = 1,
    sessions: Annotated[
        str,
        typer.Option(metavar="KIND", help="MQTT: persistent or clean; what is kept for an end that is away."),
    ] = "persistent",
    most_lines: Annotated[
        int | None, typer.Option(metavar="N", help="The most lines that a link may have.", min=1)
    ] = None,
    down: Annotated[
        list[str] | None,
        typer.Option(metavar="NODE", help="Plan without this node, which has failed. Repeatable."),
    ] = None,
    state: State = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Choose what crosses which link, and write the files of all brokers, to be reviewed and applied."""
    from meshwright.deploy.drivers import driver_of
    from meshwright.deploy.hosts import read_hosts
    from meshwright.deploy.plan.plan import Settings
    from meshwright.deploy.plan.planning import make_plan
    from meshwright.deploy.plan.standby import with_standby, without
    from meshwright.deploy.plan_folder import write_plan
    from meshwright.deploy.state import read_state, state_beside
    from meshwright.model.overlay import Overlay

    engine = driver_of(driver).engine
    settings = Settings(tree=tree, qos=qos, sessions=sessions)
    hosts = None if inventory is None else read_hosts(inventory)
    progress = progress_bar()
    before = read_state(state or state_beside(out)).plan
    whole = Overlay.read(overlay, progress=progress)
    made = make_plan(
        without(whole, down) if down else whole,
        engine,
        hosts,
        settings=settings,
        most_lines=most_lines,
        before=before,
        source=str(overlay),
        inventory=inventory,
        progress=progress,
    )
    if not down:
        made = with_standby(made, whole, engine, made.host_of, progress)
    write_plan(made, out, force=force, progress=progress)
    told = _told(made, before)
    if as_json:
        print_json({"out": str(out), **told})
    else:
        _print(out, made, told)


def _told(made: "Plan", before: "Plan | None") -> dict[str, Any]:
    from meshwright.deploy.changing import changes
    from meshwright.deploy.plan_folder import counts_of

    opened, closed, changed = changes(before, made)
    return {
        "driver": made.driver,
        "hash": made.hash,
        **counts_of(made),
        "opened": [list(pair) for pair in opened],
        "closed": [list(pair) for pair in closed],
        "changed": [list(pair) for pair in changed],
        "relays_named": [
            {"topic": topic.name, "example": topic.example, "relays": list(topic.relays)}
            for topic in made.topics
            if topic.relays
        ],
    }


_SHOWN = 10


def _print(out: Path, made: "Plan", told: dict[str, Any]) -> None:
    rows = [("open", *pair) for pair in told["opened"]]
    rows += [("close", *pair) for pair in told["closed"]]
    rows += [("change", *pair) for pair in told["changed"]]
    if rows:
        print_table(("", "opens", "to"), rows[:_SHOWN])
        if len(rows) > _SHOWN:
            print(f"and {len(rows) - _SHOWN:,} more; --json lists all")
    else:
        print("nothing changes")
    for own in told["relays_named"][:_SHOWN]:
        names = ", ".join(own["relays"])
        print(f"relay: {names} carries {own['topic']}, which nobody there wants, as in {own['example']}")
    for node in made.cuts[:_SHOWN]:
        print(f"cut: if {node} fails, some topic is cut, whatever is opened")
    lines, links, unused = told["lines"], told["links"], count(told["unused"], "link")
    print(
        f"{out}: {count(told['brokers'], 'broker')}, {count(links, 'link')} with {count(lines, 'line')}, "
        f"{count(told['topics'], 'topic')}; {count(told['relays'], 'relay')}; {unused} of the "
        f"overlay not needed, {told['standby']:,} of them on standby; plan {made.hash}"
    )
