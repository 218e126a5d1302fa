"""The formats that users bring: a good file, its mutations, who reads it, and what that should give.

`expected` is an independent reading, as naive as can be. It gives None where it can't say: then a reader may
refuse the file or not, but never fail otherwise.
"""

import bz2
import csv
import gzip
import io
import json
import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import meshwright as mw
from benchmarks.fuzz_mutations import (
    BYTES,
    JSON_LINES,
    LINES,
    Mutation,
    lines_with_long_ones,
    mutated,
    unchanged,
)

NODES = [f"b{number}" for number in range(12)]
TOPICS = ["news", "art", "ключ", "sport", "say hi", "007"]
INTERESTS = mw.Interests.from_pairs([(node, topic) for node in NODES for topic in TOPICS[:2]])
SITES = mw.Costs.from_matrix([[0, 2, 3], [2, 0, 4], [3, 4, 0]], names=["x", "y", "z"])

Read = Callable[[Path], Any]
Expected = Callable[[bytes], Any]


class Format(NamedTuple):
    """A kind of file.

    Attributes:
        name: the name of a file, by whose ending it is known.
        sample: a good file.
        mutations: of its bytes.
        read: what a reader makes of it, to be compared with what is expected.
        expected: what an independent reading gives; None where that can't be said.
    """

    name: str
    sample: Callable[[random.Random], bytes]
    mutations: Sequence[Mutation]
    read: Read
    expected: Expected


def _nothing(_: bytes) -> None:
    return None


def _rows(rng: random.Random, header: Sequence[str], row: Callable[[], Sequence[object]], mark: str) -> bytes:
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=mark, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(row() for _ in range(rng.randint(1, 20)))
    return stream.getvalue().encode()


def _pairs(rng: random.Random, mark: str = ",") -> bytes:
    return _rows(rng, ["node", "topic"], lambda: [rng.choice(NODES), rng.choice(TOPICS)], mark)


def _edges(rng: random.Random) -> bytes:
    def row() -> list[object]:
        u, v = rng.sample(range(len(NODES)), 2)
        return [NODES[u], NODES[v], u + v]

    return _rows(rng, ["source", "target", "cost"], row, ",")


def _all_pairs(rng: random.Random) -> bytes:
    """A cost for each pair of some nodes."""
    nodes = NODES[: rng.randint(2, 5)]
    pairs = [f"{u},{v},{len(u) + len(v)}" for u in nodes for v in nodes if u < v]
    return "\n".join(["source,target,cost", *pairs]).encode()


def _matrix(rng: random.Random) -> bytes:
    size = rng.randint(1, 6)
    rows = [[0 if u == v else rng.randint(1, 99) / 4 for v in range(size)] for u in range(size)]
    if rng.random() < 0.2:
        return b"\n".join(b",".join(str(cell).encode() for cell in row) for row in rows)
    names = NODES[:size]
    lines = [
        ",".join(["", *names]),
        *(",".join(map(str, [name, *row])) for name, row in zip(names, rows, strict=True)),
    ]
    return "\n".join(lines).encode()


def _places(rng: random.Random) -> bytes:
    return _rows(
        rng,
        ["node", "lat", "lon"],
        lambda: [f"n{rng.random()}", rng.uniform(-90, 90), rng.uniform(-180, 180)],
        ",",
    )


def _sites(rng: random.Random) -> bytes:
    return _rows(rng, ["node", "site"], lambda: [f"n{rng.random()}", rng.choice("xyz")], ",")


def _sessions(rng: random.Random) -> bytes:
    def row() -> list[object]:
        start = rng.randint(0, 99)
        return [rng.choice(NODES), start, start + rng.randint(1, 9)]

    return _rows(rng, ["node", "start", "end"], row, ",")


def _events(rng: random.Random) -> list[dict[str, Any]]:
    rows = []
    for at in range(rng.randint(1, 12)):
        kind = rng.choice(["join", "leave", "subscribe", "unsubscribe"])
        row = {"at": at, "event": kind, "node": rng.choice(NODES)}
        rows.append(row if kind == "leave" else row | {"topics": rng.sample(TOPICS, 2), "id": f"k{at}"})
    return rows


