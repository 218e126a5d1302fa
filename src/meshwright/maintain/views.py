"""The state of a maintainer as an `Overlay`."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.kernels.arrays import Ids
from meshwright.maintain.places import Places
from meshwright.maintain.state import State
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay


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
    keys = np.sort(owners.astype(np.int64) << 32 | topic_rank[topic_ids])
    sizes = np.bincount(keys >> 32, minlength=len(node_names))
    interests = Interests(
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        (keys & 0xFFFFFFFF).astype(np.int32),
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
