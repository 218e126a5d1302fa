"""`meshwright run`: from raw rows to an overlay and its report."""

import sys
import typing
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from meshwright import registry
from meshwright.cli.build import print_busiest, print_cost_choices
from meshwright.cli.common import (
    Bound,
    Conf,
    Force,
    Json,
    Master,
    ReverseDelete,
    Seed,
    Settings,
    engine_session,
    on_interrupt,
    parse_settings,
    print_json,
    print_table,
    progress_bar,
    with_unit,
)
from meshwright.cli.ingest import example, print_notices
from meshwright.cli.options.costs import CostOptions
from meshwright.cli.options.groups import Engine, chosen_engine, datasets_among, fits_here, options_for
from meshwright.cli.options.rows import Inputs, RowOptions, no_relation
from meshwright.runtime.errors import CapacityError, OptionError
from meshwright.runtime.places import is_local_address, local_path
from meshwright.runtime.wording import count, counts

if TYPE_CHECKING:
    from meshwright.pipeline.cost_files import CostFiles
    from meshwright.pipeline.ingest.job import Size
    from meshwright.pipeline.ingest.options import IngestOptions

EPILOG = """The command writes the folders interests, profile, overlay and rejected to DIR, with
report.html and manifest.json. With --resume, a run that was cut off continues after its last finished stage.

**Examples**

`meshwright run subscriptions.csv --as pairs --out result`

`meshwright run follows.txt.gz --as follows --algorithm dcbc-direct --out result`

`meshwright run pairs.csv --as pairs --algorithm gr-maw --costs rtt.csv --sites at.csv --local 1 --out result`

`meshwright run 's3a://lake/follows/*.parquet' --as follows --master spark://head:7077 --out s3a://lake/result`
"""


_MOST_NODES_TO_HINT = 20_000
"""Up to here, the tight bound takes a minute or two."""


