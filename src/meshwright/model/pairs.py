"""Pairs of names, from wherever they are: Python tuples, CSV, Parquet, Arrow or pandas.

Interests (node, topic) and edge lists (source, target) come through here alike. Every source is a stream of
chunks that are checked on the way in; `collect` makes ids of them, at 8 bytes per pair.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from meshwright.model.names import NameEncoder, NameSource, check_all_strings, encoded, is_text, name_array
from meshwright.model.reading.columns import (
    Column,
    IfThere,
    by_position,
    check_different,
    place_of,
    written,
)
from meshwright.model.reading.csv_rows import CsvLayout, FirstRow, first_row, line_of_row, read_rows
from meshwright.model.reading.files import check_declared, check_rows, part_files, reading
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.runtime.arrays import Floats, Ids
from meshwright.runtime.errors import InputError
from meshwright.runtime.progress import Progress, stage
from meshwright.runtime.wording import type_of

ENCODED = pa.dictionary(pa.int32(), pa.string())
_TUPLES_A_CHUNK = 1 << 16


@dataclass(frozen=True)
class Columns:
    """The two columns of names, and the column of numbers beside them, if one is wanted.

    Each is a name or a position from 1, all of one kind. Numbers may be missing where their column is
    `IfThere`.
    """

    first: Column
    second: Column
    value: Column | None = None

    def __post_init__(self) -> None:
        check_different(self.wanted)
        by_position(self.wanted)

    @property
    def wanted(self) -> list[Column]:
        """All columns to read."""
        return [self.first, self.second] + ([self.value] if self.value is not None else [])

    @property
    def are_positions(self) -> bool:
        """Whether columns are chosen by position."""
        return by_position(self.wanted)

    def among(self, found: Sequence[str], origin: str) -> "Named":
        """The columns by their names among those found; one that is missing, or there twice, is refused."""
        wanted = [column for column in self.wanted if not isinstance(column, IfThere) or column in found]
        names = [found[place_of(column, found, origin)] for column in wanted]
        for name in names:
            place_of(name, found, origin)
        return Named(*names)


class Named(NamedTuple):
    """`Columns` by the names that a table has for them."""

    first: str
    second: str
    value: str | None = None

    @property
    def names(self) -> list[str]:
        """All columns to read."""
        return [name for name in self if name is not None]


NODE_TOPIC = Columns("node", "topic")


@dataclass(frozen=True)
class Origin:
    """Where pairs come from, as errors say it: the file, and for CSV the line.

    Attributes:
        name: of the file, or what else it is.
        delimiter: of a CSV file; None for all else.
        header: whether the first row of a CSV file names the columns.
        limits: of what is read.
    """

    name: str
    delimiter: str | None = None
    header: bool = False
    limits: ReadLimits = READ_LIMITS

    def place(self, row: int) -> str:
        """The line or the row, in words: "line 4"; `row` counts from 1, below the header."""
        line = self._line(row)
        return f"row {row}" if line is None else f"line {line}"

    def error(self, row: int, message: str) -> InputError:
        """The error about a row; the message is what to say after the place."""
        path = None if self.delimiter is None else self.name
        return InputError(f"{self.name}, {self.place(row)}: {message}", path=path, row=self._line(row) or row)

    def _line(self, row: int) -> int | None:
        if self.delimiter is None:
            return None
        return line_of_row(Path(self.name), self.delimiter, row + self.header, self.limits)


def csv_origin(
    path: str | Path, columns: Columns, delimiter: str | None, limits: ReadLimits, header: bool | None
) -> Origin:
    """The origin of what `from_csv` reads, given the same."""
    mark = delimiter if delimiter is not None else _delimiter_of(Path(path))
    return Origin(str(path), mark, has_names(columns, header), limits)


class Chunk(NamedTuple):
    """Some pairs: names as dictionary<int32, string> without nulls, and their numbers."""

    first: pa.DictionaryArray
    second: pa.DictionaryArray
    values: Floats | None


@dataclass(frozen=True)
class Pairs:
    """All pairs of a source in their order: ids, the sorted names that the ids stand for, the numbers."""

    first_ids: Ids
    first_names: pa.StringArray
    second_ids: Ids
    second_names: pa.StringArray
    values: Floats | None


def collect(
    chunks: Iterable[Chunk],
    columns: Columns,
    first_kept: NameSource = (),
    second_kept: NameSource = (),
    progress: Progress | None = None,
) -> Pairs:
    """Make ids of a stream of chunks; the kept names get ids even if no pair has them."""
    first, second = NameEncoder(str(columns.first)), NameEncoder(str(columns.second))
    values: list[Floats] = []
    rows = priced = 0
    with stage(progress, f"reading {columns.first}, {columns.second}") as advance:
        for chunk in chunks:
            first.add(chunk.first)
            second.add(chunk.second)
            if chunk.values is not None:
                values.append(chunk.values)
                priced += len(chunk.first)
            rows += len(chunk.first)
            advance(rows)
    has_values = bool(values) if isinstance(columns.value, IfThere) else columns.value is not None
    if has_values and priced < rows:
        raise InputError(
            f"only {priced:,} of {rows:,} rows have a column {columns.value!r}; give all files one, or none"
        )
    return Pairs(
        *first.finish(name_array(first_kept, str(columns.first))),
        *second.finish(name_array(second_kept, str(columns.second))),
        np.concatenate([np.empty(0), *values]) if has_values else None,
    )


def from_tuples(pairs: Iterable[tuple[str, str]], columns: Columns) -> Iterator[Chunk]:
    """Chunks of an iterable of 2-tuples (or lists of two) of strings."""
    if isinstance(pairs, str | bytes) or not isinstance(pairs, Iterable):
        raise InputError(f"the pairs are {type_of(pairs)}; give an iterable of pairs of strings")
    iterator = iter(pairs)
    number = 1
    while block := list(islice(iterator, _TUPLES_A_CHUNK)):
        for at, pair in enumerate(block, number):
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise InputError(f"pair {at} is {pair!r}; give a tuple ({columns.first}, {columns.second})")
        both = []
        for place, column in enumerate((columns.first, columns.second)):
            names = [pair[place] for pair in block]
            check_all_strings(names, f"the {column} of pair", number)
            both.append(encoded(names, str(column)).dictionary_encode())
        yield Chunk(both[0], both[1], None)
        number += len(block)


def from_csv(
    path: str | Path,
    columns: Columns,
    delimiter: str | None = None,
    limits: ReadLimits = READ_LIMITS,
    header: bool | None = None,
) -> Iterator[Chunk]:
    """Chunks of a CSV file, decompressed by its name (.gz, .bz2, .zst).

    The first line is a header, unless columns are positions; `header` overrides this.
    """
    path = Path(path)
    delimiter = delimiter if delimiter is not None else _delimiter_of(path)
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise InputError(
            f"the delimiter is {delimiter!r}; give one character other than a quote or a newline"
        )
    with reading(path):
        first = first_row(path, delimiter, delimiter, limits)
        if not first.cells:
            raise InputError(
                f"{path} is empty; its first line must have the columns {written(columns.wanted)}"
            )
        has_header = has_names(columns, header)
        known = _labelled(columns, first, str(path))
    if not (first.is_last and has_header):
        yield from _csv_chunks(path, known, first, has_header, limits)


def has_names(columns: Columns, header: bool | None) -> bool:
    """Whether the first line of a CSV file names its columns."""
    if header is False and not columns.are_positions:
        raise InputError("without a header, columns have no names; give positions, such as 1 and 2")
    return not columns.are_positions if header is None else header


class _Labelled(NamedTuple):
    """The columns that are wanted, and labels for all columns of a CSV file."""

    wanted: Named
    labels: list[str]


def _labelled(columns: Columns, first: FirstRow, origin: str) -> _Labelled:
    """Columns keep their names, or are called by position, where they are chosen so."""
    if not columns.are_positions:
        return _Labelled(columns.among(first.cells, origin), first.cells)
    labels = [f"name in column {place}" for place in range(1, len(first.cells) + 1)]
    wanted = [labels[place_of(column, first.cells, origin)] for column in columns.wanted]
    return _Labelled(Named(*wanted), labels)


def column_names(path: Path, delimiter: str | None = None, limits: ReadLimits = READ_LIMITS) -> Sequence[str]:
    """The cells of the first line of a CSV file, or the columns of a Parquet file or a folder of them."""
    with reading(path):
        if is_parquet(path):
            return list(pq.read_schema(part_files(path)[0]).names)
        delimiter = delimiter if delimiter is not None else _delimiter_of(path)
        return first_row(path, delimiter, delimiter, limits).cells


def is_parquet(path: Path) -> bool:
    """Whether a path is read as Parquet: a folder, or a file that is called so."""
    return path.is_dir() or path.suffix.lower() == ".parquet"


def _delimiter_of(path: Path) -> str:
    return "\t" if ".tsv" in path.suffixes[-2:] else ","


def _csv_chunks(
    path: Path, known: _Labelled, first: FirstRow, has_header: bool, limits: ReadLimits
) -> Iterator[Chunk]:
    columns = known.wanted
    types = {columns.first: ENCODED, columns.second: ENCODED}
    if columns.value is not None:
        types[columns.value] = pa.float64()
    layout = CsvLayout(
        names=known.labels,
        types=types,
        delimiter=first.delimiter,
        blank_lines=first.blank_lines,
        header=has_header,
    )
    origin = Origin(str(path), first.delimiter, has_header, limits)
    row = 1
    with reading(path):
        for batch in read_rows(path, layout, limits):
            yield _chunk(batch, columns, origin, row)
            row += batch.num_rows


def from_parquet(path: str | Path, columns: Columns, limits: ReadLimits = READ_LIMITS) -> Iterator[Chunk]:
    """Chunks of a Parquet file, or of all `*.parquet` in a folder; a row group at a time."""
    path = Path(path)
    with reading(path):
        parts = part_files(path)
    if not parts:
        raise InputError(
            f"{path} holds no *.parquet file; give a Parquet file or a folder of them", path=path
        )
    for part in parts:
        with reading(part), pq.ParquetFile(part) as file:
            schema = file.schema_arrow
            check_declared(file.metadata, str(part), part.stat().st_size, limits)
            named = columns.among(schema.names, str(part))
            _check_types(schema, named, str(part))
        with reading(part), pq.ParquetFile(part, read_dictionary=[named.first, named.second]) as file:
            row = 1
            for group in range(file.num_row_groups):
                for batch in file.read_row_group(group, columns=named.names).to_batches():
                    yield _chunk(batch, named, Origin(str(part)), row)
                    row += batch.num_rows
            check_rows(file.metadata, str(part), row - 1)


def from_arrow(table: Any, columns: Columns) -> Iterator[Chunk]:
    """Chunks of an Arrow table, or of anything that hands one over by Arrow's stream interface."""
    try:
        table = pa.table(table)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(f"{type_of(table)} can't be taken as an Arrow table: {error}") from error
    named = columns.among(table.schema.names, "the table")
    _check_types(table.schema, named, "the table")
    row = 1
    for batch in table.to_batches():
        yield _chunk(batch, named, Origin("the table"), row)
        row += batch.num_rows


