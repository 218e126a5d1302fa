"""Lists of ids in Arrow, taken apart and put together by numpy without a loop over rows."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Ids = npt.NDArray[np.int32]


def places(ids: Ids, values: Ids) -> tuple[Ids, npt.NDArray[np.bool_]]:
    """Where each value is in the rising `ids`, and whether it is there at all."""
    if not len(ids):
        return np.zeros(len(values), np.int32), np.zeros(len(values), np.bool_)
    at = np.minimum(np.searchsorted(ids, values), len(ids) - 1).astype(np.int32)
    return at, ids[at] == values


def restricted(lists: pa.ListArray, topics: Ids) -> pa.ListArray:
    """Lists of topics with only those of `topics`, each as its place among them."""
    rows, values = entries(lists)
    at, among = places(topics, values)
    lengths = np.bincount(rows[among], minlength=len(lists))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(at[among]))


def entries(lists: pa.ListArray) -> tuple[npt.NDArray[np.int64], Ids]:
    """Of each entry of the lists the row and the value."""
    lengths = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    return np.repeat(np.arange(len(lists)), lengths), lists.flatten().to_numpy(zero_copy_only=False)
