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
    from meshwright.suggesting import Suggestion

EPILOG = """Every algorithm that connects all topics is tried on a sample of the nodes. If the best of them
take linear time, they are tried on many more nodes, too. Times and memory are estimated by how they grow.

The objective `links` counts links per node; with costs, what they cost.

The objective `latency` is the longest path inside a topic, as a mean over topics; with costs, what it costs.

The objective `load` counts the messages that the busiest node sends, as a mean over publications.

The objective `repairs` counts the links that are changed when a node leaves or comes back.

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
    _print(found, dataset, prices is not None)


def _print(found: "Suggestion", dataset: str, with_costs: bool) -> None:
    """A table of what was tried, the reasons, what was not tried, and the next command."""
    rows = [
        (
            own.algorithm,
            own.nodes,
            own.value,
            own.average_degree,
            own.maximum_degree,
            own.estimated_seconds,
            None if own.estimated_memory_bytes is None else own.estimated_memory_bytes / 1e6,
        )
        for own in found.candidates
        if not own.reason
    ]
    columns = ("algorithm", "tried on", "value", "links per node", "most links", "seconds", "MB")
    title = (
        f"{found.measure[0].upper()}{found.measure[1:]}; links are those of the nodes tried on, seconds and "
        f"MB are estimates for all {found.nodes:,} nodes"
    )
    common.print_table(columns, rows, title)
    for reason in found.reasons:
        print(reason)
    left_out: dict[str, list[str]] = {}
    for own in found.candidates:
        if own.reason:
            left_out.setdefault(own.reason, []).append(own.algorithm)
    for reason, names in left_out.items():
        print(f"Not tried ({reason}): {', '.join(names)}.")
    same = ", with the same options for costs" if with_costs else ""
    print(f"Build it: meshwright build {dataset} --algorithm {found.algorithm} --out overlay{same}")
