"""`meshwright ingest`: raw files as an interests dataset, on Spark."""

from typing import Annotated, Any

import typer

from meshwright.cli.common import (
    Conf,
    Force,
    Json,
    Master,
    print_json,
    print_table,
    progress_bar,
    spark_command,
)
from meshwright.errors import OptionError

_EPILOG = """**Examples**

`meshwright ingest twitter.txt.gz --as follows --out twitter`

`meshwright ingest groups.tsv.gz --as pairs --columns 1,2 --out groups`

`meshwright ingest 'logs/2026-*/*.jsonl.gz' --as pairs --columns user,genres --out genres`

`meshwright ingest s3a://lake/subscriptions/ --as pairs --columns client,topic --master yarn --out s3a://lake/interests`
"""


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog=_EPILOG)(ingest)


def ingest(
    paths: Annotated[list[str], typer.Argument(metavar="PATH…", help="Files, folders, patterns or URLs.")],
    relation: Annotated[
        str, typer.Option("--as", metavar="pairs|friendship|follows", help="What a row means.")
    ],
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="The dataset to write; a path or URL.")],
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="csv|tsv|edges|jsonl|parquet", help="Of all files; default: by name."
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="The two columns, by name or by position from 1."),
    ] = None,
    header: Annotated[
        bool | None, typer.Option("--header/--no-header", help="Whether the first line names the columns.")
    ] = None,
    delimiter: Annotated[str | None, typer.Option(metavar="CHARACTER", help="Between columns.")] = None,
    max_rejected: Annotated[
        float, typer.Option(metavar="FRACTION", help="Stop when more of the rows can't be used.")
    ] = 0.01,
    own_topic: Annotated[
        bool, typer.Option("--own-topic", help="Users also subscribe to their own topic.")
    ] = False,
    wildcards: Annotated[
        str, typer.Option(metavar="reject|keep", help="Topics with a level # or +, in pairs.")
    ] = "reject",
    master: Master = None,
    conf: Conf = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Read who is interested in what from raw files, and write it as a dataset.

    A row is a pair (node, topic); or a follow: the follower subscribes to the followee; or a friendship: each
    subscribes to the other. Rows that can't be used go to DIR/rejected with file, line and reason.
    """
    from meshwright.pipeline.ingest import IngestOptions
    from meshwright.pipeline.ingest import ingest as run
    from meshwright.pipeline.storage import location

    options = IngestOptions(
        relation=relation,
        format=file_format,
        columns=_two(columns),
        header=header,
        delimiter="\t" if delimiter == "\\t" else delimiter,
        max_rejected=max_rejected,
        own_topic=own_topic,
        wildcards=wildcards,
    )
    with spark_command(master, conf) as session:
        place = location(session, out)
        manifest = run(session, paths, place, options, force=force, progress=progress_bar())
    if as_json:
        print_json({"out": out, **manifest["counts"], **manifest["facts"], "seconds": manifest["seconds"]})
    else:
        _show(out, manifest)


def _two(columns: str | None) -> tuple[str, str] | None:
    if columns is None:
        return None
    first, comma, second = columns.partition(",")
    if not (first and comma and second) or "," in second:
        raise OptionError(f"--columns is {columns!r}; give two, such as user,genre or 1,2")
    return first, second


def _show(out: str, manifest: dict[str, Any]) -> None:
    """What was read and what was made of it, for people."""
    facts, counts = manifest["facts"], manifest["counts"]
    rows = [
        ("files", facts["files"]),
        ("rows", facts["rows"]),
        ("rejected", facts["rejected"]),
        *((f"  {reason}", count) for reason, count in facts["rejected_reasons"].items()),
        ("duplicates", facts["duplicates"]),
        *counts.items(),
    ]
    seconds = sum(manifest["seconds"].values())
    print_table(["", "count"], rows, title=f"{out}: made in {seconds:,.0f} s")
    if facts["rejected"]:
        print(f"What can't be used is in {out}/rejected, with file, line and reason.")
    for what, alike in facts["look_alikes"].items():
        if alike["count"]:
            shown = "; ".join(" and ".join(map(repr, names)) for names in alike["examples"])
            print(
                f"Warning: {alike['count']:,} {what} differ from another only by case or by blanks at the "
                f"ends, and stay different: {shown}"
            )
