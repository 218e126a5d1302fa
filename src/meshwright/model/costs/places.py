"""Where nodes are: on which site, in which cluster, or at which coordinates; from tables of any kind."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from meshwright.model import pairs as sources
from meshwright.model.costs.forms import and_more, name_at, positive, unique_names
from meshwright.model.costs.sources import kind_of, named
from meshwright.model.interests import Interests
from meshwright.model.names import is_text
from meshwright.model.pairs import Chunk, Columns, collect
from meshwright.model.reading.csv_rows import CsvLayout, first_row, read_rows
from meshwright.model.reading.files import check_declared, part_files, reading
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.model.storage.schema import Wanted, check_types
from meshwright.runtime.arrays import Floats, Ids
from meshwright.runtime.errors import InputError

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
    with named(_file(source)):
        return _placed(source, columns, limits)


def _file(source: Any) -> str | Path | None:
    return source if isinstance(source, str | Path) else None


def _placed(source: Placement, columns: Columns, limits: ReadLimits) -> Placed:
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
            f"{and_more(len(np.unique(found.first_ids[torn])))}; give it one"
        )
    return Placed(found.first_names, found.second_names, site_of)


def _pairs(source: Placement, columns: Columns, limits: ReadLimits) -> Iterator[Chunk]:
    if isinstance(source, Interests):
        table = _attributes(source, columns.names[1:], columns.first)
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


def _attributes(interests: Interests, names: Iterable[str], node: str) -> pa.Table:
    """Some attributes of nodes beside their names; one that is missing for a node is refused."""
    held = interests.node_attributes
    columns = {node: interests.nodes}
    for name in names:
        if held is None or name not in held.column_names:
            known = ", ".join(held.column_names) if held is not None else "none"
            raise InputError(f"the interests' nodes have no attribute {name!r}; theirs are: {known}")
        missing = np.flatnonzero(held[name].is_null())
        if len(missing):
            raise InputError(
                f"node {name_at(interests.nodes, missing[0])}{and_more(len(missing))} has no {name!r}; "
                f"give every node one"
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
    source: Coordinates, node: str, columns: tuple[str, ...], limits: ReadLimits = READ_LIMITS
) -> Located:
    """The coordinates of each node, all finite; a node that comes twice is refused."""
    with named(_file(source)):
        return _located(source, node, columns, limits)


def _located(source: Coordinates, node: str, columns: tuple[str, ...], limits: ReadLimits) -> Located:
    if isinstance(source, Mapping):
        found = _from_mapping(source, columns)
    else:
        found = _from_table(source, node, columns, limits)
    wrong = np.argwhere(~np.isfinite(found.values))
    if len(wrong):
        row, place = wrong[0]
        raise InputError(
            f"the {columns[place]} of {name_at(found.nodes, row)} is missing or not a finite number"
            f"{and_more(len(np.unique(wrong[:, 0])))}; give it, or leave the row out"
        )
    return found


def _from_mapping(source: Mapping[str, Iterable[float]], columns: tuple[str, ...]) -> Located:
    nodes = unique_names(list(source), "node", "the coordinates")
    values = np.empty((len(nodes), len(columns)))
    for row, (name, given) in enumerate(source.items()):
        try:
            numbers = np.array(list(given), np.float64)
        except (TypeError, ValueError):
            numbers = np.empty(0)
        if numbers.shape != (len(columns),):
            raise InputError(
                f"the place of {name!r} is {given!r}; give {len(columns)} numbers: {', '.join(columns)}"
            )
        values[row] = numbers
    return Located(nodes, values)


def _from_table(source: Coordinates, node: str, columns: tuple[str, ...], limits: ReadLimits) -> Located:
    if isinstance(source, Interests):
        table, origin = _attributes(source, columns, node), "the interests' node attributes"
    elif isinstance(source, str | Path):
        table, origin = _read(Path(source), node, columns, limits), str(source)
    elif _is_table(source):
        table, origin = pa.table(source), "the table of coordinates"
    else:
        raise InputError(
            f"coordinates are a {type(source).__name__}; give a mapping, a file, a table or interests"
        )
    check_types(table.schema, {node: _TEXT} | dict.fromkeys(columns, _NUMBER), origin, InputError)
    values = np.stack([table[name].cast(pa.float64(), safe=False).to_numpy() for name in columns], axis=1)
    return Located(unique_names(table[node], "node", origin), values)


def _read(path: Path, node: str, columns: tuple[str, ...], limits: ReadLimits) -> pa.Table:
    """A file as a table; types are left for the check."""
    with reading(path):
        if kind_of(path) == "parquet":
            return _read_parquet(part_files(path), limits)
        return _read_csv(path, {node: pa.string()} | dict.fromkeys(columns, pa.float64()), limits)


def _read_csv(path: Path, types: Mapping[str, pa.DataType], limits: ReadLimits) -> pa.Table:
    """Read the columns of a CSV file that have types; no rows if one is missing or appears twice."""
    first = first_row(path, "\t" if ".tsv" in path.suffixes else ",", "", limits)
    if any(first.cells.count(name) != 1 for name in types):
        return pa.schema([(name, types.get(name, pa.string())) for name in first.cells]).empty_table()
    layout = CsvLayout(
        names=first.cells, types=types, delimiter=first.delimiter, blank_lines=first.blank_lines
    )
    return pa.Table.from_batches(read_rows(path, layout, limits), pa.schema(list(types.items())))


def _read_parquet(parts: list[Path], limits: ReadLimits) -> pa.Table:
    for part in parts:
        check_declared(pq.read_metadata(part), str(part), part.stat().st_size, limits)
    return pa.concat_tables([pq.read_table(part) for part in parts])


def check_globe(found: Located) -> None:
    """Refuse latitudes beyond a pole, and longitudes beyond the date line."""
    for place, (what, most) in enumerate((("latitude", 90.0), ("longitude", 180.0))):
        beyond = np.flatnonzero(np.abs(found.values[:, place]) > most)
        if len(beyond):
            raise InputError(
                f"the {what} of {name_at(found.nodes, beyond[0])} is {found.values[beyond[0], place]:g}"
                f"{and_more(len(beyond))}; give degrees from {-most:g} to {most:g}"
            )
