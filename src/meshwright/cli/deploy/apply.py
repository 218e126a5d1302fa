"""`meshwright deploy apply`: a plan on its brokers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from meshwright.cli.common import Json, on_interrupt, print_json, progress_bar
from meshwright.cli.deploy.plan import State
from meshwright.runtime.errors import InputError
from meshwright.runtime.wording import as_word, count

if TYPE_CHECKING:
    from meshwright.deploy.plan.plan import Plan

EPILOG = """Each broker gets its file and reads it again, one after the other: first everything is closed
that the plan does not have, then what is missing is opened. So no topic ever has a cycle of links. Stopped
at any moment, even by a kill, the same command goes on. Files that Meshwright did not write, or that were
edited since, are not touched.

**Examples**

`meshwright deploy apply plan`

`meshwright deploy apply plan --overwrite`
"""


def apply(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="The folder of a plan.")],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace files of ours that were edited or removed by hand.")
    ] = False,
    gone: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NODE", help="Forget this broker, which is gone for good; not in the plan. Repeatable."
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Wait until each broker listens again.")
    ] = True,
    state: State = None,
    as_json: Json = False,
) -> None:
    """Bring a plan to its brokers, safely at every step."""
    from meshwright.deploy import applying
    from meshwright.deploy.state import state_beside

    made = reachable(plan)
    place = state or state_beside(plan)
    again = f"go on with: meshwright deploy apply {as_word(plan)}"
    with on_interrupt(lambda: again):
        done = applying.apply(
            made,
            place,
            applying.reach_of(made.driver, check=check),
            overwrite=overwrite,
            gone=gone or (),
            progress=progress_bar(),
        )
    if as_json:
        print_json({"plan": made.hash, "state": str(place), **done._asdict()})
    elif not done.steps:
        print(f"{plan}: nothing to do")
    else:
        gap = f"; topics that changed were closed for up to {done.gap_seconds:.1f} s" if done.closed else ""
        print(f"{plan}: {count(done.steps, 'file')} brought, {done.closed:,} of them to close first{gap}")
    for node in () if as_json else done.left_behind:
        print(
            f"{node} is no longer in the plan and can't be reached, or is down; before it comes back, apply "
            f"again; if it is gone for good, apply with --gone {as_word(node)}"
        )


def reachable(folder: Path) -> "Plan":
    """The plan of a folder; one without an inventory is refused."""
    from meshwright.deploy.applying import check_reach
    from meshwright.deploy.plan.plan import read_plan

    made = read_plan(folder)
    if made.loopback or made.driver == "files":
        reason = "without an inventory" if made.loopback else "for the driver files"
        raise InputError(
            f"the plan {folder} was made {reason}, so nobody knows how to reach its brokers; use deploy "
            f"verify, or make a plan with --inventory"
        )
    check_reach(made.driver, made.hosts)
    return made
