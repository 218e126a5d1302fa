"""The complete state of a maintainer as bytes, from which another one continues exactly as it would have.

The bytes are a NumPy archive (a zip file, with checksums): the rows of `live` in their order, and a JSON text
with names, options and random state. How arrays have grown is left out, since nothing depends on it.
"""

import io
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from meshwright.kernels.core.rows import Rows, packed_items
from meshwright.maintain.background import Budget
from meshwright.maintain.filters import SavedFilters
from meshwright.maintain.prices import SavedPrices
from meshwright.maintain.state import Csr, Known, MaintainedOverlay, NameSlots, make_live
from meshwright.runtime.errors import InputError

FORMAT = 1
_ROWS = ("topics", "links", "backups", "primaries", "subscribers")
"""The fields of `Live` that a snapshot holds, in the order of the archive."""


class About(NamedTuple):
    """The settings and counters of a maintainer, in JSON's types; what there is none of is not mentioned."""

    options: dict[str, Any]
    seed: int
    random: Mapping[str, Any]
    revision: int
    ids: list[str]
    costs: SavedPrices | None = None
    filters: SavedFilters | None = None
    budget: Budget | None = None

    def as_row(self) -> dict[str, Any]:
        """As a snapshot has it."""
        row = self._asdict()
        parts = {name: row.pop(name) for name in _PARTS}
        return {**row, **{name: part._asdict() for name, part in parts.items() if part is not None}}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "About":
        """The inverse of `as_row`."""
        parts = {name: make(**row[name]) for name, make in _PARTS.items() if name in row}
        return cls(**{**row, **parts})


_PARTS: Mapping[str, Callable[..., NamedTuple]] = {
    "costs": SavedPrices,
    "filters": SavedFilters,
    "budget": Budget,
}


class Saved(NamedTuple):
    """The content of a snapshot."""

    state: MaintainedOverlay
    nodes: Known
    topics: Known
    about: About


def to_bytes(saved: Saved) -> bytes:
    """The same state gives the same bytes. Linear in the overlay."""
    state = saved.state
    names = {
        "nodes": state.nodes.names,
        "free_nodes": state.nodes.free,
        "topics": state.topics.names,
        "free_topics": state.topics.free,
    }
    text = json.dumps({"format": FORMAT, "about": saved.about.as_row(), **names}, ensure_ascii=False)
    arrays: dict[str, npt.NDArray[Any]] = {"text": _as_array(text.encode())}
    for field in _ROWS:
        rows: Rows = getattr(state.live, field)
        used = len(state.topics.names) if field == "subscribers" else len(state.nodes.names)
        arrays[f"{field}_counts"] = rows.counts[:used]
        arrays[f"{field}_items"] = packed_items(rows)
    for field, known in (("nodes", saved.nodes), ("topics", saved.topics)):
        if known.attributes is not None:
            table = known.attributes.append_column("name", known.names)
            arrays[f"known_{field}"] = _as_array(_table_bytes(table))
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def from_bytes(data: bytes) -> Saved:
    """The inverse of `to_bytes`; bytes that are no snapshot, or a damaged one, are refused."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        text = json.loads(arrays["text"].tobytes())
        found = text["format"]
    except (ValueError, KeyError, TypeError, OSError, EOFError, BadZipFile) as error:
        raise InputError(f"these {len(data):,} bytes are not the snapshot of a maintainer: {error}") from None
    if found != FORMAT:
        raise InputError(
            f"the snapshot has format {found}, but this Meshwright reads {FORMAT}; use the one that wrote it"
        )
    nodes = NameSlots(text["nodes"], text["free_nodes"])
    topics = NameSlots(text["topics"], text["free_topics"])
    live = make_live(nodes, **{field: _rows(arrays, field) for field in _ROWS})
    state = MaintainedOverlay(nodes, topics, live)
    return Saved(state, _known(arrays, "nodes"), _known(arrays, "topics"), About.from_row(text["about"]))


def _rows(arrays: Mapping[str, npt.NDArray[Any]], field: str) -> Csr:
    counts = arrays[f"{field}_counts"]
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]), arrays[f"{field}_items"]


def _as_array(data: bytes) -> npt.NDArray[np.uint8]:
    return np.frombuffer(data, np.uint8)


def _table_bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _known(arrays: Mapping[str, npt.NDArray[Any]], field: str) -> Known:
    data = arrays.get(f"known_{field}")
    if data is None:
        return Known(pa.array([], pa.string()), None)
    table = pa.ipc.open_stream(pa.py_buffer(data.tobytes())).read_all()
    return Known(table["name"].combine_chunks(), table.drop_columns(["name"]))
