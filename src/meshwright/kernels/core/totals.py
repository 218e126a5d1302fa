"""The greatest value and the running totals of an array, which compile in less time than NumPy's."""

from meshwright.kernels.compiling import lean
from meshwright.runtime.arrays import Ids, Offsets, int64


@lean
def greatest(values: Ids) -> int:
    """The greatest of the values and 0."""
    found = int64(0)
    for at in range(len(values)):
        if values[at] > found:
            found = int64(values[at])
    return found


@lean
def add_up(counts: Offsets) -> None:
    """Replace every count by the sum of all counts up to it."""
    for at in range(1, len(counts)):
        counts[at] += counts[at - 1]
