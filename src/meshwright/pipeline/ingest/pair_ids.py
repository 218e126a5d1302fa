"""Rows as pairs of ids while they are read, and the interests that they state.

Names are hashed as they come, and only distinct names are sorted: a row is eight bytes from then on.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.model.dense import dense
from meshwright.model.interests import Interests
from meshwright.model.names import NameEncoder, ranks
from meshwright.model.pairs import Pairs
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.runtime.arrays import Ids
from meshwright.runtime.columns import arrow_of, numpy_of

_ROWS_AT_ONCE = 1 << 22
"""Rows that wait to be hashed together: a name that comes often is then looked up once among all names."""


class PairCoder:
    """Takes in rows, batch by batch, and holds eight bytes for each, and every name once."""

    def __init__(self) -> None:
        self.rows = 0
        self._nodes, self._topics = _Column("node"), _Column("topic")
        self._alone: list[pa.Array] = []

    def add(self, node: pa.Array, topic: pa.Array) -> None:
        """Take in names as strings, or encoded as dictionaries; where the topic is null, a node is alone."""
        self.rows += len(node)
        if topic.null_count:
            mask = topic.is_valid()
            self._alone.append(_as_strings(node.filter(pc.invert(mask))).unique())
            node, topic = node.filter(mask), topic.filter(mask)
        self._nodes.add(node)
        self._topics.add(topic)

    def finish(self) -> Pairs:
        """All rows with a topic in their order; nodes that are alone are among the names."""
        alone = pa.chunked_array(self._alone, pa.string()).combine_chunks()
        node_ids, nodes = self._nodes.finish(alone)
        topic_ids, topics = self._topics.finish(pa.nulls(0, pa.string()))
        return Pairs(node_ids, nodes, topic_ids, topics, None)


class _Column:
    """One of the two columns: what waits to be hashed, and what was."""

    def __init__(self, what: str) -> None:
        self._encoder = NameEncoder(what)
        self._waiting: list[pa.StringArray] = []
        self._waiting_rows = 0

    def add(self, names: pa.Array) -> None:
        if pa.types.is_dictionary(names.type):
            self._flush()
            self._encoder.add(names)
            return
        self._waiting.append(names)
        self._waiting_rows += len(names)
        if self._waiting_rows >= _ROWS_AT_ONCE:
            self._flush()

    def finish(self, kept: pa.StringArray) -> tuple[Ids, pa.StringArray]:
        self._flush()
        return self._encoder.finish(kept)

    def _flush(self) -> None:
        if self._waiting_rows:
            coded = pa.chunked_array(self._waiting, pa.string()).dictionary_encode()
            indices = pa.concat_arrays([chunk.indices for chunk in coded.chunks])
            self._encoder.add(pa.DictionaryArray.from_arrays(indices, coded.chunk(0).dictionary))
        self._waiting, self._waiting_rows = [], 0


def _as_strings(names: pa.Array) -> pa.StringArray:
    return names.dictionary_decode() if pa.types.is_dictionary(names.type) else names


class Stated(NamedTuple):
    """Interests, and how many rows said again what another had said."""

    interests: Interests
    duplicates: int


def interests_of(pairs: Pairs, options: IngestOptions) -> Stated:
    """The interests that rows state, by what a row means. One sort of 64-bit keys; see `dense`."""
    if options.relation == "pairs":
        interests = Interests(*dense(pairs))
        return Stated(interests, len(pairs.first_ids) - len(interests))
    users, (first, second) = _as_users(pairs)
    if options.relation == "friendship":
        two = first != second
        first, second = np.concatenate([first, second[two]]), np.concatenate([second, first[two]])
    read = len(first)
    if not options.own_topic:
        interests = Interests(*dense(_among_topics(first, second, users)))
        return Stated(interests, read - len(interests))
    named_themselves = len(np.unique(first[first == second]))
    own = np.arange(len(users), dtype=np.int32)
    both = Pairs(np.concatenate([first, own]), users, np.concatenate([second, own]), users, None)
    interests = Interests(*dense(both))
    return Stated(interests, read - (len(interests) - len(users) + named_themselves))


def _as_users(pairs: Pairs) -> tuple[pa.StringArray, Sequence[Ids]]:
    """The names of both columns as those of users, and both columns as ids of users."""
    both = pa.chunked_array([pairs.first_names, pairs.second_names], pa.string()).combine_chunks()
    users, rank = ranks(both)
    count = len(pairs.first_names)
    return users, (rank[:count][pairs.first_ids], rank[count:][pairs.second_ids])


def _among_topics(first: Ids, second: Ids, users: pa.StringArray) -> Pairs:
    """Pairs of users, in which the ids of topics are those among the users who are topics."""
    is_topic = np.zeros(len(users), np.bool_)
    is_topic[second] = True
    topic_id = np.cumsum(is_topic, dtype=np.int32) - np.int32(1)
    return Pairs(first, users, topic_id[second], users.filter(arrow_of(is_topic)), None)


def share_no_name(pairs: Pairs) -> bool:
    """Whether no name is in both columns, though both have names."""
    if not len(pairs.second_names):
        return False
    return not bool(numpy_of(pc.is_in(pairs.first_names, pairs.second_names)).any())
