"""`meshwright deploy`: the commands that take an overlay to running brokers, a file each."""

from importlib import import_module

import typer

from meshwright.cli.help import Command, Group

EPILOG = """**Examples**

`meshwright deploy interests --driver nats --inventory servers.csv --out interests`

`meshwright deploy plan overlay --driver mosquitto --inventory brokers.csv --out plan`

`meshwright deploy verify plan`

`meshwright deploy apply plan`

`meshwright deploy status plan`
"""

app = typer.Typer(
    cls=Group,
    help="Plan an overlay for real brokers, prove it on this machine, and bring it to them.",
    epilog=EPILOG,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    no_args_is_help=True,
)
for command in ("interests", "plan", "verify", "apply", "status"):
    module = import_module(f"{__name__}.{command}")
    app.command(command, cls=Command, epilog=getattr(module, "EPILOG", None))(getattr(module, command))
