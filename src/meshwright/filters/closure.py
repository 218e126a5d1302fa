"""Filters of the simple form, closed under intersection: the driver of `kernels/filters/closure.py`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from meshwright.filters.dialects import Dialect
from meshwright.filters.parsing import ANY_ID, Patterns
from meshwright.runtime.arrays import Flags, Ids, Longs, Offsets
from meshwright.runtime.progress import Progress, run_with_ticks

if TYPE_CHECKING:
    from meshwright.kernels.filters.closure import Members, Room, Rule, Tree

_LEAST_ROOM = 1 << 10
_NAMED = 5
_MOST_CROSSED_WORDS = 64
_ITEMS_A_MEMBER = 64
"""Words and covers of a member, on average: 4 bytes each, so that the memory is bounded as well."""


class Closed(NamedTuple):
    """The closure: its members, those given first and in their order.

    `spare` is the number of words to add to an open member's own for a name that no smaller member has;
    -1 where there is no such name. Filters that cover member i are `covers[cover_indptr[i]:...]`.
    """

    indptr: Offsets
    word_ids: Ids
    open: Flags
    spare: Ids
    cover_indptr: Offsets
    covers: Ids


class TooManyMembersError(Exception):
    """The closure has more members than allowed; holds the filters that made most of them."""

    def __init__(self, filters: list[int]) -> None:
        super().__init__(filters)
        self.filters = filters


def close(patterns: Patterns, dialect: Dialect, most: int, progress: Progress | None = None) -> Closed:
    """The closure of filters that all have the simple form; at most `most` members are new.

    Cost: linear in names and prefixes; beyond these, in the pairs of a member and a filter that share a name.
    """
    from meshwright.kernels.filters import closure as kernels

    tree, rule, members = _tree(patterns), _rule(patterns, dialect), _members(patterns)
    crossed = _most_crossed(patterns, rule.hidden)
    if crossed.members > len(patterns) + most:
        raise TooManyMembersError(crossed.filters[:_NAMED])
    depth = int(np.diff(patterns.indptr).max(initial=0)) + 1
    room = _room(len(tree.word) + 1, depth)
    blame = np.zeros(len(patterns), np.int64)
    limit = len(patterns) + most
    most_items = _ITEMS_A_MEMBER * limit + 4 * len(patterns.word_ids)
    while (ended := _run(tree, members, rule, room, blame, limit, progress)) == kernels.NO_ROOM:
        if members.starts[members.counts[kernels.SIZE]] + members.counts[kernels.COVERS] > most_items:
            raise TooManyMembersError(_worst(blame))
        members = _grown(members)
    if ended == kernels.TOO_MANY:
        raise TooManyMembersError(_worst(blame))
    size, covers = int(members.counts[kernels.SIZE]), int(members.counts[kernels.COVERS])
    spare = np.empty(size, np.int32)
    kernels.spare_words(members, np.empty(2 * depth + size + 2, np.int32), spare)
    return Closed(
        members.starts[: size + 1],
        members.words[: members.starts[size]],
        members.open[:size].astype(np.bool_),
        spare,
        members.cover_starts[: size + 1],
        members.covers[:covers],
    )


class _Crossed(NamedTuple):
    """Filters that meet each other, and how many members of the closure they and their like have at least."""

    members: int
    filters: list[int]


def _most_crossed(patterns: Patterns, hidden: Flags) -> _Crossed:
    """A family of filters that surely has many members: an explosion is refused before it happens.

    The filters of a family differ from one pattern in one word each. One word may be chosen at each such
    place, or none, and each choice is another member: their number is a product. Cost: linear in the filters
    with wildcards; those that are very long are left out.
    """
    families: defaultdict[tuple[bool, tuple[int, ...]], dict[tuple[int, int], int]] = defaultdict(dict)
    wild = np.concatenate([[0], np.cumsum(patterns.word_ids == ANY_ID)])
    for number in np.flatnonzero(np.diff(wild[patterns.indptr])).tolist():
        ids = patterns.word_ids[patterns.indptr[number] : patterns.indptr[number + 1]].tolist()
        if len(ids) > _MOST_CROSSED_WORDS:
            continue
        is_open = bool(patterns.open[number])
        for place, word in enumerate(ids):
            if word != ANY_ID and not hidden[word]:
                rest = [*ids[:place], ANY_ID, *ids[place + 1 :]]
                while is_open and rest and rest[-1] == ANY_ID:
                    rest.pop()
                families[is_open, tuple(rest)][place, word] = number
    return max(map(_crossed, families.values()), default=_Crossed(0, []))


def _crossed(family: Mapping[tuple[int, int], int]) -> _Crossed:
    """In how many ways one word, or none, can be chosen at each place, but none at all; a filter by place."""
    counts = Counter(place for place, _ in family)
    one_each = {place: number for (place, _), number in family.items()}
    return _Crossed(prod(count + 1 for count in counts.values()) - 1, list(one_each.values()))


def _run(
    tree: Tree,
    members: Members,
    rule: Rule,
    room: Room,
    blame: Longs,
    limit: int,
    progress: Progress | None,
) -> int:
    from meshwright.kernels.filters.closure import close

    return run_with_ticks(
        lambda ticks: close(tree, members, rule, room, blame, limit, ticks),
        "intersecting filters",
        int(members.counts[0]),
        progress,
    )


def _worst(blame: Longs) -> list[int]:
    worst = np.argsort(-blame, kind="stable")[:_NAMED]
    return [int(number) for number in worst if blame[number]]


def _room(places: int, depth: int) -> Room:
    from meshwright.kernels.filters.closure import Room as Made

    stack = np.empty(places, np.int32), np.empty(places, np.int32), np.empty(places, np.uint8)
    return Made(*stack, np.empty(depth, np.int32), np.empty(depth, np.int32))


def _rule(patterns: Patterns, dialect: Dialect) -> Rule:
    from meshwright.kernels.filters.closure import Rule as Made

    hidden = np.zeros(len(patterns.words), np.bool_)
    if dialect.hides:
        hidden[1:] = [dialect.hides_word(word) for word in patterns.words[1:]]
    return Made(hidden, dialect.hides_everywhere)


def _members(patterns: Patterns) -> Members:
    from meshwright.kernels.filters import closure as kernels

    count = len(patterns)
    room = 2 * count + _LEAST_ROOM
    made = kernels.Members(
        _longer(patterns.indptr, room + 1, np.int64),
        _longer(patterns.word_ids, 2 * len(patterns.word_ids) + _LEAST_ROOM, np.int32),
        _longer(patterns.open, room, np.uint8),
        np.full(1 << (2 * room).bit_length(), -1, np.int32),
        np.zeros(room + 1, np.int64),
        np.empty(4 * count + _LEAST_ROOM, np.int32),
        np.array([count, 0, 0], np.int64),
    )
    kernels.fill_table(made)
    return made


def _grown(members: Members) -> Members:
    """The same members with twice the room where more than half of it is in use; covers always have it."""
    from meshwright.kernels.filters import closure as kernels

    size = int(members.counts[kernels.SIZE])
    room = len(members.open) * (2 if 2 * size > len(members.open) else 1)
    words = len(members.words) * (2 if 2 * members.starts[size] > len(members.words) else 1)
    made = members._replace(
        starts=_longer(members.starts, room + 1, np.int64),
        words=_longer(members.words, words, np.int32),
        open=_longer(members.open, room, np.uint8),
        table=np.full(1 << (2 * room).bit_length(), -1, np.int32),
        cover_starts=_longer(members.cover_starts, room + 1, np.int64),
        covers=_longer(members.covers, 2 * len(members.covers), np.int32),
    )
    kernels.fill_table(made)
    return made


def _longer(array: npt.NDArray[Any], length: int, kind: type[np.generic]) -> npt.NDArray[Any]:
    found: npt.NDArray[Any] = np.zeros(length, kind)
    found[: len(array)] = array
    return found


def _tree(patterns: Patterns) -> Tree:
    """The tree of all filters that are no names: places level by level, then by parent and word."""
    from meshwright.kernels.filters.closure import Tree as Made

    rows = np.flatnonzero(~patterns.plain())
    starts, lengths = patterns.indptr[:-1], np.diff(patterns.indptr)
    place = np.zeros(len(patterns), np.int64)
    words, parents = [np.full(1, -1, np.int64)], [np.empty(0, np.int64)]
    depth, base = 0, 1
    width = len(patterns.words) + 1
    ahead = rows[lengths[rows] > 0]
    while len(ahead):
        keys = place[ahead] * width + patterns.word_ids[starts[ahead] + depth]
        found, number = np.unique(keys, return_inverse=True)
        place[ahead] = base + number
        words.append(found % width)
        parents.append(found // width)
        base += len(found)
        depth += 1
        ahead = ahead[lengths[ahead] > depth]
    counts = np.bincount(np.concatenate(parents), minlength=base)
    first = np.concatenate([[1], 1 + np.cumsum(counts)]).astype(np.int64)
    ends = [np.full(base, -1, np.int32) for _ in range(2)]
    for kind, own in enumerate((rows[~patterns.open[rows]], rows[patterns.open[rows]])):
        ends[kind][place[own]] = own
    return Made(first, np.concatenate(words).astype(np.int32), ends[0], ends[1])
