"""Files that are read at once: one JSON value, a sparse matrix, a hypergraph in two files.

Each gives pairs of names and what can't be used, as Parquet files do. In `rejected/`, the line of a row is
the place of the entry in a JSON value, or of the member of a hypergraph.
"""

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from meshwright.model.dense import entries_of
from meshwright.model.interests import PAIRS_SCHEMA
from meshwright.model.names import numbered
from meshwright.model.reading.files import reading
from meshwright.model.reading.limits import ReadLimits
from meshwright.model.reading.text import blocks
from meshwright.pipeline.ingest import cutting
from meshwright.pipeline.ingest.inputs import InputFile
from meshwright.pipeline.ingest.layouts import refuses_wildcards
from meshwright.pipeline.ingest.lines import sorted_out
from meshwright.pipeline.ingest.notices import EMPTY_TOPICS, ZEROS
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.pipeline.ingest.parquet_files import REJECTED, Found
from meshwright.runtime.errors import InputError, MeshwrightError, one_line

Entry = tuple[int, str, str | None]
"""The place of a row, its node, and its topic; a node by itself has none."""


def json_rows(files: Sequence[InputFile], *, options: IngestOptions) -> Iterator[tuple[Found, int]]:
    """An object of lists, `{"node": ["topic", …]}`, or a list of objects that have the two columns."""
    for file in files:
        with reading(file.path):
            value = _json_value(file.path, options.limits)
            faults: list[tuple[int, str, str]] = []
            entries = list(_json_entries(value, options, faults, file.path))
        yield _found(file.path, entries, faults, options), file.bytes


def _json_value(path: str, limits: ReadLimits) -> Any:
    text = b"".join(blocks(path, limits)).removeprefix(b"\xef\xbb\xbf")
    try:
        return json.loads(text, parse_int=str, parse_float=str, object_pairs_hook=cutting.json_object)
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8; save it as UTF-8") from None
    except RecursionError:
        raise InputError(
            f"{path} is nested too deep; give an object of lists, or a list of objects"
        ) from None
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}; correct it, or give --format jsonl") from None


def _json_entries(
    value: Any, options: IngestOptions, faults: list[tuple[int, str, str]], path: str
) -> Iterator[Entry]:
    if isinstance(value, dict):
        pairs = value.pairs if isinstance(value, cutting.Repeating) else value.items()
        rows: Iterable[Any] = ({options.names[0]: key, options.names[1]: names} for key, names in pairs)
    elif isinstance(value, list):
        rows = value
    else:
        raise InputError(f"{path} holds a single value; give an object of lists, or a list of objects")
    for place, row in enumerate(rows, 1):
        found: list[str] = []
        own = cutting.json_pairs(row, options.names, found)
        shown = _shown(json.dumps(row, ensure_ascii=False))
        faults += ((place, reason, shown) for reason in found)
        yield from ((place, *pair) for pair in own)


def _shown(text: str) -> str:
    """How a row begins; half characters, which JSON allows and UTF-8 does not, are shown as such."""
    return text[: cutting.SHOWN_CHARACTERS].encode("utf-8", "backslashreplace").decode()


def matrix_rows(files: Sequence[InputFile], *, options: IngestOptions) -> Iterator[tuple[Found, int]]:
    """A sparse matrix, nodes by topics, of which every entry other than zero is an interest.

    With follows and friendships, rows and columns are the same users, so that the matrix must be square.
    """
    if len(files) > 1:
        raise InputError(
            f"{files[0].path} and {len(files) - 1:,} more: the nodes of a matrix have numbers for names, so "
            f"those of several would be taken for the same; ingest one matrix at a time"
        )
    for file in files:
        with reading(file.path):
            entries = entries_of(_matrix(Path(file.path), options.limits))
        row, column = (place[entries.data != 0] for place in entries.coords)
        letters = "nt" if options.relation == "pairs" else "nn"
        if letters == "nn" and entries.shape[0] != entries.shape[1]:
            raise InputError(
                f"{file.path} has {entries.shape[0]:,} rows and {entries.shape[1]:,} columns, but with "
                f"--as {options.relation} both are the same users; for nodes and topics, give --as pairs"
            )
        nodes, topics = (
            numbered(letter, count) for letter, count in zip(letters, entries.shape, strict=True)
        )
        alone = np.setdiff1d(np.arange(len(nodes)), row)
        pairs = [
            _batch(nodes.take(pa.array(row)), topics.take(pa.array(column))),
            _batch(nodes.take(pa.array(alone)), pa.nulls(len(alone), pa.string())),
        ]
        notes = {ZEROS: len(entries.data) - len(row), EMPTY_TOPICS: len(topics) - len(np.unique(column))}
        yield Found(pairs, [], notes), file.bytes


