"""`meshwright compare`: several algorithms on the same interests."""

import typing
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer

from meshwright import registry
from meshwright.cli import common
from meshwright.cli.options.costs import CostOptions
from meshwright.cli.options.groups import Engine, chosen_engine, fits_here, options_for
from meshwright.runtime.errors import OptionError, visible
from meshwright.runtime.places import local_path
from meshwright.runtime.wording import counts, meant

if TYPE_CHECKING:
    from meshwright.comparing import Comparison, Result
    from meshwright.pipeline.cost_files import CostFiles

EPILOG = """Each algorithm builds an overlay for each seed. If one of them fails, its row holds the
error, the others still run, and the exit code is 1. The folder gets comparison.parquet, comparison.json,
and comparison.html with charts. The column MB is the memory that the build added, at its peak.

**Examples**

`meshwright compare workload --algorithms gm,dcbc,ring --out comparison`

`meshwright compare workload --algorithms gm,low-oda --seeds 5 --set gm.ties=small-first --out comparison`

`meshwright compare workload --algorithms gm,gr-maw --costs rtt.csv --out comparison --json`

`meshwright compare s3a://lake/follows --algorithms dc,dcbc-direct --master spark://host:7077 --out s3a://lake/compared`

List the algorithms and their options:

`meshwright algorithms`
"""


@options_for("prices", CostOptions, CostOptions.files)
def compare(
    dataset: Annotated[str, typer.Argument(metavar="DIR", help="A dataset with interests.")],
    algorithms: Annotated[
        str,
        typer.Option(
            metavar="NAME,NAME,…", help="The algorithms to compare. List them with: meshwright algorithms"
        ),
    ],
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="The folder to write.")],
    seeds: Annotated[int, typer.Option(metavar="N", help="Build with the seeds 0 to N-1.")] = 1,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="ALGORITHM.NAME=VALUE", help="Set an algorithm's option. Repeatable."),
    ] = None,
    prices: "CostFiles | None" = None,
    engine: Engine = "auto",
    master: common.Master = None,
    conf: common.Conf = None,
    force: common.Force = False,
    as_json: common.Json = False,
) -> None:
    """Build with several algorithms on the same interests, and compare their overlays, time and memory."""
    wanted = _wanted(algorithms, seeds, settings, prices is not None)
    if find_spec("matplotlib") is None:
        raise OptionError(
            "comparison.html needs matplotlib, which is not installed; install meshwright[report]"
        )
    where = chosen_engine(engine, [dataset, out], master, conf, fits_here("running", dataset))
    common.check_target(out, force, [dataset])
    how: dict[str, Any] = {"costs": prices, "force": force, "progress": common.progress_bar()}
    from meshwright.pipeline.compare import compare_here, compare_on_spark

    if where == "spark":
        with common.spark_command(master, conf) as session:
            from meshwright.pipeline.spark.storage import location

            places = location(session, dataset), location(session, out)
            found = compare_on_spark(session, *places, wanted, **how)
    else:
        found = compare_here(local_path(dataset), local_path(out), wanted, **how)
    if as_json:
        common.print_json({"out": out, **found})
    else:
        _print_for_people(out, found)
    if any(run["error"] for run in found["runs"]):
        raise typer.Exit(1)


def _wanted(algorithms: str, seeds: int, settings: list[str] | None, with_costs: bool) -> "Comparison":
    """What was asked for, checked."""
    from meshwright.comparing import Comparison

    names = [name.strip() for name in algorithms.split(",") if name.strip()]
    return Comparison(algorithms=names, seeds=seeds, options=_options(names, settings), with_costs=with_costs)


def _options(names: list[str], settings: list[str] | None) -> dict[str, dict[str, Any]]:
    """By algorithm, what `--set algorithm.name=value` says."""
    by_algorithm: dict[str, list[str]] = {}
    for setting in settings or []:
        algorithm, dot, rest = setting.partition(".")
        if not dot or algorithm not in names:
            near = meant(algorithm, names)
            raise OptionError(
                f"--set got {setting!r}; {near}{'Write' if near else 'write'} --set algorithm.name=value, "
                f"where algorithm is one of {', '.join(names)}",
                option="set",
            )
        by_algorithm.setdefault(algorithm, []).append(rest)
    return {
        name: common.parse_settings(own, typing.get_type_hints(registry.find(name, "build").options))
        for name, own in by_algorithm.items()
    }


_COLUMNS = {
    "algorithm": "algorithm",
    "seed": "seed",
    "links": "links",
    "maximum_degree": "most\nlinks of\na node",
    "topic_connected": "topic-\nconnected",
    "maximum_topic_diameter": "longest\npath in\na topic",
    "times_lower_bound": "times\nthe lower\nbound",
    "cost": "cost",
    "times_lower_bound_cost": "times\nthe lower\nbound",
    "seconds": "seconds",
    "memory_bytes": "MB",
}
_LEFT_OUT = {
    "cost": ("maximum_topic_diameter", "times_lower_bound"),
    "topic_connected": ("maximum_topic_diameter",),
}
"""By a column that is shown, those left out to fit 80 columns; the page and the files have all numbers."""


def _rounded(value: Any) -> Any:
    return round(value, 3) if isinstance(value, float) else value


def _columns(rows: list["Result"]) -> dict[str, str]:
    """The columns worth a look: connected topics are the rule, and shown where some overlay breaks it."""
    from meshwright.report.compare import shown

    columns = shown(_COLUMNS, rows)
    if all(row.topic_connected is not False for row in rows):
        columns.pop("topic_connected", None)
    left_out = [field for known, fields in _LEFT_OUT.items() if known in columns for field in fields]
    return {field: words for field, words in columns.items() if field not in left_out}


def _print_for_people(out: str, found: dict[str, Any]) -> None:
    from meshwright.comparing import Result
    from meshwright.report.compare import value_of

    rows = [Result(**run) for run in found["runs"]]
    columns = _columns(rows)
    unit = next((row.cost_unit for row in rows if row.cost_unit is not None), None)
    if "cost" in columns:
        columns["cost"] = common.with_unit("cost", None if unit is None else f"({unit})")
    title = counts({name: found["counts"][name] for name in ("nodes", "topics", "interests")})
    cells = [[_rounded(value_of(row, field)) for field in columns] for row in rows]
    common.print_table(columns.values(), cells, title=title)
    for row in rows:
        if row.error is not None:
            print(f"Failed: {row.algorithm}, seed {row.seed}: {visible(row.error)}")
    print(f"Open the page with pictures: {out}/comparison.html")
