"""Several overlays side by side as one: nodes and topics matched by name, all edges and costs kept."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from meshwright.model.dense import dense, rows_of
from meshwright.model.interests import Interests
from meshwright.model.names import name_array, ranks
from meshwright.model.overlay import Overlay
from meshwright.model.pairs import Pairs
from meshwright.runtime.arrays import Floats, Ids
from meshwright.runtime.errors import InputError


class Union(NamedTuple):
    """The interests and edges of `parts` overlays together; `part_of` says which of them a node is from."""

    interests: Interests
    parts: int
    part_of: Ids
    edges: Ids
    costs: Floats | None


class _Matched(NamedTuple):
    """Names of one kind, each once, and for each overlay the ids that its own have among these."""

    names: pa.StringArray
    ids: list[Ids]


def union(overlays: Sequence[Overlay]) -> Union:
    """The node-disjoint union of overlays. O(k log k) for k interests, of which a sort of the pairs is most.

    A node that two overlays have is refused. Either all overlays that have edges have costs, or none. Node
    attributes are kept; a topic's are those of the first overlay that has a value.
    """
    if isinstance(overlays, Overlay) or not all(isinstance(overlay, Overlay) for overlay in overlays):
        raise InputError("merge got something other than a list of overlays; give [overlay, overlay, …]")
    if not overlays:
        raise InputError("there are no overlays to merge; give at least one")
    costs = _costs(overlays)
    nodes = _match(overlays, lambda interests: interests.nodes, "node")
    topics = _match(overlays, lambda interests: interests.topics, "topic")
    part_of = _parts(nodes)
    each = list(zip(overlays, nodes.ids, topics.ids, strict=True))
    owners = [node_ids[rows_of(overlay.interests.indptr)] for overlay, node_ids, _ in each]
    wanted = [topic_ids[overlay.interests.topic_ids] for overlay, _, topic_ids in each]
    pairs = Pairs(np.concatenate(owners), nodes.names, np.concatenate(wanted), topics.names, None)
    found = dense(pairs)._replace(
        node_attributes=_attributes([each.interests.node_attributes for each in overlays], nodes, "node"),
        topic_attributes=_attributes([each.interests.topic_attributes for each in overlays], topics, "topic"),
    )
    edges = np.concatenate([node_ids[overlay.edges] for overlay, node_ids, _ in each])
    return Union(Interests(*found), len(overlays), part_of, edges, costs)


def _costs(overlays: Sequence[Overlay]) -> Floats | None:
    linked = [(number, overlay) for number, overlay in enumerate(overlays, 1) if len(overlay)]
    without = [number for number, overlay in linked if overlay.costs is None]
    if len(without) == len(linked):
        return None
    if without:
        priced = next(number for number, overlay in linked if overlay.costs is not None)
        raise InputError(
            f"overlay {priced} has costs and overlay {without[0]} has none; "
            f"give costs to the links of all overlays, or to none"
        )
    return np.concatenate([overlay.costs for _, overlay in linked if overlay.costs is not None])


def _match(
    overlays: Sequence[Overlay], names_of: Callable[[Interests], pa.StringArray], what: str
) -> _Matched:
    given = [names_of(overlay.interests) for overlay in overlays]
    names, ids = ranks(name_array(pa.chunked_array(given, pa.string()), what))
    return _Matched(names, np.split(ids, np.cumsum([len(some) for some in given])[:-1]))


def _parts(nodes: _Matched) -> Ids:
    """By node, which overlay has it."""
    part_of = np.full(len(nodes.names), -1, np.int32)
    for part, ids in enumerate(nodes.ids):
        common = ids[part_of[ids] >= 0]
        if len(common):
            more = f" (and {len(common) - 1} more)" if len(common) > 1 else ""
            raise InputError(
                f"overlays {part_of[common[0]] + 1} and {part + 1} both have the node "
                f"{nodes.names[int(common[0])].as_py()!r}{more}; "
                f"overlays to merge must not share a node: rename it, or leave it out of one"
            )
        part_of[ids] = part
    return part_of


def _attributes(tables: list[pa.Table | None], matched: _Matched, what: str) -> pa.Table | None:
    """The attributes of all overlays, a row for each name: of each column the first value that there is."""
    fields = [field for table in tables if table is not None for field in table.schema]
    kinds = {field.name: field.type for field in reversed(fields)}
    for field in fields:
        if field.type != kinds[field.name]:
            raise InputError(
                f"the {what} attribute {field.name!r} is {kinds[field.name]} in one overlay and {field.type} "
                f"in another; cast one of them"
            )
    ids = np.concatenate(matched.ids)
    columns = {
        name: _first_values(_column(tables, matched.ids, name, kind), ids, len(matched.names))
        for name, kind in kinds.items()
    }
    return pa.table(columns) if columns else None


def _column(tables: list[pa.Table | None], ids: list[Ids], name: str, kind: pa.DataType) -> pa.ChunkedArray:
    """A column of all overlays one after another; null where an overlay has no such column."""
    chunks: list[pa.Array] = []
    for table, own in zip(tables, ids, strict=True):
        known = table is not None and name in table.column_names
        chunks += table[name].chunks if table is not None and known else [pa.nulls(len(own), kind)]
    return pa.chunked_array(chunks, kind)


def _first_values(column: pa.ChunkedArray, ids: Ids, count: int) -> pa.ChunkedArray:
    """For each id from 0 to `count`, the first value in `column` that is not null."""
    filled = np.flatnonzero(column.is_valid().to_numpy())
    found, first = np.unique(ids[filled], return_index=True)
    rows = np.full(count, -1)
    rows[found] = filled[first]
    return column.take(pa.array(rows, mask=rows < 0))
