"""The weights of the topics in a bitset, added for all at once: few instructions, no loop over bits.

Weights are written as binary numbers, and each *digit* has a bitset, with the topics whose weight has it.
What a bitset has of a digit is counted by one instruction, for eight digits at once.

It is called from kernels only; outside of one it is not callable.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from meshwright.kernels.core.masked_sums import spread
from meshwright.runtime.arrays import Ids, Words

DIGITS = 8
"""So many digits are counted at once."""


def _load(builder: Any, data: Any, place: Any) -> Any:
    """Eight words as a vector."""
    many = ir.VectorType(ir.IntType(64), DIGITS)
    values = builder.load(builder.bitcast(builder.gep(data, [place]), many.as_pointer()))
    values.align = 8
    return values


def _call(builder: Any, name: str, result: Any, values: Any) -> Any:
    """A function of LLVM, of a vector."""
    kind = ir.FunctionType(result, [values.type])
    # Numba has no types for it.
    function = cast(Any, cgutils).get_or_insert_function(builder.module, kind, f"llvm.{name}.v{DIGITS}i64")
    return builder.call(function, [values])


def _weigh_common(
    typing_context: Any, bits: Any, u: Any, v: Any, words: Any, digits: Any, place: Any, shifts: Any, at: Any
) -> Any:
    """What the topics of two nodes weigh in which not both are marked, by eight digits.

    `bits` are those of TopicComponents, as one row, in which `u` and `v` are where the nodes' words begin.
    From `place` on, `digits` has eight words for each word of topics, one for each digit; `shifts`, from `at`
    on, says what power of two a digit is worth.
    """
    del typing_context, u, v, place, at

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds, (_, own, other, many, _, begin, _, first) = signature.args, arguments
        data, of_digits, of_shifts = (
            context.make_array(kinds[k])(context, builder, arguments[k]).data for k in (0, 4, 6)
        )
        zero = ir.Constant(ir.VectorType(ir.IntType(64), DIGITS), None)
        counted = cast(Any, cgutils).alloca_once_value(builder, zero)

        def word(node: Any, at: Any) -> Any:
            return builder.load(builder.gep(data, [builder.add(node, at)]))

        with cast(Any, cgutils).for_range(builder, many, intp=ir.IntType(64)) as loop:
            loose = builder.add(many, loop.index)
            left = builder.or_(
                builder.and_(word(own, loop.index), word(other, loose)),
                builder.and_(word(own, loose), word(other, loop.index)),
            )
            eight = builder.add(begin, builder.mul(loop.index, ir.IntType(64)(DIGITS)))
            having = builder.and_(spread(builder, left, DIGITS), _load(builder, of_digits, eight))
            more = _call(builder, "ctpop", having.type, having)
            builder.store(builder.add(builder.load(counted), more), counted)
        worth = builder.shl(builder.load(counted), _load(builder, of_shifts, first))
        return _call(builder, "vector.reduce.add", ir.IntType(64), worth)

    numbers = types.int64
    return types.int64(bits, numbers, numbers, words, digits, numbers, shifts, numbers), emit


weigh_common = cast(Callable[[Words, int, int, int, Words, int, Words, int], int], intrinsic(_weigh_common))


def digits_of(weights: Ids, words: int) -> tuple[Words, Words]:
    """The digits of `weights` as bitsets of `words` words, (eights, words, 8), and the power of two of each.

    The last of all has every topic, and is worth 2**32: it counts topics.
    """
    length = int(weights.max(initial=1)).bit_length()
    eights = -(-(length + 1) // DIGITS)
    digits = np.zeros((eights, words, DIGITS), np.uint64)
    shifts = np.arange(eights * DIGITS, dtype=np.uint64)
    shifts[-1] = 32
    topics = np.arange(len(weights)) if words else np.arange(0)
    bits = np.uint64(1) << (topics & 63).astype(np.uint64)
    for digit in range(length):
        has = (weights[topics] >> digit & 1).astype(bool)
        np.bitwise_or.at(digits[digit // DIGITS, :, digit % DIGITS], topics[has] >> 6, bits[has])
    np.bitwise_or.at(digits[-1, :, -1], topics >> 6, bits)
    return digits, shifts
