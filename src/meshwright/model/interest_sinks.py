"""Where interests go: each function hands them to another library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from meshwright.errors import InputError
from meshwright.model.dense import as_scipy, rows_of

if TYPE_CHECKING:
    import networkx as nx
    from scipy.sparse import csr_array

    from meshwright.model.interests import Interests

_NODES_A_BLOCK = 1 << 14


def to_pairs(interests: Interests) -> Iterator[tuple[str, str]]:
    """The pairs one by one, by node and then by topic."""
    for start in range(0, interests.node_count, _NODES_A_BLOCK):
        nodes = interests.nodes.slice(start, _NODES_A_BLOCK).to_pylist()
        indptr = interests.indptr[start : start + len(nodes) + 1]
        topics = interests.topics.take(pa.array(interests.topic_ids[indptr[0] : indptr[-1]])).to_pylist()
        owners = rows_of(indptr).tolist()
        yield from ((nodes[owner], topic) for owner, topic in zip(owners, topics, strict=True))


def to_arrow(interests: Interests) -> pa.Table:
    """Two dictionary-encoded columns, 8 bytes an interest."""
    owners = pa.DictionaryArray.from_arrays(rows_of(interests.indptr), interests.nodes)
    topics = pa.DictionaryArray.from_arrays(interests.topic_ids, interests.topics)
    return pa.table({"node": owners, "topic": topics})


def to_scipy(interests: Interests) -> csr_array:
    """A matrix of ones in int32, so that its product with its transpose counts common topics."""
    ones = np.ones(len(interests), np.int32)
    return as_scipy(ones, interests.indptr, interests.topic_ids.copy(), interests.topic_count)


def to_networkx(interests: Interests) -> nx.Graph[str]:
    """A bipartite graph; its vertices share one space of names, so a name on both sides is refused."""
    import networkx as nx

    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(interests.nodes.to_pylist(), bipartite=0)
    for topic in interests.topics.to_pylist():
        if topic in graph:
            raise InputError(
                f"{topic!r} is a node and a topic, and a networkx graph has one space of names; "
                f"rename one of them or use to_pairs, to_arrow or to_scipy"
            )
    graph.add_nodes_from(interests.topics.to_pylist(), bipartite=1)
    graph.add_edges_from(to_pairs(interests))
    return graph
