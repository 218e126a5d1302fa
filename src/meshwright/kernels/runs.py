"""Values that come in runs, each of which belongs somewhere else."""

from typing import Any

import numpy.typing as npt
from numba import njit

from meshwright.kernels.arrays import Ids, Offsets


@njit(cache=True, nogil=True)
def place_runs(places: Offsets, lengths: Ids, values: npt.NDArray[Any], placed: npt.NDArray[Any]) -> None:
    """Copy runs of `values`, which stand one behind the other, to where each begins in `placed`. Linear."""
    item = 0
    for run in range(lengths.size):
        place = places[run]
        for step in range(lengths[run]):
            placed[place + step] = values[item + step]
        item += lengths[run]
