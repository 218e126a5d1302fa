"""`meshwright lint`: what is wrong with the mesh that somebody already runs."""

from pathlib import Path
from typing import Annotated

import typer

from meshwright.cli.common import Json, print_json
from meshwright.runtime.errors import InputError, OptionError

EPILOG = """Reads configurations of Mosquitto (bridges), NATS (leaf nodes, accounts, clusters), RabbitMQ
(definitions with federation and shovels) and Zenoh (routers), all brokers together. Every finding names the
file and line, and the shortest way of a message that shows it. A comment suppresses a finding in the line
below: `# meshwright: ignore loop: reason`.

**Examples**

`meshwright lint /etc/mosquitto/mosquitto.conf`

All brokers of a mesh, in a folder:

`meshwright lint brokers/`

With what is known about addresses, versions and clients, for a code host:

`meshwright lint brokers/ --inventory inventory.json --sarif > lint.sarif`

The exit code is 1 if there is an error or a warning; notes alone don't count. Nothing is executed, and no
broker is contacted. See docs/lint.md.
"""


def _path(text: str) -> Path:
    """A path; an empty one would mean this folder, and most often is a variable that was not set."""
    if not text:
        raise OptionError("a PATH is empty; give a file or folder, or . for this folder")
    return Path(text)


def lint(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH", parser=_path, help="Configurations of brokers, and folders with them."
        ),
    ],
    inventory: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A JSON file with names, kinds, files, addresses, versions and clients of brokers.",
        ),
    ] = None,
    as_json: Json = False,
    as_sarif: Annotated[
        bool, typer.Option("--sarif", help="Print only SARIF 2.1.0 on stdout, for code hosts.")
    ] = False,
) -> None:
    """Find loops, doubled messages and other mistakes in brokers' configurations, each with a witness."""
    if as_json and as_sarif:
        raise OptionError("--json and --sarif are two formats of the same output; give one of them")
    from meshwright.deploy.inventory import read_inventory
    from meshwright.deploy.lint import output
    from meshwright.deploy.lint.linting import lint as look
    from meshwright.deploy.lint.linting import nothing_read

    written = output.as_json if as_json else output.as_sarif if as_sarif else None
    try:
        report = look(paths, read_inventory(inventory) if inventory else [])
    except InputError as error:
        if written:
            print_json(written(nothing_read(str(error), str(error.path or paths[0]))))
        raise
    if written:
        print_json(written(report))
    else:
        for line in output.as_text(report):
            print(line)
    if not report.is_clean:
        raise typer.Exit(1)
