"""Mutations of files that users bring: of bytes, of lines and cells, and of JSON values."""

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

_LONGEST_SPAN = 64
_LONGEST_LINE = 1 << 20
_DEEPEST = 20_000

NUMBERS = [
    "1e999",
    "-1",
    "0",
    "9" * 400,
    "1e-400",
    "NaN",
    "Infinity",
    "-0.0",
    "0x10",
    "1_000",
    "9223372036854775808",
]
TEXTS = [
    b"\xef\xbb\xbf",
    b"\x00",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    "\u2028".encode(),
    "\u202e".encode(),
    "é".encode(),
    "e\u0301".encode(),
    "\U0001f600".encode(),
    b"\x1b[31m",
    b"\r",
    b'"',
    b'""',
    b",",
    b"\t",
    b"\n",
    b"\n\n",
    b"\\",
    b"'",
    b";",
    b"#",
    b"%",
]

Mutation = Callable[[random.Random, bytes], bytes]


def mutated(rng: random.Random, data: bytes, mutations: Sequence[Mutation]) -> bytes:
    """The data after one to four mutations."""
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 4])):
        data = rng.choice(mutations)(rng, data)
    return data


def _span(rng: random.Random, data: bytes) -> slice:
    start = rng.randint(0, len(data))
    return slice(start, min(len(data), start + rng.randint(1, _LONGEST_SPAN)))


def flip(rng: random.Random, data: bytes) -> bytes:
    """One bit is another."""
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def delete(rng: random.Random, data: bytes) -> bytes:
    """Some bytes are gone."""
    span = _span(rng, data)
    return data[: span.start] + data[span.stop :]


def insert(rng: random.Random, data: bytes) -> bytes:
    """Some bytes are new."""
    at = rng.randint(0, len(data))
    return data[:at] + rng.randbytes(rng.randint(1, 8)) + data[at:]


def insert_text(rng: random.Random, data: bytes) -> bytes:
    """A mark, a letter or an ending that somebody's reader stumbles over."""
    at = rng.randint(0, len(data))
    return data[:at] + rng.choice(TEXTS) + data[at:]


def duplicate(rng: random.Random, data: bytes) -> bytes:
    """Some bytes are there twice."""
    span = _span(rng, data)
    return data[: span.stop] + data[span] + data[span.stop :]


def splice(rng: random.Random, data: bytes) -> bytes:
    """Some bytes are also elsewhere, in place of what was there."""
    span, at = _span(rng, data), rng.randint(0, len(data))
    return data[:at] + data[span] + data[at + span.stop - span.start :]


def truncate(rng: random.Random, data: bytes) -> bytes:
    """The end is missing."""
    return data[: rng.randint(0, len(data))]


def unchanged(_: random.Random, data: bytes) -> bytes:
    """Nothing is done, as the damage is elsewhere."""
    return data


BYTES: tuple[Mutation, ...] = (flip, flip, delete, insert, duplicate, splice, truncate)


def long_line(rng: random.Random, data: bytes) -> bytes:
    """A line, or a cell of it, is very long."""
    at = rng.randint(0, len(data))
    return data[:at] + rng.choice([b"x", b",", b'"', b" ", b"["]) * rng.randint(1, _LONGEST_LINE) + data[at:]


def huge_number(rng: random.Random, data: bytes) -> bytes:
    """A number is another, which may be none."""
    found = list(re.finditer(rb"-?\d+(\.\d+)?", data))
    if not found:
        return data
    at = rng.choice(found)
    return data[: at.start()] + rng.choice(NUMBERS).encode() + data[at.end() :]


def _on_lines(change: Callable[[random.Random, list[bytes]], None]) -> Mutation:
    def mutation(rng: random.Random, data: bytes) -> bytes:
        lines = data.split(b"\n")
        change(rng, lines)
        return b"\n".join(lines)

    return mutation


def _swap_lines(rng: random.Random, lines: list[bytes]) -> None:
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]


def _repeat_line(rng: random.Random, lines: list[bytes]) -> None:
    lines.insert(rng.randint(0, len(lines)), rng.choice(lines))


def _drop_line(rng: random.Random, lines: list[bytes]) -> None:
    del lines[rng.randrange(len(lines))]


def _change_cells(rng: random.Random, lines: list[bytes]) -> None:
    at = rng.randrange(len(lines))
    mark = rng.choice([mark for mark in (b",", b"\t", b" ") if mark in lines[at]] or [b","])
    cells = lines[at].split(mark)
    change = rng.choice(["shuffle", "drop", "add", "empty", "quote", "mark"])
    if change == "shuffle":
        rng.shuffle(cells)
    elif change == "drop":
        del cells[rng.randrange(len(cells))]
    elif change == "add":
        cells.append(rng.choice([b"", b"x", b"1"]))
    elif change in ("empty", "quote"):
        place = rng.randrange(len(cells))
        cells[place] = b"" if change == "empty" else b'"' + cells[place] + rng.choice([b'"', b"", b'" '])
    lines[at] = (rng.choice([b";", b"|", b","]) if change == "mark" else mark).join(cells)


LINES: tuple[Mutation, ...] = (
    *BYTES,
    insert_text,
    insert_text,
    huge_number,
    _on_lines(_swap_lines),
    _on_lines(_repeat_line),
    _on_lines(_drop_line),
    _on_lines(_change_cells),
    _on_lines(_change_cells),
)


def _other_value(rng: random.Random, value: Any) -> Any:
    """A value of another type, of another size, or in a list."""
    deep = rng.choice(["[", '{"a":']) * rng.randint(2, _DEEPEST)
    other = [None, True, 0, -1, 2**63, 2**70, 1.5, "", "x" * 70_000, [], {}, [value], [[value]], {"a": value}]
    return rng.choice([*other, value, json.dumps(value), deep])


def _change_json(rng: random.Random, lines: list[bytes]) -> None:
    at = rng.randrange(len(lines))
    try:
        row = json.loads(lines[at])
    except (ValueError, RecursionError):
        return
    if not isinstance(row, dict) or not row:
        lines[at] = json.dumps(_other_value(rng, row)).encode()
        return
    key = rng.choice(list(row))
    change = rng.choice(["drop", "value", "value", "key", "twice", "deep"])
    if change == "drop":
        del row[key]
    elif change == "value":
        row[key] = _other_value(rng, row[key])
    elif change == "key":
        row[rng.choice(["", "x", key.upper(), "\ud800"])] = row.pop(key)
    text = json.dumps(row)
    if change == "twice":
        text = text[:-1] + f", {json.dumps(key)}: {json.dumps(_other_value(rng, 1))}}}"
    if change == "deep":
        depth = rng.randint(2, _DEEPEST)
        text = text[:-1] + f', "deep": {"[" * depth}{"]" * depth}}}'
    lines[at] = text.encode()


JSON_LINES: tuple[Mutation, ...] = (*LINES, *[_on_lines(_change_json)] * 6)


def lines_with_long_ones(mutations: Sequence[Mutation]) -> tuple[Mutation, ...]:
    """The same, with a very long line now and then: they take their time."""
    return (*mutations, *mutations, long_line)
