"""Views: whom every node of a gossip overlay knows in each of its topics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from meshwright.model.dense import frozen, rows_of, set_fields
from meshwright.model.interests import Interests
from meshwright.model.storage.schema import INTEGER, check_types
from meshwright.runtime.arrays import Ids, Offsets
from meshwright.runtime.errors import DatasetError, InputError
from meshwright.runtime.packing import first_of, pack, second_of
from meshwright.runtime.wording import count

if TYPE_CHECKING:
    from meshwright.model.overlay import Overlay

TABLE = "views"
_COLUMNS = dict.fromkeys(("topic_id", "node_id", "peer_id"), INTEGER)


@dataclass(frozen=True, eq=False, repr=False)
class Views:
    """The view of every interest, by *slot*: its place when interests are sorted by topic and then by node.

    The view of a slot is `slots[indptr[slot]:indptr[slot + 1]]`, in the order of the owner's preference:
    other slots of its topic, each once. Checked when made, in linear time; read-only; 4 bytes a logical link.
    """

    interests: Interests
    indptr: Offsets
    slots: Ids

    def __post_init__(self) -> None:
        set_fields(self, indptr=frozen(self.indptr, np.int64, "indptr"))
        set_fields(self, slots=frozen(self.slots, np.int32, "slots"))
        self._check()

    @property
    def peers(self) -> Ids:
        """The same views as node ids."""
        return self.interests.node_ids[self.slots]

    def __repr__(self) -> str:
        return f"Views({count(len(self.indptr) - 1, 'view')}, {count(len(self.slots), 'logical link')})"

    @classmethod
    def of(cls, overlay: Overlay) -> Views:
        """The views of an overlay that gossip made; another overlay is refused."""
        if TABLE not in overlay.tables:
            built_by = overlay.facts.get("algorithm")
            raise InputError(
                f"the overlay{f' of {built_by}' if built_by else ''} has no views; build one with stan"
            )
        return cls.from_table(overlay.interests, overlay.tables[TABLE])

    @classmethod
    def from_table(cls, interests: Interests, table: pa.Table) -> Views:
        """Build from the rows of `views/`: topic_id, node_id, peer_id; each view in order of preference."""
        check_types(table.schema, _COLUMNS, f"{TABLE}/", DatasetError)
        topics, nodes, peers = (table[name].to_numpy().astype(np.int64) for name in _COLUMNS)
        own = _slot_numbers(interests, topics, nodes)
        if (own < 0).any():
            row = int(np.argmax(own < 0))
            raise InputError(
                f"{TABLE}/ has a view of node {nodes[row]} in topic {topics[row]}, to which the node does "
                f"not subscribe; write the views again"
            )
        order = np.argsort(own, kind="stable")
        counts = np.bincount(own, minlength=len(interests))
        slots = _slot_numbers(interests, topics, peers)[order]
        return cls(interests, np.concatenate([[0], np.cumsum(counts)]), slots.astype(np.int32))

    def to_table(self) -> pa.Table:
        """A row for each logical link, by topic, node and preference."""
        owners = rows_of(self.indptr)
        topics = rows_of(self.interests.topic_indptr)
        return pa.table(
            {
                "topic_id": pa.array(topics[owners]),
                "node_id": pa.array(self.interests.node_ids[owners]),
                "peer_id": pa.array(self.peers),
            }
        )

    def edges(self) -> Ids:
        """The physical links, as pairs of a node and a peer of it: the undirected view is an overlay."""
        owners = self.interests.node_ids[rows_of(self.indptr)].astype(np.int64)
        peers = self.peers
        keys = np.unique(pack(np.minimum(owners, peers), np.maximum(owners, peers)))
        return np.column_stack([first_of(keys), second_of(keys)]).astype(np.int32)

    def by_node(self) -> list[dict[int, tuple[int, ...]]]:
        """For each node its views by topic: what its protocols begin with."""
        views: list[dict[int, tuple[int, ...]]] = [{} for _ in range(self.interests.node_count)]
        topics, nodes = rows_of(self.interests.topic_indptr).tolist(), self.interests.node_ids.tolist()
        peers, bounds = self.peers.tolist(), self.indptr.tolist()
        for slot, (topic, node) in enumerate(zip(topics, nodes, strict=True)):
            views[node][topic] = tuple(peers[bounds[slot] : bounds[slot + 1]])
        return views

    def _check(self) -> None:
        from meshwright.kernels.gossip.views import wrong_peer

        interests, indptr = self.interests, self.indptr
        if len(indptr) != len(interests) + 1:
            raise InputError(
                f"there are {count(len(indptr) - 1, 'view')} for {count(len(interests), 'interest')}; "
                f"give a view for each"
            )
        if indptr[0] != 0 or indptr[-1] != len(self.slots):
            raise InputError(
                f"the offsets of the views go from {indptr[0]:,} to {indptr[-1]:,}, but {len(self.slots):,} "
                f"peers were given; let them go from 0 to the number of peers"
            )
        if (np.diff(indptr) < 0).any():
            raise InputError("the offsets of views decrease; give offsets that never do")
        place = wrong_peer(interests.topic_indptr, indptr, self.slots)
        if place >= 0:
            owner = int(np.searchsorted(indptr, place, side="right")) - 1
            topic = int(np.searchsorted(interests.topic_indptr, owner, side="right")) - 1
            raise InputError(
                f"the view of node {interests.node_ids[owner]} in topic {topic} has a peer that appears "
                f"twice, or is not another subscriber of the topic; write the views again"
            )


def _slot_numbers(interests: Interests, topics: Offsets | Ids, nodes: Offsets | Ids) -> Offsets:
    """Where interests stand by topic and node; -1 where there is no such interest."""
    width = interests.node_count + 1
    known = rows_of(interests.topic_indptr).astype(np.int64) * width + interests.node_ids
    legal = (topics >= 0) & (topics < interests.topic_count) & (nodes >= 0) & (nodes < interests.node_count)
    wanted = np.where(legal, topics.astype(np.int64) * width + nodes, -1)
    found = np.searchsorted(known, wanted)
    return np.where(np.append(known, -2)[found] == wanted, found, -1)
