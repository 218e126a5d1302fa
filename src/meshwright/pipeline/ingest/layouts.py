"""How the lines of a file are cut, by its format, its header and the options."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import TYPE_CHECKING

from meshwright.pipeline.ingest import cutting
from meshwright.pipeline.ingest.cutting import Layout
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
        return [same] * len(files)
    return [
        first_line_layout(file.path, beginning(session, file, 2, options.limits), format, options)
        for file in files
    ]


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


def refuses_wildcards(options: IngestOptions) -> bool:
    """Whether topics with a wildcard are rejected."""
    return options.relation == "pairs" and options.wildcards == "reject"


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
        texts = begin.removeprefix(b"\xef\xbb\xbf").splitlines()
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


def _positions(path: str, fields: list[str], options: IngestOptions) -> tuple[int, int]:
    if options.positions is not None:
        if max(options.positions) >= len(fields):
            raise InputError(
                f"{path} has {len(fields)} columns in its first line, but --columns asks for "
                f"{','.join(options.names)}; check --columns and --delimiter"
            )
        return options.positions
    for name in options.names:
        if fields.count(name) != 1:
            raise InputError(no_column(path, name, fields))
    first, second = options.names
    return fields.index(first), fields.index(second)


def no_column(path: str, name: str, found: Sequence[str]) -> str:
    """What to say of a file that lacks a column, or has it twice."""
    fault = "has more than one column" if name in found else "has no column"
    shown = ", ".join(found[:20]) + (", …" if len(found) > 20 else "")
    way = "check --delimiter" if len(found) == 1 and set(";|\t") & set(found[0]) else _NAME_TWO
    return f"{path} {fault} {name!r}; its columns are {shown[:500]}: {way}"


def parquet_names(path: str, found: Sequence[str], options: IngestOptions) -> tuple[str, str]:
    """The names of the two columns of a Parquet file that has the columns `found`."""
    if options.positions is None:
        wanted = options.names
    elif max(options.positions) >= len(found):
        raise InputError(
            f"{path} has {len(found)} columns, but --columns asks for {','.join(options.names)}; "
            "check --columns"
        )
    else:
        wanted = found[options.positions[0]], found[options.positions[1]]
    for name in wanted:
        if found.count(name) != 1:
            raise InputError(no_column(path, name, found))
    return wanted


def no_names(path: str, name: str, kind: str) -> InputError:
    """The error for a column of Parquet that does not hold names."""
    return InputError(
        f"{path}: column {name!r} is {kind}; names are strings, integers, booleans "
        f"or lists of them: cast it beforehand"
    )
