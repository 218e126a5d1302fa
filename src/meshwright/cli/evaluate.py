"""`meshwright evaluate`: how good an overlay is."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from meshwright.cli.common import (
    Bound,
    Conf,
    Json,
    Master,
    print_distributions,
    print_json,
    print_table,
    progress_bar,
    shown,
    spark_command,
    with_unit,
)
from meshwright.cli.options.costs import CostOptions
from meshwright.cli.options.groups import Engine, chosen_engine, options_for
from meshwright.runtime.errors import OptionError
from meshwright.runtime.places import is_local_address, local_path
from meshwright.runtime.wording import choose, count

if TYPE_CHECKING:
    from meshwright.metrics.evaluation import Evaluation
    from meshwright.pipeline.cost_files import CostFiles

EPILOG = """The exit code is 1 if a topic is not connected.

**Examples**

`meshwright evaluate overlay`

`meshwright evaluate overlay --json | jq .average_degree`

`meshwright evaluate overlay --bound tight --certificate bound.json`

`meshwright evaluate overlay --costs rtt.csv --sites brokers.csv --local 0.5`

`meshwright evaluate s3a://lake/overlay --master spark://host:7077 --no-bound`
"""
_SHOWN_TOPICS = 10


@options_for("prices", CostOptions, CostOptions.files)
def evaluate(
    dataset: Annotated[str, typer.Argument(metavar="DIR", help="A dataset with an overlay.")],
    diameters: Annotated[
        bool, typer.Option("--diameters/--no-diameters", help="Measure the diameter of each topic.")
    ] = True,
    diameter_budget: Annotated[
        str,
        typer.Option(
            metavar="LINKS|exact",
            help="How many links the searches for a topic's diameter may look at. Topics that need more "
            "get a lower and an upper bound. With exact, there is no limit.",
        ),
    ] = "16777216",
    bound: Bound = "quick",
    no_bound: Annotated[bool, typer.Option("--no-bound", help="Compute no lower bound.")] = False,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the proof of the tight bound, which check-certificate checks."
        ),
    ] = None,
    prices: "CostFiles | None" = None,
    engine: Engine = "auto",
    master: Master = None,
    conf: Conf = None,
    as_json: Json = False,
) -> None:
    """Measure an overlay: degrees, connectivity and diameter of every topic, distance from optimal."""
    _check_certificate(bound, no_bound, certificate)
    budget = _budget(diameter_budget)
    where = chosen_engine(engine, [dataset], master, conf, _fits_here(dataset))
    idle = None
    how: dict[str, Any] = {
        "diameters": diameters,
        "diameter_budget": budget,
        "progress": progress_bar(),
    }
    if where == "spark":
        from meshwright.metrics.evaluation import check_spark_bound

        check_spark_bound(bound)
        with spark_command(master, conf) as session:
            from meshwright.pipeline.evaluate.job import evaluate_on_spark
            from meshwright.pipeline.spark.storage import location

            found = evaluate_on_spark(
                session, location(session, dataset), costs=prices, bound=not no_bound, **how
            )
    else:
        from meshwright.metrics.certificates import write_certificate
        from meshwright.metrics.evaluation import evaluate as evaluate_overlay
        from meshwright.metrics.idle import idle_links
        from meshwright.model.overlay import Overlay

        overlay = Overlay.read(local_path(dataset), progress=progress_bar())
        costs = None if prices is None else prices.load(overlay.interests)
        found = evaluate_overlay(overlay, costs=costs, bound=False if no_bound else bound, **how)
        if certificate is not None and found.certificate is not None:
            write_certificate(certificate, found.certificate, overlay.interests, found.cost_certificate)
        idle = idle_links(overlay)
    if as_json:
        print_json(
            found.to_json()
            | {"disconnected_topic_components": found.disconnected_topic_components()}
            | found.distributions()
        )
    else:
        _print_for_people(dataset, found, idle)
    if not found.topic_connected:
        raise typer.Exit(1)


def _budget(text: str) -> int | None:
    """A number of links; None is without end."""
    if text == "exact":
        return None
    if not text.isdecimal() or not int(text):
        raise OptionError(
            f"--diameter-budget is {text!r}; give a number of links, or exact", option="--diameter-budget"
        )
    return int(text)


def _check_certificate(bound: str, no_bound: bool, certificate: Path | None) -> None:
    """Refuse an unknown bound, and a certificate without the tight one."""
    if bound not in ("quick", "tight"):
        raise OptionError(f"the bound is {bound!r}; {choose(bound, ('quick', 'tight'))}", option="bound")
    if certificate is not None and (no_bound or bound != "tight"):
        raise OptionError("only the tight bound has a certificate; add --bound tight", option="certificate")


def _fits_here(dataset: str) -> bool:
    """Whether an overlay is on this machine, and evaluating it fits into memory."""
    from meshwright.model.storage.manifest import counted, read_manifest
    from meshwright.runtime.memory import fits

    if not is_local_address(dataset):
        return False
    manifest = read_manifest(local_path(dataset), "overlay")
    counts = counted(manifest, ("nodes", "topics", "interests", "edges"), dataset)
    views = counted({"counts": {"views": 0, **manifest["tables"]}}, ("views",), dataset)
    return fits("evaluating", {**counts, **views})


def _in_unit(name: str, value: object, unit: str | None) -> object:
    """A measure for the table; what is in costs has its unit behind it."""
    is_cost = "weighted" in name and isinstance(value, float) and unit is not None
    return with_unit(shown(value), unit) if is_cost else value


def _print_for_people(dataset: str, found: "Evaluation", idle: int | None) -> None:
    from meshwright.report.words import WHAT_CUT_MEANS, idle_in_words, measures

    rows = [(words, _in_unit(key, value, found.cost_unit)) for words, key, value in measures(found.to_json())]
    print_table(("measure", "value"), rows, title=dataset)
    if found.topic_connected:
        _print_bounds(found)
    _print_degrees(found)
    if idle:
        print(idle_in_words(idle))
    if found.view_counts is not None:
        print_distributions(found.view_counts.distributions(), "of a node")
    broken = found.disconnected_topic_components()
    if broken:
        named = ", ".join(
            f"{name!r} ({count(parts, 'part')})" for name, parts in list(broken.items())[:_SHOWN_TOPICS]
        )
        more = f" and {len(broken) - _SHOWN_TOPICS:,} more" if len(broken) > _SHOWN_TOPICS else ""
        print(WHAT_CUT_MEANS)
        print(f"Cut topics: {named}{more}")
        if found.maximum_topic_diameter is not None:
            print("The longest paths above are those of the topics that are not cut.")


def _print_bounds(found: "Evaluation") -> None:
    """How far links and cost are from the least possible."""
    from meshwright.report.markup import of_the_least

    bound = found.lower_bound_average_degree
    if bound:
        print(f"No topic-connected overlay has fewer than {bound:.2f} links per node: ", end="")
        print(of_the_least(found.average_degree / bound, "this one has").strip())
    least, cost = found.lower_bound_weighted_average_degree, found.weighted_average_degree
    if least and cost:
        known = with_unit(f"{least:,.4g}", found.cost_unit)
        print(f"None costs less than {known} per node: ", end="")
        print(of_the_least(cost / least, "this one costs").strip())


def _print_degrees(found: "Evaluation") -> None:
    """How links are spread over the nodes."""
    import numpy as np

    quarters = np.quantile(found.degrees, [0.25, 0.5, 0.75, 0.99]) if found.nodes else [0, 0, 0, 0]
    low, median, high, most = (round(float(links)) for links in quarters)
    half = count(high, "link") if low == high else f"{low} to {count(high, 'link')}"
    print(f"Half of the nodes have {half}, the median is {median}, and 99% have at most {most}.")
