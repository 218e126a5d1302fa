"""Chance as a function of keys alone: which messages are lost, what a node weighs, where a walk goes.

Protocols that send one message at a time and kernels that take a round at a time therefore lose the same
messages and choose the same links.
"""

import numpy as np

from meshwright.kernels.compiling import kernel
from meshwright.runtime.arrays import Ids, Words

LOSS_BITS = 53
"""A loss is a whole number of 2^-53, so that 0 never happens and 1 always does."""

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@kernel
def mixed(word: np.uint64) -> np.uint64:
    """The finaliser of SplitMix64: every bit of the input changes half of the output's."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@kernel
def is_lost(key: np.uint64, loss: int, publication: int, source: int, target: int) -> bool:
    """Whether a publication's message from `source` to `target` is lost, with probability loss / 2^53.

    A link carries a publication once in each direction at most.
    """
    if loss == 0:
        return False
    word = mixed(key + np.uint64(publication) * GOLDEN)
    word = mixed(word ^ ((np.uint64(source) << np.uint64(32)) | np.uint64(target)))
    return bool(np.int64(word >> np.uint64(64 - LOSS_BITS)) < loss)


@kernel
def weight(own: np.uint64, other: np.uint64) -> np.uint64:
    """What a node of key `own` gives one of key `other`.

    Two nodes of different keys never weigh the same for a third, and what p gives q says nothing about what q
    gives p.
    """
    return mixed(mixed(own + GOLDEN) ^ other)


@kernel
def weights_of(own: np.uint64, keys: Words, others: Ids, weights: Words) -> None:
    """Write what a node gives each of `others`."""
    for at in range(others.size):
        weights[at] = weight(own, keys[others[at]])


@kernel
def pick(key: np.uint64, who: int, which: int, count: int) -> int:
    """A number under `count`, as if at random: the draw `which` of `who`."""
    word = mixed(key + np.uint64(who) * GOLDEN)
    word = mixed(word + np.uint64(which) * GOLDEN)
    return np.int64(word % np.uint64(count))  # type: ignore[return-value]


@kernel
def is_dropped(key: np.uint64, who: int, which: int, loss: int) -> bool:
    """Whether the message `which` of the walk of `who` is lost, with probability loss / 2^53."""
    if loss == 0:
        return False
    word = mixed(mixed(~key + np.uint64(who) * GOLDEN) + np.uint64(which) * GOLDEN)
    return bool(np.int64(word >> np.uint64(11)) < loss)
