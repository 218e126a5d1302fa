"""`meshwright deploy status`: what is at the brokers, against a plan."""

from pathlib import Path
from typing import Annotated

import typer

from meshwright.cli.common import Json, print_json, print_table, progress_bar
from meshwright.cli.deploy.apply import reachable
from meshwright.cli.deploy.plan import State
from meshwright.runtime.wording import count

EPILOG = """Reads the file of every broker and changes nothing. The exit code is 1 if a file was edited or
removed by hand, or if there is anything left to apply.

**Examples**

`meshwright deploy status plan`
"""


def status(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="The folder of a plan.")],
    state: State = None,
    as_json: Json = False,
) -> None:
    """Say which brokers follow a plan, which were edited by hand, and what is left to do."""
    from meshwright.deploy import applying
    from meshwright.deploy.state import state_beside

    made = reachable(plan)
    found = applying.status(made, state or state_beside(plan), applying.reach_of(made.driver), progress_bar())
    if as_json:
        print_json(found)
    else:
        wrong = [(node, each) for node, each in found["brokers"].items() if each != applying.IN_STEP]
        if wrong:
            print_table(("broker", "its file is"), wrong)
        if found["interrupted_at"]:
            print(f"apply was interrupted at {', '.join(found['interrupted_at'])}; apply again to go on")
        print(
            f"{plan}: {count(len(found['steps']), 'file')} to bring, {len(found['drift']):,} changed by hand"
        )
    if found["drift"] or found["steps"] or found["interrupted_at"]:
        raise typer.Exit(1)
