"""`meshwright deploy interests`: what brokers that run tell of their subscribers, as a dataset."""

import csv
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from meshwright.cli.common import Force, Json, check_target, print_json, progress_bar
from meshwright.runtime.errors import InputError
from meshwright.runtime.wording import count

EPILOG = """Nothing is changed at the brokers. NATS is asked by its monitor (/connz, and /leafz for round
trips), RabbitMQ by its management API, both at `admin` of the inventory; Zenoh by its admin space. Mosquitto
lists no subscriptions: --database reads those of kept sessions from its mosquitto.db, --seconds listens to
new ones. No broker tells who publishes: add those rows, and ingest again.

**Examples**

`meshwright deploy interests --driver nats --inventory servers.csv --costs rtt.csv --out interests`

`meshwright deploy interests --driver mosquitto --inventory all.csv --seconds 60 --out interests`
"""


def interests(
    driver: Annotated[
        str, typer.Option(metavar="NAME", help="Kind of broker: mosquitto, nats, zenoh or rabbitmq.")
    ],
    inventory: Annotated[Path, typer.Option(metavar="FILE", help="Where the brokers are.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The dataset to write.")],
    costs: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write round trips between brokers here, where they are told."),
    ] = None,
    rows: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the rows here, too, to add to them.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=0, help="Mosquitto: how long to listen.")] = 0.0,
    database: Annotated[
        str, typer.Option(metavar="PATH", help="Mosquitto: mosquitto.db on the machines of the brokers.")
    ] = "",
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Ask brokers that run who subscribes to what, and write it as a dataset."""
    from meshwright.deploy.hosts import read_hosts
    from meshwright.deploy.live import DIALECTS, ask
    from meshwright.deploy.live.told import Asked
    from meshwright.pipeline.ingest.job import ingest
    from meshwright.pipeline.ingest.options import IngestOptions

    check_target(str(out), force, [])
    hosts = read_hosts(inventory)
    progress = progress_bar()
    told = ask(driver, hosts, Asked(seconds=seconds, database=database), progress)
    if not told.interests:
        raise InputError("the brokers tell of no subscriptions; look again when clients are connected")
    if costs is not None:
        _write(costs, ("source", "target", "cost"), told.costs, force)
    with tempfile.TemporaryDirectory(prefix="meshwright-") as scratch:
        file = Path(scratch) / "rows.csv"
        _write(file, ("node", "topic"), told.interests, force)
        if rows is not None:
            _write(rows, ("node", "topic"), told.interests, force)
        options = IngestOptions(relation="pairs", filters=DIALECTS[driver])
        manifest = ingest(None, [str(file)], out, options, force=force, progress=progress)
    found = {"brokers": len(hosts), "rows": len(told.interests), "costs": len(told.costs)}
    if as_json:
        print_json({"out": str(out), **found, **manifest["counts"]})
    else:
        silent = len(hosts) - len({node for node, _ in told.interests})
        print(
            f"{out}: {count(found['rows'], 'subscription')} at {count(len(hosts), 'broker')}, {silent:,} of "
            f"them without any; {count(found['costs'], 'round trip')}"
        )


def _write(
    path: Path,
    header: tuple[str, ...],
    rows: Iterable[tuple[object, ...]],
    force: bool,
) -> None:
    if path.exists() and not force:
        raise InputError(f"{path} is there already; give another name, or --force")
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows(rows)
