"""`meshwright gossip`: let the views of the nodes' topics share links, by StaN."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from meshwright.cli import common
from meshwright.cli.options.groups import fields_as_options, options_for
from meshwright.runtime.errors import OptionError
from meshwright.runtime.progress import stage
from meshwright.stan.options import SimulationOptions, StanOptions

if TYPE_CHECKING:
    from meshwright.stan.api import Engine
    from meshwright.stan.measures import Gossip


_VIEWS, _TROUBLE, _SOCKETS = "Views and walks", "How views begin, and what goes wrong", "Real sockets"


def _option(panel: str, metavar: str | None, words: str, *flags: str, default: bool = True) -> Any:
    return typer.Option(*flags, metavar=metavar, help=words, rich_help_panel=panel, show_default=default)


_STAN = {
    "rounds": _option(_VIEWS, "N", "How many walks each view sends out."),
    "ttl": _option(_VIEWS, "N", "How many times a walk is passed on."),
    "links": _option(
        _VIEWS,
        "walks|omniscient|random",
        "How peers are chosen: from those that walks find (walks), "
        "the best of all subscribers (omniscient), or at random (random).",
    ),
    "view_size": _option(
        _VIEWS, "N", "How many peers a view has; by default, as many as --connected requires.", default=False
    ),
    "connected": _option(
        _VIEWS,
        "P",
        "Without --view-size: make views so large that random views connect a topic with this probability.",
    ),
    "rounding": _option(
        _VIEWS, "up|down", "Without --view-size: round the size that --connected requires up, or down."
    ),
    "learn": _option(_VIEWS, None, "Nodes also take peers from the walks of others.", "--learn"),
    "slowest": _option(
        _VIEWS, "N", "Send walks less often while they find nothing new: wait for up to N rounds."
    ),
    "loss": _option(_VIEWS, "P", "The probability that a message is lost."),
}
_KEEP_ALIVE = (
    "With --engine simulator or --live: detect peers that are gone, and nodes that are in no view. "
    "--churn turns this on."
)
_CONDITIONS = {
    "membership": _option(
        _TROUBLE, "random|scamp", "How views begin: at random, or by the protocol Scamp (scamp)."
    ),
    "copies": _option(
        _TROUBLE,
        "C",
        "How many extra copies of a join message are sent; for --membership scamp, --churn or --keep-alive.",
    ),
    "delay": _option(_TROUBLE, "T", "With --engine simulator: the mean delay of a message, in rounds."),
    "churn": _option(
        _TROUBLE, "P", "With --engine simulator or --live: the share of nodes that crash in a round."
    ),
    "keep_alive": _option(_TROUBLE, None, _KEEP_ALIVE, "--keep-alive"),
    "patience": _option(
        _TROUBLE, "N", "After how many unanswered keep-alive messages a peer counts as gone."
    ),
}


def engine_of(
    engine: Annotated[
        str,
        typer.Option(
            metavar="rounds|simulator",
            help="Run the nodes in lock step (rounds), or message by message (simulator).",
        ),
    ] = "rounds",
    live: Annotated[bool, _option(_SOCKETS, None, "Run the nodes for real, over sockets.", "--live")] = False,
    round_seconds: Annotated[
        float, _option(_SOCKETS, "S", "How long a round takes; more nodes need longer rounds.")
    ] = 1.0,
    processes: Annotated[int, _option(_SOCKETS, "N", "How many processes the nodes are spread over.")] = 2,
    port: Annotated[
        int | None,
        _option(
            _SOCKETS,
            "N",
            "The port of the first node; the other nodes use the ports after it. By default, any free ports.",
            default=False,
        ),
    ] = None,
) -> Any:
    """What runs it: a name, or a `LiveEngine`."""
    if not live:
        return engine
    from meshwright.stan.live import LiveEngine

    return LiveEngine(seconds=round_seconds, processes=processes, port=port)


class Rule(NamedTuple):
    """Options that mean something only where `holds` says so of all values; and what to say elsewhere."""

    options: Collection[str]
    holds: Callable[[Mapping[str, Any]], bool]
    words: str


RULES = (
    Rule(
        ("engine",),
        lambda now: not now["live"],
        "has no effect with --live, which is an engine itself; leave one of them out",
    ),
    Rule(
        ("round_seconds", "processes", "port"),
        lambda now: now["live"],
        "has no effect without --live; add --live, or leave it out",
    ),
    Rule(
        ("delay",),
        lambda now: now["engine"] == "simulator" and not now["live"],
        "applies only to --engine simulator, since lock step has no delays and sockets have their own; "
        "use that engine, or leave the delay out",
    ),
    Rule(
        ("rounds", "ttl", "learn", "slowest", "loss"),
        lambda now: now["links"] == "walks",
        "applies only to --links walks, since others send no walks; use --links walks, or leave it out",
    ),
    Rule(
        ("connected", "rounding"),
        lambda now: now["view_size"] is None,
        "and --view-size both set the size of views; leave one of them out",
    ),
    Rule(
        ("connected", "rounding", "view_size"),
        lambda now: now["membership"] == "random",
        "applies only to --membership random, since Scamp finds sizes by itself; leave one of them out",
    ),
    Rule(
        ("copies",),
        lambda now: now["membership"] == "scamp" or now["churn"] > 0 or now["keep_alive"],
        "has no effect without --membership scamp, --churn or --keep-alive, since no node joins; "
        "give one of them, or leave it out",
    ),
    Rule(
        ("patience",),
        lambda now: now["churn"] > 0 or now["keep_alive"],
        "has no effect without --churn or --keep-alive, since no node is asked; "
        "give one of them, or leave it out",
    ),
)


def check_together(values: Mapping[str, Any], given: Collection[str]) -> None:
    """Refuse an option that was given and would change nothing, by the name of its parameter."""
    for rule in RULES:
        for name in rule.options:
            if name in given and not rule.holds(values):
                raise OptionError(f"--{name.replace('_', '-')} {rule.words}")


EPILOG = """In each of its topics, every node has a view: a list of random other subscribers, its peers. A
walk is a message that is passed on from node to node and finds other subscribers. A node keeps the
subscribers that it prefers: the same nodes in all topics, so that one connection serves several topics.

