"""Two ids in one int64 that sorts by the first, then by the second: topic and node, or the ends of a link.

All work on a number and on an array of numbers, and inside kernels.
"""

from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from meshwright.runtime.arrays import Offsets, int64

Keys = TypeVar("Keys", int, Offsets)

_LOW_HALF = 0xFFFFFFFF


@overload
def pack(first: int, second: int) -> int: ...


@overload
def pack(first: npt.NDArray[np.integer], second: npt.NDArray[np.integer]) -> Offsets: ...


def pack(first: Any, second: Any) -> Any:
    """The key of two ids or of two arrays of ids, none negative."""
    return int64(first) << 32 | second


def first_of(keys: Keys) -> Keys:
    """The first id of each key."""
    return keys >> 32


def second_of(keys: Keys) -> Keys:
    """The second id of each key."""
    return keys & _LOW_HALF
