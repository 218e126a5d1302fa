"""Counting the bits of a word, adding and comparing bytes: few instructions, which Numba does not offer.

All are called from kernels only; outside of one they are not callable.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from meshwright.runtime.arrays import Words


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


def _add_bytes(typing_context: Any, a: Any, b: Any) -> Any:
    """The sum of two uint8, at most 255: in a loop over bytes, one instruction for 64 of them."""
    del typing_context, a, b

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        byte = ir.IntType(8)
        kind = ir.FunctionType(byte, [byte, byte])
        # Numba has no types for it.
        function = cast(Any, cgutils).get_or_insert_function(builder.module, kind, "llvm.uadd.sat.i8")
        return builder.call(function, arguments)

    return types.uint8(types.uint8, types.uint8), emit


def _trailing_zeros(typing_context: Any, word: Any) -> Any:
    """The position of the lowest set bit of a uint64, as an int64; 64 where no bit is set."""
    del typing_context, word

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del signature
        zero_is_undefined = context.get_constant(types.boolean, False)
        return builder.cttz(arguments[0], zero_is_undefined)

    return types.int64(types.uint64), emit


def _reaching(typing_context: Any, words: Any, place: Any, threshold: Any) -> Any:
    """One bit for each of the 64 bytes of `words[place : place + 8]`, set where it reaches the threshold."""
    del typing_context, place, threshold

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        many = ir.VectorType(ir.IntType(8), 64)
        address = builder.bitcast(builder.gep(array.data, [arguments[1]]), many.as_pointer())
        values = builder.load(address)
        values.align = 8
        first = builder.insert_element(ir.Constant(many, ir.Undefined), arguments[2], ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64)
        limits = builder.shuffle_vector(first, ir.Constant(many, ir.Undefined), zeros)
        return builder.bitcast(builder.icmp_unsigned(">=", values, limits), ir.IntType(64))

    return types.uint64(words, types.int64, types.uint8), emit


popcount = cast(Callable[[np.uint64], int], intrinsic(_popcount))
popcount_byte = cast(Callable[[Any], int], intrinsic(_popcount_byte))
add_bytes = cast(Callable[[Any, Any], np.uint8], intrinsic(_add_bytes))
trailing_zeros = cast(Callable[[np.uint64], int], intrinsic(_trailing_zeros))
reaching_bits = cast(Callable[[Words, int, int], np.uint64], intrinsic(_reaching))
