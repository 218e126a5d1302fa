"""`meshwright ingest`: raw files as an interests dataset."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from meshwright.cli.common import (
    Conf,
    Force,
    Json,
    Master,
    check_target,
    engine_session,
    print_json,
    print_table,
    progress_bar,
)
from meshwright.cli.options.groups import Engine, chosen_engine, datasets_among, options_for
from meshwright.cli.options.rows import Inputs, RowOptions
from meshwright.runtime.errors import InputError, visible

if TYPE_CHECKING:
    from meshwright.pipeline.ingest.options import IngestOptions

EPILOG = """**Examples**

`meshwright ingest twitter.txt.gz --as follows --out twitter`

`meshwright ingest groups.tsv.gz --as pairs --columns 1,2 --out groups`

`meshwright ingest 'logs/2026-*/*.jsonl.gz' --as pairs --columns user,genres --out genres`

`meshwright ingest s3a://lake/subscriptions/ --as pairs --columns client,topic --master yarn --out s3a://lake/interests`
"""


@options_for("reading", RowOptions, RowOptions.reading)
def ingest(
    paths: Inputs,
    reading: "IngestOptions",
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="The dataset to write; a path or URL.")],
    engine: Engine = "auto",
    master: Master = None,
    conf: Conf = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Read who is interested in what from raw files, and write it as a dataset.

    With --as pairs, a row is an interest. With follows, a follower subscribes to a followee, who is a topic.
    With friendship, each of two friends subscribes to the other. Rows that can't be used go to DIR/rejected
    with file, line and reason.
    """
    from meshwright.pipeline.ingest.job import check_inputs
    from meshwright.pipeline.ingest.job import ingest as run

    for dataset in datasets_among(paths):
        raise InputError(f"{dataset} is a dataset already; use it as it is, with meshwright build or run")
    check_target(out, force, paths)
    size = check_inputs(paths, reading, engine)
    where = chosen_engine(engine, [*paths, out], master, conf, size.fits_here)
    with engine_session(where, master, conf, size.is_little) as session:
        from meshwright.pipeline.spark.storage import location

        place = location(session, out)
        manifest = run(session, paths, place, reading, force=force, progress=progress_bar())
    if as_json:
        print_json({"out": out, **manifest["counts"], **manifest["facts"], "seconds": manifest["seconds"]})
    else:
        _show(out, manifest)


def _show(out: str, manifest: dict[str, Any]) -> None:
    """What was read and what was made of it, for people."""
    facts, counts = manifest["facts"], manifest["counts"]
    rows = [
        ("files", facts["files"]),
        ("rows, one for each item of a list" if facts["format"] in _WITH_LISTS else "rows", facts["rows"]),
        ("rejected", facts["rejected"]),
        *((f"  {reason}", count) for reason, count in facts["rejected_reasons"].items()),
        ("duplicates", facts["duplicates"]),
        *counts.items(),
    ]
    seconds = sum(manifest["seconds"].values())
    print_table(["", "count"], rows, title=f"{out}: made in {seconds:,.0f} s")
    if facts["rejected"]:
        print(f"Rows that can't be used are in {out}/rejected, with file, line and reason{example(facts)}.")
    print_notices(facts)


_WITH_LISTS = ("adjacency", "json", "jsonl")


def example(facts: Mapping[str, Any]) -> str:
    """The first row that can't be used, in a few words; nothing where there is none."""
    first = facts.get("first_rejected")
    if first is None:
        return ""
    return visible(f"; the first is {first['file']}, line {first['line']}: {first['reason']}")


def print_notices(facts: Mapping[str, Any]) -> None:
    """Say what was passed over, or taken in a way that may not be meant."""
    from meshwright.pipeline.ingest.notices import notices

    for line in notices(facts):
        print(visible(line))
