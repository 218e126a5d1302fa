"""Whether a message is lost: a function of a key, the publication and the link, and of nothing else.

So whoever carries messages, in whatever order, loses the same ones.
"""

import numpy as np
from numba import njit

LOSS_BITS = 53
"""A loss is a whole number of 2^-53, so that 0 never happens and 1 always does."""

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, nogil=True)
def mixed(word: np.uint64) -> np.uint64:
    """The finaliser of SplitMix64: every bit of the input changes half of the output's."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@njit(cache=True, nogil=True)
def is_lost(key: np.uint64, loss: int, publication: int, source: int, target: int) -> bool:
    """Whether a publication's message from `source` to `target` is lost, with probability loss / 2^53.

    A link carries a publication once in each direction at most.
    """
    if loss == 0:
        return False
    word = mixed(key + np.uint64(publication) * GOLDEN)
    word = mixed(word ^ ((np.uint64(source) << np.uint64(32)) | np.uint64(target)))
    return bool(np.int64(word >> np.uint64(64 - LOSS_BITS)) < loss)