@options_for("reading", RowOptions, RowOptions.reading_if_given)
@options_for("prices", CostOptions, CostOptions.files)
def run(
    inputs: Inputs,
    reading: "IngestOptions | None",
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="The folder to write to.")],
    algorithm: Annotated[
        str, typer.Option(metavar="NAME", help="See: meshwright algorithms")
    ] = "dcbc-direct",
    settings: Settings = None,
    seed: Seed = 0,
    prices: "CostFiles | None" = None,
    reverse_delete: ReverseDelete = False,
    bound: Bound = "quick",
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue a run that was cut off, after its last finished stage.")
    ] = False,
    engine: Engine = "auto",
    spark_only: Annotated[
        bool,
        typer.Option("--spark-only", help="Use Spark for all stages, also to build and evaluate small data."),
    ] = False,
    master: Master = None,
    conf: Conf = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Ingest raw rows, profile them, build an overlay, evaluate it and write a report to open.

    In place of raw rows, PATH may be a dataset with interests; then leave --as out.
    """
    from meshwright.metrics.evaluation import check_bound, check_spark_bound
    from meshwright.pipeline.run import RunOptions
    from meshwright.pipeline.run import run as run_all

    begin = perf_counter()
    chosen = registry.find(algorithm, "build")
    options = RunOptions(
        ingest=reading,
        algorithm=algorithm,
        settings=parse_settings(settings, typing.get_type_hints(chosen.options)),
        costs=prices,
        reverse_delete=reverse_delete,
        bound=bound,
        seed=seed,
    )
    size = _size(inputs, reading)
    if spark_only and engine == "local":
        raise OptionError("--spark-only needs Spark; use --engine spark, or leave --spark-only out")
    check_bound(bound)
    if spark_only:
        check_spark_bound(bound)
    where = chosen_engine(engine, [*inputs, out], master, conf, size.fits_here and not spark_only)
    _check_here(inputs, out, options, resume, force)
    if prices is not None:
        prices.check()
    before = perf_counter()
    with on_interrupt(lambda: _kept(out)), engine_session(where, master, conf, size.is_little) as session:
        from meshwright.pipeline.spark.storage import location

        manifest = run_all(
            session,
            inputs,
            location(session, out),
            options,
            resume=resume,
            force=force,
            spark_only=spark_only,
            spark_start=perf_counter() - before,
            progress=progress_bar(),
            on_stage=say_stage,
        )
    if as_json:
        print_json({"out": out, **manifest})
    else:
        print_for_people(out, manifest, perf_counter() - begin)
    if not manifest["facts"]["evaluation"]["topic_connected"]:
        raise typer.Exit(1)


def _size(inputs: list[str], reading: "IngestOptions | None") -> "Size":
    """How large the input is; a dataset has to fit into memory."""
    from meshwright.pipeline.ingest.job import Size, check_inputs

    datasets = datasets_among(inputs)
    if len(datasets) > 1 and len({*map(local_path, datasets)}) == 1:
        raise OptionError(f"{datasets[0]} is given more than once; give a dataset once")
    if datasets and (reading is not None or len(inputs) > 1):
        raise OptionError(f"{datasets[0]} is a dataset; give nothing else, and leave --as out")
    if datasets:
        if not fits_here("running", datasets[0]):
            raise CapacityError(
                f"{datasets[0]} does not fit into memory; use meshwright build and meshwright evaluate with "
                f"--engine spark"
            )
        return Size(True, True)
    if reading is None:
        raise no_relation()
    return check_inputs(inputs, reading, then="running")


def _check_here(inputs: list[str], out: str, options: Any, resume: bool, force: bool) -> None:
    """Refuse what is on this machine before Spark is started for it."""
    from meshwright.pipeline.run import check_run

    if all(is_local_address(text) for text in (*inputs, out)):
        check_run(inputs, local_path(out), options, resume=resume, force=force)


def _kept(out: str) -> str | None:
    """What an interrupted run says about its folder; nothing if no stage was finished."""
    from meshwright.pipeline.run_folder import NOTES

    if is_local_address(out) and not (local_path(out) / NOTES).exists():
        return None
    return f"finished stages are kept in {out}; continue with --resume"


def say_stage(name: str, seconds: float, again: bool) -> None:
    """One line on a terminal for each stage that has ended."""
    if sys.stderr.isatty():
        done = "done before" if again else f"{seconds:.1f} s"
        print(f"{name:<10} {done}", file=sys.stderr)


def print_for_people(out: str, manifest: dict[str, Any], seconds: float) -> None:
    """What came out, what else it would have cost, and where to look; the command took `seconds`."""
    found = manifest["facts"]["evaluation"]
    title = counts({name: found[name] for name in ("nodes", "topics", "interests")})
    rows = [
        (
            overlay["name"],
            ("at most " if overlay["at_most"] else "") + f"{overlay['links']:,}",
            overlay["average_degree"],
        )
        for overlay in manifest["facts"]["alternatives"]
    ]
    rows.append(("proven lower bound", "", found["lower_bound_average_degree"]))
    print_table(("overlay", "links", "links per node"), rows, title=title)
    _print_rows(out, manifest["facts"]["ingest"])
    print(_verdict(found) if found["interests"] else "The input has no interests: check it, and --columns.")
    if found["interests"] and found["topic_connected"]:
        print(_distance(out, found))
    if "weighted_average_degree" in found:
        print(_cost(found))
        print_cost_choices(manifest["facts"]["build"])
    print_busiest(f"{out}/overlay", manifest["algorithm"])
    print(f"{seconds:.0f} s in all. Open the report: {out}/report.html")


def _print_rows(out: str, facts: dict[str, Any]) -> None:
    """Say which rows are not in the overlay, and what else may not be meant."""
    if facts.get("rejected"):
        print(
            f"{facts['rejected']:,} of {facts['rows']:,} rows can't be used; they are in {out}/rejected, "
            f"with file, line and reason{example(facts)}."
        )
    if facts.get("duplicates"):
        repeats = count(facts["duplicates"], "row repeats another and counts", "rows repeat others and count")
        print(f"{repeats} once.")
    print_notices(facts)


def _cost(found: dict[str, Any]) -> str:
    paid, least = found["weighted_average_degree"], found["lower_bound_weighted_average_degree"]
    unit = found.get("cost_unit")
    known = ""
    if least is not None:
        known = f"; no topic-connected overlay costs less than {with_unit(f'{least:,.2f}', unit)} per node"
    return f"The links of a node cost {with_unit(f'{paid:,.2f}', unit)} on average{known}."


def _distance(out: str, found: dict[str, Any]) -> str:
    """How near to the optimum the overlay is, by proof, and where the proof is."""
    from meshwright.pipeline.run_folder import CERTIFICATE

    above = found["average_degree"] / found["lower_bound_average_degree"] - 1 if found["edges"] else 0.0
    said = f"It is proven that the overlay has at most {above:.1%} more links than the least possible"
    if found["lower_bound_method"] == "lagrangian":
        return f"{said}; check it with: meshwright check-certificate {out}/overlay {out}/{CERTIFICATE}"
    hint = "; --bound tight may prove that it is nearer" if found["nodes"] <= _MOST_NODES_TO_HINT else ""
    return f"{said}{hint}."


def _verdict(found: dict[str, Any]) -> str:
    if not found["topic_connected"]:
        broken = count(found["disconnected_topics"], "topic is", "topics are")
        return f"NOT topic-connected: {broken} cut."
    at_most = "" if found["diameters_exact"] else "at most "
    return (
        f"Every topic is connected; the longest path inside a topic has "
        f"{at_most}{count(found['maximum_topic_diameter'], 'link')}, "
        f"and no node has more than {count(found['maximum_degree'], 'link')}."
    )
