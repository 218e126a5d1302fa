"""Asking for a place of an array before it is read, so that several waits for memory overlap.

It is called from kernels only; outside of one it is not callable.
"""

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from meshwright.runtime.arrays import Bytes, Ids, Words

_FOR_READING, _FOR_WRITING, _KEEP, _DATA = 0, 1, 3, 1


def _emit(purpose: int) -> Callable[..., Any]:
    """The machine code that asks for a place of an array."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        number, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
        address = builder.bitcast(builder.gep(array.data, [arguments[1]]), pointer)
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        # Numba has no types for it.
        function = cast(Any, cgutils).get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [address, number(purpose), number(_KEEP), number(_DATA)])
        return context.get_dummy_value()

    return emit


def _prefetch(typing_context: Any, values: Any, place: Any) -> Any:
    """Bring the line of `values[place]` into the caches; a place beyond the end does no harm."""
    del typing_context, place
    return types.void(values, types.int64), _emit(_FOR_WRITING)


def _prefetch_shared(typing_context: Any, values: Any, place: Any) -> Any:
    """As `prefetch`, of what several threads only read: its line stays in the caches of the others too."""
    del typing_context, place
    return types.void(values, types.int64), _emit(_FOR_READING)


prefetch = cast(Callable[[Ids | Bytes | Words, int], None], intrinsic(_prefetch))
prefetch_shared = cast(Callable[[Words, int], None], intrinsic(_prefetch_shared))
