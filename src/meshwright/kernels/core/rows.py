"""Growable lists of ids, all in one array: what lets an overlay change without being copied.

Row r is `items[starts[r] : starts[r] + counts[r]]`, with room for `rooms[r]`. A row that outgrows its room
moves to the end of what is used, with twice the room: an append costs O(1) in the mean. A kernel can't make
an array longer, so each function here that may need room says whether there was enough, and leaves everything
as it was where there was not; then the caller makes a longer array (`grown`) and calls again.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inlined, inner, kernel
from meshwright.runtime.arrays import Ids, Offsets

_LEAST_ROOM = 4


class Rows(NamedTuple):
    """Rows of ids; see the module."""

    starts: Offsets
    counts: Ids
    rooms: Ids
    items: Ids
    used: Offsets  # [how many items of the array are used or were, how long the longest row was]


def make_rows(indptr: Offsets, items: Ids, row_count: int) -> Rows:
    """The rows of a CSR, and empty ones up to `row_count`."""
    counts = np.zeros(row_count, np.int32)
    counts[: len(indptr) - 1] = np.diff(indptr)
    starts = np.zeros(row_count, np.int64)
    starts[: len(indptr) - 1] = indptr[:-1]
    room = np.empty(len(items) + max(len(items) // 2, 64), np.int32)
    room[: len(items)] = items
    return Rows(starts, counts, counts.copy(), room, np.array([len(items), counts.max(initial=0)], np.int64))


def grown(rows: Rows, row_count: int, spare: int) -> Rows:
    """The same rows, packed one after the other, with `row_count` of them and at least `spare` free items.

    Linear; the array becomes twice as long as what is in it, so that it is called rarely.
    """
    total = int(rows.counts.sum(dtype=np.int64))
    indptr = np.concatenate([[0], np.cumsum(rows.counts, dtype=np.int64)])
    packed = make_rows(indptr, packed_items(rows), row_count)
    items = np.empty(2 * total + spare + 64, np.int32)
    items[:total] = packed.items[:total]
    return packed._replace(items=items)


def packed_items(rows: Rows) -> Ids:
    """All rows, one after the other."""
    ends = np.cumsum(rows.counts, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    shift = rows.starts - (ends - rows.counts)
    packed: Ids = rows.items[np.arange(total) + np.repeat(shift, rows.counts)]
    return packed


@inlined
def row_of(rows: Rows, row: int) -> Ids:
    """The ids of a row, as a view."""
    start = rows.starts[row]
    return rows.items[start : start + rows.counts[row]]


@kernel
def append(rows: Rows, row: int, value: int) -> bool:
    """Add an id at the end of a row; False, and nothing done, where there is no room."""
    count = rows.counts[row]
    if count == rows.rooms[row]:
        room, start = max(_LEAST_ROOM, 2 * count), rows.used[0]
        if start + room > len(rows.items):
            return False
        old = rows.starts[row]
        for at in range(count):
            rows.items[start + at] = rows.items[old + at]
        rows.starts[row], rows.rooms[row] = start, room
        rows.used[0] += room
    rows.items[rows.starts[row] + count] = value
    rows.counts[row] += 1
    rows.used[1] = max(rows.used[1], count + 1)
    return True


@kernel
def remove(rows: Rows, row: int, value: int) -> bool:
    """Take an id out of a row, the last of which takes its place; False where it is not there."""
    start, count = rows.starts[row], rows.counts[row]
    for at in range(start, start + count):
        if rows.items[at] == value:
            rows.items[at] = rows.items[start + count - 1]
            rows.counts[row] -= 1
            return True
    return False


@kernel
def replace_row(rows: Rows, row: int, values: Ids) -> bool:
    """Give a row other ids; False, and nothing done, where there is no room."""
    count = len(values)
    if count > rows.rooms[row]:
        start = rows.used[0]
        if start + count > len(rows.items):
            return False
        rows.starts[row], rows.rooms[row] = start, count
        rows.used[0] += count
    start = rows.starts[row]
    for at in range(count):
        rows.items[start + at] = values[at]
    rows.counts[row] = count
    rows.used[1] = max(rows.used[1], count)
    return True


@inner
def has_room(rows: Rows, appends: int) -> bool:
    """Whether so many appends, each to another row, surely find room."""
    return rows.used[0] + appends * (2 * rows.used[1] + _LEAST_ROOM) <= len(rows.items)


@kernel
def append_all(rows: Rows, targets: Ids, values: Ids, start: int) -> int:
    """Append to one row after another from place `start` on; return the place at which room ran out."""
    for at in range(start, len(targets)):
        if not append(rows, targets[at], values[at]):
            return at
    return len(targets)


@kernel
def remove_all(rows: Rows, targets: Ids, values: Ids) -> None:
    """Take an id out of one row after another."""
    for at in range(len(targets)):
        remove(rows, targets[at], values[at])


@inlined
def holds(items: Ids, start: int, count: int, value: int) -> bool:
    """Whether sorted ids have one, by bisection without branches."""
    low = start
    while count > 1:
        half = count >> 1
        low += half if items[low + half] <= value else 0
        count -= half
    return count == 1 and items[low] == value
