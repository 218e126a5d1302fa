"""Interests as plain arrays: a compressed sparse row (CSR) for each node, and its transpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from meshwright.model.names import NameSource, name_array, numbered, ranks
from meshwright.model.pairs import NODE_TOPIC, Pairs, collect, from_tuples
from meshwright.runtime.arrays import Ids, Offsets
from meshwright.runtime.errors import InputError
from meshwright.runtime.wording import count, type_of

if TYPE_CHECKING:
    from scipy.sparse import coo_array, csr_array


class Dense(NamedTuple):
    """The four arrays of which `Interests` consists."""

    indptr: Offsets
    topic_ids: Ids
    nodes: pa.StringArray
    topics: pa.StringArray
    node_attributes: pa.Table | None = None
    topic_attributes: pa.Table | None = None


def dense(pairs: Pairs) -> Dense:
    """The interests that `pairs` (node, topic) state; a pair that comes twice is one interest.

    One sort of 64-bit keys: 0.5 s for 30 million pairs, where going through scipy's COO takes 2.5 s.
    """
    node_count, topic_count = len(pairs.first_names), len(pairs.second_names)
    keys = pairs.first_ids.astype(np.int64)
    keys *= topic_count
    keys += pairs.second_ids
    keys.sort()
    repeated = keys[1:] == keys[:-1]
    if repeated.any():
        keys = keys[np.concatenate([[True], ~repeated])]
    indptr = np.searchsorted(keys, np.arange(node_count + 1, dtype=np.int64) * topic_count)
    if len(keys):
        keys %= topic_count
    return Dense(sealed(indptr), sealed(keys.astype(np.int32)), pairs.first_names, pairs.second_names)


def dense_of_matrix(matrix: Any, nodes: NameSource | None, topics: NameSource | None) -> Dense:
    """Read a sparse or dense matrix, nodes by topics: every entry other than zero is an interest."""
    entries = entries_of(matrix)
    entries.sum_duplicates()
    row, column = (place[entries.data != 0] for place in entries.coords)
    node_names, node_rank = _side(nodes, entries.shape[0], "node", "rows")
    topic_names, topic_rank = _side(topics, entries.shape[1], "topic", "columns")
    return dense(Pairs(node_rank[row], node_names, topic_rank[column], topic_names, None))


def entries_of(matrix: Any) -> coo_array:
    """The entries of a sparse or dense matrix, which must have two dimensions."""
    from scipy.sparse import coo_array

    try:
        entries = coo_array(matrix)
    except (TypeError, ValueError) as error:
        raise InputError(f"{type_of(matrix)} can't be taken as a matrix: {error}") from error
    if entries.ndim != 2:
        raise InputError(f"the matrix has {count(entries.ndim, 'dimension')}; give two, nodes by topics")
    missing = np.flatnonzero(entries.data != entries.data)
    if len(missing):
        row, column = (int(place[missing[0]]) + 1 for place in entries.coords)
        more = f" (and {len(missing) - 1:,} more)" if len(missing) > 1 else ""
        raise InputError(
            f"the matrix has no number (NaN) in row {row}, column {column}{more}; "
            f"give 1 for an interest and 0 for none"
        )
    return entries


def _side(names: NameSource | None, count: int, what: str, where: str) -> tuple[Any, Ids]:
    """The sorted names of one side of a matrix, and the id that each row or column gets."""
    if names is None:
        return numbered(what[0], count), np.arange(count, dtype=np.int32)
    given = name_array(names, what)
    if len(given) != count:
        raise InputError(
            f"the matrix has {count} {where}, but {len(given)} names of {what}s were given; give one for each"
        )
    ordered, rank = ranks(given)
    if len(ordered) != count:
        raise InputError(
            f"names of {what}s repeat: only {len(ordered)} of {count} are different; make them unique"
        )
    return ordered, rank


def dense_of_graph(graph: Any) -> Dense:
    """Read a bipartite graph whose vertices have the attribute `bipartite`: 0 for a node, 1 for a topic."""
    side = dict(graph.nodes(data="bipartite"))
    for vertex, value in side.items():
        if value not in (0, 1):
            raise InputError(f"vertex {vertex!r} has bipartite={value!r}; give 0 for a node, 1 for a topic")
    for u, v in graph.edges():
        if side[u] == side[v]:
            kind = "topics" if side[u] else "nodes"
            raise InputError(
                f"edge {u!r} - {v!r} joins two {kind}; an interest is an edge between a node and a topic"
            )
    pairs = ((v, u) if side[u] else (u, v) for u, v in graph.edges())
    nodes, topics = ([vertex for vertex in side if side[vertex] == which] for which in (0, 1))
    return dense(collect(from_tuples(pairs, NODE_TOPIC), NODE_TOPIC, nodes, topics))


def transposed(indptr: Offsets, ids: Ids, columns: int) -> tuple[Offsets, Ids]:
    """The same pairs by column: offsets for each column, and sorted row ids. Linear (a counting sort)."""
    by_column = as_scipy(np.ones(len(ids), np.int8), indptr, ids, columns).tocsc()
    return sealed(by_column.indptr.astype(np.int64)), sealed(by_column.indices.astype(np.int32, copy=False))


def as_scipy(values: npt.NDArray[Any], indptr: Offsets, ids: Ids, columns: int) -> csr_array:
    """A CSR as scipy's; it takes one type for offsets and ids, and would make both int64 if one is."""
    from scipy.sparse import csr_array

    offsets = indptr.astype(np.int32) if len(ids) <= np.iinfo(np.int32).max else indptr
    return csr_array((values, ids, offsets), shape=(len(indptr) - 1, columns))


