"""The options of commands that read raw rows, and what they stand for."""

from typing import Annotated, Any

import typer

from meshwright.cli.options.groups import MaxLine, MaxRatio, read_limits
from meshwright.model.reading.limits import READ_LIMITS
from meshwright.runtime.errors import OptionError

Inputs = Annotated[list[str], typer.Argument(metavar="PATH", help="Files, folders, patterns or URLs.")]
Relation = Annotated[str, typer.Option("--as", metavar="pairs|friendship|follows", help="What a row means.")]
Format = Annotated[
    str | None,
    typer.Option("--format", metavar="csv|tsv|edges|jsonl|parquet", help="By default from the files' names."),
]
Columns = Annotated[
    str | None,
    typer.Option("--columns", metavar="A,B", help="The two columns, by name or by position from 1."),
]
Header = Annotated[
    bool | None, typer.Option("--header/--no-header", help="Whether the first line names the columns.")
]
Delimiter = Annotated[
    str | None, typer.Option("--delimiter", metavar="CHARACTER", help="The character between columns.")
]
MaxRejected = Annotated[
    float,
    typer.Option("--max-rejected", metavar="FRACTION", help="Stop if a greater share of rows can't be used."),
]
OwnTopic = Annotated[bool, typer.Option("--own-topic", help="Users also subscribe to their own topic.")]
Wildcards = Annotated[
    str,
    typer.Option("--wildcards", metavar="reject|keep", help="In pairs: topics that have a level # or +."),
]


def reading_options(
    relation: Relation,
    file_format: Format = None,
    columns: Columns = None,
    header: Header = None,
    delimiter: Delimiter = None,
    max_rejected: MaxRejected = 0.01,
    own_topic: OwnTopic = False,
    wildcards: Wildcards = "reject",
    max_line: MaxLine = READ_LIMITS.line,
    max_ratio: MaxRatio = READ_LIMITS.ratio,
) -> Any:
    """The options as `IngestOptions`, checked."""
    from meshwright.pipeline.ingest.options import IngestOptions

    return IngestOptions(
        relation=relation,
        format=file_format,
        columns=_two(columns),
        header=header,
        delimiter="\t" if delimiter == "\\t" else delimiter,
        max_rejected=max_rejected,
        own_topic=own_topic,
        wildcards=wildcards,
        limits=read_limits(max_line, max_ratio),
    )


def _two(columns: str | None) -> tuple[str, str] | None:
    if columns is None:
        return None
    first, comma, second = columns.partition(",")
    if not (first and comma and second) or "," in second:
        raise OptionError(
            f"--columns is {columns!r}; give two, such as user,genre or 1,2", option="--columns"
        )
    return first, second
