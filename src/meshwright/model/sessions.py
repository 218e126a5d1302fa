"""Session tables: when each node of some network was there."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from meshwright.model.reading.files import reading
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.model.reading.text import csv_reader, decoded_lines
from meshwright.runtime.errors import InputError, one_line, visible
from meshwright.runtime.wording import count

BY_TIME = ("node", "start", "end")
BY_SNAPSHOT = ("node", "first_snapshot", "last_snapshot")
SNAPSHOTS = ("snapshot", "unix_time")
_GREATEST = 2**63 - 1


class Session(NamedTuple):
    """A node is there from `start` on, and is gone at `end`; it stays where that is None."""

    node: str
    start: int
    end: int | None


def read_sessions(
    path: str | Path, snapshots: str | Path | None = None, *, limits: ReadLimits = READ_LIMITS
) -> list[Session]:
    """The sessions of a CSV file (`.gz` too), in the order of its rows.

    Its columns are `node, start, end`, where an empty `end` is one that never came; or `node`,
    `first_snapshot` and `last_snapshot`, where a node was seen in all snapshots from the first to the last.
    Such a session starts at the time of its first snapshot, and ends at that of the snapshot after its last,
    in which the node was not seen; one up to the last snapshot of all has no end. Times of snapshots are in
    the file `snapshots`, with columns `snapshot, unix_time`; without it, they are the snapshots' numbers.
    Other columns are left alone. A row that can't be right is refused with its number, and so is what is
    beyond the limits.
    """
    path = Path(path)
    with reading(path):
        header, rows = _open(path, limits)
        by_time = set(BY_TIME) <= set(header)
        if by_time and snapshots is not None:
            raise InputError(f"{path} has its own times; leave {snapshots} out", path=path)
        wanted = BY_TIME if by_time else BY_SNAPSHOT
        found = list(_picked(path, header, rows, wanted))
    if by_time:
        return [_by_time(where, *cells) for where, cells in found]
    seen = [(where, node, _whole(where, first), _whole(where, last)) for where, (node, first, last) in found]
    times = _times(Path(snapshots), limits) if snapshots is not None else None
    return _from_snapshots(seen, times)


class _Row(NamedTuple):
    """A row of a file, counted from 1."""

    path: Path
    number: int

    def error(self, fault: str) -> InputError:
        """The error about this row; `fault` goes on after its name."""
        return InputError(f"{self.path}, row {self.number}{fault}", path=self.path, row=self.number)


def _open(path: Path, limits: ReadLimits) -> tuple[list[str], Iterator[list[str]]]:
    rows = _rows(path, limits)
    return next(rows, []), rows


def _rows(path: Path, limits: ReadLimits) -> Iterator[list[str]]:
    reader = csv_reader(decoded_lines(path, limits))
    try:
        yield from reader
    except csv.Error as error:
        raise InputError(
            f"{path}, line {reader.line_num} can't be read: {one_line(error)}", path=path, row=reader.line_num
        ) from None


def _picked(
    path: Path, header: Sequence[str], rows: Iterator[list[str]], wanted: Sequence[str]
) -> Iterator[tuple[_Row, list[str]]]:
    """Yield, for each row, its position in words and the cells of the wanted columns."""
    missing = [name for name in wanted if name not in header]
    if missing:
        raise InputError(
            f"{path} has no column {missing[0]!r}; its columns are {visible(', '.join(header)) or 'none'}, "
            f"and it needs {', '.join(wanted)}",
            path=path,
        )
    places = [header.index(name) for name in wanted]
    for number, row in enumerate(rows, 1):
        if not row:
            continue
        if len(row) != len(header):
            raise _Row(path, number).error(
                f" has {count(len(row), 'cell')}, but the header has {len(header):,}"
            )
        yield _Row(path, number), [row[at] for at in places]


def _session(where: _Row, node: str, start: int, end: int | None) -> Session:
    if not node:
        raise where.error(" has no node name")
    if end is not None and end <= start:
        raise where.error(f": the session of {node!r} ends at {end}, before its start at {start}")
    return Session(node, start, end)


def _whole(where: _Row, text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = -1
    if not 0 <= number <= _GREATEST:
        raise where.error(f" has {text!r} instead of a whole number of at least 0")
    return number


def _by_time(where: _Row, node: str, start: str, end: str) -> Session:
    return _session(where, node, _whole(where, start), _whole(where, end) if end else None)


def _times(path: Path, limits: ReadLimits) -> dict[int, int]:
    with reading(path):
        header, rows = _open(path, limits)
        found = [
            (where, _whole(where, number), _whole(where, time))
            for where, (number, time) in _picked(path, header, rows, SNAPSHOTS)
        ]
    times: dict[int, int] = {}
    for where, number, time in found:
        if times and (number != next(reversed(times)) + 1 or time <= next(reversed(times.values()))):
            raise where.error(": snapshots must rise by one, and their times must rise")
        times[number] = time
    return times


def _from_snapshots(
    seen: Sequence[tuple[_Row, str, int, int]], times: Mapping[int, int] | None
) -> list[Session]:
    last_of_all = max(times or (last for *_, last in seen), default=0)
    time_of: Callable[[int], int | None] = times.get if times is not None else lambda number: number
    sessions = []
    for where, node, first, last in seen:
        start = time_of(first)
        end = None if last == last_of_all else time_of(last + 1)
        if start is None or last > last_of_all:
            raise where.error(f" names snapshots {first} to {last}, but one of these has no time")
        if last < first:
            raise where.error(f": the last snapshot of {node!r} is {last}, before its first, {first}")
        sessions.append(_session(where, node, start, end))
    return sessions
