"""`meshwright churn`: an overlay kept topic-connected while nodes and interests come and go."""

import typing
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from meshwright.cli.churn_options import EventOptions, JournalOptions, PageOptions, StreamOptions
from meshwright.cli.common import (
    Force,
    Json,
    Out,
    Seed,
    Settings,
    on_interrupt,
    parse_settings,
    print_json,
    print_table,
    progress_bar,
)
from meshwright.cli.limits import read_limits
from meshwright.cli.option_groups import given, options_for, refuse_given
from meshwright.cli.streaming import follow_stream, tell_torn
from meshwright.errors import OptionError
from meshwright.model.read_limits import ReadLimits

_EPILOG = """**Examples**

`meshwright churn overlay --events today.jsonl --out tomorrow`

`meshwright churn overlay --events events/ --journal journal --out tomorrow`, which goes on after a crash.

`meshwright churn overlay --rounds 1000 --seed 7 --out later`, joins and leaves at random.

`meshwright churn overlay --rounds 200 --report churn.html --compare naive --compare rebuild --out later`

`meshwright churn overlay --sessions sessions.csv.gz --snapshots snapshots.csv.gz --together --out later`

`meshwright churn overlay --events e.parquet --policy shadow --set coverage=2 --set degree_of=shadows --out o`

`meshwright churn overlay --stream incoming --out live`, until Ctrl-C; with `--once`, what is there.

An event is a line `{"at": 1, "event": "join", "node": "b9", "topics": ["news"]}`; the others are leave,
subscribe and unsubscribe. See docs/churn.md.
"""


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog=_EPILOG)(churn)


@options_for("where", EventOptions)
@options_for("streaming", StreamOptions)
@options_for("journaling", JournalOptions)
@options_for("page", PageOptions)
@options_for("limits", read_limits)
def churn(
    dataset: Annotated[Path, typer.Argument(metavar="DIR", help="A dataset with an overlay.")],
    out: Out,
    *,
    where: EventOptions,
    streaming: StreamOptions,
    policy: Annotated[
        str, typer.Option(metavar="NAME", help="What a repair may link: shadow, naive or rebuild.")
    ] = "shadow",
    settings: Settings = None,
    together: Annotated[
        bool, typer.Option("--together", help="Apply events of equal times as one batch, with one repair.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="End at an event that can't be applied; else it is put aside.")
    ] = False,
    journaling: JournalOptions,
    page: PageOptions,
    limits: ReadLimits,
    seed: Seed = 0,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Repair an overlay as nodes join and leave, and write it with all changes of links, in order."""
    options = {"policy": policy, **_settings(settings)}
    check_options(options, page.compare or ())
    how = {"options": options, "seed": seed, "together": together}
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
    from meshwright.model.dataset import check_free
    from meshwright.model.new_file import check_file
    from meshwright.pipeline.churn.job import ChurnPlan, churn_here
    from meshwright.pipeline.churn.source import ChurnSource

    plan = ChurnPlan(
        **how,
        journal=journaling.journal,
        journal_options=journaling.kept(),
        report=page.report,
        compare=page.compared(how["options"]["policy"]),
    )
    source = ChurnSource(**where._asdict(), limits=limits)
    check_free(out, force)
    if page.report is not None:
        check_file(page.report, force)
    journal = journaling.journal
    if journal is not None and journal.absolute() == out.absolute():
        raise OptionError(f"{out} can't be both the journal and the dataset; choose another folder for one")
    with on_interrupt(f"what was done is in {journal}; the same call goes on" if journal else None):
        return churn_here(dataset, out, source, plan, force=force, progress=progress_bar())


def check_options(options: dict[str, Any], policies: Iterable[str]) -> None:
    """Refuse options of the maintainer that are out of range, before any work."""
    from meshwright.maintain.options import make_options

    for policy in (options["policy"], *policies):
        make_options({**options, "policy": policy})


def _settings(settings: list[str] | None) -> dict[str, Any]:
    from meshwright.maintain.options import MaintainOptions

    hints = typing.get_type_hints(MaintainOptions)
    del hints["policy"]
    return parse_settings(settings, hints)


def _print(out: Path, manifest: dict[str, Any]) -> None:
    facts, counts = manifest["facts"], manifest["counts"]
    print(f"{out}: {counts['nodes']:,} nodes, {counts['edges']:,} links after {facts['events']:,} events")
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
        print_table(("repairs after", "number", "links changed", "median ms", "99% ms"), rows)
    for words, number in (
        ("events were put aside, see rejected/", facts["rejected"]),
        ("events were known already and passed over", facts["repeated"]),
        ("events came out of order and were sorted", facts.get("out_of_order")),
        ("last lines were not finished and are not in it yet", len(facts.get("torn", []))),
    ):
        if number:
            print(f"{number:,} {words}")
