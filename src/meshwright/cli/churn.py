"""`meshwright churn`: keep an overlay topic-connected while nodes and interests come and go."""

import json
import sys
import typing
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from meshwright.cli.common import (
    Force,
    Json,
    Seed,
    Settings,
    on_interrupt,
    parse_settings,
    print_json,
    print_table,
    progress_bar,
    shown,
    spark_command,
    with_unit,
)
from meshwright.cli.options.churn import (
    EventOptions,
    JournalOptions,
    PageOptions,
    ServerOptions,
    StreamOptions,
)
from meshwright.cli.options.costs import CostOptions
from meshwright.cli.options.groups import given, options_for, read_limits, refuse_given
from meshwright.cli.sending import send_events
from meshwright.model.reading.limits import ReadLimits
from meshwright.runtime.checks import check_whole
from meshwright.runtime.errors import OptionError, visible
from meshwright.runtime.places import is_local_address, local_path
from meshwright.runtime.wording import count

if TYPE_CHECKING:
    from meshwright.pipeline.churn import CostPlan
    from meshwright.pipeline.cost_files import CostFiles
    from meshwright.pipeline.stream.batches import BatchReport


_LONGEST = 86_400
"""Seconds between looks at a folder: a day."""


def follow_stream(
    dataset: Path,
    out: Path,
    streaming: StreamOptions,
    journaling: JournalOptions,
    how: Mapping[str, Any],
    *,
    as_json: bool,
) -> None:
    """Follow a stream of event files and say what each micro-batch came to, a line each."""
    from meshwright.model.storage.manifest import read_manifest
    from meshwright.pipeline.spark.storage import location
    from meshwright.pipeline.stream.folders import check_folders

    asked: dict[str, Any] = {"every": streaming.every, "files_a_batch": streaming.files_a_batch}
    asked["compact_after"] = journaling.compact_after
    given = {name: value for name, value in asked.items() if value is not None}
    _check(given)
    read_manifest(dataset, "overlay")
    source = str(streaming.stream)
    if is_local_address(source) and not local_path(source).is_dir():
        raise OptionError(
            f"--stream got {source!r}; give a folder in which files of events appear", option="--stream"
        )
    journal = (journaling.journal or out / "journal").absolute()
    check_folders(out.absolute(), journal)
    with spark_command(streaming.master, streaming.conf) as session:
        from meshwright.pipeline.stream.job import StreamPlan, follow

        plan = StreamPlan(
            source=location(session, source),
            out=out.absolute(),
            journal=journal,
            once=streaming.once,
            accept_loss=journaling.accept_loss,
            **how,
            **given,
        )
        manifest = follow(session, dataset, plan, _tell_json if as_json else _tell, progress_bar())
    if as_json:
        print(json.dumps({"out": str(out), **manifest}, ensure_ascii=False), flush=True)
    else:
        tell_torn(manifest)
        counts = manifest["counts"]
        sizes = f"{count(counts['nodes'], 'node')}, {count(counts['edges'], 'link')}"
        print(f"{out}: {sizes}{_with_cost(manifest['facts'])}")
        _print_changes(manifest["facts"])
        _print_lacking(manifest["facts"])


def tell_torn(manifest: Mapping[str, Any]) -> None:
    """Say on stderr that the last end cut a step off; what is lost is a warning of the journal's own."""
    recovery = manifest["recovery"]
    if recovery is not None and recovery["torn"]:
        print(
            f"meshwright: {manifest['journal']}: the last record, of {recovery['torn']:,} bytes, was cut off "
            f"before its step was taken, and is left out",
            file=sys.stderr,
        )


def _check(given: Mapping[str, Any]) -> None:
    if not 0 < given.get("every", 1) <= _LONGEST:
        raise OptionError(
            f"--every is {given['every']}; give a number of seconds above 0, at most {_LONGEST:,}",
            option="--every",
        )
    if given.get("files_a_batch", 1) < 1:
        raise OptionError(
            f"--files-a-batch is {given['files_a_batch']}; give a whole number of at least 1",
            option="--files-a-batch",
        )
    check_whole("--compact-after", given.get("compact_after"), 1)


