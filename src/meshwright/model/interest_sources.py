"""Where interests come from: each function reads one kind of source into dense arrays."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from meshwright.model import pairs as sources
from meshwright.model.dense import Dense, dense
from meshwright.model.names import NameSource, name_array, numbered, ranks
from meshwright.model.pairs import Columns, Pairs, collect
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.runtime.arrays import Ids
from meshwright.runtime.errors import InputError
from meshwright.runtime.progress import Progress

NODE_TOPIC = Columns("node", "topic")


def from_pairs(pairs: Iterable[tuple[str, str]], nodes: NameSource, topics: NameSource) -> Dense:
    """Read an iterable of (node, topic)."""
    return dense(collect(sources.from_tuples(pairs, NODE_TOPIC), NODE_TOPIC, nodes, topics))


def from_csv(
    path: str | Path,
    columns: Columns,
    delimiter: str | None,
    progress: Progress | None,
    limits: ReadLimits,
) -> Dense:
    """Read a CSV file."""
    return dense(collect(sources.from_csv(path, columns, delimiter, limits), columns, progress=progress))


def from_parquet(
    path: str | Path, columns: Columns, progress: Progress | None, limits: ReadLimits = READ_LIMITS
) -> Dense:
    """Read a Parquet file or a folder of them."""
    return dense(collect(sources.from_parquet(path, columns, limits), columns, progress=progress))


def from_arrow(table: Any, columns: Columns) -> Dense:
    """Read an Arrow table."""
    return dense(collect(sources.from_arrow(table, columns), columns))


def from_pandas(frame: Any, columns: Columns) -> Dense:
    """Read a pandas frame."""
    return dense(collect(sources.from_pandas(frame, columns), columns))


def from_scipy(matrix: Any, nodes: NameSource | None, topics: NameSource | None) -> Dense:
    """Read a sparse or dense matrix, nodes by topics: every entry other than zero is an interest."""
    from scipy.sparse import coo_array

    try:
        entries = coo_array(matrix)
    except (TypeError, ValueError) as error:
        raise InputError(f"a {type(matrix).__name__} can't be taken as a matrix: {error}") from error
    if entries.ndim != 2:
        raise InputError(f"the matrix has {entries.ndim} dimension(s); give two, nodes by topics")
    entries.sum_duplicates()
    row, column = (place[entries.data != 0] for place in entries.coords)
    node_names, node_rank = _side(nodes, entries.shape[0], "node", "rows")
    topic_names, topic_rank = _side(topics, entries.shape[1], "topic", "columns")
    return dense(Pairs(node_rank[row], node_names, topic_rank[column], topic_names, None))


def _side(names: NameSource | None, count: int, what: str, where: str) -> tuple[Any, Ids]:
    """The sorted names of one side of a matrix, and the id that each row or column gets."""
    if names is None:
        return numbered(what[0], count), np.arange(count, dtype=np.int32)
    given = name_array(names, what)
    if len(given) != count:
        raise InputError(f"{len(given)} names of {what}s for a matrix of {count} {where}; give one for each")
    ordered, rank = ranks(given)
    if len(ordered) != count:
        raise InputError(
            f"the names of {what}s repeat: {count} names, {len(ordered)} different; make them unique"
        )
    return ordered, rank


def from_networkx(graph: Any) -> Dense:
    """Read a bipartite graph whose vertices have the attribute `bipartite`: 0 for a node, 1 for a topic."""
    side = dict(graph.nodes(data="bipartite"))
    for vertex, value in side.items():
        if value not in (0, 1):
            raise InputError(f"vertex {vertex!r} has bipartite={value!r}; give 0 for a node, 1 for a topic")
    for u, v in graph.edges():
        if side[u] == side[v]:
            kind = "topics" if side[u] else "nodes"
            raise InputError(
                f"edge {u!r} - {v!r} joins two {kind}; an interest is an edge of a node and a topic"
            )
    pairs = ((v, u) if side[u] else (u, v) for u, v in graph.edges())
    nodes, topics = ([vertex for vertex in side if side[vertex] == which] for which in (0, 1))
    return from_pairs(pairs, nodes, topics)
