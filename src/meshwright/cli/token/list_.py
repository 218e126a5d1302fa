"""`meshwright token list`: show who has a token."""

from datetime import UTC, datetime

from meshwright.cli.common import Json, print_json, print_table
from meshwright.cli.token.add import State


def list_(state: State, as_json: Json = False) -> None:
    """List the tokens of a control plane: ids, names and roles, but no secrets."""
    from meshwright.serve.state_folder import StateFolder
    from meshwright.serve.tokens import Access

    found = [
        {
            "id": token.id,
            "name": token.name,
            "roles": list(token.roles),
            "made": datetime.fromtimestamp(token.made, UTC).isoformat(timespec="seconds"),
        }
        for token in Access(StateFolder(state).access).tokens()
    ]
    if as_json:
        print_json(found)
    elif not found:
        print(f"{state} has no tokens; make one with `meshwright token add`")
    else:
        rows = [(own["id"], own["name"], ", ".join(own["roles"]), own["made"]) for own in found]
        print_table(("id", "name", "roles", "made"), rows)