def _tell_json(report: "BatchReport") -> None:
    print(json.dumps(asdict(report)), flush=True)


def _tell(report: "BatchReport") -> None:
    for reason in report.files_put_aside:
        print(f"batch {report.batch} puts a file aside: {visible(reason)}")
    put_aside = f", {report.rejected:,} put aside" if report.rejected else ""
    known = f", {report.repeated:,} known already" if report.repeated else ""
    opened, closed = f"{count(report.opened, 'link')} opened", f"{report.closed:,} closed"
    total = ""
    if report.cost is not None:
        opened += f" for {shown(report.opened_cost)}"
        closed += f", which saves {shown(report.closed_cost)}"
        total = f" at a cost of {shown(report.cost)}"
    lacking = f", {count(report.unprotected, 'topic')} without a spare" if report.unprotected else ""
    if report.over_max_links:
        lacking += f", {count(report.over_max_links, 'node')} over max_links"
    print(
        f"batch {report.batch}: {count(report.events, 'event')} of {count(report.files, 'file')}{put_aside}"
        f"{known}; {opened}, {closed}; {count(report.nodes, 'node')}, {count(report.links, 'link')}{total}, "
        f"at most {report.maximum_degree:,} a node{lacking}; lag {report.lag_seconds:.1f} s",
        flush=True,
    )


EPILOG = """**Examples**

`meshwright churn overlay --events today.jsonl --out tomorrow`

With a journal, the same command continues after a crash:

`meshwright churn overlay --events events/ --journal journal --out tomorrow`

Joins and leaves at random:

`meshwright churn overlay --rounds 1000 --seed 7 --out later`

`meshwright churn overlay --rounds 200 --report churn.html --compare naive --compare rebuild --out later`

`meshwright churn overlay --sessions sessions.csv.gz --snapshots snapshots.csv.gz --together --out later`

`meshwright churn overlay --events e.parquet --policy shadow --set coverage=2 --set degree_of=shadows --out o`

With costs of links, repairs choose by cost, and changes/ says what each link costs. The file may
include nodes that join later:

`meshwright churn overlay --events today.jsonl --costs rtt.csv --out tomorrow`

Follow a folder until Ctrl-C or, with `--once`, until all present files are processed:

`meshwright churn overlay --stream incoming --out live`

An event is a line `{"at": 1, "event": "join", "node": "b9", "topics": ["news"]}`; the other events are
leave, subscribe and unsubscribe. In a dataset made with `ingest --filters`, topics of events are
filters. See docs/churn.md.
"""


