"""`meshwright serve`: the control plane of an overlay."""

import logging
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from meshwright.cli.churn import check_options, cost_plan, maintain_settings
from meshwright.cli.common import Seed, Settings, progress_bar
from meshwright.cli.options.costs import CostOptions
from meshwright.cli.options.fleet import FleetFlags
from meshwright.cli.options.groups import options_for
from meshwright.runtime.errors import OptionError
from meshwright.runtime.wording import count

if TYPE_CHECKING:
    from meshwright.pipeline.churn import CostPlan
    from meshwright.pipeline.cost_files import CostFiles
    from meshwright.serve.control_plane import Beginning, ControlPlane

EPILOG = """**Examples**

Begin with an overlay; the first start prints a token:

`meshwright serve state --overlay overlay`

Go on with it, after whatever ended it:

`meshwright serve state`

Stand by on the same machine, and take over when the first process ends:

`meshwright serve state --standby`

For other machines, only with TLS:

`meshwright serve state --host 0.0.0.0 --allow-host mesh.example.org --tls-cert cert.pem --tls-key key.pem`

Look after the brokers as well: their failures and subscriptions become events, and plans wait for approval;
with --apply they are applied at once:

`meshwright serve state --inventory brokers.csv --driver mosquitto`

Send events with a token that may write:

`meshwright churn --to http://127.0.0.1:8470 --events today.jsonl`

See docs/serve.md.
"""

_NEEDS = "serve needs starlette and uvicorn, which are not installed; pip install 'meshwright[serve]'"


@options_for("fleet", FleetFlags, FleetFlags.checked)
@options_for("prices", CostOptions, CostOptions.files)
def serve(
    state: Annotated[
        Path, typer.Argument(metavar="STATE", help="The folder of the state; made if it does not exist.")
    ],
    *,
    overlay: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="A dataset with the overlay to begin with. A state that exists needs it again only if links "
            "cost.",
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="For a new state: what a repair does; see churn.", show_default=False
        ),
    ] = None,
    settings: Settings = None,
    host: Annotated[
        str, typer.Option(metavar="NAME", help="Where to listen; beyond this machine only with TLS.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="0 for any that is free.")] = 8470,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Another name by which callers may call the server. Repeatable."),
    ] = None,
    tls_cert: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A certificate, in PEM format.")
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="FILE", help="Its key, in PEM format.")] = None,
    standby: Annotated[
        bool,
        typer.Option("--standby", help="If another process has the state, wait for its end and take over."),
    ] = False,
    requests_a_second: Annotated[
        int, typer.Option(metavar="N", min=1, help="The most requests a second of a token.")
    ] = 500,
    max_body: Annotated[int, typer.Option(metavar="BYTES", min=1, help="The largest body of a request.")] = 4
    << 20,
    max_connections: Annotated[
        int, typer.Option(metavar="N", min=1, help="The most connections at a time.")
    ] = 512,
    compact_after: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="After N events, replace the log of the journal by a new snapshot."
        ),
    ] = 5_000,
    accept_loss: Annotated[
        bool,
        typer.Option(
            "--accept-loss",
            help="Continue with a state that has lost steps; its old files are kept in a subfolder.",
        ),
    ] = False,
    fleet: FleetFlags,
    prices: "CostFiles | None" = None,
    no_costs: Annotated[
        bool,
        typer.Option("--no-costs", help="Drop the overlay's cost column.", rich_help_panel="What links cost"),
    ] = False,
    seed: Seed = 0,
) -> None:
    """Own an overlay: take events over HTTP, repair it at once, and show it on a page; until Ctrl-C.

    Every event that was acknowledged survives the end of the process, whatever ends it. With an inventory, it
    looks after brokers as well.
    """
    try:
        from meshwright.serve.server import Address
        from meshwright.serve.server import serve as run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("starlette", "uvicorn", "h11"):
            raise OptionError(_NEEDS) from None
        raise
    from meshwright.serve.control_plane import ControlPlane
    from meshwright.serve.limits import Limits
    from meshwright.serve.state_folder import StateFolder, leased
    from meshwright.serve.tokens import Access

    limits = Limits(body=max_body, connections=max_connections, requests=requests_a_second)
    address = Address(host, port, tls_cert, tls_key, tuple(allow_host or ()))
    address.check()
    given = maintain_settings(settings) | ({} if policy is None else {"policy": policy})
    folder = StateFolder(state)
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    with ExitStack() as opened:
        if standby:
            print(f"meshwright: waiting for {state}", file=sys.stderr, flush=True)
        opened.enter_context(leased(folder, standby=standby))
        listener = opened.enter_context(address.bind())
        progress = progress_bar()
        kept = {"compact_after": compact_after, "accept_loss": accept_loss}
        begin = _beginning(overlay, given, seed, cost_plan(prices, no_costs), kept)
        plane = opened.enter_context(ControlPlane(folder, begin, progress=progress))
        looked_after = fleet.made(plane)
        access = Access(folder.access)
        first = access.add_first()
        if first is not None:
            print(f"token: {first[1]}", flush=True)
        listener.listen()  # before it is said that it does
        print(f"{state}: {_sizes(plane)}, at {address.url(listener)}", flush=True)
        run(plane, access, address, listener, limits, looked_after)
        print(f"{state}: stopped at revision {plane.revision:,}; everything is on disk", flush=True)


def _beginning(
    overlay: Path | None, given: dict[str, Any], seed: int, costs: "CostPlan", kept: dict[str, Any]
) -> "Beginning":
    """What a state begins with, if an overlay is given; an existing one knows its options itself."""
    from meshwright.model.overlay import Overlay
    from meshwright.serve.control_plane import REMEMBER, Beginning

    if overlay is None:
        return Beginning(seed=seed, options=given, journal_options=kept)
    options = {"policy": "shadow", "remember": REMEMBER, **given}
    check_options(options, ())
    start = costs.start(Overlay.read(overlay))
    return Beginning(
        overlay=start.overlay, costs=start.costs, seed=seed, options=options, journal_options=kept
    )


def _sizes(plane: "ControlPlane") -> str:
    found = plane.summary()
    return f"{count(found['nodes'], 'node')}, {count(found['links'], 'link')}, revision {found['revision']:,}"
