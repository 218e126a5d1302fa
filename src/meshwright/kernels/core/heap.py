"""A binary heap of numbered prices, and selection by rank.

The least price is on top; of equal prices, the least number. The heap is the first `count` places of two
arrays, so that whoever filled them need not copy. NumPy's `partition` takes Numba four seconds to compile;
the selection here takes next to none.
"""

from meshwright.kernels.compiling import inlined, lean_kernel
from meshwright.runtime.arrays import Floats, Offsets, int64


@inlined
def _before(price: float, code: int, other_price: float, other_code: int) -> bool:
    return price < other_price or (price == other_price and code < other_code)


@lean_kernel
def sink(prices: Floats, codes: Offsets, count: int, at: int, price: float, code: int) -> None:
    """Put a pair at place `at`, whose content is given up, or as far under it as it must go."""
    child = 2 * at + 1
    while child < count:
        right = child + 1
        if right < count and _before(prices[right], codes[right], prices[child], codes[child]):
            child = right
        if not _before(prices[child], codes[child], price, code):
            break
        prices[at], codes[at] = prices[child], codes[child]
        at, child = child, 2 * child + 1
    prices[at], codes[at] = price, code


@lean_kernel
def make_heap(prices: Floats, codes: Offsets, count: int) -> None:
    """Order the first `count` places as a heap, in linear time."""
    for at in range(count // 2 - 1, -1, -1):
        sink(prices, codes, count, at, prices[at], codes[at])


@lean_kernel
def drop_top(prices: Floats, codes: Offsets, count: int) -> int:
    """Take the top away; return how many are left."""
    count -= 1
    if count:
        sink(prices, codes, count, int64(0), prices[count], codes[count])
    return count


@lean_kernel
def push(prices: Floats, codes: Offsets, count: int, price: float, code: int) -> int:
    """Add a pair; return how many there are."""
    at = count
    while at and _before(price, code, prices[(at - 1) >> 1], codes[(at - 1) >> 1]):
        prices[at], codes[at] = prices[(at - 1) >> 1], codes[(at - 1) >> 1]
        at = (at - 1) >> 1
    prices[at], codes[at] = price, code
    return count + 1


@lean_kernel
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