def _event_lines(rng: random.Random) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in _events(rng))


def _parquet(table: pa.Table, rng: random.Random) -> bytes:
    sink = io.BytesIO()
    pq.write_table(
        table, sink, compression=rng.choice(["none", "snappy", "zstd"]), row_group_size=rng.randint(1, 9)
    )
    return sink.getvalue()


def _as_table(text: Callable[[random.Random], bytes], rng: random.Random) -> bytes:
    """The rows of a text as a table, now and then with a column of another type."""
    rows = list(csv.DictReader(io.StringIO(text(rng).decode())))
    columns = {name: pa.array([row[name] for row in rows]) for name in rows[0]}
    if "cost" in columns:
        columns["cost"] = columns["cost"].cast(pa.float64())
    if rng.random() < 0.3:
        columns[rng.choice(list(columns))] = rng.choice(_OTHER_COLUMNS)(len(rows))
    return _parquet(pa.table(columns), rng)


_OTHER_COLUMNS: Sequence[Callable[[int], pa.Array]] = (
    pa.nulls,
    lambda count: pa.array(range(count)),
    lambda count: pa.array([b"\xff"] * count),
    lambda count: pa.array([["a"]] * count),
    lambda count: pa.array([{"a": 1}] * count),
    lambda count: pa.array(["x", None] * count)[:count],
    lambda count: pa.array([""] * count),
    lambda count: pa.array([1.5] * count),
    lambda count: pa.array([True] * count),
    lambda count: pa.array(["b1"] * count).dictionary_encode(),
    lambda count: pa.array(["b1"] * count, pa.large_string()),
    lambda count: pa.array([10**30] * count, pa.decimal128(38)),
)


def _event_table(rng: random.Random) -> bytes:
    table = pa.Table.from_pylist(_events(rng))
    if rng.random() < 0.3:
        place = rng.randrange(table.num_columns)
        other = rng.choice(_OTHER_COLUMNS)(table.num_rows)
        table = table.set_column(place, table.column_names[place], other)
    return _parquet(table, rng)


def _npy(rng: random.Random) -> bytes:
    sink = io.BytesIO()
    values = np.array([[0 if u == v else 1 + u + v for v in range(4)] for u in range(4)])
    np.save(sink, values.astype(rng.choice(["f8", "f4", "i8", "c16", "S3", "bool"])))
    return sink.getvalue()


def _naive_rows(data: bytes, columns: Sequence[str], mark: str) -> list[tuple[str, ...]] | None:
    """The cells of some columns by Python's own reader; None where readers may differ in good faith."""
    text = data.decode("utf-8-sig")
    if '"' in text or "\r" in text or "\0" in text:
        return None
    lines = [line.split(mark) for line in text.split("\n") if line]
    if not lines or any(lines[0].count(column) != 1 for column in columns):
        return None
    places = [lines[0].index(column) for column in columns]
    if any(len(line) != len(lines[0]) for line in lines):
        return None
    return [tuple(line[place] for place in places) for line in lines[1:]]


def _expected_pairs(data: bytes, mark: str = ",") -> Any:
    rows = _naive_rows(data, ["node", "topic"], mark)
    return None if rows is None or any("" in row for row in rows) else sorted(set(rows))


def _read_pairs(path: Path) -> Any:
    return sorted(mw.Interests.from_csv(path).to_pairs())


def _expected_edges(data: bytes) -> Any:
    rows = _naive_rows(data, ["source", "target"], ",")
    return None if rows is None else sorted({tuple(sorted(row)) for row in rows})


def _read_edges(path: Path) -> Any:
    overlay = mw.Overlay.from_csv(INTERESTS, path, cost="cost")
    names = overlay.interests.nodes.to_pylist()
    return sorted(tuple(sorted((names[u], names[v]))) for u, v in overlay.edges.tolist())


