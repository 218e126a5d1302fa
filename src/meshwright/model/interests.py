"""Interests: which node wants which topic, with optional attributes of nodes and topics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.model import pairs as sources
from meshwright.model.dense import (
    Dense,
    as_scipy,
    check_lists,
    dense,
    dense_of_graph,
    dense_of_matrix,
    frozen,
    rows_of,
    sealed,
    set_fields,
    transposed,
)
from meshwright.model.names import NameSource, check_names, find, name_array
from meshwright.model.pairs import NODE_TOPIC, Columns, collect, from_parquet
from meshwright.model.reading.columns import Column
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.model.storage.dataset import TableSource, as_dataset, read_table, whole, write_dataset
from meshwright.model.storage.manifest import Dataset, check_counts, check_files, make_manifest, open_dataset
from meshwright.model.storage.schema import DOUBLE, INT32, INTEGER, LIST_OF_INT32, STRING, Wanted, check_types
from meshwright.model.wildcards import warn_of_wildcards
from meshwright.runtime.arrays import Ids, Offsets
from meshwright.runtime.columns import arrow_of, numpy_of
from meshwright.runtime.errors import DatasetError, InputError
from meshwright.runtime.packing import first_of, pack, second_of
from meshwright.runtime.progress import Progress, stage
from meshwright.runtime.wording import counts, type_of

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd
    from scipy.sparse import csr_array


PAIRS_SCHEMA = pa.schema([("node", pa.string()), ("topic", pa.string())])
LISTS_SCHEMA = pa.schema([("node_id", pa.int32()), ("topic_ids", pa.list_(pa.int32()))])

_NAMED = {"id": INT32, "name": STRING}
LISTS = {"node_id": INT32, "topic_ids": LIST_OF_INT32}
"""The columns of `lists/` as they may come."""

_DENSE = ("nodes", "topics", "lists")
_INTERESTS_A_BLOCK = 1 << 20


def interest_counts(interests: Interests) -> dict[str, int]:
    """What the manifest counts."""
    return {"nodes": interests.node_count, "topics": interests.topic_count, "interests": len(interests)}


def interest_tables(interests: Interests, names: bool = True) -> dict[str, TableSource]:
    """The tables to write, in blocks of about a million interests; those by name only if wanted."""
    pairs = TableSource(PAIRS_SCHEMA, _interest_blocks(interests, _pairs_block), len(interests))
    return {
        **({"interests": pairs} if names else {}),
        "nodes": _named(interests.nodes, interests.node_attributes),
        "topics": _named(interests.topics, interests.topic_attributes),
        "lists": TableSource(LISTS_SCHEMA, _interest_blocks(interests, _lists_block), interests.node_count),
    }


def _named(names: pa.StringArray, attributes: pa.Table | None) -> TableSource:
    table = pa.table({"id": arrow_of(np.arange(len(names), dtype=np.int32)), "name": names})
    if attributes is not None:
        for column in attributes.schema:
            table = table.append_column(column, attributes[column.name])
    return whole(table)


def _interest_blocks(
    interests: Interests, block: Callable[[Interests, int, int], pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    start = 0
    while start < interests.node_count:
        enough = interests.indptr[start] + _INTERESTS_A_BLOCK
        stop = max(start + 1, int(np.searchsorted(interests.indptr, enough, side="right")) - 1)
        yield block(interests, start, stop)
        start = stop


def _pairs_block(interests: Interests, start: int, stop: int) -> pa.RecordBatch:
    indptr = interests.indptr[start : stop + 1]
    nodes = interests.nodes.slice(start, stop - start).take(arrow_of(rows_of(indptr)))
    topics = interests.topics.take(arrow_of(interests.topic_ids[indptr[0] : indptr[-1]]))
    return pa.record_batch([nodes, topics], schema=PAIRS_SCHEMA)


def _lists_block(interests: Interests, start: int, stop: int) -> pa.RecordBatch:
    indptr = interests.indptr[start : stop + 1]
    values = arrow_of(interests.topic_ids[indptr[0] : indptr[-1]])
    lists = pa.ListArray.from_arrays(arrow_of((indptr - indptr[0]).astype(np.int32)), values)
    return pa.record_batch([arrow_of(np.arange(start, stop, dtype=np.int32)), lists], schema=LISTS_SCHEMA)


def _read_dense(dataset: Dataset[Path]) -> Dense:
    """The dense tables; or the pairs, when none of the dense tables is there."""
    if not any(dataset.has(name) for name in _DENSE):
        check_files(dataset, ("interests",))
        return dense(collect(from_parquet(dataset.path / "interests", NODE_TOPIC), NODE_TOPIC))
    nodes, node_attributes = read_named(dataset, "nodes")
    topics, topic_attributes = read_named(dataset, "topics")
    indptr, topic_ids = _read_lists(dataset, len(nodes))
    return Dense(indptr, topic_ids, nodes, topics, node_attributes, topic_attributes)


def read_named(dataset: Dataset[Path], name: str) -> tuple[pa.StringArray, pa.Table]:
    """The names of nodes or topics by id, and their attributes."""
    table = read_table(dataset, name, _NAMED)
    ids = numpy_of(table["id"])
    if not _counts_up(ids):
        table = table.take(arrow_of(np.argsort(ids)))
        if not _counts_up(numpy_of(table["id"])):
            raise DatasetError(
                f"{dataset.path / name}: each id from 0 to {len(ids) - 1} must appear once; "
                f"write the dataset again"
            )
    return name_array(table["name"], name.removesuffix("s")), table.drop_columns(["id", "name"])


def _counts_up(ids: Ids) -> bool:
    return np.array_equal(ids, np.arange(len(ids), dtype=np.int32))


def _read_lists(dataset: Dataset[Path], node_count: int) -> tuple[Offsets, Ids]:
    """The CSR of `lists/`; the rows may come in any order, and a node without a row has no topics."""
    path = dataset.path
    table = read_table(dataset, "lists", LISTS, only_wanted=True)
    node_ids = numpy_of(table["node_id"])
    lengths = numpy_of(pc.list_value_length(table["topic_ids"])).astype(np.int64)
    lists = [chunk.flatten() for chunk in table["topic_ids"].chunks]
    if any(values.null_count for values in lists):
        raise DatasetError(f"{path / 'lists'}: a list holds a null; write the dataset again")
    topic_ids = np.concatenate([np.empty(0, np.int32), *(numpy_of(values) for values in lists)])
    if len(node_ids) and (node_ids.min() < 0 or node_ids.max() >= node_count):
        raise DatasetError(
            f"{path / 'lists'}: a node_id lies outside 0 to {node_count - 1}; write the dataset again"
        )
    if (node_ids[1:] <= node_ids[:-1]).any():
        if len(np.unique(node_ids)) < len(node_ids):
            raise DatasetError(f"{path / 'lists'}: a node_id appears twice; write the dataset again")
        topic_ids = topic_ids[_by_node(node_ids, lengths)]
    indptr = np.zeros(node_count + 1, np.int64)
    indptr[node_ids.astype(np.int64) + 1] = lengths
    return sealed(np.cumsum(indptr)), sealed(topic_ids)


def _by_node(node_ids: Ids, lengths: Offsets) -> Offsets:
    """Where the entries of lists that are in any order stand when the lists are sorted by node."""
    order = np.argsort(node_ids)
    starts, sizes = (np.cumsum(lengths) - lengths)[order], lengths[order]
    shift = starts - (np.cumsum(sizes) - sizes)
    return np.repeat(shift, sizes) + np.arange(lengths.sum())


NODE_ATTRIBUTES = {
    "site": STRING,
    "lat": DOUBLE,
    "lon": DOUBLE,
    "host": STRING,
    "port": INTEGER,
    "max_links": INTEGER,
}
TOPIC_ATTRIBUTES = {"rate": DOUBLE}

_TAKEN = ("id", "name")


def checked_attributes(
    table: pa.Table | None, count: int, known: dict[str, Wanted], what: str
) -> pa.Table | None:
    """The attributes of `count` nodes or topics without foreign metadata, or None when there are none.

    Columns that we know must have their type; others are kept as they are.
    """
    if table is None or not table.column_names:
        return None
    origin = f"the table of {what} attributes"
    if table.num_rows != count:
        raise InputError(f"{origin} has {table.num_rows:,} rows for {count:,} {what}s; give one for each id")
    repeated = [name for name in table.column_names if table.column_names.count(name) > 1 or name in _TAKEN]
    if repeated:
        raise InputError(
            f"{origin} can't have a column {repeated[0]!r}: the name is repeated or reserved; rename it"
        )
    check_types(table.schema, known, origin, InputError, optional=frozenset(known))
    return table.replace_schema_metadata(None)


def first_difference(one: Interests, other: Interests, places: tuple[str, str]) -> str | None:
    """In words, the first node, topic or interest that only one of two has; None if only attributes differ.

    `places` is what the words call the two. O(interests) where they are the same.
    """
    for what, mine, theirs in (("node", one.nodes, other.nodes), ("topic", one.topics, other.topics)):
        if not mine.equals(theirs):
            here = {*mine.to_pylist()}
            name = min(here ^ {*theirs.to_pylist()}, key=str.encode)
            return f"{what} {name!r} is only in {places[name not in here]}"
    if np.array_equal(one.indptr, other.indptr) and np.array_equal(one.topic_ids, other.topic_ids):
        return None
    keys, others = (
        pack(np.repeat(np.arange(own.node_count), np.diff(own.indptr)), own.topic_ids) for own in (one, other)
    )
    key = int(np.setxor1d(keys, others, assume_unique=True)[0])
    node, topic = one.nodes[first_of(key)].as_py(), one.topics[second_of(key)].as_py()
    return f"node {node!r} subscribes to {topic!r} only in {places[key not in keys]}"


def same_table(one: pa.Table | None, other: pa.Table | None) -> bool:
    """Whether both are missing, or hold the same columns and values."""
    if one is None or other is None:
        return one is other
    return bool(one.equals(other))


_NODES_A_BLOCK = 1 << 14


def _names(names: pa.StringArray, ids: Ids) -> list[str]:
    found: list[str] = names.take(arrow_of(ids)).to_pylist()
    return found


@dataclass(frozen=True, eq=False, repr=False)
class Interests:
    """All (node, topic) pairs, by node and by topic; frozen, and checked in linear time when made.

    `indptr` and `topic_ids` are a CSR by node: the topics of node i are `topic_ids[indptr[i]:indptr[i + 1]]`,
    sorted and unique. `nodes` and `topics` are the names by id; an id is the rank of the name in UTF-8 byte
    order. Nodes without topics and topics without nodes are legal. The arrays are read-only; 4 bytes an
    interest and 8 a node, beside the names, and 4 more an interest once the other direction was asked for.

    `node_attributes` and `topic_attributes` hold what else is known (site, lat, lon, host, port, max_links;
    rate; anything), a row for each id.

    A topic with an MQTT wildcard (a level `#` or `+`) is a plain name, which matches only itself; the class
    methods warn of such topics. `from_filters` reads filters.
    """

    indptr: Offsets
    topic_ids: Ids
    nodes: pa.StringArray
    topics: pa.StringArray
    node_attributes: pa.Table | None = None
    topic_attributes: pa.Table | None = None

    def __post_init__(self) -> None:
        set_fields(self, indptr=frozen(self.indptr, np.int64, "indptr"))
        set_fields(self, topic_ids=frozen(self.topic_ids, np.int32, "topic_ids"))
        set_fields(self, nodes=name_array(self.nodes, "node"), topics=name_array(self.topics, "topic"))
        check_names(self.nodes, "node")
        check_names(self.topics, "topic")
        check_lists(self.indptr, self.topic_ids, self.node_count, self.topic_count)
        known = (self.node_attributes, self.node_count, NODE_ATTRIBUTES, "node")
        set_fields(self, node_attributes=checked_attributes(*known))
        known = (self.topic_attributes, self.topic_count, TOPIC_ATTRIBUTES, "topic")
        set_fields(self, topic_attributes=checked_attributes(*known))

    def __len__(self) -> int:
        """The number of interests."""
        return len(self.topic_ids)

    def __repr__(self) -> str:
        return f"Interests({counts(interest_counts(self))})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Interests):
            return NotImplemented
        return (
            self.nodes.equals(other.nodes)
            and self.topics.equals(other.topics)
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.topic_ids, other.topic_ids)
            and same_table(self.node_attributes, other.node_attributes)
            and same_table(self.topic_attributes, other.topic_attributes)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def node_count(self) -> int:
        """How many nodes there are, those without topics included."""
        return len(self.nodes)

    @property
    def topic_count(self) -> int:
        """How many topics there are, those without nodes included."""
        return len(self.topics)

    @cached_property
    def _by_topic(self) -> tuple[Offsets, Ids]:
        return transposed(self.indptr, self.topic_ids, self.topic_count)

    @property
    def topic_indptr(self) -> Offsets:
        """Where each topic begins in `node_ids`; 0 first, and the number of interests last."""
        return self._by_topic[0]

    @property
    def node_ids(self) -> Ids:
        """The sorted nodes of each topic, made in linear time on first use and kept."""
        return self._by_topic[1]

    def topics_of(self, node: str) -> list[str]:
        """The names of a node's topics, sorted."""
        at = find(self.nodes, node, "node")
        return _names(self.topics, self.topic_ids[self.indptr[at] : self.indptr[at + 1]])

    def nodes_of(self, topic: str) -> list[str]:
        """The names of a topic's nodes, sorted."""
        at = find(self.topics, topic, "topic")
        return _names(self.nodes, self.node_ids[self.topic_indptr[at] : self.topic_indptr[at + 1]])

    @classmethod
    def from_arrays(
        cls, indptr: npt.ArrayLike, topic_ids: npt.ArrayLike, nodes: NameSource, topics: NameSource
    ) -> Interests:
        """Build from arrays of dense ids, and names sorted by id. Read-only arrays are not copied."""
        return cls(indptr, topic_ids, nodes, topics)  # type: ignore[arg-type]

    @classmethod
    def from_pairs(
        cls, pairs: Iterable[tuple[str, str]], nodes: NameSource = (), topics: NameSource = ()
    ) -> Interests:
        """Build from (node, topic) pairs of strings; `nodes` and `topics` add names that have no pair.

        Example:
            >>> import meshwright as mw
            >>> pairs = [("b1", "news"), ("b2", "news"), ("b2", "sport"), ("b3", "sport")]
            >>> interests = mw.Interests.from_pairs(pairs)
            >>> interests
            Interests(3 nodes, 2 topics, 4 interests)
            >>> interests.topics_of("b2")
            ['news', 'sport']
        """
        chunks = sources.from_tuples(pairs, NODE_TOPIC)
        return cls._told(dense(sources.collect(chunks, NODE_TOPIC, nodes, topics)))

    @classmethod
    def from_filters(
        cls,
        pairs: Iterable[tuple[str, str]],
        dialect: str = "mqtt",
        names: NameSource | None = None,
        *,
        publishes: Iterable[tuple[str, str]] = (),
        nodes: NameSource = (),
        most: int | None = None,
        progress: Progress | None = None,
    ) -> Interests:
        """Build from (node, filter) pairs: the topics are the classes of names that the filters tell apart.

        Every name that anybody may ever publish is in one class, or in none if no filter matches it, and the
        nodes of a class are those with a filter that matches its names. So an overlay that is topic-connected
        for the classes is so for every name. Topics have the attributes `dialect`, `kind` (`name`, `filter`
        or `intersection`) and `example`, a name in the class; nodes have `filters`, those that they gave.

        Args:
            pairs: what each node subscribes to.
            dialect: `mqtt`, `nats`, `amqp` or `zenoh`.
            names: all names that exist, if they are known: then there are classes for these alone.
            publishes: (node, filter) pairs of what each node may publish; it counts like a subscription.
            nodes: nodes that may have no filter.
            most: how many classes may be added where filters overlap; a million unless given.
            progress: shown while it takes long.

        Example:
            >>> import meshwright as mw
            >>> pairs = [("b1", "plant/+/temp"), ("b2", "plant/7/#"), ("b3", "plant/7/temp")]
            >>> interests = mw.Interests.from_filters(pairs)
            >>> interests.topics.to_pylist()
            ['plant/+/temp', 'plant/7/#', 'plant/7/temp']
            >>> interests.nodes_of("plant/7/temp")
            ['b1', 'b2', 'b3']
        """
        from meshwright.model.filtered import dense_of_filters

        return cls(*dense_of_filters(pairs, dialect, names, publishes, nodes, most, progress))

    def class_of(self, name: str) -> str | None:
        """The topic whose subscribers get what is published on a name; None where there is none.

        That is the class of the name, if the topics are classes of filters, and otherwise the topic itself.

        Example:
            >>> import meshwright as mw
            >>> interests = mw.Interests.from_filters([("b1", "plant/+/temp"), ("b2", "plant/7/#")])
            >>> interests.class_of("plant/8/temp"), interests.class_of("weather")
            ('plant/+/temp', None)
        """
        from meshwright.model.filtered import topics_of_names

        if not isinstance(name, str):
            raise InputError(f"the name is {type_of(name)}; give a string")
        found = int(topics_of_names(self, pa.array([name], pa.string()))[0])
        return None if found < 0 else str(self.topics[found].as_py())

    @classmethod
    def from_csv(
        cls,
        path: str | Path,
        node: Column = "node",
        topic: Column = "topic",
        *,
        delimiter: str | None = None,
        header: bool | None = None,
        limits: ReadLimits = READ_LIMITS,
        progress: Progress | None = None,
    ) -> Interests:
        """Build from two columns of a CSV file, decompressed by its name (.gz, .bz2, .zst).

        Columns are names, or positions from 1; by positions, the first line is a row, unless `header`. All
        values are read as strings as they stand: "007" stays "007", blanks stay. The delimiter is a tab for
        *.tsv and a comma otherwise, unless given. What is beyond the limits is refused.

        Example:
            >>> import meshwright as mw
            >>> pairs = mw.Interests.from_pairs([("b1", "news"), ("b2", "news")])
            >>> pairs.to_pandas().to_csv("subscriptions.csv", index=False)
            >>> mw.Interests.from_csv("subscriptions.csv")
            Interests(2 nodes, 1 topic, 2 interests)
        """
        columns = Columns(node, topic)
        chunks = sources.from_csv(path, columns, delimiter, limits, header)
        return cls._told(dense(collect(chunks, columns, progress=progress)))

    @classmethod
    def from_parquet(
        cls,
        path: str | Path,
        node: Column = "node",
        topic: Column = "topic",
        *,
        limits: ReadLimits = READ_LIMITS,
        progress: Progress | None = None,
    ) -> Interests:
        """Build from two string columns of a Parquet file, or of all Parquet files in a folder."""
        columns = Columns(node, topic)
        chunks = sources.from_parquet(path, columns, limits)
        return cls._told(dense(collect(chunks, columns, progress=progress)))

    @classmethod
    def from_arrow(cls, table: Any, node: Column = "node", topic: Column = "topic") -> Interests:
        """Build from two string columns of an Arrow table, or of what exports one (Polars, DuckDB)."""
        columns = Columns(node, topic)
        return cls._told(dense(collect(sources.from_arrow(table, columns), columns)))

    @classmethod
    def from_pandas(cls, frame: pd.DataFrame, node: str = "node", topic: str = "topic") -> Interests:
        """Build from two columns of strings (or of categories that are strings) of a pandas frame.

        Example:
            >>> import pandas as pd
            >>> import meshwright as mw
            >>> frame = pd.DataFrame({"broker": ["b1", "b2"], "channel": ["news", "news"]})
            >>> mw.Interests.from_pandas(frame, node="broker", topic="channel").nodes_of("news")
            ['b1', 'b2']
        """
        columns = Columns(node, topic)
        return cls._told(dense(collect(sources.from_pandas(frame, columns), columns)))

    @classmethod
    def _told(cls, found: Dense) -> Interests:
        """What a source holds; the caller is warned of topics that look like filters."""
        warn_of_wildcards(found.topics)
        return cls(*found)

    @classmethod
    def from_scipy(
        cls, matrix: Any, nodes: NameSource | None = None, topics: NameSource | None = None
    ) -> Interests:
        """Build from a matrix, nodes by topics, in which every entry other than zero is an interest.

        Without names, rows become n000…, columns t000…, zero-padded, so that id and index are the same.

        Example:
            >>> from scipy.sparse import csr_array
            >>> import meshwright as mw
            >>> matrix = csr_array([[1, 0], [1, 1]])
            >>> sorted(mw.Interests.from_scipy(matrix, ["b1", "b2"], ["news", "sport"]).to_pairs())
            [('b1', 'news'), ('b2', 'news'), ('b2', 'sport')]
        """
        return cls._told(dense_of_matrix(matrix, nodes, topics))

    @classmethod
    def from_networkx(cls, graph: nx.Graph[str]) -> Interests:
        """Build from a bipartite graph whose vertices have `bipartite` 0 (a node) or 1 (a topic)."""
        return cls._told(dense_of_graph(graph))

    def with_attributes(
        self, nodes: Any = None, topics: Any = None, *, limits: ReadLimits = READ_LIMITS
    ) -> Interests:
        """The same interests with attributes of nodes and topics, beside those that they have.

        `nodes` and `topics` are tables (of pandas, Arrow, …), or files in CSV, TSV or Parquet. Names stand in
        the column `node` (or `topic`), or else `name`; every other column becomes an attribute, in place of
        one of the same name. What a table does not name has no value there.
        """
        from meshwright.model.attributes import with_attributes

        return with_attributes(self, nodes, topics, limits)

    def to_pairs(self) -> Iterator[tuple[str, str]]:
        """The (node, topic) pairs one by one, by node and then by topic; without those that have none."""
        for start in range(0, self.node_count, _NODES_A_BLOCK):
            nodes = self.nodes.slice(start, _NODES_A_BLOCK).to_pylist()
            indptr = self.indptr[start : start + len(nodes) + 1]
            topics = self.topics.take(arrow_of(self.topic_ids[indptr[0] : indptr[-1]])).to_pylist()
            owners = rows_of(indptr).tolist()
            yield from ((nodes[owner], topic) for owner, topic in zip(owners, topics, strict=True))

    def to_arrow(self) -> pa.Table:
        """A table `node, topic` of dictionary-encoded strings, at 8 bytes per interest."""
        owners = pa.DictionaryArray.from_arrays(rows_of(self.indptr), self.nodes)
        topics = pa.DictionaryArray.from_arrays(self.topic_ids, self.topics)
        return pa.table({"node": owners, "topic": topics})

    def to_pandas(self) -> pd.DataFrame:
        """A frame `node, topic` of categories, at 8 bytes per interest."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_scipy(self) -> csr_array:
        """A matrix of ones (int32), nodes by topics, by id; its product with its transpose counts topics."""
        ones = np.ones(len(self), np.int32)
        return as_scipy(ones, self.indptr, self.topic_ids.copy(), self.topic_count)

    def to_networkx(self) -> nx.Graph[str]:
        """A bipartite graph of nodes (`bipartite` 0) and topics (1); a name on both sides is refused."""
        import networkx as nx

        graph: nx.Graph[str] = nx.Graph()
        graph.add_nodes_from(self.nodes.to_pylist(), bipartite=0)
        for topic in self.topics.to_pylist():
            if topic in graph:
                raise InputError(
                    f"{topic!r} is both a node and a topic, but a networkx graph has one namespace for both; "
                    f"rename one of them or use to_pairs, to_arrow or to_scipy"
                )
        graph.add_nodes_from(self.topics.to_pylist(), bipartite=1)
        graph.add_edges_from(self.to_pairs())
        return graph

    def write(
        self,
        path: str | Path,
        *,
        force: bool = False,
        made_by: Mapping[str, Any] | None = None,
        names: bool = True,
        progress: Progress | None = None,
    ) -> None:
        """Write a dataset: all of it, or nothing that looks like one.

        What is there already is overwritten only with `force`. `made_by` goes into the manifest: command,
        algorithm, options, seed, inputs, seconds for each stage. Without `names`, the table `interests/` is
        left out, which is there for other programs.
        """
        manifest = make_manifest("interests", interest_counts(self), {}, {}, made_by)
        write_dataset(path, manifest, interest_tables(self, names), force=force, progress=progress)

    @classmethod
    def read(cls, path: str | Path, *, progress: Progress | None = None) -> Interests:
        """Read an interests dataset, or the interests of an overlay dataset."""
        with stage(progress, f"reading {path}"):
            return cls.of_dataset(open_dataset(Path(path), "interests", "overlay"))

    @classmethod
    def of_dataset(cls, dataset: Dataset[Path]) -> Interests:
        """Read the interests of a dataset whose manifest is read."""
        with as_dataset(dataset.path):
            interests = cls(*_read_dense(dataset))
        check_counts(dataset, interest_counts(interests))
        return interests
