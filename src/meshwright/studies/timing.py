"""Processor time of what studies do, without that of compiling kernels."""

from collections.abc import Callable
from time import process_time
from typing import TypeVar

from numba.core.event import install_recorder

Result = TypeVar("Result")

_MOST_TIMES = 3


def settled(work: Callable[[], Result]) -> Result:
    """What `work` returns, done again if a kernel was compiled or loaded meanwhile.

    Numba does that when a kernel is called for the first time in a process, under a lock that it tells of.
    A work that always compiles something is done three times.
    """
    for _ in range(_MOST_TIMES):
        with install_recorder("numba:compiler_lock") as compiled:
            result = work()
        if not compiled.buffer:
            break
    return result


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """What `work` returns, and its processor time in seconds, compiling not counted."""

    def measured() -> tuple[Result, float]:
        begin = process_time()
        result = work()
        return result, process_time() - begin

    return settled(measured)
