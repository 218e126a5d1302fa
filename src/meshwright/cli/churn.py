"""`meshwright churn`: an overlay kept topic-connected while nodes and interests come and go."""

import typing
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from meshwright.cli.common import (
    Conf,
    Force,
    Json,
    Master,
    Out,
    Seed,
    Settings,
    parse_settings,
    print_json,
    print_table,
    progress_bar,
)
from meshwright.cli.streaming import follow_stream, refuse_given
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

`meshwright churn overlay --stream incoming --out live`, until Ctrl-C; with `--once`, what is there.

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
    stream: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Instead: a folder in which files of events appear, followed with Spark until Ctrl-C.",
        ),
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="With --stream: end when all that is there is done.")
    ] = False,
    every: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="With --stream: how often to look; 1.")
    ] = None,
    files_a_batch: Annotated[
        int | None, typer.Option(metavar="N", help="With --stream: the most files at a time; 100.")
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
        typer.Option(
            metavar="DIR",
            help="Keep what is done there, and go on from it after a crash; with --stream OUT/journal.",
            show_default=False,
        ),
    ] = None,
    sync: Annotated[
        str | None,
        typer.Option(metavar="always|never|MS", help="When the journal is forced to disk; always."),
    ] = None,
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
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Repair an overlay as nodes join and leave, and write it with all changes of links, in order."""
    from meshwright.model.dataset import check_free
    from meshwright.pipeline.churn.job import churn_here
    from meshwright.pipeline.churn.source import ChurnSource

    options = {"policy": policy, **_settings(settings)}
    check_options(options, compare or ())
    here = {
        "--events": events,
        "--rounds": rounds,
        "--sessions": sessions,
        "--snapshots": snapshots,
        "--strict": strict or None,
        "--sync": sync,
        "--report": report,
        "--compare": compare or None,
        "--force": force or None,
    }
    there = {
        "--once": once or None,
        "--every": every,
        "--files-a-batch": files_a_batch,
        "--master": master,
        "--conf": conf or None,
    }
    if stream is not None:
        refuse_given(here, "--stream")
        follow_stream(
            dataset,
            source=stream,
            out=out,
            journal=journal,
            settings={"options": options, "seed": seed, "together": together, "once": once}
            | {"every": every, "files_a_batch": files_a_batch, "compact_after": compact_after},
            master=master,
            conf=conf,
            as_json=as_json,
        )
        return
    source = ChurnSource(events=events, rounds=rounds, sessions=sessions, snapshots=snapshots)
    refuse_given(there, "--events, --rounds or --sessions")
    plan = _plan(
        options=options,
        seed=seed,
        together=together,
        strict=strict,
        journal=journal,
        journal_options={"sync": _sync(sync or "always"), "compact_after": compact_after},
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
    from meshwright.pipeline.churn.job import ChurnPlan

    if given["compare"] and given["report"] is None:
        raise OptionError("--compare shows other policies in a page; give --report FILE as well")
    return ChurnPlan(**given)


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
