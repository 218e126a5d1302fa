"""`meshwright gossip`: views of the nodes' topics come to share links, by StaN."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from meshwright.cli.common import (
    Force,
    Json,
    Seed,
    print_distributions,
    print_json,
    print_table,
    progress_bar,
)
from meshwright.cli.gossip_options import check_together, engine_of, simulation_options, stan_options
from meshwright.cli.option_groups import options_for
from meshwright.gossip.options import SimulationOptions, StanOptions

if TYPE_CHECKING:
    from meshwright.gossip.measures import Gossip
    from meshwright.gossip.running import Engine

_EPILOG = """Every node has a view of random others in each of its topics. Walks find out who else is there,
and the node keeps those that it prefers: the same ones in all topics, so that a physical link serves several.
`rounds` runs all nodes in lock step, for large datasets; `simulator` runs the protocols themselves. With
`--live` they run on this machine, over TCP, and the same is measured.

**Examples**

`meshwright gossip workload`

`meshwright gossip workload --rounds 16 --learn --slowest 4 --out overlay --report gossip.html`

`meshwright gossip workload --engine simulator --loss 0.1 --churn 0.02 --json`

`meshwright gossip workload --engine simulator --membership scamp`

`meshwright gossip workload --live --round-seconds 0.5 --processes 4`

`meshwright gossip workload --links omniscient`, the limit that rounds approach.
"""


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog=_EPILOG)(gossip)


@options_for("options", stan_options)
@options_for("conditions", simulation_options)
@options_for("engine", engine_of)
def gossip(
    context: typer.Context,
    dataset: Annotated[Path, typer.Argument(metavar="DIR", help="A dataset with interests.")],
    options: StanOptions,
    conditions: SimulationOptions,
    engine: "str | Engine",
    diameters: Annotated[bool, typer.Option(help="Measure diameters of topics too.")] = True,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="The overlay dataset to write, with views.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with pictures there.")
    ] = None,
    force: Force = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Let the views of the nodes' topics share links, and measure them before and after."""
    from meshwright.gossip.running import gossip as run
    from meshwright.gossip.running import overlay_of
    from meshwright.model.dataset import check_free
    from meshwright.model.interests import Interests
    from meshwright.model.new_file import check_file

    check_together(context.params, _given(context))
    if out is not None:
        check_free(out, force)
    if report is not None:
        check_file(report, force)
    interests, bar = Interests.read(dataset), progress_bar()
    found = run(interests, options, conditions, engine=engine, diameters=diameters, seed=seed, progress=bar)
    how = {"algorithm": "stan", "options": {**asdict(options), **asdict(conditions)}, "seed": seed}
    made_by = {"command": "gossip", "engine": found.engine, **how, "inputs": [str(dataset)]}
    if out is not None:
        overlay_of(found, how).write(out, force=force, made_by=made_by, progress=bar)
    if report is not None:
        from meshwright.report import write_gossip_page

        write_gossip_page(report, str(dataset), found, made_by)
    _print(dataset, found, getattr(engine, "facts", {}), as_json)


def _given(context: typer.Context) -> set[str]:
    """The parameters that the call itself names."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"}


def _print(dataset: Path, found: "Gossip", more: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        print_json({**found.to_json(), **more})
        return
    rows = [(name.replace("_", " "), value) for name, value in {**found.numbers(), **more}.items()]
    print_table(("measure", "value"), rows, title=str(dataset))
    print_distributions(found.distributions(), "of a node")
