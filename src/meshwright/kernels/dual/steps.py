"""Steps uphill: prices go up where trees are, and stay what edges may cost."""

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.dual.shares import Shares
from meshwright.runtime.arrays import Flags, Floats


@inner
def _project(shares: Shares, edge: int, prices: Floats, total: float) -> None:
    """Lower the prices of an edge, which add up to `total`, by the same amount down to 0 to its limit.

    That is the nearest point of the simplex. Each round lowers by the mean of what is too much over the
    prices that stay above 0; there are at most as many as prices, in practice two or three.
    """
    start, end = shares.indptr[edge], shares.indptr[edge + 1]
    limit = shares.limits[edge]
    count, lower = end - start, 0.0
    while True:
        following = (total - limit) / count
        if following <= lower:
            break
        lower, total, count = following, 0.0, 0
        for share in range(start, end):
            if prices[share] > lower:
                total += prices[share]
                count += 1
        if not count:
            break
    for share in range(start, end):
        prices[share] = max(0.0, prices[share] - lower)


@kernel
def step(
    shares: Shares, begin: Floats, mean: Floats, length: float, edges: tuple[int, int], prices: Floats
) -> None:
    """Write `begin` + `length` * `mean`, brought back to the limits of a range of edges, into `prices`."""
    for edge in range(*edges):
        total = 0.0
        for share in range(shares.indptr[edge], shares.indptr[edge + 1]):
            prices[share] = begin[share] + length * mean[share]
            total += prices[share]
        if total > shares.limits[edge]:
            _project(shares, edge, prices, total)


@kernel
def average(mean: Floats, taken: Flags, weight: float) -> None:
    """Move the mean of the trees toward the latest ones by `weight`."""
    for share in range(len(mean)):
        mean[share] += weight * (taken[share] - mean[share])
