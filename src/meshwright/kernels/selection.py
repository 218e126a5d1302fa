"""Selecting by rank: NumPy's `partition` takes Numba four seconds to compile, and this next to none."""

from numba import njit

from meshwright.kernels.arrays import Floats


@njit(cache=True, nogil=True)
def smallest(values: Floats, rank: int) -> float:
    """The value that has `rank` others before it in rising order; `values` get disordered.

    Hoare's find: linear time on average, whatever values are equal.
    """
    low, high = 0, len(values) - 1
    while low < high:
        pivot = values[(low + high) >> 1]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while pivot < values[j]:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        low = i if rank >= i else low
        high = j if rank <= j else high
        if j < rank < i:
            break
    found: float = values[rank]
    return found