def _batch(node: pa.StringArray, topic: pa.StringArray) -> pa.RecordBatch:
    return pa.record_batch([node, topic], schema=PAIRS_SCHEMA)


def _matrix(path: Path, limits: ReadLimits) -> Any:
    from scipy.io import mmread
    from scipy.sparse import load_npz

    try:
        if path.suffix.lower() != ".npz":
            return mmread(io.BytesIO(b"".join(blocks(path, limits))))
        with zipfile.ZipFile(path) as archive:
            grown = sum(member.file_size for member in archive.infolist())
        limits.check_unpacked(str(path), path.stat().st_size, grown)
        return load_npz(path)
    except MeshwrightError:
        raise
    except Exception as error:
        raise InputError(
            f"{path} can't be read as a sparse matrix: {one_line(error)}; write it again with SciPy"
        ) from error


def hypergraph_rows(files: Sequence[InputFile], *, options: IngestOptions) -> Iterator[tuple[Found, int]]:
    """Two files: the sizes of hyperedges, a number on each line, and their members, a name on each line.

    A hyperedge is a topic, named by its place from 1; its members are its subscribers.
    """
    if len(files) != 2:
        raise InputError(
            f"a hypergraph is two files, of sizes and of members, but {len(files)} are given; give two"
        )
    with reading(files[0].path):
        columns = [_lines(file.path, options.limits) for file in files]
    for sizes, members, file in ((0, 1, files[1]), (1, 0, files[0])):
        counts = _sizes(columns[sizes])
        if counts is not None and int(counts.sum()) == len(columns[members]):
            topics = np.repeat(np.arange(1, len(counts) + 1), counts).astype(str).tolist()
            entries = list(zip(range(1, len(topics) + 1), columns[members], topics, strict=True))
            notes = {EMPTY_TOPICS: int(np.count_nonzero(counts == 0))}
            found = _found(file.path, entries, [], options)._replace(notes=notes)
            yield found, files[0].bytes + files[1].bytes
            return
    raise InputError(
        f"{files[0].path} and {files[1].path}: neither has sizes that add up to the lines of the other; "
        f"give the file of sizes and the file of members of one hypergraph"
    )


def _lines(path: str, limits: ReadLimits) -> list[str]:
    try:
        text = b"".join(blocks(path, limits)).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8; save it as UTF-8") from None
    return [line.strip() for line in text.splitlines() if line.strip()]


def _sizes(lines: Sequence[str]) -> Any:
    if not all(line.isdecimal() and len(line) < 10 for line in lines):
        return None
    return np.array([int(line) for line in lines], np.int64)


def _found(
    path: str, entries: Sequence[Entry], faults: list[tuple[int, str, str]], options: IngestOptions
) -> Found:
    """The pairs whose names can be used, and the others with the reason."""
    places = np.array([place for place, _, _ in entries], np.int64)
    node = pa.array([node for _, node, _ in entries], pa.string())
    topic = pa.array([topic for _, _, topic in entries], pa.string())
    cut = cutting.Cut(np.arange(len(entries)), node, topic, [])
    good, bad = sorted_out(cut, refuses_wildcards(options), options.filters)
    shown = [
        (int(places[at]), reason, f"{entries[at][1]}, {entries[at][2]}"[: cutting.SHOWN_CHARACTERS])
        for at, reason in bad
    ]
    rows = [{"file": path, "line": at, "reason": why, "text": text} for at, why, text in [*faults, *shown]]
    taken = pa.array(good)
    pairs = _batch(node.take(taken), topic.take(taken))
    return Found([pairs], [pa.Table.from_pylist(rows, REJECTED)])


Reader = Callable[..., Iterator[tuple[Found, int]]]
WHOLE_READERS: Mapping[str, Reader] = {
    "json": json_rows,
    "npz": matrix_rows,
    "mtx": matrix_rows,
    "hypergraph": hypergraph_rows,
}
