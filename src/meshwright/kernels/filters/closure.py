"""The closure of filters under intersection, and which filters cover each of its members.

A filter here has the simple form: ids of words, ANY among them, and whether anything may follow (`open`). Two
such filters intersect in nothing or in one filter of that form: where one has ANY, the word of the other.
The members of the closure are compared with the tree of the filters given, not with each other: a member is
an intersection of given filters, so this finds all. Plain names are members too, but not in the tree.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.hashing import GOLDEN, mixed
from meshwright.runtime.arrays import Bytes, Flags, Ids, Longs, Offsets, Ticks, int64
from meshwright.runtime.progress import CANCEL, DONE

ANY = 0

DONE_ALL = 0
NO_ROOM = 1
TOO_MANY = 2

SIZE = 0
NEXT = 1
COVERS = 2

_COVERS = 1
_BELOW = 2


class Tree(NamedTuple):
    """The given filters by their words; the children of place p are `first[p]` to `first[p + 1]`."""

    first: Offsets
    word: Ids  # by place; sorted among the children of a place
    closed: Ids  # by place: the filter that ends there, or -1
    open: Ids  # by place: the open filter that ends there, or -1


class Members(NamedTuple):
    """The members of the closure, with room for more; all rows beyond `counts[SIZE]` are unused."""

    starts: Offsets  # (room + 1) of members in `words`
    words: Ids
    open: Bytes
    table: Ids  # a hash table of members; -1 where a slot is free
    cover_starts: Offsets  # (room + 1) of members in `covers`
    covers: Ids  # the given filters that cover a member
    counts: Longs  # [SIZE, NEXT: the first member not compared yet, COVERS: items of `covers` in use]


class Rule(NamedTuple):
    """Which words wildcards pass over."""

    hidden: Flags  # by word
    everywhere: bool  # otherwise at the first word alone


class Room(NamedTuple):
    """Working space: a stack of places, as long as the tree, and the words of one filter."""

    place: Ids
    depth: Ids
    flags: Bytes
    path: Ids
    merged: Ids


@inner
def _hides(rule: Rule, depth: int, word: int) -> bool:
    return bool(rule.hidden[word] and (rule.everywhere or depth == 0))


@inner
def _hash(words: Ids, start: int, stop: int, is_open: int) -> np.uint64:
    found = np.uint64(is_open + 1)
    for at in range(start, stop):
        found = mixed((found + np.uint64(words[at])) * GOLDEN)
    return found


@inner
def _slot(members: Members, words: Ids, start: int, stop: int, is_open: int) -> int:
    """Where the hash table has these words, or the free slot where they belong."""
    mask = np.uint64(len(members.table) - 1)
    slot = _hash(words, start, stop, is_open) & mask
    while True:
        member = members.table[slot]
        if member < 0:
            return int64(slot)
        begin, end = members.starts[member], members.starts[member + 1]
        if end - begin == stop - start and members.open[member] == is_open:
            same = True
            for at in range(end - begin):
                if members.words[begin + at] != words[start + at]:
                    same = False
                    break
            if same:
                return int64(slot)
        slot = (slot + np.uint64(1)) & mask


@kernel
def fill_table(members: Members) -> None:
    """Put all members into an empty hash table."""
    for member in range(members.counts[SIZE]):
        start, stop = members.starts[member], members.starts[member + 1]
        slot = _slot(members, members.words, start, stop, int64(members.open[member]))
        members.table[slot] = member


@inner
def _add(members: Members, words: Ids, length: int, is_open: int) -> int:
    """Add a member unless it is there: 1 if it is new, 0 if it is not, -1 where there is no room."""
    slot = _slot(members, words, int64(0), length, is_open)
    if members.table[slot] >= 0:
        return 0
    member = members.counts[SIZE]
    start = members.starts[member]
    if (
        member + 1 >= len(members.starts)
        or start + length > len(members.words)
        or 2 * (member + 1) > len(members.table)
    ):
        return -1
    for at in range(length):
        members.words[start + at] = words[at]
    members.starts[member + 1] = start + length
    members.open[member] = is_open
    members.table[slot] = member
    members.counts[SIZE] = member + 1
    return 1


@inner
def _child(tree: Tree, place: int, word: int) -> int:
    """The child of a place by its word, or -1."""
    low, high = tree.first[place], tree.first[place + 1]
    while low < high:
        middle = (low + high) >> 1
        if tree.word[middle] < word:
            low = middle + 1
        else:
            high = middle
    return low if low < tree.first[place + 1] and tree.word[low] == word else int64(-1)


@inner
def _tail_is_seen(members: Members, rule: Rule, start: int, depth: int, stop: int) -> bool:
    """Whether a filter that ends at `depth` may match the rest of a member's words."""
    if not rule.everywhere:
        return True
    for at in range(depth, stop):  # noqa: SIM110 (Numba compiles no generators)
        if rule.hidden[members.words[start + at]]:
            return False
    return True


@inner
def _meet(members: Members, room: Room, start: int, length: int, depth: int, is_open: int) -> int:
    """Add the intersection of a member and the filter on the path; what `_add` says."""
    longest = max(length, depth)
    for at in range(longest):
        word = members.words[start + at] if at < length else np.int32(ANY)
        if word == ANY and at < depth:
            word = room.path[at]
        room.merged[at] = word
    return _add(members, room.merged, int64(longest), is_open)


