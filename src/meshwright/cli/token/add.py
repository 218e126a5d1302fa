"""`meshwright token add`: make a token."""

from pathlib import Path
from typing import Annotated

import typer

from meshwright.cli.common import Json, print_json

State = Annotated[Path, typer.Argument(metavar="STATE", help="The folder of a control plane.")]

EPILOG = """**Examples**

`meshwright token add state --name grafana --role read`

`meshwright token add state --name broker-watch --role write`

The token is printed once, and only its hash is stored. A server that runs knows it at once.
"""


def add(
    state: State,
    name: Annotated[str, typer.Option(metavar="NAME", help="Whose it is; the audit log names it.")],
    role: Annotated[
        list[str],
        typer.Option(metavar="read|write|apply", help="What it may do; write includes read. Repeatable."),
    ],
    as_json: Json = False,
) -> None:
    """Make a token and print it; it is shown only this once."""
    from meshwright.serve.audit import note_command
    from meshwright.serve.state_folder import StateFolder
    from meshwright.serve.tokens import Access

    folder = StateFolder(state)
    token, secret = Access(folder.access).add(name, role)
    note_command(folder.audit, f"added token {token.id} for {token.name}: {', '.join(token.roles)}")
    if as_json:
        print_json({"id": token.id, "name": token.name, "roles": list(token.roles), "token": secret})
    else:
        print(f"token: {secret}")
        print(f"id: {token.id}")
