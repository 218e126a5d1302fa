"""The order in which an overlay turns into another one: what to open so that a link can be closed.

Without a link, a topic that was connected falls into exactly two sides. So one new link between them is
enough, and since the new links connect the topic in the end, there is one. A new link may reconnect several
topics at once: links are chosen greedily, as for a set cover.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.rows import holds, row_of
from meshwright.kernels.core.subgraphs import Links
from meshwright.kernels.core.topic_components import TopicComponents, take_edge
from meshwright.kernels.repair.mutable_overlay import Live, Marks, link_all, unlink
from meshwright.kernels.repair.searching import search_in_turns
from meshwright.runtime.arrays import Flags, Ids, Ticks
from meshwright.runtime.progress import CANCEL, DONE

_NONE = -1
_FIRST_ROOM = 256


class NewLinks(NamedTuple):
    """The links that the target has and today's overlay has not, in the order in which they are preferred."""

    edges: Ids  # (new, 2)
    at: Links  # by node
    opened: Flags


class OldLinks(NamedTuple):
    """The links that today's overlay has and the target has not, in the order in which they should go."""

    edges: Ids  # (old, 2)
    closed: Flags


class Log(NamedTuple):
    """What was done, one after the other: e opens new link e, and -1 - e closes old link e."""

    changes: Ids
    used: Ids  # [how many changes]


class _Crossings(NamedTuple):
    """New links, each with the cut topic that it would reconnect; a link comes once for each topic."""

    links: Ids
    cuts: Ids
    used: int


@kernel
def open_where_cut(state: TopicComponents, new: NewLinks, live: Live, log: Log, cut_after: Ids) -> None:
    """Open those new links that reconnect a topic; `cut_after` says after each how many are still cut.

    `state` has the components of today's overlay.
    """
    opened = 0
    cut = 0
    for topic in range(len(state.counts)):
        cut += state.counts[topic] > 1
    for link in range(len(new.edges)):
        if not cut:
            return
        u, v = new.edges[link, 0], new.edges[link, 1]
        before = _cut_topics(state, u)
        if take_edge(state, u, v):
            _open(live, new, log, link)
            cut -= before - _cut_topics(state, u)
            cut_after[opened] = cut
            opened += 1


@inner
def _cut_topics(state: TopicComponents, node: int) -> int:
    """How many of a node's topics are in several components."""
    cut = 0
    for at in range(state.indptr[node], state.indptr[node + 1]):
        cut += state.counts[state.topic_ids[at]] > 1
    return cut


@inner
def _open(live: Live, new: NewLinks, log: Log, link: int) -> None:
    """Open a new link; the rows of `live` have room for all of them."""
    link_all(live.links, live.by_degree, live.sums, new.edges[link : link + 1], 0)
    new.opened[link] = True
    log.changes[log.used[0]] = link
    log.used[0] += 1


@kernel
def close_with(
    live: Live, room: Marks, old: OldLinks, new: NewLinks, most: int, log: Log, ticks: Ticks
) -> None:
    """Close old links in their order, each of them if opening at most `most` new ones makes that safe.

    With `most` above 0 all topics must be connected, and are afterwards; with 0, what is connected stays so.
    The time is that of the lesser sides into which topics would fall, and of the new links there.
    """
    for link in range(len(old.edges)):
        if ticks[CANCEL]:
            return
        if old.closed[link]:
            continue
        u, v = old.edges[link, 0], old.edges[link, 1]
        needed = _links_instead(live, room, new, u, v, most)
        if len(needed) > most:
            continue
        for instead in needed:
            _open(live, new, log, instead)
        unlink(live.links, live.by_degree, live.sums, u, v)
        old.closed[link] = True
        ticks[DONE] += 1
        log.changes[log.used[0]] = -1 - link
        log.used[0] += 1


@inner
def _links_instead(live: Live, room: Marks, new: NewLinks, u: int, v: int, most: int) -> Ids:
    """New links that keep all topics connected without the link (u, v); too many where `most` are too few."""
    found = _Crossings(np.empty(_FIRST_ROOM, np.int32), np.empty(_FIRST_ROOM, np.int32), 0)
    seeds, parents = np.array([u, v], np.int32), np.empty(2, np.int32)
    topics, cuts = live.topics, 0
    i, j = topics.starts[u], topics.starts[v]
    i_end, j_end = i + topics.counts[u], j + topics.counts[v]
    while i < i_end and j < j_end:
        topic, other = topics.items[i], topics.items[j]
        if topic == other:
            parts, last, step = search_in_turns(topics, live.links, room, topic, seeds, parents, u, v)
            if parts > 1:
                if not most:
                    return np.zeros(1, np.int32)
                found = _crossings(live, room, new, topic, seeds[1 - last], step, 1 - last, cuts, found)
                cuts += 1
        i += topic <= other
        j += other <= topic
    return _cover(found, cuts, most)


@inner
def _crossings(
    live: Live,
    room: Marks,
    new: NewLinks,
    topic: int,
    first: int,
    step: int,
    side: int,
    cut: int,
    found: _Crossings,
) -> _Crossings:
    """Add the new links out of that side of a cut topic which a search from `first` has seen whole."""
    topics, links, cuts, count = live.topics, found.links, found.cuts, found.used
    for node in _list_side(live, room, first, step, side):
        for at in range(new.at.indptr[node], new.at.indptr[node + 1]):
            other, link = new.at.nodes[at], new.at.edge_ids[at]
            if new.opened[link] or (room.marks[other] == step and room.owners[other] == side):
                continue
            if holds(topics.items, topics.starts[other], topics.counts[other], topic):
                if count == len(links):
                    links = np.concatenate((links, np.empty_like(links)))
                    cuts = np.concatenate((cuts, np.empty_like(cuts)))
                links[count], cuts[count] = link, cut
                count += 1
    return _Crossings(links, cuts, count)


@inner
def _list_side(live: Live, room: Marks, first: int, step: int, side: int) -> Ids:
    """The nodes that a search from `first` has seen."""
    found, count, at = room.found, 1, 0
    found[0] = first
    room.chosen[first] = step
    while at < count:
        for other in row_of(live.links, found[at]):
            if room.marks[other] == step and room.owners[other] == side and room.chosen[other] != step:
                room.chosen[other] = step
                found[count] = other
                count += 1
        at += 1
    return found[:count]


@inner
def _cover(found: _Crossings, cuts: int, most: int) -> Ids:
    """A link for every cut, each time the one that reconnects most; of equals the preferred one."""
    links, uncovered = found.links[: found.used], np.ones(cuts, np.bool_)
    order = np.argsort(links, kind="mergesort")
    chosen, count, left = np.empty(min(cuts, most + 1), np.int32), 0, cuts
    while left and count <= most:
        best, gained = _NONE, 0
        start = 0
        while start < len(order):
            end, gain = start, 0
            while end < len(order) and links[order[end]] == links[order[start]]:
                gain += uncovered[found.cuts[order[end]]]
                end += 1
            if gain > gained:
                best, gained = start, gain
            start = end
        link = links[order[best]]
        chosen[count] = link
        count += 1
        left -= gained
        while best < len(order) and links[order[best]] == link:
            uncovered[found.cuts[order[best]]] = False
            best += 1
    return chosen[:count]
