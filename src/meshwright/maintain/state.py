"""The overlay that a maintainer keeps: names outside, growable arrays inside.

Nodes and topics have small numbers, their *places*, which are reused when a name is gone. Kernels work on
arrays by place. They can't make an array longer, so it is grown here whenever a kernel runs out of room.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.kernels.core.rows import (
    Rows,
    append_all,
    grown,
    make_rows,
    packed_items,
    remove_all,
    replace_row,
)
from meshwright.kernels.repair.mutable_overlay import LINKS, MOST, Live, link_all, make_room, unlink_all
from meshwright.maintain.event_batches import Move, Topics
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.runtime.arrays import Flags, Ids, Offsets
from meshwright.runtime.errors import InputError
from meshwright.runtime.packing import first_of, pack, second_of

Csr = tuple[Offsets, Ids]


class NameSlots:
    """The place of each name, and the name at each place, or None where it is free.

    The place that became free last is reused first, so places depend only on the order of events.
    """

    def __init__(self, names: Iterable[str | None], free: Iterable[int] = ()) -> None:
        self.names: list[str | None] = list(names)
        self.free: list[int] = list(free)
        self.of: dict[str, int] = {name: at for at, name in enumerate(self.names) if name is not None}

    def __len__(self) -> int:
        """The number of names."""
        return len(self.of)

    def name(self, at: int) -> str:
        """The name at a place, which has to be taken."""
        name = self.names[at]
        assert name is not None
        return name

    def take(self, name: str) -> int:
        """The place of a name; a new name gets a free one."""
        at = self.of.get(name)
        if at is not None:
            return at
        if self.free:
            at = self.free.pop()
            self.names[at] = name
        else:
            at = len(self.names)
            self.names.append(name)
        self.of[name] = at
        return at

    def release(self, at: int) -> None:
        """Free a place."""
        del self.of[self.name(at)]
        self.names[at] = None
        self.free.append(at)


_LEAST_ROOM = 16
_MOST_STEPS = 2**30
"""The most steps that one room counts, since a step has to fit half a number: some ten million events."""

_NO_TOPICS: Topics = frozenset()


class Change(NamedTuple):
    """The effect of moves, by place: mover k has lost `lost[lost_indptr[k] : lost_indptr[k + 1]]`."""

    movers: Ids
    leaving: Flags
    lost_indptr: Offsets
    lost: Ids
    gained: Offsets  # keys of topic and node, those of the first gainer first
    gained_indptr: Offsets
    gainers: Ids  # the movers that have gained

    @property
    def has_losses(self) -> bool:
        """Whether a node left or lost a topic."""
        return len(self.lost) > 0 or bool(self.leaving.any())


def row(rows: Rows, at: int) -> Ids:
    """One row, as a view."""
    start = rows.starts[at]
    return rows.items[start : start + rows.counts[at]]


def packed(rows: Rows) -> Csr:
    """All rows as a CSR. Linear."""
    return np.concatenate([[0], np.cumsum(rows.counts, dtype=np.int64)]), packed_items(rows)


def longer(rows: Rows, spare: int) -> Rows:
    """The same rows, with at least `spare` free items and at least twice as many items in all."""
    return grown(rows, len(rows.counts), max(spare, len(rows.items)))


class MaintainedOverlay:
    """An overlay that changes. Its content depends on the events alone, not on how its arrays grew."""

    def __init__(self, nodes: NameSlots, topics: NameSlots, live: Live) -> None:
        self.nodes = nodes
        self.topics = topics
        self.live = live
        self.interest_count = int(live.topics.counts.sum(dtype=np.int64))
        self.room = make_room(len(live.links.counts), len(live.subscribers.counts))

    @property
    def link_count(self) -> int:
        """The number of links."""
        return int(self.live.sums[LINKS])

    @property
    def maximum_degree(self) -> int:
        """The most links that a node has."""
        return int(self.live.sums[MOST])

    def topics_of(self, node: str) -> Topics | None:
        """The topics of a node; None where it is not there."""
        at = self.nodes.of.get(node)
        if at is None:
            return None
        return frozenset(map(self.topics.name, row(self.live.topics, at).tolist()))

    def find(self, node: str) -> int:
        """The place of a node; one that is not there is refused."""
        at = self.nodes.of.get(node)
        if at is None:
            raise InputError(f"there is no node {node!r} among the {len(self.nodes):,} nodes")
        return at

    def move(self, moves: Sequence[Move]) -> Change:
        """Change the interests; links stay. Nodes that leave keep their place, without topics."""
        if self.room.steps[0] > _MOST_STEPS:
            self.room = make_room(len(self.live.links.counts), len(self.live.subscribers.counts))
        movers, leaving, lost_counts, lost = [], [], [0], []
        gained, gained_counts, gainers = [], [0], []
        for move in moves:
            at = self._take_node(move)
            before, after = move.before or _NO_TOPICS, move.after or _NO_TOPICS
            own_lost = sorted(self.topics.of[topic] for topic in before - after)
            # By name: the order of a set is another in every process, and a journal is replayed in many.
            own_gained = sorted(self._take_topic(topic) for topic in sorted(after - before))
            kept = sorted(self.topics.of[topic] for topic in after)
            self._set_topics(at, np.array(kept, np.int32))
            movers.append(at)
            leaving.append(move.after is None)
            lost += own_lost
            lost_counts.append(len(lost))
            gained += [pack(topic, at) for topic in own_gained]
            if own_gained:
                gainers.append(at)
                gained_counts.append(len(gained))
        change = Change(
            np.array(movers, np.int32),
            np.array(leaving, np.bool_),
            np.array(lost_counts, np.int64),
            np.array(lost, np.int32),
            np.array(gained, np.int64),
            np.array(gained_counts, np.int64),
            np.array(gainers, np.int32),
        )
        self._change_subscribers(change)
        self.interest_count += len(gained) - len(lost)
        return change

    def _take_node(self, move: Move) -> int:
        at = self.nodes.take(move.node)
        if at >= len(self.live.links.counts):
            self._grow_nodes()
        if move.before is None:
            self.live.by_degree[0] += 1
        return at

    def _take_topic(self, topic: str) -> int:
        at = self.topics.take(topic)
        if at >= len(self.live.subscribers.counts):
            self.live = self.live._replace(subscribers=grown(self.live.subscribers, _more(at), 0))
            self.room = make_room(len(self.live.links.counts), _more(at))
        return at

    def _grow_nodes(self) -> None:
        live, count = self.live, _more(len(self.nodes.names))
        by_degree = np.zeros(count, np.int64)
        by_degree[: len(live.by_degree)] = live.by_degree
        self.live = live._replace(
            topics=grown(live.topics, count, 0),
            links=grown(live.links, count, 0),
            backups=grown(live.backups, count, 0),
            primaries=grown(live.primaries, count, 0),
            by_degree=by_degree,
        )
        self.room = make_room(count, len(live.subscribers.counts))

    def _set_topics(self, at: int, values: Ids) -> None:
        topics = self.live.topics
        if not replace_row(topics, at, values):
            topics = grown(topics, len(topics.counts), len(values))
            self.live = self.live._replace(topics=topics)
            replace_row(topics, at, values)

    def _change_subscribers(self, change: Change) -> None:
        if len(change.lost):
            losers = np.repeat(change.movers, np.diff(change.lost_indptr))
            remove_all(self.live.subscribers, change.lost, losers)
        if len(change.gained):
            topics = first_of(change.gained).astype(np.int32)
            nodes = second_of(change.gained).astype(np.int32)
            self.until_done(
                lambda start: append_all(self.live.subscribers, topics, nodes, start),
                len(nodes),
                lambda live, spare: live._replace(subscribers=longer(live.subscribers, spare)),
            )

    def until_done(
        self, work: Callable[[int], int], end: int, with_longer_rows: Callable[[Live, int], Live]
    ) -> None:
        """Call `work` with the index to continue from until it is at the end, with longer rows each time."""
        at, spare = 0, 64
        while (at := work(at)) < end:
            self.live = with_longer_rows(self.live, spare)
            spare *= 4

    def link(self, edges: Ids) -> None:
        """Add links, pairs of places."""

        def work(start: int) -> int:
            live = self.live
            return int(link_all(live.links, live.by_degree, live.sums, edges, start))

        self.until_done(work, len(edges), lambda live, spare: live._replace(links=longer(live.links, spare)))

    def unlink(self, edges: Ids) -> None:
        """Remove links, pairs of places."""
        unlink_all(self.live.links, self.live.by_degree, self.live.sums, edges)

    def release(self, change: Change) -> None:
        """Free the places of nodes that left, and of topics without subscribers."""
        for at in change.movers[change.leaving].tolist():
            self.nodes.release(at)
            self.live.by_degree[0] -= 1
        self.release_topics(change.lost)

    def release_topics(self, topics: Ids) -> None:
        """Free the places of those topics that have no subscribers."""
        for at in dict.fromkeys(topics[self.live.subscribers.counts[topics] == 0].tolist()):
            self.topics.release(at)

    def all_topics(self) -> Ids:
        """The places of all topics, in order."""
        return np.array(sorted(self.topics.of.values()), np.int32)

    def edges(self) -> Ids:
        """All links as pairs of places, each once. Linear in the overlay."""
        indptr, others = packed(self.live.links)
        nodes = np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr))
        pairs = np.stack([nodes, others], axis=1)
        return np.ascontiguousarray(pairs[pairs[:, 0] < pairs[:, 1]])


def _more(count: int) -> int:
    return count + max(_LEAST_ROOM, count // 2)


def make_live(
    nodes: NameSlots, *, topics: Csr, subscribers: Csr, links: Csr, backups: Csr, primaries: Csr
) -> Live:
    """The arrays of an overlay, with room to grow."""
    degrees = np.diff(links[0])
    present = np.array([name is not None for name in nodes.names], np.bool_)
    link_rows = _roomy(links)
    return Live(
        topics=_roomy(topics),
        subscribers=_roomy(subscribers),
        links=link_rows,
        backups=_roomy(backups),
        primaries=_roomy(primaries),
        by_degree=np.bincount(degrees[present], minlength=len(link_rows.counts)).astype(np.int64),
        sums=np.array([degrees.max(initial=0), degrees.sum() // 2], np.int64),
    )


def _roomy(csr: Csr) -> Rows:
    return make_rows(*csr, _more(len(csr[0]) - 1))


def state_of(overlay: Overlay) -> MaintainedOverlay:
    """An overlay to maintain, without backups; topics without subscribers are left out."""
    interests = overlay.interests
    ends = np.concatenate([overlay.edges, overlay.edges[:, ::-1]])
    ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
    empty = np.zeros(interests.node_count + 1, np.int64), np.empty(0, np.int32)
    nodes = NameSlots(interests.nodes.to_pylist())
    live = make_live(
        nodes,
        topics=(interests.indptr, interests.topic_ids),
        subscribers=(interests.topic_indptr, interests.node_ids),
        links=(np.concatenate([[0], np.cumsum(overlay.degrees())]), np.ascontiguousarray(ends[:, 1])),
        backups=empty,
        primaries=empty,
    )
    state = MaintainedOverlay(nodes, NameSlots(interests.topics.to_pylist()), live)
    state.release_topics(np.arange(interests.topic_count, dtype=np.int32))
    return state


class Known(NamedTuple):
    """The attributes of nodes or topics, by name."""

    names: pa.StringArray
    attributes: pa.Table | None

    def of(self, names: pa.StringArray) -> pa.Table | None:
        """One row for each of `names`; null where nothing is known."""
        if self.attributes is None:
            return None
        return self.attributes.take(pc.index_in(names, value_set=self.names))


def overlay_of(state: MaintainedOverlay, nodes: Known, topics: Known, facts: dict[str, Any]) -> Overlay:
    """The overlay as it is. O(n log n) for the names, linear for the rest."""
    node_names, node_rank = _ranked(state.nodes)
    topic_names, topic_rank = _ranked(state.topics)
    indptr, topic_ids = packed(state.live.topics)
    owners = node_rank[np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))]
    keys = np.sort(pack(owners, topic_rank[topic_ids]))
    sizes = np.bincount(first_of(keys), minlength=len(node_names))
    interests = Interests(
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        second_of(keys).astype(np.int32),
        node_names,
        topic_names,
        nodes.of(node_names),
        topics.of(topic_names),
    )
    return Overlay.from_arrays(interests, node_rank[state.edges()], facts=facts)


def _ranked(places: NameSlots) -> tuple[pa.StringArray, Ids]:
    """The sorted names, and by place the rank of its name."""
    names = sorted(places.of)
    rank = np.full(len(places.names), -1, np.int32)
    rank[[places.of[name] for name in names]] = np.arange(len(names), dtype=np.int32)
    return pa.array(names, pa.string()), rank
