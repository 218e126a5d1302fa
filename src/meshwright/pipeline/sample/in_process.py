"""The engine of a sample that runs in this process, with all interests in memory."""

from contextlib import AbstractContextManager
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.model.dense import rows_of
from meshwright.model.interests import Interests, interest_counts, interest_tables
from meshwright.model.storage.dataset import write_tables
from meshwright.pipeline.ranks import ranks, salt
from meshwright.pipeline.sample.bfs import BfsOptions, no_start
from meshwright.pipeline.sample.job import Found, bfs_facts, check_social, universe_facts
from meshwright.pipeline.sample.universe import Sizes, UniverseOptions, drawn_topics, median, no_universe
from meshwright.runtime.arrays import Flags, Ids, Offsets
from meshwright.runtime.places import Place, is_local
from meshwright.runtime.progress import Progress, stage


class _Links(NamedTuple):
    """The users that each user has a relation with, in either direction: a CSR."""

    indptr: Offsets
    users: Ids

    def of(self, users: Ids) -> Ids:
        """Whom some users have a relation with, each once."""
        starts, sizes = self.indptr[users], np.diff(self.indptr)[users]
        before = np.repeat(np.cumsum(sizes) - sizes, sizes)
        found: Ids = np.unique(self.users[np.repeat(starts, sizes) + np.arange(len(before)) - before])
        return found


