"""Greedy covers: a few nodes that together have all of some topics.

For one set of topics this is greedy set cover. For many nodes at once, each is covered by a few bulk nodes:
the gains of all bulk nodes are counted by adding up the bulk subscribers of the node's topics, and counted
down as topics are covered. A topic that many bulk nodes have is a row of bytes, which is added by vector
instructions; a topic that few have is a list.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.totals import add_up
from meshwright.runtime.arrays import Flags, Ids, Offsets, Ticks
from meshwright.runtime.progress import CANCEL, DONE

NONE = -1


@kernel
def cover(indptr: Offsets, topic_ids: Ids, topic_count: int, nodes: Ids, wanted: Flags) -> Ids:
    """A greedy cover of the `wanted` topics by `nodes`, in the order of choice.

    Each choice has the most topics that none before it has, and is the earliest in `nodes` of those that do.
    Wanted topics that none of the nodes has are passed over.

    A *gain* is how many topics a node would add. Nodes lie in buckets by a gain that they had; what a node
    gains now is kept up to date, and looked at when its bucket is on top. An interest lowers one gain once,
    and a node changes its bucket only after its gain fell: O(interests of the nodes + topics) time, beside
    sorting the nodes of a bucket, which settles ties.
    """
    rest = wanted.copy()
    starts, members, gains = _by_topic(indptr, topic_ids, topic_count, nodes, rest)
    level = gains.max() if len(gains) else 0
    first = np.full(level + 1, NONE, np.int32)
    following = np.full(len(nodes), NONE, np.int32)
    for i in range(len(nodes)):
        _put(first, following, gains[i], i)
    chosen = np.empty(len(nodes), np.int32)
    found = np.empty(len(nodes), np.int32)
    count = 0
    while level > 0:
        for i in _sorted_bucket(first, following, level, found):
            if gains[i] < level:
                _put(first, following, gains[i], i)
                continue
            chosen[count] = nodes[i]
            count += 1
            for topic in topic_ids[indptr[nodes[i]] : indptr[nodes[i] + 1]]:
                if rest[topic]:
                    rest[topic] = False
                    for j in members[starts[topic] : starts[topic + 1]]:
                        gains[j] -= 1
        level -= 1
    return chosen[:count].copy()


@inner
def _by_topic(
    indptr: Offsets, topic_ids: Ids, topic_count: int, nodes: Ids, wanted: Flags
) -> tuple[Offsets, Ids, Ids]:
    """For each wanted topic, where its subscribers are in `nodes`; for each node, how many of them it has."""
    starts = np.zeros(topic_count + 1, np.int64)
    gains = np.zeros(len(nodes), np.int32)
    for i in range(len(nodes)):
        for topic in topic_ids[indptr[nodes[i]] : indptr[nodes[i] + 1]]:
            starts[topic + 1] += wanted[topic]
            gains[i] += wanted[topic]
    add_up(starts)
    free = starts[:-1].copy()
    members = np.empty(starts[-1], np.int32)
    for i in range(len(nodes)):
        for topic in topic_ids[indptr[nodes[i]] : indptr[nodes[i] + 1]]:
            if wanted[topic]:
                members[free[topic]] = i
                free[topic] += 1
    return starts, members, gains


@inner
def _put(first: Ids, following: Ids, gain: int, i: int) -> None:
    following[i] = first[gain]
    first[gain] = i


@inner
def _sorted_bucket(first: Ids, following: Ids, gain: int, found: Ids) -> Ids:
    """What lies in a bucket, the earliest first."""
    count = 0
    i = first[gain]
    while i != NONE:
        found[count] = i
        count += 1
        i = following[i]
    return np.sort(found[:count])


MOST_TOPICS = 2**16 - 1
"""The most topics of a node to be covered: what a gain of 16 bits can count."""

_BYTES_WORTH_A_MEMBER = 16
"""Adding so many bytes of a row takes as long as counting one member of a list (measured)."""

BLOCK = 64
_NEVER = np.int64(2**63 - 1)
_ONE = np.uint16(1)

Gains = npt.NDArray[np.uint16]


class BulkTopics(NamedTuple):
    """The bulk subscribers of every topic, by their places in the bulk set."""

    indptr: Offsets
    members: Ids  # sorted within a topic
    row_of: Ids  # by topic: its row, or NONE where the list is the cheaper form
    rows: npt.NDArray[np.uint8]  # by row and place: 1 where the bulk node has the topic


@kernel
def list_bulk_topics(indptr: Offsets, topic_ids: Ids, topic_count: int, bulk: Ids) -> BulkTopics:
    """Both forms; the rows take at most 16 bytes for each interest of the bulk set."""
    starts = np.zeros(topic_count + 1, np.int64)
    for node in bulk:
        for topic in topic_ids[indptr[node] : indptr[node + 1]]:
            starts[topic + 1] += 1
    row_of = np.full(topic_count, NONE, np.int32)
    count = 0
    for topic in range(topic_count):
        if starts[topic + 1] * _BYTES_WORTH_A_MEMBER > len(bulk):
            row_of[topic] = count
            count += 1
    add_up(starts)
    fill = starts[:-1].copy()
    members = np.empty(starts[-1], np.int32)
    rows = np.zeros((count, len(bulk)), np.uint8)
    for place in range(len(bulk)):
        for topic in topic_ids[indptr[bulk[place]] : indptr[bulk[place] + 1]]:
            members[fill[topic]] = place
            fill[topic] += 1
            if row_of[topic] != NONE:
                rows[row_of[topic], place] = 1
    return BulkTopics(starts, members, row_of, rows)


@inner
def _count(table: BulkTopics, topic: int, gains: Gains) -> None:
    """One more for every bulk node that has the topic.

    The loop is such that it compiles to vector instructions; an expression on whole arrays does not.
    """
    if table.row_of[topic] != NONE:
        row = table.rows[table.row_of[topic]]
        for place in range(len(row)):
            gains[place] += row[place]
    else:
        for place in table.members[table.indptr[topic] : table.indptr[topic + 1]]:
            gains[place] += _ONE


@inner
def _discount(table: BulkTopics, topic: int, gains: Gains) -> None:
    """Undo `_count`."""
    if table.row_of[topic] != NONE:
        row = table.rows[table.row_of[topic]]
        for place in range(len(row)):
            gains[place] -= row[place]
    else:
        for place in table.members[table.indptr[topic] : table.indptr[topic + 1]]:
            gains[place] -= _ONE


@inner
def has_topic(table: BulkTopics, topic: int, place: int) -> bool:
    """Whether the bulk node at `place` has the topic."""
    if table.row_of[topic] != NONE:
        return table.rows[table.row_of[topic], place] == 1
    start, end = table.indptr[topic], table.indptr[topic + 1]
    at = start + np.searchsorted(table.members[start:end], place)
    return at < end and table.members[at] == place


@inner
def _pick(gains: Gains, turns: Offsets, slack: float, tops: Gains) -> int:
    """Among places whose gain is within `slack` of the greatest, the one whose turn comes first.

    No two places have the same turn. `tops` is room for the greatest gain of each block: only blocks that
    reach what is wanted are looked into.
    """
    best = np.uint16(0)
    for block in range(len(tops)):
        top = np.uint16(0)
        part = gains[block * BLOCK : (block + 1) * BLOCK]
        for at in range(len(part)):  # not over its items, which is not vectorised (half as fast, measured)
            top = max(top, part[at])
        tops[block] = top
        best = max(best, top)
    enough = int(best) - int(best * slack)
    first, where = _NEVER, 0
    for block in range(len(tops)):
        if tops[block] < enough:
            continue
        part, due = gains[block * BLOCK : (block + 1) * BLOCK], turns[block * BLOCK : (block + 1) * BLOCK]
        turn = _NEVER
        for at in range(len(part)):  # without a branch, since equals are many (a third faster, measured)
            turn = min(turn, due[at] if part[at] >= enough else _NEVER)
        if turn < first:
            first, where = turn, block * BLOCK
    while turns[where] != first:
        where += 1
    return where


@kernel
def cover_nodes(
    indptr: Offsets, topic_ids: Ids, nodes: Ids, table: BulkTopics, turns: Offsets, slack: float, ticks: Ticks
) -> Ids:
    """Edges (m, 2) from `nodes` to places of the bulk set: of each node, a greedy cover of its topics.

    Every edge goes to a bulk node that covers the most topics still to be covered, or less than that by at
    most the fraction `slack`, which is under 1; among those, to the one whose turn comes first, which is then
    put off by as many turns as there are bulk nodes. Topics without a bulk subscriber are passed over. No
    node may have more than `MOST_TOPICS`.
    """
    places = len(turns)
    room, most = 0, 0
    for node in nodes:
        room += indptr[node + 1] - indptr[node]
        most = max(most, indptr[node + 1] - indptr[node])
    edges = np.empty((room, 2), np.int32)
    left = np.empty(most, np.int32)
    gains = np.zeros(places, np.uint16)
    tops = np.empty(-(-places // BLOCK), np.uint16)
    taken = 0
    for node in nodes:
        if ticks[CANCEL]:
            break
        count = 0
        for topic in topic_ids[indptr[node] : indptr[node + 1]]:
            if table.indptr[topic] < table.indptr[topic + 1]:
                left[count] = topic
                count += 1
                _count(table, topic, gains)
        while count:
            place = _pick(gains, turns, slack, tops)
            edges[taken, 0], edges[taken, 1] = node, place
            taken += 1
            turns[place] += places
            kept = 0
            for i in range(count):
                if has_topic(table, left[i], place):
                    _discount(table, left[i], gains)
                else:
                    left[kept] = left[i]
                    kept += 1
            count = kept
        ticks[DONE] += 1
    return edges[:taken]


@kernel
def cover_again(
    indptr: Offsets,
    topic_ids: Ids,
    nodes: Ids,
    table: BulkTopics,
    covers: Ids,
    turns: Offsets,
    slack: float,
    ticks: Ticks,
) -> Ids:
    """The edges of `covers` and others: of each node, a cover of its topics by bulk nodes that it lacks.

    `covers` has the edges of a node in a row, in the order of `nodes`. Topics that two bulk nodes of its
    first cover have, or only one bulk node at all, need no other. Choices are made as in `cover_nodes`.
    """
    places = len(turns)
    room, most = len(covers), 0
    for node in nodes:
        room += indptr[node + 1] - indptr[node]
        most = max(most, indptr[node + 1] - indptr[node])
    edges = np.empty((room, 2), np.int32)
    left = np.empty(most, np.int32)
    gains = np.zeros(places, np.uint16)
    tops = np.empty(-(-places // BLOCK), np.uint16)
    taken, at = 0, 0
    for node in nodes:
        if ticks[CANCEL]:
            break
        first = taken
        while at < len(covers) and covers[at, 0] == node:
            edges[taken, 0], edges[taken, 1] = node, covers[at, 1]
            taken, at = taken + 1, at + 1
        count = 0
        for topic in topic_ids[indptr[node] : indptr[node + 1]]:
            times = 0
            for place in edges[first:taken, 1]:
                times += has_topic(table, topic, place)
            if times < 2 <= table.indptr[topic + 1] - table.indptr[topic]:
                left[count] = topic
                count += 1
                _count(table, topic, gains)
        _hide(gains, edges[first:taken, 1])
        while count:
            place = _pick(gains, turns, slack, tops)
            edges[taken, 0], edges[taken, 1] = node, place
            taken += 1
            turns[place] += places
            kept = 0
            for i in range(count):
                if has_topic(table, left[i], place):
                    _discount(table, left[i], gains)
                else:
                    left[kept] = left[i]
                    kept += 1
            count = kept
            _hide(gains, edges[first:taken, 1])
    return edges[:taken]


@inner
def _hide(gains: Gains, used: Ids) -> None:
    """Places that a node is linked to gain nothing more."""
    for place in used:
        gains[place] = np.uint16(0)