def from_pandas(frame: Any, columns: Columns) -> Iterator[Chunk]:
    """Chunks of a pandas frame; one without rows may have any types, since pandas forgets them."""
    if columns.are_positions:
        raise InputError("the columns of a frame are chosen by name; give names, such as frame.columns[0]")
    named = columns.among([name for name in frame.columns if isinstance(name, str)], "the frame")
    if not len(frame):
        return
    try:
        table = pa.Table.from_pandas(frame[named.names], preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"the frame can't be read: {reason}; cast the columns of names to string") from error
    yield from from_arrow(table, Columns(*named))


def _check_types(schema: pa.Schema, columns: Named, origin: str) -> None:
    for column in (columns.first, columns.second):
        kind = schema.field(column).type
        plain = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not is_text(plain) and not pa.types.is_null(plain):
            raise InputError(
                f"{origin}: column {column!r} is of type {kind}, and names are strings; cast it to string "
                f'beforehand, since 7 and "007" must not silently match'
            )
    if columns.value is not None:
        kind = schema.field(columns.value).type
        if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
            raise InputError(
                f"{origin}: column {columns.value!r} is of type {kind}; cast it to double, or leave it out, "
                f"as with cost=None"
            )


def _chunk(batch: pa.RecordBatch, columns: Named, origin: Origin, row: int) -> Chunk:
    """One batch of any source as a checked chunk; `row` is the number of its first row, counted from 1."""
    first, second = (
        _checked(batch.column(column), column, origin, row) for column in (columns.first, columns.second)
    )
    if columns.value is None:
        return Chunk(first, second, None)
    values = pc.cast(batch.column(columns.value), pa.float64(), safe=False)
    return Chunk(first, second, values.to_numpy(zero_copy_only=False))


def _checked(array: pa.Array, column: str, origin: Origin, row: int) -> pa.DictionaryArray:
    """Names as dictionary<int32, string>; a null or empty one is refused with its row."""
    if pa.types.is_null(array.type):
        array = array.cast(pa.string())
    if pa.types.is_dictionary(array.type) and array.dictionary.null_count:
        array = array.cast(array.type.value_type)
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    indices, dictionary = array.indices.cast(pa.int32()), array.dictionary.cast(pa.string())
    empty = pc.index(dictionary, pa.scalar("")).as_py()
    if indices.null_count or empty >= 0:
        missing = np.flatnonzero(indices.fill_null(empty).to_numpy() == empty)
        more = f" (and {len(missing) - 1:,} more below)" if len(missing) > 1 else ""
        words = f"the {column} is missing or empty{more}; give it a name or leave the row out"
        raise origin.error(row + int(missing[0]), words)
    return pa.DictionaryArray.from_arrays(indices, dictionary)
