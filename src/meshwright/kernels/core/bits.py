"""Counting the bits of a machine word, which Numba does not offer by itself: one instruction each.

Both are called from kernels only; outside of one they are not callable.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numba import types
from numba.extending import intrinsic


def _popcount(typing_context: Any, word: Any) -> Any:
    """How many bits of a uint64 are set, as an int64."""
    del typing_context, word

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), emit


def _trailing_zeros(typing_context: Any, word: Any) -> Any:
    """The position of the lowest set bit of a uint64, as an int64; 64 where no bit is set."""
    del typing_context, word

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del signature
        zero_is_undefined = context.get_constant(types.boolean, False)
        return builder.cttz(arguments[0], zero_is_undefined)

    return types.int64(types.uint64), emit


popcount = cast(Callable[[np.uint64], int], intrinsic(_popcount))
trailing_zeros = cast(Callable[[np.uint64], int], intrinsic(_trailing_zeros))
