"""How the lines of a file are cut, by its format, its header and the options."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from meshwright.model.reading.columns import place_of
from meshwright.model.reading.contents import check_text
from meshwright.pipeline.ingest import cutting
from meshwright.pipeline.ingest.cutting import SHOWN_CHARACTERS, Layout
from meshwright.pipeline.ingest.inputs import InputFile, beginning
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.runtime.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_DELIMITERS = {"csv": ",", "tsv": "\t"}
_NAME_TWO = "name two with --columns A,B (or 1,2)"


def file_layouts(
    session: SparkSession | None, files: Sequence[InputFile], format: str, options: IngestOptions
) -> list[Layout]:
    """How to cut each file; headers may name the columns in any order."""
    same = _one_layout(format, options)
    if same is not None:
        return [replace(same, dialect=options.filters)] * len(files)
    layouts = (
        first_line_layout(file.path, beginning(session, file, 2, options.limits), format, options)
        for file in files
    )
    return [replace(layout, dialect=options.filters) for layout in layouts]


def _one_layout(format: str, options: IngestOptions) -> Layout | None:
    """How to cut all files, where that does not depend on how they begin."""
    wildcards = refuses_wildcards(options)
    if format == "adjacency":
        return Layout(
            kind="adjacency", columns=(0, 1), delimiter=options.delimiter or "", wildcards=wildcards
        )
    if format == "jsonl":
        return Layout(kind="jsonl", columns=options.names, wildcards=wildcards)
    if (
        format == "edges"
        and not options.header
        and (options.columns is None or options.positions is not None)
    ):
        return Layout(kind="edges", columns=options.positions or (0, 1), wildcards=wildcards)
    return None


class FirstLine(NamedTuple):
    """The first row of a file, as it is written."""

    file: str
    text: str


_NAMES_OF_COLUMNS = frozenset(
    [
        *("node", "topic", "user", "item", "source", "target", "src", "dst", "from", "to"),
        *("follower", "followee", "friend", "group", "client", "broker", "channel", "subscriber"),
        *("subscription", "id", "name", "userid", "itemid", "nodeid", "topicid"),
    ]
)
"""Words that a column is called by, in small letters."""


def like_header(
    session: SparkSession | None, file: InputFile, format: str, options: IngestOptions
) -> FirstLine | None:
    """The first row of a text file if it looks like the names of columns, and nobody said whether it is.

    A file that is no text in UTF-8 is refused: its lines would be names with NULs in them.
    """
    begin = beginning(session, file, 2, options.limits)
    check_text(begin, file.path)
    if format not in ("csv", "tsv", "edges") or options.header is not None:
        return None
    delimiter = None if format == "edges" else options.delimiter or _DELIMITERS[format]
    if delimiter is not None and options.positions is None:
        return None
    number, first = _first_fields(file.path, begin, delimiter)
    lines = begin.removeprefix(codecs.BOM_UTF8).splitlines()
    _, second = _first_fields(file.path, b"\n".join(lines[number:]), delimiter)
    places = options.positions or (0, 1)
    if max(places) >= min(len(first), len(second)):
        return None
    others = [place for place in range(min(len(first), len(second))) if place not in places]
    chosen = [[line[place] for place in places] for line in (first, second)]
    beside = [[line[place] for place in others] for line in (first, second)]
    if not _is_header(*chosen) and not _is_above_numbers(*beside):
        return None
    return FirstLine(file.path, lines[number - 1].decode()[:SHOWN_CHARACTERS])


def like_csv(session: SparkSession | None, file: InputFile, options: IngestOptions) -> FirstLine | None:
    """The first row of an edge list, if its names would contain commas or semicolons; otherwise None."""
    begin = beginning(session, file, 1, options.limits)
    number, fields = _first_fields(file.path, begin, None)
    if len(fields) < 2 or not all(field.endswith((",", ";")) for field in fields[:-1]):
        return None
    line = begin.removeprefix(codecs.BOM_UTF8).splitlines()[number - 1]
    return FirstLine(file.path, line.decode()[:SHOWN_CHARACTERS])


def _is_header(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether names look like those of columns: by their words, or since numbers alone are below them."""
    by_words = all(map(_names_a_column, first)) and not all(map(_names_a_column, second))
    above_numbers = all(name.strip().isdecimal() for name in second)
    return by_words or (above_numbers and not any(name.strip().isdecimal() for name in first))


def _names_a_column(name: str) -> bool:
    """Whether a name consists of words, and a column may be called by one of them: `client_id`."""
    words = re.split(r"[\s_-]+", name.strip().casefold())
    return all(map(str.isalpha, words)) and not _NAMES_OF_COLUMNS.isdisjoint(words)


def _is_above_numbers(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether some column has a number in the second line, but letters in the first."""
    return any(
        _NUMBER.fullmatch(below) and not _NUMBER.fullmatch(above)
        for above, below in zip(first, second, strict=True)
    )


_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")


def refuses_wildcards(options: IngestOptions) -> bool:
    """Whether topics with a wildcard are rejected."""
    return options.topics_are_names and options.wildcards == "reject"


def first_line_layout(path: str, begin: bytes, format: str, options: IngestOptions) -> Layout:
    """How to cut a file of columns that begins so."""
    delimiter = None if format == "edges" else options.delimiter or _DELIMITERS[format]
    number, fields = _first_fields(path, begin, delimiter)
    has_header = options.positions is None if options.header is None else options.header
    return Layout(
        kind="edges" if delimiter is None else "delimited",
        columns=(0, 1) if _takes_first_two(delimiter, fields, options) else _positions(path, fields, options),
        delimiter=delimiter or "",
        width=len(fields),
        header=number if has_header else 0,
        wildcards=refuses_wildcards(options),
    )


def _takes_first_two(delimiter: str | None, fields: list[str], options: IngestOptions) -> bool:
    return not fields or (delimiter is None and options.columns is None)


def _first_fields(path: str, begin: bytes, delimiter: str | None) -> tuple[int, list[str]]:
    """The number and the fields of the first line that is not blank."""
    try:
        texts = begin.removeprefix(codecs.BOM_UTF8).splitlines()
        for number, line in enumerate(texts, 1):
            if delimiter is None:
                if line.strip() and not line.strip().startswith((b"#", b"%")):
                    return number, line.decode().split()
            elif line:
                return number, cutting.split_line(line.decode(), delimiter)
    except UnicodeDecodeError:
        raise InputError(
            f"{path}: the first line is not UTF-8; save it as UTF-8, or check --format"
        ) from None
    except csv.Error as error:
        raise InputError(
            f"{path}: the first line can't be split into columns: {error}; check --format and --delimiter"
        ) from None
    return 0, []


def _positions(path: str, fields: Sequence[str], options: IngestOptions) -> tuple[int, int]:
    first, second = (place_of(column, fields, path, _NAME_TWO) for column in options.wanted)
    return first, second


def parquet_names(path: str, found: Sequence[str], options: IngestOptions) -> tuple[str, str]:
    """The names of the two columns of a Parquet file that has the columns `found`."""
    first, second = (found[place] for place in _positions(path, found, options))
    for name in (first, second):
        place_of(name, found, path)
    return first, second


def no_names(path: str, name: str, kind: str) -> InputError:
    """The error for a column of Parquet that does not hold names."""
    return InputError(
        f"{path}: column {name!r} is {kind}; names are strings, integers, booleans "
        f"or lists of them: cast it to int64 or string"
    )
