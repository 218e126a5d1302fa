"""Where costs come from: matrices in CSV, Parquet and NPY files, and tables that say where nodes are.

A square has a row and a column for each node, in any order where both are named. A list has the columns
`source, target, cost`; a pair that it has in one direction alone costs the same in the other. Nodes are on a
site, in a cluster, or at coordinates.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from meshwright.model import pairs as sources
from meshwright.model.costs.forms import and_more, check_all_known, name_at, positive, unique_names
from meshwright.model.costs.matrices import check_room
from meshwright.model.interests import Interests
from meshwright.model.names import NameSource, is_text, lookup, ranks
from meshwright.model.pairs import Chunk, Columns, collect
from meshwright.model.reading.columns import Column, by_position, check_different, is_position, place_of
from meshwright.model.reading.csv_rows import CsvLayout, FirstRow, first_row, read_rows
from meshwright.model.reading.files import parquet_parts, parquet_table, reading
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.model.storage.schema import Wanted, check_types
from meshwright.runtime.arrays import Floats, Ids
from meshwright.runtime.errors import InputError, one_line
from meshwright.runtime.wording import type_of

PAIRS = Columns("source", "target", "cost")

_PACKED = (".gz", ".bz2", ".zst", ".lz4")
_DELIMITERS = "\t,; "
_COPIES_OF_CSV, _COPIES_OF_PARQUET = 4, 5
"""How many times its size a matrix takes while it is read (measured at 5,000 nodes: 3.5 and 4.4)."""


class Cells(NamedTuple):
    """A square of numbers, NaN where there is none, and the names of its rows and columns, if any."""

    values: npt.NDArray[Any]
    names: pa.StringArray | None


@contextmanager
def named(path: object) -> Iterator[None]:
    """Begin errors about what is in a file with its name, unless with that of another they do already."""
    try:
        yield
    except InputError as error:
        if not isinstance(path, str | Path) or _names_file(error):
            raise
        text = str(error)
        said = text if text.startswith(str(path)) else f"{path}: {text}"
        raise InputError(said, path=error.path or path, row=error.row) from error


def _names_file(error: InputError) -> bool:
    """Whether an error begins with the name of its file."""
    return error.path is not None and str(error).startswith(str(error.path))


def from_memory(matrix: Any, has_names: bool) -> Cells:
    """Read what is given as a matrix: rows, an array, or a pandas frame, whose labels are names.

    With `has_names` labels are passed over. What an array masks has no number.
    """
    if hasattr(matrix, "columns") and hasattr(matrix, "index") and not has_names:
        columns = [pa.chunked_array([column]) for column in as_square(matrix).T]
        return _matched(list(matrix.index), list(matrix.columns), columns, "the frame")
    return Cells(as_square(matrix), None)


def as_square(matrix: npt.ArrayLike) -> npt.NDArray[Any]:
    """A matrix as an array; rows of unequal lengths have no such form."""
    if isinstance(matrix, np.ma.MaskedArray):
        return np.ma.filled(matrix.astype(np.float64), np.nan)
    try:
        array = np.asarray(matrix)
    except ValueError as error:
        raise InputError(f"the matrix is not a square of numbers: {one_line(error)}") from None
    if array.shape == (0,):
        return np.empty((0, 0))
    if array.ndim != 2:
        raise InputError(
            f"the matrix has {array.ndim} dimension(s); "
            f"give a square matrix, with a row and a column per node"
        )
    return array


def kind_of(path: Path) -> str:
    """What a file's name says that it is: "npy", "parquet" (a folder too) or else "csv"."""
    plain = path.with_suffix("") if path.suffix in _PACKED else path
    if path.is_dir() or plain.suffix == ".parquet":
        return "parquet"
    return "npy" if plain.suffix == ".npy" else "csv"


