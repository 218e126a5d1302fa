"""`meshwright study`: the tables and figures of the papers, run again."""

from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from meshwright.cli import common
from meshwright.cli.options.groups import ENGINES, chosen_engine
from meshwright.runtime.errors import OptionError
from meshwright.runtime.machine import cores
from meshwright.runtime.places import local_path
from meshwright.runtime.wording import count

EPILOG = """NAME is a study, a paper (all of its studies) or all. The folder gets a page for each study
with its picture (PNG and SVG) and its data (Parquet), an index with all verdicts, and findings.json. Each
claim of a paper is measured for several seeds. It counts as reproduced only if the 95% interval of the mean
lies within a tolerance that was settled before. With --resume, studies that were run in the folder before
stay in its pages.

**Examples**

List the studies:

`meshwright study list`

Run one of them, in a minute:

`meshwright study divide-and-conquer-figure-7 --out figure-7`

Run all of them, and continue after an interruption:

`meshwright study all --out studies`

`meshwright study all --out studies --resume`

Measure Table II of [1] on samples of social graphs that you have:

`meshwright study divide-and-conquer-table-2 --data snap --out table-2`

Use the sizes and runs of the papers, which takes hours:

`meshwright study all --scale paper --out studies`
"""


def study(
    name: Annotated[str, typer.Argument(metavar="list|NAME|all", help="What to run, or list.")],
    out: Annotated[str | None, typer.Option("--out", metavar="DIR", help="The folder to write.")] = None,
    scale: Annotated[
        str,
        typer.Option(
            metavar="smoke|quick|paper",
            help="Tiny systems, to see that all runs; systems of the papers, with few runs; or with theirs.",
        ),
    ] = "quick",
    runs: Annotated[
        int | None, typer.Option(metavar="N", help="Measure each claim for N seeds, whatever the scale.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="The first seed.")] = 0,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="A folder with SNAP's ego-Facebook and ego-Twitter, for Table II of [1]."
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a run that was interrupted.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Run these studies again, and overwrite pages and data.")
    ] = False,
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            metavar="|".join(ENGINES),
            help="Where to run: in this process, which takes one core (local), or on Spark (spark). With "
            "auto, several studies run on Spark if it is installed, unless they are tiny.",
        ),
    ] = "auto",
    master: common.Master = None,
    conf: common.Conf = None,
    as_json: common.Json = False,
) -> None:
    """Run tables and figures of the papers again, and give a verdict on every claim."""
    from meshwright.studies import catalogue

    if name == "list":
        _list(as_json)
        return
    if out is None:
        raise OptionError("the option --out is missing (the folder to write)", option="out")
    if find_spec("matplotlib") is None:
        raise OptionError("the pictures need matplotlib, which is not installed; install meshwright[report]")
    wanted = catalogue.chosen(name)
    where = chosen_engine(engine, [out], master, conf, len(wanted) == 1 or scale == "smoke" or not _spreads())
    from meshwright.studies import pages, running

    plan = running.Plan(studies=[one.name for one in wanted], scale=scale, runs=runs, seed=seed, data=data)
    folder, progress = local_path(out), common.progress_bar()
    kept = "what is finished is kept; the same command with --resume continues"
    with common.on_interrupt(lambda: kept), common.engine_session(where, master, conf) as session:
        rows = running.run(plan, folder, resume=resume, force=force, session=session, progress=progress)
    known = catalogue.studies()
    done = [pages.Done(known[one], own, running.findings(known[one], plan, own)) for one, own in rows.items()]
    commands = [name] if len(done) == len(wanted) else rows
    about = _about(
        ", ".join(f"study {one}" for one in commands),
        plan,
        where,
        sum(row.seconds for own in rows.values() for row in own),
    )
    pages.write_site(folder, done, about)
    if as_json:
        found = [finding.to_json() | {"study": one.study.name} for one in done for finding in one.findings]
        common.print_json({"out": out, **about, "findings": found})
        return
    table = [(one.study.name, pages.verdicts(one.counted) or "no claims") for one in done]
    common.print_table(("study", "verdicts"), table)
    counted = [finding for one in done for finding in one.counted]
    print(" ".join([f"{len(counted)} claims: {pages.verdicts(counted)}.", *pages.warnings(about)]))
    print(f"Open the page with pictures: {out}/index.html")


def _spreads() -> bool:
    """Whether Spark would be faster: a process takes one core."""
    return cores() > 1 and find_spec("pyspark") is not None


def _about(command: str, plan: Any, engine: str, seconds: float) -> dict[str, Any]:
    from meshwright.model.storage.manifest import versions
    from meshwright.runtime.memory import installed_memory

    return {
        "command": command,
        "scale": plan.scale,
        "runs": plan.runs,
        "seed": plan.seed,
        "data": "SNAP's ego-Facebook and ego-Twitter" if plan.data else None,
        "engine": engine,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{count(cores(), 'core')}, {installed_memory() / 2**30:.0f} GiB of memory",
        "processor_minutes": round(seconds / 60, 1),
        "versions": versions(),
    }


def _list(as_json: bool) -> None:
    from meshwright.studies.catalogue import studies
    from meshwright.studies.claims import Scope

    found = [
        {
            "name": one.name,
            "paper": one.paper,
            "source": one.source,
            "title": one.title,
            "claims": sum(not claim.variant_of for claim in one.claims(Scope("paper"))),
        }
        for one in studies().values()
    ]
    if as_json:
        common.print_json(found)
    else:
        rows = [(one["name"], one["claims"], one["title"]) for one in found]
        common.print_table(("study", "claims", "what"), rows)
