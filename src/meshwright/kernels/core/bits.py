"""Counting the bits of a machine word, which Numba does not offer by itself: one instruction each.

All are called from kernels only; outside of one they are not callable.
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


def _popcount_byte(typing_context: Any, byte: Any) -> Any:
    """How many bits of a uint8 are set, as a uint8: in a loop over bytes, one instruction for 64 of them."""
    del typing_context, byte

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        return builder.ctpop(arguments[0])

    return types.uint8(types.uint8), emit


def _trailing_zeros(typing_context: Any, word: Any) -> Any:
    """The position of the lowest set bit of a uint64, as an int64; 64 where no bit is set."""
    del typing_context, word

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del signature
        zero_is_undefined = context.get_constant(types.boolean, False)
        return builder.cttz(arguments[0], zero_is_undefined)

    return types.int64(types.uint64), emit


popcount = cast(Callable[[np.uint64], int], intrinsic(_popcount))
popcount_byte = cast(Callable[[int], int], intrinsic(_popcount_byte))
trailing_zeros = cast(Callable[[np.uint64], int], intrinsic(_trailing_zeros))
