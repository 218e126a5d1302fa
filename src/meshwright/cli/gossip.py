"""`meshwright gossip`: views of the nodes' topics come to share links, by StaN."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from meshwright.cli.common import Force, Json, Seed, print_json, print_table, progress_bar
from meshwright.gossip.options import SimulationOptions, StanOptions

_EPILOG = """Every node has a view of random others in each of its topics. Walks find out who else is there,
and the node keeps those that it prefers: the same ones in all topics, so that a physical link serves several.
`rounds` runs all nodes in lock step, for large datasets; `simulator` runs the protocols themselves. With
`--live` they run on this machine, over TCP, and the same is measured.

**Examples**

`meshwright gossip workload`

`meshwright gossip workload --rounds 16 --learn --slowest 4 --out overlay`

`meshwright gossip workload --engine simulator --loss 0.1 --churn 0.02 --json`

`meshwright gossip workload --engine simulator --membership scamp`

`meshwright gossip workload --live --round-seconds 0.5 --processes 4`

`meshwright gossip workload --links omniscient`, the limit that rounds approach.
"""


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog=_EPILOG)(gossip)


def gossip(
    dataset: Annotated[Path, typer.Argument(metavar="DIR", help="A dataset with interests.")],
    rounds: Annotated[int, typer.Option(metavar="N", help="How many walks go out in each view.")] = 8,
    engine: Annotated[str, typer.Option(metavar="rounds|simulator", help="What runs it.")] = "rounds",
    ttl: Annotated[int, typer.Option(metavar="N", help="How often a walk is passed on.")] = 5,
    links: Annotated[
        str, typer.Option(metavar="walks|omniscient|random", help="How peers are chosen.")
    ] = "walks",
    view_size: Annotated[
        int | None,
        typer.Option(metavar="N", help="Peers in a view; by --connected unless given.", show_default=False),
    ] = None,
    connected: Annotated[
        float, typer.Option(metavar="P", help="The probability that random views connect a topic.")
    ] = 0.99,
    learn: Annotated[bool, typer.Option("--learn", help="Learn from passing walks too.")] = False,
    slowest: Annotated[
        int, typer.Option(metavar="N", help="Wait for up to N rounds while walks bring nothing new.")
    ] = 1,
    membership: Annotated[str, typer.Option(metavar="random|scamp", help="How views begin.")] = "random",
    copies: Annotated[int, typer.Option(metavar="C", help="With scamp and churn: copies of a join.")] = 4,
    loss: Annotated[float, typer.Option(metavar="P", help="The probability that a message is lost.")] = 0.0,
    delay: Annotated[
        float, typer.Option(metavar="T", help="Simulated: the mean time of a message, in rounds.")
    ] = 0.01,
    churn: Annotated[
        float, typer.Option(metavar="P", help="Simulated or live: the share of nodes that crash in a round.")
    ] = 0.0,
    keep_alive: Annotated[
        bool,
        typer.Option("--keep-alive", help="Simulated or live: find who is gone, as with churn, or cut off."),
    ] = False,
    patience: Annotated[
        int, typer.Option(metavar="N", help="Keep-alive messages without an answer until a peer is gone.")
    ] = 4,
    live: Annotated[bool, typer.Option("--live", help="Run the nodes for real, over sockets.")] = False,
    round_seconds: Annotated[
        float,
        typer.Option(metavar="S", help="Live: how long a round takes; more where there are more nodes."),
    ] = 1.0,
    processes: Annotated[
        int, typer.Option(metavar="N", min=1, help="Live: over how many processes nodes are spread.")
    ] = 2,
    port: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Live: where the first node listens, the others after it; free ports unless given.",
            show_default=False,
        ),
    ] = None,
    diameters: Annotated[bool, typer.Option(help="Measure diameters of topics too.")] = True,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="The overlay dataset to write, with views.")
    ] = None,
    force: Force = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Let the views of the nodes' topics share links, and measure them before and after."""
    from meshwright.gossip.live import LiveEngine
    from meshwright.gossip.running import gossip as run
    from meshwright.gossip.running import overlay_of
    from meshwright.model.dataset import check_free
    from meshwright.model.interests import Interests

    options = StanOptions(
        rounds=rounds,
        ttl=ttl,
        connected=connected,
        view_size=view_size,
        learn=learn,
        slowest=slowest,
        loss=loss,
        links=links,
    )
    conditions = SimulationOptions(
        membership=membership,
        copies=copies,
        delay=delay,
        churn=churn,
        keep_alive=keep_alive,
        patience=patience,
    )
    if out is not None:
        check_free(out, force)
    sockets = LiveEngine(seconds=round_seconds, processes=processes, port=port) if live else None
    found = run(
        Interests.read(dataset),
        options,
        conditions,
        engine=sockets or engine,
        diameters=diameters,
        seed=seed,
        progress=progress_bar(),
    )
    if out is not None:
        given = {**asdict(options), **asdict(conditions)}
        how = {"algorithm": "stan", "options": given, "seed": seed}
        made_by = {"command": "gossip", "engine": found.engine, **how, "inputs": [str(dataset)]}
        overlay_of(found, how).write(out, force=force, made_by=made_by, progress=progress_bar())
    measures = found.to_json() | (sockets.facts if sockets else {})
    if as_json:
        print_json(measures)
    else:
        numbers = {name: value for name, value in measures.items() if name != "by_round"}
        rows = [(name.replace("_", " "), value) for name, value in numbers.items()]
        print_table(("measure", "value"), rows, title=str(dataset))