@options_for("where", EventOptions)
@options_for("server", ServerOptions)
@options_for("streaming", StreamOptions)
@options_for("journaling", JournalOptions)
@options_for("page", PageOptions)
@options_for("prices", CostOptions, CostOptions.files)
@options_for("limits", read_limits)
def churn(
    dataset: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help="A dataset with an overlay.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="The dataset to write.", show_default=False)
    ] = None,
    *,
    where: EventOptions,
    server: ServerOptions,
    streaming: StreamOptions,
    policy: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What a repair does: link a few nodes (shadow), link any nodes (naive), or build a new "
            "overlay (rebuild).",
        ),
    ] = "shadow",
    settings: Settings = None,
    together: Annotated[
        bool, typer.Option("--together", help="Apply events with the same time as one batch, in one repair.")
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Stop at an event that can't be applied, instead of writing it to rejected/."
        ),
    ] = False,
    names: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="For a dataset made with --filters and --names: all names that exist now, one per line.",
        ),
    ] = None,
    journaling: JournalOptions,
    page: PageOptions,
    prices: "CostFiles | None" = None,
    no_costs: Annotated[
        bool,
        typer.Option(
            "--no-costs",
            help="Drop the overlay's cost column. Otherwise, new links cost what the options above say, or "
            "else what the overlay was built with.",
            rich_help_panel="What links cost",
        ),
    ] = False,
    limits: ReadLimits,
    seed: Seed = 0,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Repair an overlay as nodes join and leave; write it with a list of all link changes, in order.

    The exit code is 1 if there were events and none of them could be applied.
    """
    options = {"policy": policy, **maintain_settings(settings)}
    check_options(options, page.compare or ())
    if server.to is not None:
        unfit = given(streaming) | given(journaling) | given(page) | {"--out": out, "--strict": strict}
        refuse_given(unfit | {"--set": settings, "--together": together, "--force": force}, "--to")
        send_events(dataset, server, where, limits, seed, as_json=as_json)
        return
    refuse_given(given(server), "a dataset; it belongs to --to URL")
    dataset, out = _needed(dataset, "the argument DIR"), _needed(out, "the option --out")
    how: dict[str, Any] = {"options": options, "costs": cost_plan(prices, no_costs), "names": names}
    how |= {"seed": seed, "together": together}
    if streaming.stream is not None:
        unfit = given(where) | given(page) | {"--strict": strict, "--force": force, "--sync": journaling.sync}
        refuse_given(unfit, "--stream")
        follow_stream(dataset, out, streaming, journaling, how | {"limits": limits}, as_json=as_json)
        return
    refuse_given(given(streaming), "--events, --rounds or --sessions")
    how["strict"] = strict
    manifest = _churn_here(dataset, out, where, journaling, page, how, limits, force=force)
    if as_json:
        print_json({"out": str(out), **manifest["counts"], **manifest})
    else:
        tell_torn(manifest)
        _print(out, manifest)
    facts = manifest["facts"]
    if facts["rejected"] and not facts["events"] and not facts["repeated"]:
        raise typer.Exit(1)


def _needed(path: Path | None, what: str) -> Path:
    if path is None:
        raise OptionError(f"churn needs {what}; only with --to URL it can be left out")
    return path


def _churn_here(
    dataset: Path,
    out: Path,
    where: EventOptions,
    journaling: JournalOptions,
    page: PageOptions,
    how: dict[str, Any],
    limits: ReadLimits,
    *,
    force: bool,
) -> dict[str, Any]:
    from meshwright.model.storage.dataset import check_free
    from meshwright.model.storage.single_file import check_file
    from meshwright.pipeline.churn import ChurnPlan, ChurnSource, churn_here

    plan = ChurnPlan(
        **how,
        journal=journaling.journal,
        journal_options=journaling.kept(),
        report=page.report,
        compare=page.compared(how["options"]["policy"]),
    )
    source = ChurnSource(**where._asdict(), limits=limits)
    check_free(out, force, [dataset])
    if page.report is not None:
        check_file(page.report, force)
    journal = journaling.journal
    if journal is not None and journal.absolute() == out.absolute():
        raise OptionError(f"{out} can't be both the journal and the dataset; choose another folder for one")
    kept = f"what was done is in {journal}; the same command continues" if journal else None
    with on_interrupt(lambda: kept):
        return churn_here(dataset, out, source, plan, force=force, progress=progress_bar())


def check_options(options: dict[str, Any], policies: Iterable[str]) -> None:
    """Refuse options of the maintainer that are out of range, before any work."""
    from meshwright.maintain.options import MaintainOptions
    from meshwright.runtime.checks import make_options

    for policy in (options["policy"], *policies):
        make_options(MaintainOptions, {**options, "policy": policy})


def cost_plan(prices: "CostFiles | None", no_costs: bool) -> "CostPlan":
    """What the options say about costs."""
    from meshwright.pipeline.churn import CostPlan

    if prices is not None and no_costs:
        raise OptionError("--no-costs can't be used with options that say what links cost; leave one out")
    if prices is not None:
        prices.files()  # all are there
    return CostPlan(prices, no_costs)


def maintain_settings(settings: list[str] | None) -> dict[str, Any]:
    """The options of a maintainer that `--set` gives."""
    from meshwright.maintain.options import MaintainOptions

    hints = typing.get_type_hints(MaintainOptions)
    del hints["policy"]
    return parse_settings(settings, hints)


def _print(out: Path, manifest: dict[str, Any]) -> None:
    facts, counts = manifest["facts"], manifest["counts"]
    sizes = f"{count(counts['nodes'], 'node')}, {count(counts['edges'], 'link')}{_with_cost(facts)}"
    print(f"{out}: {sizes} after {count(facts['events'], 'event')}")
    _print_changes(facts)
    _print_lacking(facts)
    rows = [
        (
            kind,
            found["count"],
            found["mean_changes"],
            found["median_milliseconds"],
            found["p99_milliseconds"],
        )
        for kind, found in facts["repairs"].items()
    ]
    if rows:
        print_table(_REPAIRS, rows)
        print("The times are those of computing a repair.")
    for one, many, number in (
        ("event had been applied before, and was", "events had been applied before, and were", "repeated"),
        ("event came out of order, and was", "events came out of order, and were", "out_of_order"),
        ("last line was unfinished, and was", "last lines were unfinished, and were", "torn"),
    ):
        found = facts.get(number, 0)
        found = found if isinstance(found, int) else len(found)
        if found:
            print(f"{count(found, one, many)} {_TREATED[number]}")
    _print_refused(out, facts)


_REPAIRS = ("repairs after", "number", "mean links changed", "median ms", "99% within ms")
_TREATED = {"repeated": "skipped", "out_of_order": "sorted", "torn": "left out"}


def _print_refused(out: Path, facts: Mapping[str, Any]) -> None:
    """Say which events could not be applied, and why: the first ones, and where all are."""
    from meshwright.pipeline.churn import REFUSALS

    if not facts["rejected"]:
        return
    events = count(
        facts["rejected"], "event could not be applied, and is", "events could not be applied, and are"
    )
    print(f"{events} in {out / 'rejected'}:")
    for refusal in facts[REFUSALS]:
        event = json.loads(refusal["event"])
        print(visible(f"  at {refusal['at']}, {event['event']} {event['node']}: {refusal['reason']}"))
    if facts["rejected"] > len(facts[REFUSALS]):
        print(f"  and {facts['rejected'] - len(facts[REFUSALS]):,} more")


def _with_cost(facts: Mapping[str, Any]) -> str:
    """The cost of all links in a few words, where links cost."""
    if "cost" not in facts:
        return ""
    return f" at a cost of {with_unit(shown(facts['cost']), _unit(facts))}"


def _unit(facts: Mapping[str, Any]) -> str | None:
    from meshwright.metrics.evaluation import unit_of

    return unit_of(facts)


def _print_changes(facts: Mapping[str, Any]) -> None:
    """Print what was opened and closed at the start, to connect the overlay, and what by events."""
    if facts.get("costs_dropped"):
        print("The cost column was dropped, as --no-costs asks.")
    names = ("opened", "closed") + (("opened_cost", "closed_cost") if "cost" in facts else ())
    rows = [(_STEPS[step], *(own.get(name, 0) for name in names)) for step, own in facts["changes"].items()]
    unit = _unit(facts)
    in_unit = {name: f", {unit}" if unit and name.endswith("_cost") else "" for name in names}
    print_table(("links", *(_HEADINGS[name] + in_unit[name] for name in names)), rows)


def _print_lacking(facts: Mapping[str, Any]) -> None:
    """Say after how many repairs topics lacked spares, or nodes had too many links, where that is asked."""
    for fact, (never, lacking) in _LACKING.items():
        told = facts.get(fact)
        if told is None:
            continue
        if not told["repairs"] and not told["at_the_end"]:
            print(never)
            continue
        more = told["at_the_end"] - len(told["names"][:_SHOWN])
        names = ", ".join(visible(repr(name)) for name in told["names"][:_SHOWN])
        end = names + (f" and {more:,} more" if more else "") if names else "none"
        print(
            f"After {told['repairs']:,} of {count(told['of'], 'repair')}, at most {told['most_in_a_row']:,} "
            f"in a row, {lacking}; at the end: {end}"
        )


_LACKING = {
    "unprotected": (
        "After every repair, all topics of three or more would survive the failure of any one node",
        "the failure of some node would have cut a topic",
    ),
    "over_max_links": ("After every repair, no node had more links than max_links", "a node had too many"),
}
_SHOWN = 5
_STEPS = {"start": "at the start, to connect topics", "events": "by events"}
_HEADINGS = {"opened": "opened", "closed": "closed", "opened_cost": "cost added", "closed_cost": "saved"}
