"""Rows of a dataset's tables as arrays, inside a task; what can't be in a dataset is refused there."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.errors import DatasetError, InputError
from meshwright.kernels.arrays import Ids, Offsets
from meshwright.kernels.runs import place_runs
from meshwright.model.dense import check_lists
from meshwright.pipeline.engine.packing import Array


def column(table: pa.Table, name: str, where: str) -> pa.Array:
    """A column without nulls."""
    found = table.column(name)
    if found.null_count:
        raise DatasetError(f"{where}: column {name!r} has {found.null_count} nulls; fill them")
    return found.chunk(0)


def edge_arrays(table: pa.Table, nodes: int, where: str) -> tuple[Ids, Array | None]:
    """The ends (m, 2) of checked edges, the lower first, and their costs."""
    source, target = (column(table, name, where).to_numpy() for name in ("source_id", "target_id"))
    ends = np.stack([np.minimum(source, target), np.maximum(source, target)], axis=1)
    if len(ends) and (ends[:, 0].min() < 0 or ends[:, 1].max() >= nodes or (ends[:, 0] == ends[:, 1]).any()):
        raise DatasetError(
            f"{where}: an edge has ends outside 0 to {nodes - 1}, or two that are the same; write it again"
        )
    if "cost" not in table.column_names:
        return ends, None
    costs = column(table, "cost", where).to_numpy()
    if not (np.isfinite(costs) & (costs > 0)).all():
        raise DatasetError(f"{where}: a cost is not a positive number; write the dataset again")
    return ends, costs


def list_arrays(table: pa.Table, nodes: int, topics: int, where: str) -> tuple[Ids, Offsets, Ids]:
    """The nodes of checked lists, and their topics as a CSR."""
    node_ids, lists = column(table, "node_id", where).to_numpy(), column(table, "topic_ids", where)
    topic_ids = lists.flatten()
    if topic_ids.null_count:
        raise DatasetError(f"{where}: a list holds a null; write the dataset again")
    if len(node_ids) and (node_ids.min() < 0 or node_ids.max() >= nodes):
        raise DatasetError(f"{where}: a node_id lies outside 0 to {nodes - 1}; write it again")
    lengths = pc.list_value_length(lists).to_numpy()
    indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    try:
        check_lists(indptr, topic_ids.to_numpy(), len(node_ids), topics)
    except InputError as error:
        raise DatasetError(f"{where}: {error}") from error
    return node_ids, indptr, topic_ids.to_numpy()


def gathered(places: Array, lengths: Array, values: Ids, size: int, where: str) -> tuple[Offsets, Ids]:
    """The CSR of `size` lists that come in any order: list i belongs to `places[i]`, where no other does."""
    if (np.bincount(places, minlength=size) > 1).any():
        raise DatasetError(f"{where}: a node_id comes twice in lists; write the dataset again")
    indptr = np.zeros(size + 1, np.int64)
    indptr[places.astype(np.int64) + 1] = lengths
    indptr = np.cumsum(indptr)
    ordered = np.empty(len(values), np.int32)
    place_runs(indptr[places], lengths.astype(np.int32), values, ordered)
    return indptr, ordered