class InProcess:
    """See `Sampling`."""

    name = "local"

    def __init__(self, interests: Interests, origin: str) -> None:
        self._origin = origin
        self._interests = interests
        self._rows = rows_of(self._interests.indptr)

    def stage(self, progress: Progress | None, label: str) -> AbstractContextManager[object]:
        """See `Sampling`."""
        return stage(progress, label)

    def by_bfs(self, options: BfsOptions, seed: int, folder: Place) -> Found:
        """See `Sampling`."""
        del folder
        owner = self._owners()[self._interests.topic_ids]
        check_social(bool((owner >= 0).any()), self._origin, "--bfs")
        visited, facts = self._visit(self._links(owner), options, seed)
        within = visited[self._rows] & (owner >= 0) & visited[owner]
        topics = np.unique(self._interests.topic_ids[within])
        return Found(_ids(visited), topics, facts)

    def _owners(self) -> Ids:
        """For each topic the node with its name, or -1."""
        found = pc.index_in(self._interests.topics, self._interests.nodes)
        owner: Ids = pc.fill_null(found, -1).to_numpy()
        return owner

    def _links(self, owner: Ids) -> _Links:
        related = (owner >= 0) & (owner != self._rows)
        node, other = self._rows[related], owner[related]
        source, target = np.concatenate([node, other]), np.concatenate([other, node])
        order = np.argsort(source, kind="stable")
        count = self._interests.node_count
        return _Links(np.searchsorted(source[order], np.arange(count + 1)), target[order])

    def _visit(self, links: _Links, options: BfsOptions, seed: int) -> tuple[Flags, dict[str, object]]:
        """Who is visited; `bfs.visit` says how."""
        visited = np.zeros(self._interests.node_count, np.bool_)
        level = self._starts(options, seed)
        levels: list[int] = []
        restarts = 0
        while True:
            room = options.users - sum(levels)
            if len(level) > room:
                level = _least(level, seed, "bfs cut", room)
            levels.append(len(level))
            visited[level] = True
            if len(level) == room:
                return visited, bfs_facts(levels, restarts)
            if len(level):
                found = links.of(level)
                level = found[~visited[found]]
            else:
                level = _least(_ids(~visited), seed, "bfs start", min(2**restarts, room))
                restarts += 1

    def _starts(self, options: BfsOptions, seed: int) -> Ids:
        nodes = self._interests.nodes
        if not options.start:
            return _least(np.arange(len(nodes), dtype=np.int32), seed, "bfs start", options.starts)
        found = pc.index_in(pa.array(options.start, pa.string()), nodes)
        for name, known in zip(options.start, found.is_valid().to_pylist(), strict=True):
            if not known:
                raise no_start(name)
        starts: Ids = found.to_numpy()
        return starts

    def by_universe(self, options: UniverseOptions, seed: int, folder: Place) -> Found:
        """See `Sampling`; universes are made one after another, and made again for the one that is chosen."""
        del folder
        owners = self._owners() if options.grow == "own" else None
        if owners is not None:
            check_social(bool((owners >= 0).any()), self._origin, "--grow own")
        sizes = []
        for number in range(options.median_of):
            nodes, topics = self._universe(number, owners, options, seed)
            if len(nodes):
                sizes.append(Sizes(number, len(topics), len(nodes)))
        if not sizes:
            raise no_universe(options)
        chosen = median(sizes)
        nodes, topics = self._universe(chosen.universe, owners, options, seed)
        return Found(nodes, topics, universe_facts(chosen, sizes, options))

    def _universe(
        self, number: int, owners: Ids | None, options: UniverseOptions, seed: int
    ) -> tuple[Ids, Ids]:
        """The nodes and the topics of a universe after pruning."""
        topic_ids, topic_count = self._interests.topic_ids, self._interests.topic_count
        grown = np.zeros(topic_count, np.bool_)
        grown[drawn_topics(number, topic_count, options.seeds, seed)] = True
        members = self._subscribers(grown)
        grown |= self._added(number, members, owners, seed)
        nodes = members if options.nodes_of == "seeds" else self._subscribers(grown)
        within = nodes[self._rows]
        if options.topics_of == "grown":
            within &= grown[topic_ids]
        enough = np.bincount(topic_ids[within], minlength=topic_count) >= options.least_subscribers
        left = within & enough[topic_ids]
        return np.unique(self._rows[left]), np.unique(topic_ids[left])

    def _subscribers(self, topics: Flags) -> Flags:
        found = np.zeros(self._interests.node_count, np.bool_)
        found[self._rows[topics[self._interests.topic_ids]]] = True
        return found

    def _added(self, number: int, members: Flags, owners: Ids | None, seed: int) -> Flags:
        """The topics that members add: those named like them, or one of each at the place of its rank."""
        own = self._interests
        if owners is not None:
            return (owners >= 0) & members[owners]
        added = np.zeros(own.topic_count, np.bool_)
        nodes = _ids(members)
        sizes = np.diff(own.indptr)[nodes]
        place = ranks(salt(seed, "universe growth"), number, nodes) % sizes if len(nodes) else sizes
        added[own.topic_ids[own.indptr[nodes] + place]] = True
        return added

    def subset(self, nodes: Ids, topics: Ids) -> Interests:
        """The interests between some nodes and topics."""
        return _subset(self._interests, self._rows, nodes, topics)

    def write(self, folder: Place, nodes: Ids, topics: Ids) -> dict[str, int]:
        """See `Sampling`."""
        assert is_local(folder)
        found = self.subset(nodes, topics)
        write_tables(folder, interest_tables(found), None)
        return interest_counts(found)


def _ids(flags: Flags) -> Ids:
    return np.flatnonzero(flags).astype(np.int32)


def _least(ids: Ids, seed: int, stage: str, count: int) -> Ids:
    """The `count` of least rank."""
    return ids[np.lexsort((ids, ranks(salt(seed, stage), ids)))][:count]


def _subset(interests: Interests, rows: Ids, nodes: Ids, topics: Ids) -> Interests:
    """The interests between some nodes and topics, under new ids."""
    place = np.full(interests.topic_count, -1, np.int32)
    place[topics] = np.arange(len(topics), dtype=np.int32)
    is_node = np.zeros(interests.node_count, np.bool_)
    is_node[nodes] = True
    kept = is_node[rows] & (place[interests.topic_ids] >= 0)
    sizes = np.bincount(rows[kept], minlength=interests.node_count)[nodes]
    attributes = [
        None if table is None else table.take(pa.array(ids))
        for table, ids in ((interests.node_attributes, nodes), (interests.topic_attributes, topics))
    ]
    return Interests(
        np.concatenate([[0], np.cumsum(sizes)]),
        place[interests.topic_ids[kept]],
        interests.nodes.take(pa.array(nodes)),
        interests.topics.take(pa.array(topics)),
        *attributes,
    )