`--engine rounds` runs all nodes in lock step, for large datasets. `--engine simulator` runs the protocols
themselves. With `--live`, the protocols run on this machine, over TCP, and the same measurements are taken.

**Examples**

`meshwright gossip workload`

`meshwright gossip workload --rounds 16 --learn --slowest 4 --out overlay --report gossip.html`

`meshwright gossip workload --engine simulator --loss 0.1 --churn 0.02 --json`

`meshwright gossip workload --engine simulator --membership scamp`

`meshwright gossip workload --live --round-seconds 0.5 --processes 4`

The best possible result, to which walks come closer with every round:

`meshwright gossip workload --links omniscient`
"""


@options_for("options", fields_as_options(StanOptions, _STAN))
@options_for("conditions", fields_as_options(SimulationOptions, _CONDITIONS))
@options_for("engine", engine_of)
def gossip(
    context: typer.Context,
    dataset: Annotated[Path, typer.Argument(metavar="DIR", help="A dataset with interests.")],
    options: StanOptions,
    conditions: SimulationOptions,
    engine: "str | Engine",
    diameters: Annotated[bool, typer.Option(help="Also measure the diameters of topics.")] = True,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="The overlay dataset to write, with views.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with charts to this file.")
    ] = None,
    force: common.Force = False,
    seed: common.Seed = 0,
    as_json: common.Json = False,
) -> None:
    """Run StaN gossip, which makes topics share the same links; count each node's links before and after."""
    from meshwright.model.interests import Interests
    from meshwright.model.storage.dataset import check_free
    from meshwright.model.storage.single_file import check_file
    from meshwright.stan.api import gossip as run
    from meshwright.stan.api import overlay_of

    check_together(context.params, _given(context))
    if out is not None:
        check_free(out, force, [dataset])
    if report is not None:
        check_file(report, force)
    bar = common.progress_bar()
    interests = Interests.read(dataset, progress=bar)
    found = run(interests, options, conditions, engine=engine, diameters=diameters, seed=seed, progress=bar)
    how = {"algorithm": "stan", "options": {**asdict(options), **asdict(conditions)}, "seed": seed}
    made_by = {"command": "gossip", "engine": found.engine, **how, "inputs": [str(dataset)]}
    if out is not None:
        with stage(bar, "making the overlay"):
            overlay = overlay_of(found, how)
        overlay.write(out, force=force, made_by=made_by, progress=bar)
    if report is not None:
        from meshwright.report.gossip import gossip_page
        from meshwright.report.page import write_page

        write_page(report, gossip_page(str(dataset), found, made_by))
    _print(dataset, found, getattr(engine, "facts", {}), as_json)


def _given(context: typer.Context) -> set[str]:
    """The parameters that the call itself names."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"}


def _print(dataset: Path, found: "Gossip", more: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        common.print_json({**found.to_json(), **more})
        return
    rows = [(name.replace("_", " "), value) for name, value in {**found.numbers(), **more}.items()]
    common.print_table(("measure", "value"), rows, title=str(dataset))
    common.print_distributions(found.distributions(), "of a node")
