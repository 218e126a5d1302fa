"""`meshwright token revoke`: take a token back."""

from typing import Annotated

import typer

from meshwright.cli.token.add import State
from meshwright.runtime.errors import visible


def revoke(
    state: State,
    key: Annotated[str, typer.Argument(metavar="ID", help="The id that `token list` shows.")],
) -> None:
    """Revoke a token; a server that runs refuses it from now on, and ends its streams within seconds."""
    from meshwright.serve.audit import note_command
    from meshwright.serve.state_folder import StateFolder
    from meshwright.serve.tokens import Access

    folder = StateFolder(state)
    token = Access(folder.access).revoke(key)
    note_command(folder.audit, f"revoked token {token.id} of {token.name}")
    print(f"{token.id} ({visible(token.name)}) is revoked")
