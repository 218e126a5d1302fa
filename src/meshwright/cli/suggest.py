"""`meshwright suggest`: which algorithm for these interests."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from meshwright.cli import common
from meshwright.cli.options.costs import CostOptions
from meshwright.cli.options.groups import options_for
from meshwright.runtime.places import local_path

if TYPE_CHECKING:
    from meshwright.pipeline.cost_files import CostFiles

EPILOG = """Every algorithm that connects all topics is tried on a sample of the nodes, and the best by the
objective is suggested. Times on all nodes are estimated by how those on the sample grow.

| objective | what is measured; less is better |
| --- | --- |
| links | links per node; with costs, what they cost |
| latency | the longest path inside a topic, as a mean over topics; with costs, what it costs |
| load | the messages that the busiest node passes on, for each publication |
| repairs | the links that are changed when a node joins or leaves |

**Examples**

`meshwright suggest workload`

`meshwright suggest workload --objective latency --costs rtt.csv`
"""


@options_for("prices", CostOptions, CostOptions.files)
def suggest(
    dataset: Annotated[str, typer.Argument(metavar="DIR", help="A dataset with interests.")],
    objective: Annotated[
        str, typer.Option(metavar="links|latency|load|repairs", help="What matters most.")
    ] = "links",
    sample: Annotated[int, typer.Option(metavar="N", help="Try at most N nodes, drawn at random.")] = 800,
    prices: "CostFiles | None" = None,
    seed: common.Seed = 0,
    as_json: common.Json = False,
) -> None:
    """Say which algorithm to use for these interests, with reasons and what it would take."""
    from meshwright.model.interests import Interests
    from meshwright.suggesting import suggest as suggested

    progress = common.progress_bar()
    interests = Interests.read(local_path(dataset), progress=progress)
    costs = None if prices is None else prices.load(interests)
    found = suggested(
        interests, objective=objective, costs=costs, sample=sample, seed=seed, progress=progress
    )
    if as_json:
        common.print_json(asdict(found))
        return
    rows = [(own.algorithm, own.value, own.estimated_seconds, own.reason) for own in found.candidates]
    title = f"{found.measure.capitalize()}, on {found.sampled_nodes:,} of {found.nodes:,} nodes"
    common.print_table(("algorithm", "value", "seconds for all nodes", "why not tried"), rows, title)
    for reason in found.reasons:
        print(reason)
    print(f"Build it: meshwright build {dataset} --algorithm {found.algorithm} --out overlay")