def rows_of(indptr: Offsets) -> Ids:
    """For each entry of a CSR the row that it belongs to."""
    return np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr))


def sealed(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array that nobody else holds, made read-only in place."""
    array.flags.writeable = False
    return array


def set_fields(owner: object, **values: object) -> None:
    """Set fields of a frozen dataclass while it is being made."""
    for name, value in values.items():
        object.__setattr__(owner, name, value)


def frozen(array: npt.ArrayLike, kind: type[np.generic], what: str) -> npt.NDArray[Any]:
    """`array` as a read-only C-contiguous array of `kind`; copied if somebody could still write to it."""
    given = _cast(np.asarray(array), np.dtype(kind), what)
    if given.flags.writeable or not given.flags.c_contiguous:
        given = given.copy(order="C")
        given.flags.writeable = False
    return given


def _cast(given: npt.NDArray[Any], kind: np.dtype[Any], what: str) -> npt.NDArray[Any]:
    """`given` in another type, if that changes no value."""
    if given.dtype == kind:
        return given
    legal = "iu" if kind.kind == "i" else "iuf"
    if given.size and given.dtype.kind not in legal:
        raise InputError(f"{what} is of type {given.dtype}; give {kind}")
    cast = given.astype(kind)
    if kind.kind == "i" and (cast != given).any():
        raise InputError(f"{what} has values beyond {np.iinfo(kind).max}, the greatest {kind}")
    return cast


def check_lists(indptr: Offsets, topic_ids: Ids, node_count: int, topic_count: int) -> None:
    """Refuse arrays that are not a CSR of sorted unique topics per node. Linear; one byte per interest."""
    if indptr.shape != (node_count + 1,) or topic_ids.ndim != 1:
        raise InputError(
            f"indptr has shape {indptr.shape} and topic_ids {topic_ids.shape}; "
            f"for {node_count:,} nodes give ({node_count + 1},) and one dimension"
        )
    if indptr[0] != 0 or indptr[-1] != len(topic_ids) or (np.diff(indptr) < 0).any():
        raise InputError(f"indptr must rise from 0 to {len(topic_ids)}, the length of topic_ids")
    if len(topic_ids) and (topic_ids.min() < 0 or topic_ids.max() >= topic_count):
        raise InputError(
            f"topic_ids must lie between 0 and {topic_count - 1}, the ids of the topics that have names"
        )
    falls = topic_ids[1:] <= topic_ids[:-1]
    starts = indptr[1:-1]
    falls[starts[(starts > 0) & (starts < len(topic_ids))] - 1] = False
    if falls.any():
        node = int(np.searchsorted(indptr, int(falls.argmax()), side="right")) - 1
        raise InputError(f"the topics of node {node} are not strictly rising; sort them and drop repeats")
