"""`meshwright build`: an overlay out of interests."""

import typing
from collections.abc import Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from meshwright import registry
from meshwright.cli.common import (
    Conf,
    Force,
    Json,
    Master,
    ReverseDelete,
    Seed,
    Settings,
    check_target,
    parse_settings,
    print_json,
    progress_bar,
    spark_command,
    with_unit,
)
from meshwright.cli.options.costs import CostOptions
from meshwright.cli.options.groups import Engine, chosen_engine, fits_here, options_for
from meshwright.runtime.errors import visible
from meshwright.runtime.places import is_local_address, local_path
from meshwright.runtime.wording import count

if TYPE_CHECKING:
    from meshwright.pipeline.cost_files import CostFiles

EPILOG = """**Examples**

`meshwright build workload --algorithm gm --out overlay`

`meshwright build workload --algorithm gm --set ties=small-first --seed 7 --out overlay`

`meshwright build workload --algorithm gr-maw --costs rtt.csv --out overlay`

`meshwright build workload --algorithm gr-maw --costs rtt.csv --sites brokers.csv --local 0.5 --out overlay`

`meshwright build workload --algorithm dc-maw --sites brokers.csv --inner 1 --outer 10 --out overlay`

`meshwright build workload --algorithm gr-maw --places nodes --base 2 --factor 0.02 --out overlay`

`meshwright build workload --algorithm gm --reverse-delete --out overlay`

`meshwright build s3a://lake/follows --algorithm dcbc-direct --master spark://host:7077 --out s3a://lake/overlay`

List the algorithms and their options:

`meshwright algorithms`
"""
_WHERE = {"local": "in this process", "spark": "on Spark"}


@options_for("prices", CostOptions, CostOptions.files)
def build(
    dataset: Annotated[str, typer.Argument(metavar="DIR", help="A dataset with interests.")],
    algorithm: Annotated[str, typer.Option(metavar="NAME", help="See: meshwright algorithms")],
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="The dataset to write.")],
    settings: Settings = None,
    seed: Seed = 0,
    prices: "CostFiles | None" = None,
    reverse_delete: ReverseDelete = False,
    engine: Engine = "auto",
    master: Master = None,
    conf: Conf = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Compute the links of an overlay, and write it; most algorithms connect every topic."""
    from meshwright.pipeline.build.in_process import BuildPlan, build_here

    chosen = registry.find(algorithm, "build")
    options = parse_settings(settings, typing.get_type_hints(chosen.options))
    plan = BuildPlan(
        algorithm=algorithm, settings=options, costs=prices, reverse_delete=reverse_delete, seed=seed
    )
    where = chosen_engine(engine, [dataset, out], master, conf, fits_here("building", dataset))
    check_target(out, force, [dataset])
    how: dict[str, Any] = {"force": force, "progress": progress_bar()}
    begin = perf_counter()
    if where == "spark":
        with spark_command(master, conf) as session:
            from meshwright.pipeline.build.job import build_on_spark
            from meshwright.pipeline.spark.storage import location

            places = location(session, dataset), location(session, out)
            manifest = build_on_spark(session, *places, plan, **how)
    else:
        manifest = build_here(local_path(dataset), local_path(out), plan, **how)
    _say(out, manifest, _WHERE[where], perf_counter() - begin, as_json)


def _say(out: str, manifest: dict[str, Any], where: str, seconds: float, as_json: bool) -> None:
    nodes, edges = manifest["counts"]["nodes"], manifest["counts"]["edges"]
    degree = 2 * edges / max(1, nodes)
    if as_json:
        shown = ("command", "engine", "algorithm", "options", "seed", "inputs", "seconds", "facts")
        counts = {"nodes": nodes, "edges": edges, "average_degree": degree}
        print_json({"out": out, **counts, **{key: manifest[key] for key in shown}})
    else:
        print(
            f"{out}: {count(nodes, 'node')}, {count(edges, 'link')}, {degree:.2f} links per node, "
            f"built {where} in {seconds:.2f} s"
        )
        print_cost(out, manifest)
        print_cost_choices(manifest["facts"])
        print_busiest(out, manifest["algorithm"])


def print_cost(overlay: str, manifest: dict[str, Any]) -> None:
    """Say what the links cost together, where they have costs; remote overlays are not read."""
    from meshwright.metrics.evaluation import unit_of
    from meshwright.pipeline.busiest import total_cost

    paid = total_cost(local_path(overlay)) if is_local_address(overlay) else None
    if paid is not None:
        print(f"The links cost {with_unit(f'{paid:,.2f}', unit_of(manifest['facts']))} together.")


def print_cost_choices(facts: Mapping[str, Any]) -> None:
    """Say how pairs with two costs, or with none, got one."""
    from meshwright.model.overlay import COSTS_FACT

    told = (facts.get(COSTS_FACT) or {}).get("facts", {})
    if pairs := told.get("asymmetric_pairs"):
        cost = count(pairs, "pair costs", "pairs cost")
        most = f"{told['greatest_difference']:.0%}"
        print(
            f"Note: {cost} more in one direction than in the other, by up to {most}; taken is the "
            f"{told['symmetrised_by']} (--symmetrise)."
        )
    ways = {"filled_from_other_direction": "the other direction", "filled_by_path": "the cheapest path"}
    taken = [f"{told[fact]:,} from {way}" for fact, way in ways.items() if told.get(fact)]
    if taken:
        print(f"Note: Costs that are missing were filled: {' and '.join(taken)} (--missing).")


def print_busiest(overlay: str, algorithm: str) -> None:
    """Warn where a node has far more links than others, or than it may; remote overlays are not read."""
    from meshwright.pipeline.busiest import find_busiest, warnings_of

    if is_local_address(overlay):
        for text in warnings_of(find_busiest(local_path(overlay)), algorithm):
            print(visible(f"Warning: {text}"))