@inner
def _take(
    tree: Tree, members: Members, room: Room, blame: Longs, member: int, place: int, depth: int, flags: int
) -> bool:
    """Compare a member with the filters that end at a place it agrees with; False without room."""
    start = members.starts[member]
    length = members.starts[member + 1] - start
    is_open = int64(members.open[member])
    for kind in range(2):
        given = tree.closed[place] if kind == 0 else tree.open[place]
        if given < 0:
            continue
        if kind == 0:
            if depth < length or (depth > length and is_open == 0):
                continue
            covers = flags & _COVERS and is_open == 0
            below = flags & _BELOW
            both_open = int64(0)
        else:
            if depth > length and is_open == 0:
                continue
            covers = flags & _COVERS and depth <= length
            below = flags & _BELOW and is_open == 1 and depth >= length
            both_open = is_open
        if covers:
            used = members.counts[COVERS]
            if used >= len(members.covers):
                return False
            members.covers[used] = given
            members.counts[COVERS] = used + 1
        elif not below:
            new = _meet(members, room, start, length, depth, both_open)
            if new < 0:
                return False
            blame[given] += new
    return True


@inner
def _push(room: Room, top: int, place: int, depth: int, flags: int) -> int:
    room.place[top] = place
    room.depth[top] = depth
    room.flags[top] = flags
    return top + 1


@inner
def _push_children(
    tree: Tree, rule: Rule, room: Room, top: int, place: int, depth: int, flags: int, word: int
) -> int:
    """Push the children of a place that agree with a word of a member; -1 for beyond its end."""
    first, last = tree.first[place], tree.first[place + 1]
    if first == last:
        return top
    if word > ANY:
        found = _child(tree, place, word)
        if found >= 0:
            top = _push(room, top, found, depth + 1, flags)
        if tree.word[first] == ANY and not _hides(rule, depth, word):
            top = _push(room, top, first, depth + 1, flags & _COVERS)
        return top
    for child in range(first, last):
        given = int64(tree.word[child])
        if given == ANY:
            top = _push(room, top, child, depth + 1, flags if word == ANY else flags & _BELOW)
        elif not _hides(rule, depth, given):
            top = _push(room, top, child, depth + 1, flags & _BELOW)
    return top


@inner
def _compare(tree: Tree, members: Members, rule: Rule, room: Room, blame: Longs, member: int) -> bool:
    """Compare a member with all given filters that share a name with it; False without room."""
    start = members.starts[member]
    length = members.starts[member + 1] - start
    top = _push(room, int64(0), int64(0), int64(0), int64(_COVERS | _BELOW))
    while top > 0:
        top -= 1
        place, depth, flags = int64(room.place[top]), int64(room.depth[top]), int64(room.flags[top])
        if depth > 0:
            room.path[depth - 1] = tree.word[place]
        matches = _tail_is_seen(members, rule, start, depth, length)
        if matches and not _take(tree, members, room, blame, member, place, depth, flags):
            return False
        if depth < length:
            word = int64(members.words[start + depth])
        elif members.open[member] and not flags & _BELOW:
            word = int64(-1)
        else:
            continue
        top = _push_children(tree, rule, room, top, place, depth, flags, word)
    return True


@kernel
def close(tree: Tree, members: Members, rule: Rule, room: Room, blame: Longs, most: int, ticks: Ticks) -> int:
    """Compare members with the given filters until no new one turns up: DONE_ALL.

    NO_ROOM: an array is full; with longer ones, call again. TOO_MANY: there are more than `most` members.
    Cost: for each member, the part of the tree that agrees with it. `blame` counts the members that are new
    with each given filter.
    """
    while members.counts[NEXT] < members.counts[SIZE]:
        if ticks[CANCEL]:
            break
        member = members.counts[NEXT]
        used = members.counts[COVERS]
        if member + 1 >= len(members.cover_starts) or not _compare(tree, members, rule, room, blame, member):
            members.counts[COVERS] = used
            return NO_ROOM
        members.cover_starts[member + 1] = members.counts[COVERS]
        members.counts[NEXT] = member + 1
        ticks[DONE] = member
        if members.counts[SIZE] > most:
            return TOO_MANY
    return DONE_ALL


@kernel
def spare_words(members: Members, merged: Ids, spare: Ids) -> None:
    """By member, the fewest words after its own that a name of no smaller member has; -1 if there is none.

    A name with new words where the member has ANY is matched by smaller members only if these have the same
    words, and more ANY after them.
    """
    for member in range(members.counts[SIZE]):
        start = members.starts[member]
        length = members.starts[member + 1] - start
        spare[member] = 0
        if not members.open[member]:
            continue
        for at in range(length):
            merged[at] = members.words[start + at]
        more = int64(0)
        while True:
            if more and members.table[_slot(members, merged, int64(0), length + more, int64(1))] >= 0:
                spare[member] = -1
                break
            if members.table[_slot(members, merged, int64(0), length + more, int64(0))] < 0:
                spare[member] = more
                break
            merged[length + more] = ANY
            more += 1