def _expected_events(data: bytes) -> Any:
    """How many events, and how many unfinished last lines."""
    lines = data.split(b"\n")
    events = [line for line in lines[:-1] if line.strip()]
    if not lines[-1].strip():
        return len(events), 0
    try:
        json.loads(lines[-1])
    except (ValueError, RecursionError):
        return len(events), 1
    return len(events) + 1, 0


def _read_events(path: Path) -> Any:
    found = mw.read_events(path)
    return len(found.events), len(found.torn)


def _expected_sessions(data: bytes) -> Any:
    rows = _naive_rows(data, ["node", "start", "end"], ",")
    return None if rows is None else len(rows)


def _expected_rows(data: bytes) -> Any:
    """How many rows a Parquet file has, by another way to read it."""
    return pq.read_table(io.BytesIO(data), use_threads=False).num_rows


def _packed(
    plain: Format, ending: str, pack: Callable[[bytes], bytes], unpack: Callable[[bytes], bytes]
) -> Format:
    """A compressed form: half of the mutations are done to the text, half to what it is packed to."""

    def sample(rng: random.Random) -> bytes:
        text = plain.sample(rng)
        return pack(mutated(rng, text, plain.mutations) if rng.random() < 0.5 else text)

    name = f"{plain.name}.{ending}"
    return Format(
        name, sample, (*BYTES, *[unchanged] * 8), plain.read, lambda data: plain.expected(unpack(data))
    )


_TEXT = lines_with_long_ones(LINES)
_PLAIN = [
    Format("pairs.csv", _pairs, _TEXT, _read_pairs, _expected_pairs),
    Format("pairs.tsv", partial(_pairs, mark="\t"), _TEXT, _read_pairs, partial(_expected_pairs, mark="\t")),
    Format("edges.csv", _edges, _TEXT, _read_edges, _expected_edges),
    Format("events.jsonl", _event_lines, lines_with_long_ones(JSON_LINES), _read_events, _expected_events),
    Format("matrix.csv", _matrix, _TEXT, lambda path: mw.Costs.from_csv(path) and None, _nothing),
    Format("costs.csv", _edges, _TEXT, lambda path: mw.Costs.from_csv(path) and None, _nothing),
    Format("sites.csv", _sites, _TEXT, lambda path: mw.Costs.sites(SITES, path, local=1) and None, _nothing),
    Format("places.csv", _places, _TEXT, lambda path: mw.Costs.coordinates(path, base=1) and None, _nothing),
    Format("sessions.csv", _sessions, _TEXT, lambda path: len(mw.read_sessions(path)), _expected_sessions),
]
_PACKED = [
    _packed(plain, ending, pack, unpack)
    for plain in _PLAIN
    for ending, pack, unpack in (
        ("gz", gzip.compress, gzip.decompress),
        ("bz2", bz2.compress, bz2.decompress),
    )
    if plain.name in ("pairs.csv", "events.jsonl", "sessions.csv")
    and (plain.name, ending) != ("events.jsonl", "bz2")
]
_BINARY = [
    Format(
        "pairs.parquet",
        partial(_as_table, _pairs),
        BYTES,
        lambda path: mw.Interests.from_parquet(path) and None,
        _nothing,
    ),
    Format(
        "edges.parquet",
        partial(_as_table, _edges),
        BYTES,
        lambda path: mw.Overlay.from_parquet(INTERESTS, path) and None,
        _nothing,
    ),
    Format("events.parquet", _event_table, BYTES, lambda path: _read_events(path)[0], _expected_rows),
    Format(
        "costs.parquet",
        partial(_as_table, _all_pairs),
        BYTES,
        lambda path: mw.Costs.from_parquet(path) and None,
        _nothing,
    ),
    Format("matrix.npy", _npy, BYTES, lambda path: mw.Costs.from_npy(path) and None, _nothing),
]
FORMATS: Mapping[str, Format] = {format.name: format for format in (*_PLAIN, *_PACKED, *_BINARY)}


def case(format: Format, seed: int, number: int) -> bytes:
    """The file of a format, a seed and a number; always the same."""
    rng = random.Random(f"{format.name}-{seed}-{number}")
    return mutated(rng, format.sample(rng), format.mutations)
