"""Adding to 64 sums at once where a bit is set: few instructions, which Numba does not make of a loop.

It is called from kernels only; outside of one it is not callable.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from meshwright.runtime.arrays import Bytes, Shorts, Words

_NODES = 64


def spread(builder: Any, value: Any, times: int) -> Any:
    """A vector that has a value so many times."""
    many = ir.VectorType(value.type, times)
    first = builder.insert_element(ir.Constant(many, ir.Undefined), value, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), times), [0] * times)
    return builder.shuffle_vector(first, ir.Constant(many, ir.Undefined), zeros)


def _load(context: Any, builder: Any, kind: Any, array: Any, place: Any) -> tuple[Any, Any]:
    """Where 64 numbers of an array begin, and they."""
    data = context.make_array(kind)(context, builder, array).data
    many = ir.VectorType(ir.IntType(kind.dtype.bitwidth), _NODES)
    address = builder.bitcast(builder.gep(data, [place]), many.as_pointer())
    values = builder.load(address)
    values.align = 1
    return address, values


def _having(typing_context: Any, values: Any, place: Any, bit: Any) -> Any:
    """One bit for each of the bytes `values[place : place + 64]`, an array as one row, that has `bit`."""
    del typing_context, place, bit

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, found = _load(context, builder, signature.args[0], arguments[0], arguments[1])
        has = builder.and_(found, spread(builder, arguments[2], _NODES))
        return builder.bitcast(
            builder.icmp_unsigned("!=", has, ir.Constant(found.type, None)), ir.IntType(64)
        )

    return types.uint64(values, types.int64, types.uint8), emit


def _add_where(
    typing_context: Any, sums: Any, counts: Any, place: Any, sets: Any, words: Any, weights: Any
) -> Any:
    """Add weights to `sums[place : place + 64]`, and ones to `counts`, where the sets have a bit.

    Word `words[k]` of the sets, taken as one row, says where `weights[k]` is added.
    """
    del typing_context, place
    several = len(words)
    # Numba has no types for it.
    several_of = cast(Any, types).UniTuple
    numbers = several_of(types.int64, several), several_of(types.uint16, several)

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds, (to_sums, to_counts, at, bits, where, what) = signature.args, arguments
        sums_at, added = _load(context, builder, kinds[0], to_sums, at)
        counts_at, counted = _load(context, builder, kinds[1], to_counts, at)
        data = context.make_array(kinds[3])(context, builder, bits).data
        for k in range(several):
            word = builder.load(builder.gep(data, [builder.extract_value(where, k)]))
            has = builder.bitcast(word, ir.VectorType(ir.IntType(1), _NODES))
            weight = spread(builder, builder.extract_value(what, k), _NODES)
            added = builder.add(added, builder.select(has, weight, ir.Constant(added.type, None)))
            counted = builder.add(counted, builder.zext(has, counted.type))
        builder.store(added, sums_at).align = 1
        builder.store(counted, counts_at).align = 1
        return context.get_dummy_value()

    return types.void(sums, counts, types.int64, sets, *numbers), emit


having_bit = cast(Callable[[Bytes, int, np.uint8], np.uint64], intrinsic(_having))
add_where = cast(
    Callable[[Shorts, Bytes, int, Words, tuple[int, ...], tuple[np.uint16, ...]], None], intrinsic(_add_where)
)
