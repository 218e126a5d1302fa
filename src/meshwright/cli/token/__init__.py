"""`meshwright token`: who may use a control plane, a file per command."""

from importlib import import_module

import typer

from meshwright.cli.help import Command, Group

EPILOG = """**Examples**

`meshwright token add state --name grafana --role read`

`meshwright token list state`

`meshwright token revoke state 3f9a01bc`
"""

app = typer.Typer(
    cls=Group,
    help="Make, list and revoke the tokens of a control plane.",
    epilog=EPILOG,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    no_args_is_help=True,
)
for command in ("add", "list_", "revoke"):
    module = import_module(f"{__name__}.{command}")
    name = command.rstrip("_")
    app.command(name, cls=Command, epilog=getattr(module, "EPILOG", None))(getattr(module, command))
