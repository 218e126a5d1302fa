"""`meshwright churn`: an overlay kept topic-connected while nodes and interests come and go."""

import typing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from meshwright.cli.common import (
    Force,
    Json,
    Out,
    Seed,
    Settings,
    parse_settings,
    print_json,
    print_table,
    progress_bar,
)
from meshwright.errors import OptionError

if TYPE_CHECKING:
    from meshwright.pipeline.churn.job import ChurnPlan

_EPILOG = """**Examples**

`meshwright churn overlay --events today.jsonl --out tomorrow`

`meshwright churn overlay --events events/ --journal journal --out tomorrow`, which goes on after a crash.

`meshwright churn overlay --rounds 1000 --seed 7 --out later`, joins and leaves at random.

`meshwright churn overlay --rounds 200 --report churn.html --compare naive --compare rebuild --out later`

`meshwright churn overlay --sessions sessions.csv.gz --snapshots snapshots.csv.gz --together --out later`

`meshwright churn overlay --events e.parquet --policy shadow --set coverage=2 --set degree_of=shadows --out o`

An event is a line `{"at": 1, "event": "join", "node": "b9", "topics": ["news"]}`; the others are leave,
subscribe and unsubscribe. See docs/churn.md.
"""


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog=_EPILOG)(churn)


def churn(
    dataset: Annotated[Path, typer.Argument(metavar="DIR", help="A dataset with an overlay.")],
    out: Out,
    events: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="A *.jsonl or *.parquet file of events, or a folder of them."),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(metavar="N", help="Instead: in each round a node like the others joins, or one leaves."),
    ] = None,
    sessions: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Instead: a CSV of node, start, end, or of node, first_snapshot, last_snapshot.",
        ),
    ] = None,
    snapshots: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="With --sessions: a CSV of snapshot, unix_time."),
    ] = None,
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
    journal: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep what is done there, and go on from it after a crash."),
    ] = None,
    sync: Annotated[
        str,
        typer.Option(metavar="always|never|MS", help="When the journal is forced to disk."),
    ] = "always",
    compact_after: Annotated[
        int, typer.Option(metavar="N", help="Events after which the journal is compacted.")
    ] = 5_000,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with pictures there.")
    ] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(metavar="POLICY", help="With --report: try another policy too; may come often."),
    ] = None,
    seed: Seed = 0,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Repair an overlay as nodes join and leave, and write it with all changes of links, in order."""
    from meshwright.model.dataset import check_free
    from meshwright.pipeline.churn.job import churn_here
    from meshwright.pipeline.churn.source import ChurnSource

    source = ChurnSource(events=events, rounds=rounds, sessions=sessions, snapshots=snapshots)
    plan = _plan(
        options={"policy": policy, **_settings(settings)},
        seed=seed,
        together=together,
        strict=strict,
        journal=journal,
        journal_options={"sync": _sync(sync), "compact_after": compact_after},
        report=report,
        compare=tuple(compare or ()),
    )
    check_free(out, force)
    manifest = churn_here(dataset, out, source, plan, force=force, progress=progress_bar())
    if as_json:
        print_json({"out": str(out), **manifest["counts"], **manifest})
    else:
        _print(out, manifest)


def _plan(**given: Any) -> "ChurnPlan":
    from meshwright.maintain.options import make_options
    from meshwright.pipeline.churn.job import ChurnPlan

    if given["compare"] and given["report"] is None:
        raise OptionError("--compare shows other policies in a page; give --report FILE as well")
    for policy in (given["options"]["policy"], *given["compare"]):
        make_options({**given["options"], "policy": policy})
    return ChurnPlan(**given)


def _settings(settings: list[str] | None) -> dict[str, Any]:
    from meshwright.maintain.options import MaintainOptions

    hints = typing.get_type_hints(MaintainOptions)
    del hints["policy"]
    return parse_settings(settings, hints)


def _sync(text: str) -> str | int:
    from meshwright.maintain.syncing import check_sync

    policy = int(text) if text.isdecimal() else text
    check_sync(policy)
    return policy


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
