"""Names and their places: small numbers that are given again when a name is gone.

The overlay that a maintainer keeps: names outside, growable arrays inside.

Kernels can't make arrays longer; here they are grown when a kernel says that room ran out.

The state of a maintainer as an `Overlay`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
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


class Places:
    """Of each name its place, and of each place its name, or None where it is free.

    The place that became free last is given first, so that places are a function of what happened.
    """

    def __init__(self, names: Iterable[str | None], free: Iterable[int] = ()) -> None:
        self.names: list[str | None] = list(names)
        self.free: list[int] = list(free)
        self.of: dict[str, int] = {name: at for at, name in enumerate(self.names) if name is not None}

    def __len__(self) -> int:
        """How many names there are."""
        return len(self.of)

    def name(self, at: int) -> str:
        """The name of a place that is taken."""
        name = self.names[at]
        assert name is not None
        return name

    def take(self, name: str) -> int:
        """The place of a name; a new one gets one."""
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
"""Of one room, since a step has to fit half a number; that is some ten million events."""

_BY_NODE = ("topics", "links", "backups", "primaries")
ROWS = (*_BY_NODE, "subscribers")
_NO_TOPICS: Topics = frozenset()


class Change(NamedTuple):
    """What moves come to in places: mover k has lost `lost[lost_indptr[k] : lost_indptr[k + 1]]`."""

    movers: Ids
    leaving: Flags
    lost_indptr: Offsets
    lost: Ids
    gained: Offsets  # keys of topic and node
    gainers: Ids  # the movers that have gained

    @property
    def has_losses(self) -> bool:
        """Whether anybody left or lost a topic."""
        return len(self.lost) > 0 or bool(self.leaving.any())


class State:
    """An overlay that changes. What it holds depends on what happened to it, not on how its arrays grew."""

    def __init__(self, nodes: Places, topics: Places, live: Live) -> None:
        self.nodes = nodes
        self.topics = topics
        self.live = live
        self.interest_count = int(live.topics.counts.sum(dtype=np.int64))
        self.room = make_room(len(live.links.counts), len(live.subscribers.counts))

    @property
    def link_count(self) -> int:
        """How many links there are."""
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
        return frozenset(map(self.topics.name, self.row("topics", at).tolist()))

    def find(self, node: str) -> int:
        """The place of a node; one that is not there is refused."""
        at = self.nodes.of.get(node)
        if at is None:
            raise InputError(f"there is no node {node!r} among the {len(self.nodes):,} nodes")
        return at

    def row(self, field: str, at: int) -> Ids:
        """A row of `live`, as a view."""
        rows: Rows = getattr(self.live, field)
        start = rows.starts[at]
        return rows.items[start : start + rows.counts[at]]

    def rows_packed(self, field: str) -> tuple[Offsets, Ids]:
        """All rows of `live` as a CSR over all places. Linear in the overlay."""
        rows: Rows = getattr(self.live, field)
        return np.concatenate([[0], np.cumsum(rows.counts, dtype=np.int64)]), packed_items(rows)

    def move(self, moves: Sequence[Move]) -> Change:
        """Change the interests; links stay. Nodes that leave keep their place, without topics."""
        if self.room.steps[0] > _MOST_STEPS:
            self.room = make_room(len(self.live.links.counts), len(self.live.subscribers.counts))
        movers, leaving, lost_counts, lost, gained, gainers = [], [], [0], [], [], []
        for move in moves:
            at = self._take_node(move)
            before, after = move.before or _NO_TOPICS, move.after or _NO_TOPICS
            own_lost = sorted(self.topics.of[topic] for topic in before - after)
            # By name: the order of a set is another in every process, and a journal is replayed in many.
            own_gained = sorted(self._take_topic(topic) for topic in sorted(after - before))
            kept = sorted(self.topics.of[topic] for topic in after)
            self.set_row("topics", at, np.array(kept, np.int32))
            movers.append(at)
            leaving.append(move.after is None)
            lost += own_lost
            lost_counts.append(len(lost))
            gained += [pack(topic, at) for topic in own_gained]
            if own_gained:
                gainers.append(at)
        change = Change(
            np.array(movers, np.int32),
            np.array(leaving, np.bool_),
            np.array(lost_counts, np.int64),
            np.array(lost, np.int32),
            np.array(gained, np.int64),
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
            self._grow("subscribers", _more(at), 0)
            self.room = make_room(len(self.live.links.counts), _more(at))
        return at

    def _grow_nodes(self) -> None:
        count = _more(len(self.nodes.names))
        for field in _BY_NODE:
            self._grow(field, count, 0)
        by_degree = np.zeros(count, np.int64)
        by_degree[: len(self.live.by_degree)] = self.live.by_degree
        self.live = self.live._replace(by_degree=by_degree)
        self.room = make_room(count, len(self.live.subscribers.counts))

    def _grow(self, field: str, row_count: int, spare: int) -> None:
        longer = {field: grown(getattr(self.live, field), row_count, spare)}
        self.live = self.live._replace(**longer)  # type: ignore[arg-type]

    def set_row(self, field: str, at: int, values: Ids) -> None:
        """Give a row other ids."""
        if not replace_row(getattr(self.live, field), at, values):
            self._grow(field, len(getattr(self.live, field).counts), len(values))
            replace_row(getattr(self.live, field), at, values)

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
                "subscribers",
            )

    def until_done(self, work: Callable[[int], int], end: int, *fields: str) -> None:
        """Call `work` with the place to go on from until it gets to the end, with longer arrays each time."""
        at, spare = 0, 64
        while (at := work(at)) < end:
            for field in fields:
                rows = getattr(self.live, field)
                self._grow(field, len(rows.counts), max(spare, len(rows.items)))
            spare *= 4

    def link(self, edges: Ids) -> None:
        """Add links, pairs of places."""

        def work(start: int) -> int:
            live = self.live
            return int(link_all(live.links, live.by_degree, live.sums, edges, start))

        self.until_done(work, len(edges), "links")

    def unlink(self, edges: Ids) -> None:
        """Take links away."""
        unlink_all(self.live.links, self.live.by_degree, self.live.sums, edges)

    def release(self, change: Change) -> None:
        """Free the places of those who left, and of topics that nobody has any more."""
        for at in change.movers[change.leaving].tolist():
            self.nodes.release(at)
            self.live.by_degree[0] -= 1
        self.release_topics(change.lost)

    def release_topics(self, topics: Ids) -> None:
        """Free the places of those topics that nobody has."""
        for at in dict.fromkeys(topics[self.live.subscribers.counts[topics] == 0].tolist()):
            self.topics.release(at)

    def edges(self) -> Ids:
        """All links as pairs of places, each once. Linear in the overlay."""
        indptr, others = self.rows_packed("links")
        nodes = np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr))
        pairs = np.stack([nodes, others], axis=1)
        return np.ascontiguousarray(pairs[pairs[:, 0] < pairs[:, 1]])


def _more(count: int) -> int:
    return count + max(_LEAST_ROOM, count // 2)


def make_live(rows: Mapping[str, tuple[Offsets, Ids]], nodes: Places) -> Live:
    """The arrays of an overlay, of a CSR for each of `ROWS`, with room to grow."""
    links = np.diff(rows["links"][0])
    present = np.array([name is not None for name in nodes.names], np.bool_)
    made = {field: make_rows(*csr, _more(len(csr[0]) - 1)) for field, csr in rows.items()}
    return Live(
        **made,
        by_degree=np.bincount(links[present], minlength=len(made["links"].counts)).astype(np.int64),
        sums=np.array([links.max(initial=0), links.sum() // 2], np.int64),
    )


def state_of(overlay: Overlay) -> State:
    """The state of an overlay, without backups; topics that nobody has are left out."""
    interests = overlay.interests
    ends = np.concatenate([overlay.edges, overlay.edges[:, ::-1]])
    ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
    nobody = np.zeros(interests.node_count + 1, np.int64), np.empty(0, np.int32)
    rows = {
        "topics": (interests.indptr, interests.topic_ids),
        "subscribers": (interests.topic_indptr, interests.node_ids),
        "links": (np.concatenate([[0], np.cumsum(overlay.degrees())]), np.ascontiguousarray(ends[:, 1])),
        "backups": nobody,
        "primaries": nobody,
    }
    nodes = Places(interests.nodes.to_pylist())
    state = State(nodes, Places(interests.topics.to_pylist()), make_live(rows, nodes))
    state.release_topics(np.arange(interests.topic_count, dtype=np.int32))
    return state


class Known(NamedTuple):
    """What else is known about some nodes or topics, by name."""

    names: pa.StringArray
    attributes: pa.Table | None

    def of(self, names: pa.StringArray) -> pa.Table | None:
        """A row for each of `names`, of nulls where nothing is known."""
        if self.attributes is None:
            return None
        return self.attributes.take(pc.index_in(names, value_set=self.names))


def overlay_of(state: State, nodes: Known, topics: Known, facts: dict[str, Any]) -> Overlay:
    """The overlay as it is. O(n log n) for the names, linear for the rest."""
    node_names, node_rank = _ranked(state.nodes)
    topic_names, topic_rank = _ranked(state.topics)
    indptr, topic_ids = state.rows_packed("topics")
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


def _ranked(places: Places) -> tuple[pa.StringArray, Ids]:
    """The sorted names, and by place the rank of its name."""
    names = sorted(places.of)
    rank = np.full(len(places.names), -1, np.int32)
    rank[[places.of[name] for name in names]] = np.arange(len(names), dtype=np.int32)
    return pa.array(names, pa.string()), rank