def from_npy(path: Path) -> Cells:
    """Read an array that numpy has saved; it is mapped into memory, not loaded."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, TypeError, SyntaxError, TokenError, EOFError, OSError, MemoryError) as error:
        if isinstance(error, FileNotFoundError):
            raise InputError(f"{path}: there is no such file; check the path", path=path) from None
        raise InputError(f"{path} can't be read as a numpy array: {one_line(error)}", path=path) from error
    if not isinstance(array, np.ndarray):
        raise InputError(f"{path} is an archive of arrays; save the matrix alone, with numpy.save", path=path)
    return Cells(as_square(array), None)


def from_csv(
    path: Path,
    header: bool | None,
    delimiter: str | None,
    limits: ReadLimits,
    columns: Columns | None = None,
) -> Cells:
    """Read a text file, decompressed by its name, with or without names in the first row and column.

    Without being told, the first line is taken for names if a cell of it is neither empty nor a number, and
    cells are taken to be separated by what the line has of tab, comma, semicolon or blank, in this order.
    With `columns`, it is a list in which these are source, target and cost.
    """
    with reading(path):
        first = first_row(path, delimiter, _DELIMITERS, limits)
    if not first.cells:
        raise InputError(
            f"{path} is empty; give a matrix of costs, or the columns source, target, cost", path=path
        )
    if columns is None and set(PAIRS.wanted) <= set(first.cells) and header is not False:
        columns = PAIRS
    if columns is not None:
        return _from_pairs(sources.from_csv(path, columns, first.delimiter, limits, header), columns, path)
    has_names = not all(map(_is_number, first.cells)) if header is None else header
    check_room(len(first.cells), _COPIES_OF_CSV)
    try:
        with reading(path):
            table = _read_square(path, first, has_names, limits)
    except InputError as error:
        if not has_names or len(first.cells) != len(PAIRS.wanted):
            raise
        raise InputError(
            f"{error}; if it is a list of links and not a matrix, name its three columns (--cost-columns, or "
            f"columns= in Python)",
            path=path,
        ) from None
    if not has_names:
        return Cells(_values(table.columns, table.num_rows), None)
    return _matched(table.column(0), first.cells[1:], table.columns[1:], str(path))


def _is_number(cell: str) -> bool:
    try:
        float(cell.strip() or "nan")
    except ValueError:
        return False
    return True


def _read_square(path: Path, first: FirstRow, has_names: bool, limits: ReadLimits) -> pa.Table:
    columns = [str(place) for place in range(len(first.cells))]
    types = dict.fromkeys(columns, pa.float64()) | ({"0": pa.string()} if has_names else {})
    layout = CsvLayout(
        names=columns,
        types=types,
        delimiter=first.delimiter,
        blank_lines=first.blank_lines,
        header=has_names,
    )
    schema = pa.schema(list(types.items()))
    return pa.Table.from_batches(read_rows(path, layout, limits), schema)


def from_parquet(path: Path, limits: ReadLimits, columns: Columns | None = None) -> Cells:
    """Read a Parquet file or a folder of them: a column of numbers for each node, and one of names.

    Without a column of names, rows are in the order of the columns. With `columns`, it is a list in which
    these are source, target and cost.
    """
    parts = parquet_parts(path, limits)
    schema = pq.read_schema(parts[0])
    if columns is None and set(PAIRS.wanted) <= set(schema.names):
        columns = PAIRS
    if columns is not None:
        return _from_pairs(sources.from_parquet(path, columns, limits), columns, path)
    texts = [field.name for field in schema if is_text(field.type)]
    numbers = [field.name for field in schema if not is_text(field.type)]
    if len(texts) > 1:
        raise InputError(
            f"{path} has two columns of text, {texts[0]!r} and {texts[1]!r}; keep only one", path=path
        )
    check_room(len(numbers), _COPIES_OF_PARQUET)
    with reading(path):
        table = pa.concat_tables([pq.read_table(part) for part in parts])
    values = [_as_double(table, name, path) for name in numbers]
    rows = table.column(texts[0]) if texts else pa.array(numbers, pa.string())
    if len(rows) != table.num_rows:
        raise InputError(
            f"{path} has {table.num_rows:,} rows and {len(numbers):,} columns; give as many of both",
            path=path,
        )
    return _matched(rows, numbers, values, str(path))


def _as_double(table: pa.Table, name: str, path: Path) -> pa.ChunkedArray:
    column = table.column(name)
    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        raise InputError(
            f"{path}: column {name!r} is {column.type}; costs are numbers: cast it to double", path=path
        )
    return column.cast(pa.float64(), safe=False)


def _values(columns: list[pa.ChunkedArray], rows: int) -> Floats:
    values = np.empty((rows, len(columns)))
    for place, column in enumerate(columns):
        values[:, place] = column.to_numpy()
    return values


def _matched(rows: Any, column_names: NameSource, columns: list[pa.ChunkedArray], origin: str) -> Cells:
    """The square with its rows in the order of its columns, which must have the same names."""
    names = unique_names(column_names, "column", origin)
    row_names = unique_names(rows, "row", origin)
    way_out = "give each node both"
    place = lookup(row_names, names)
    check_all_known(place, names, "has a column but no row", way_out)
    check_all_known(lookup(names, row_names), row_names, "has a row but no column", way_out)
    values = _values(columns, len(row_names))
    return Cells(values if (place == np.arange(len(place))).all() else values[place], names)


def _from_pairs(chunks: Iterable[Chunk], columns: Columns, path: Path) -> Cells:
    """The square of a list of pairs."""
    found = collect(chunks, columns)
    both = pa.chunked_array([found.first_names, found.second_names]).combine_chunks()
    names, _ = ranks(both if not isinstance(both, pa.ChunkedArray) else pa.concat_arrays(both.chunks))
    check_room(len(names))
    u = lookup(names, found.first_names)[found.first_ids]
    v = lookup(names, found.second_names)[found.second_ids]
    assert found.values is not None
    values = np.full((len(names), len(names)), np.nan)
    values[u, v] = found.values
    _check_agreement(values, names, u, v, found.values, path)
    np.copyto(values, values.T.copy(), where=np.isnan(values))
    return Cells(values, names)


def _check_agreement(
    values: Floats, names: pa.StringArray, u: Ids, v: Ids, given: Floats, path: Path
) -> None:
    """Refuse a pair that comes twice in one direction with two costs."""
    kept = values[u, v]
    other = np.flatnonzero((kept != given) & ~(np.isnan(kept) & np.isnan(given)) & (u != v))
    if len(other):
        row = int(other[0])
        count = len(np.unique(np.stack([u[other], v[other]]), axis=1).T)
        raise InputError(
            f"{path}, row {row + 1}: {name_at(names, u[row])} to {name_at(names, v[row])} costs "
            f"{given[row]:g} here and {kept[row]:g} in a later row{and_more(count)}; give one cost",
            path=path,
            row=row + 1,
        )


def from_file(path: Path, limits: ReadLimits, columns: Columns | None) -> Cells:
    """Read a file of any kind, by its name."""
    kind = kind_of(path)
    if kind == "npy":
        if columns is not None:
            raise InputError(f"{path} is an array, which has no columns; leave --cost-columns out", path=path)
        return from_npy(path)
    if kind == "parquet":
        return from_parquet(path, limits, columns)
    return from_csv(path, None, None, limits, columns)


Placement: TypeAlias = Mapping[str, str] | Iterable[tuple[str, str]] | Interests | str | Path | Any
"""A mapping or pairs of node and site, interests with that attribute, a file, or a table."""

Coordinates: TypeAlias = Mapping[str, Iterable[float]] | Interests | str | Path | Any
"""A mapping of nodes to numbers, interests with these attributes, a file, or a table."""

_NUMBER = Wanted("a number", lambda kind: pa.types.is_floating(kind) or pa.types.is_integer(kind))
_TEXT = Wanted("string", is_text)


class Placed(NamedTuple):
    """Nodes, the sites that have at least one, both sorted by name, and the site of each node."""

    nodes: pa.StringArray
    sites: pa.StringArray
    site_of: Ids


def placed(source: Placement, columns: Columns, limits: ReadLimits = READ_LIMITS) -> Placed:
    """Which site each node is on; a node that comes with two sites, or with none, is refused."""
    with named(source):
        found = collect(_pairs(source, columns, limits), columns)
        site_of = np.full(len(found.first_names), -1, np.int32)
        site_of[found.first_ids] = found.second_ids
        torn = np.flatnonzero(site_of[found.first_ids] != found.second_ids)
        if len(torn):
            row = torn[0]
            node = found.first_ids[row]
            raise InputError(
                f"the {columns.first} {name_at(found.first_names, node)} has the {columns.second} "
                f"{name_at(found.second_names, found.second_ids[row])} and also "
                f"{name_at(found.second_names, site_of[node])}"
                f"{and_more(len(np.unique(found.first_ids[torn])))}; give each {columns.first} one"
            )
        return Placed(found.first_names, found.second_names, site_of)


def _pairs(source: Placement, columns: Columns, limits: ReadLimits) -> Iterator[Chunk]:
    if isinstance(source, Interests):
        table = _attributes(source, columns.wanted)
        return sources.from_arrow(table, columns)
    if isinstance(source, str | Path):
        if kind_of(Path(source)) == "parquet":
            return sources.from_parquet(source, columns, limits)
        return sources.from_csv(source, columns, limits=limits)
    if _is_table(source):
        return sources.from_arrow(source, columns)
    return sources.from_tuples(source.items() if isinstance(source, Mapping) else source, columns)


def _is_table(source: Any) -> bool:
    return hasattr(source, "__arrow_c_stream__")


def _attributes(interests: Interests, wanted: Sequence[Column]) -> pa.Table:
    """The names of nodes, and some of their attributes; one that is missing for a node is refused."""
    if by_position(wanted):
        raise InputError("the attributes of the dataset's nodes have no positions; give their names")
    node, *names = map(str, wanted)
    held = interests.node_attributes
    columns = {node: interests.nodes}
    for name in names:
        if held is None or name not in held.column_names:
            known = ", ".join(held.column_names) if held is not None else "none"
            raise InputError(
                f"the nodes of the interests have no attribute {name!r}; their attributes are: {known}"
            )
        missing = np.flatnonzero(held[name].is_null())
        if len(missing):
            raise InputError(
                f"there is no {name!r} for node {name_at(interests.nodes, missing[0])}"
                f"{and_more(len(missing))}; give every node one"
            )
        columns[name] = held[name]
    return pa.table(columns)


def local_costs(local: float | Mapping[str, float] | None, sites: pa.StringArray) -> Floats:
    """What a link inside each of the sites costs; zero where nothing is said."""
    if local is None:
        return np.zeros(len(sites))
    if not isinstance(local, Mapping):
        return np.full(len(sites), positive(local, "local"))
    prices = {name: positive(price, f"the local cost of {name!r}") for name, price in local.items()}
    return np.array([prices.get(name, 0.0) for name in sites.to_pylist()], np.float64)


class Located(NamedTuple):
    """Nodes, and a row of coordinates for each."""

    nodes: pa.StringArray
    values: Floats


def located(
    source: Coordinates, node: Column, columns: tuple[Column, ...], limits: ReadLimits = READ_LIMITS
) -> Located:
    """The coordinates of each node, all finite; a node that comes twice is refused."""
    with named(source):
        if isinstance(source, Mapping):
            found = _from_mapping(source, columns)
        else:
            found = _from_table(source, node, columns, limits)
        wrong = np.argwhere(~np.isfinite(found.values))
        if len(wrong):
            row, place = wrong[0]
            raise InputError(
                f"the {_called(columns[place])} of {name_at(found.nodes, row)} is missing or not a finite "
                f"number{and_more(len(np.unique(wrong[:, 0])))}; give it, or leave the row out"
            )
        return found


def _called(column: Column) -> str:
    return f"column {column}" if is_position(column) else str(column)


def _from_mapping(source: Mapping[str, Iterable[float]], columns: tuple[Column, ...]) -> Located:
    nodes = unique_names(list(source), "node", "the coordinates")
    values = np.empty((len(nodes), len(columns)))
    for row, (name, given) in enumerate(source.items()):
        try:
            numbers = np.array(list(given), np.float64)
        except (TypeError, ValueError):
            numbers = np.empty(0)
        if numbers.shape != (len(columns),):
            raise InputError(
                f"the place of {name!r} is {given!r}; "
                f"give {len(columns)} numbers: {', '.join(map(str, columns))}"
            )
        values[row] = numbers
    return Located(nodes, values)


def _from_table(
    source: Coordinates, node: Column, columns: tuple[Column, ...], limits: ReadLimits
) -> Located:
    wanted = [node, *columns]
    by_position(wanted)
    check_different(wanted)
    if isinstance(source, Interests):
        table, origin = _attributes(source, wanted), "the interests' node attributes"
    elif isinstance(source, str | Path):
        table, origin = _read(Path(source), wanted, limits), str(source)
    elif _is_table(source):
        table, origin = pa.table(source), "the table of coordinates"
    else:
        raise InputError(
            f"the coordinates are {type_of(source)}; give a mapping, a file, a table or interests"
        )
    places = [place_of(column, table.schema.names, origin) for column in wanted]
    table = table.select(places).rename_columns([_called(column) for column in wanted])
    name, *numbers = table.column_names
    check_types(table.schema, {name: _TEXT} | dict.fromkeys(numbers, _NUMBER), origin, InputError)
    values = np.stack([table[axis].cast(pa.float64(), safe=False).to_numpy() for axis in numbers], axis=1)
    return Located(unique_names(table[name], "node", origin), values)


def _read(path: Path, wanted: Sequence[Column], limits: ReadLimits) -> pa.Table:
    """A file as a table; types are left for the check."""
    with reading(path):
        if kind_of(path) == "parquet":
            return parquet_table(path, limits)
        return _read_csv(path, wanted, limits)


def _read_csv(path: Path, wanted: Sequence[Column], limits: ReadLimits) -> pa.Table:
    """A CSV file, with the first of the wanted columns as text, and the others as numbers.

    It has a header, unless columns are chosen by position; those that are not wanted are null.
    """
    first = first_row(path, "\t" if ".tsv" in path.suffixes else ",", "", limits)
    places = [place_of(column, first.cells, str(path)) for column in wanted]
    labels = [str(place) for place in range(len(first.cells))]
    types = {labels[place]: pa.float64() if at else pa.string() for at, place in enumerate(places)}
    layout = CsvLayout(
        names=labels,
        types=types,
        delimiter=first.delimiter,
        blank_lines=first.blank_lines,
        header=not by_position(wanted),
    )
    read = pa.Table.from_batches(read_rows(path, layout, limits), pa.schema(list(types.items())))
    nothing = pa.nulls(read.num_rows)
    columns = [read[label] if label in types else nothing for label in labels]
    return pa.table(columns, names=first.cells)


def check_globe(found: Located) -> None:
    """Refuse latitudes beyond a pole, and longitudes beyond the date line."""
    for place, (what, most) in enumerate((("latitude", 90.0), ("longitude", 180.0))):
        beyond = np.flatnonzero(np.abs(found.values[:, place]) > most)
        if len(beyond):
            raise InputError(
                f"the {what} of {name_at(found.nodes, beyond[0])} is {found.values[beyond[0], place]:g}"
                f"{and_more(len(beyond))}; give degrees from {-most:g} to {most:g}"
            )
