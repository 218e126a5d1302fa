"""Random ranks that any engine computes alike.

Spark's own `rand()` depends on how rows lie in partitions. A rank does not: it is the 64-bit hash
`xxhash64(salt, id, …)` over long integers, and the rows with the least ranks are chosen. The salt comes from
the seed and the name of the stage. XXH64 is a published function
(https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md); Spark's begins with the seed 42, and takes
the hash of one column as the seed of the next.
"""

import numpy as np
import numpy.typing as npt

from meshwright.runtime.arrays import Ids, Longs
from meshwright.runtime.seeds import generator

_FIRST_SEED = 42
_PRIMES = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)
_P1, _P2, _P3, _P4, _P5 = (np.uint64(prime) for prime in _PRIMES)


def salt(seed: int, stage: str) -> int:
    """What makes the ranks of a stage its own under `seed`."""
    return int(generator(seed, stage).integers(2**63))


def ranks(salted: int, *ids: Ids | Longs | int) -> Longs:
    """The rank of each row by its ids; one that is no array is the same in all rows."""
    found = np.array([_FIRST_SEED], np.uint64)
    for values in (salted, *ids):
        found = _hash(np.atleast_1d(np.asarray(values, np.int64)).view(np.uint64), found)
    signed: Longs = found.view(np.int64)
    return signed


def _hash(values: npt.NDArray[np.uint64], seeds: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """XXH64 of values of eight bytes each."""
    with np.errstate(over="ignore"):
        found = seeds + _P5 + np.uint64(8)
        found = found ^ (_turned(values * _P2, 31) * _P1)
        found = _turned(found, 27) * _P1 + _P4
        found = (found ^ (found >> np.uint64(33))) * _P2
        found = (found ^ (found >> np.uint64(29))) * _P3
        return found ^ (found >> np.uint64(32))


def _turned(values: npt.NDArray[np.uint64], bits: int) -> npt.NDArray[np.uint64]:
    return (values << np.uint64(bits)) | (values >> np.uint64(64 - bits))
