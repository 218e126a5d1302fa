"""`meshwright deploy verify`: the proof of a plan on real brokers of this machine."""

import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from meshwright.cli.common import Json, print_json, print_table, progress_bar

EPILOG = """Starts all brokers of the plan on loopback, from the rendered files, publishes on every topic at
every subscriber, and counts what arrives at every broker. The exit code is 1 if a message is lost, doubled,
or comes to a broker that neither wants it nor is named as a relay; Zenoh routers choose ways themselves, so
there it is only counted. All processes end with the command.

**Examples**

`meshwright deploy verify plan`

`meshwright deploy verify plan --rounds 5 --json`

`meshwright deploy verify plan --kill 2`
"""


def verify(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="The folder of a plan.")],
    kill: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Let N brokers die, repair the overlay, apply the new plan, and measure the gap.",
        ),
    ] = 0,
    rounds: Annotated[int, typer.Option(metavar="N", min=1, help="How often everything is published.")] = 1,
    keep: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep files and logs of the brokers here.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a plan as real brokers on this machine, and prove that each message arrives exactly once."""
    from meshwright.deploy.fleet.verifying import verify as prove
    from meshwright.deploy.plan.plan import read_plan

    made = read_plan(plan)
    with tempfile.TemporaryDirectory(prefix="meshwright-") as scratch:
        folder = Path(scratch) if keep is None else keep
        if kill:
            from meshwright.deploy.fleet.killing import verify_with_deaths
            from meshwright.model.overlay import Overlay

            overlay = Overlay.read(made.overlay)
            found = verify_with_deaths(made, overlay, folder, kill, progress_bar())
        else:
            found = prove(made, folder, rounds, progress_bar())
    if as_json:
        print_json(found)
    else:
        _print(plan, found)
    if found["first_trouble"]:
        raise typer.Exit(1)


def _print(plan: Path, found: dict[str, Any]) -> None:
    print_table(("", ""), [(key.replace("_", " "), value) for key, value in found.items() if value != ""])
    if found["first_trouble"]:
        print(f"{plan}: NOT proved: {found['first_trouble']}")
    elif found["uninterested"]:
        print(
            f"{plan}: proved: every message arrived exactly once; {found['uninterested']:,} copies passed "
            f"brokers that don't want them, since these brokers choose the ways themselves"
        )
    else:
        print(f"{plan}: proved: every message arrived exactly once, and nowhere else")
