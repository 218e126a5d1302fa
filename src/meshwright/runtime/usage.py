"""What a piece of work takes: seconds, processor seconds, and the memory that it adds at its peak."""

import ctypes
import gc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple, TypeVar

Result = TypeVar("Result")

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
_RESET_PEAK = "5"


class Usage(NamedTuple):
    """What some work took.

    Attributes:
        seconds: on the clock.
        processor_seconds: of this process on all cores; None where the work ran in others.
        memory_bytes: the greatest resident memory of this process while it worked, above what was resident
            when it began; None where the system can't tell.
    """

    seconds: float
    processor_seconds: float | None = None
    memory_bytes: int | None = None


def measured(work: Callable[[], Result]) -> tuple[Result, Usage]:
    """What `work` returns, and what it took.

    Memory is the kernel's own peak (VmHWM in /proc, Linux), reset before. What Python and the C library hold
    without need is given back first, or later work would fill that and seem to take nothing.
    """
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    before = None
    with suppress(OSError):
        _CLEAR.write_text(_RESET_PEAK, "ascii")
        before = _status("VmRSS")
    began, processor = perf_counter(), process_time()
    result = work()
    seconds, spent = perf_counter() - began, process_time() - processor
    memory = None if before is None else max(0, _status("VmHWM") - before)
    return result, Usage(seconds, spent, memory)


def _status(key: str) -> int:
    """A size that the kernel states of this process, in bytes."""
    for line in _STATUS.read_text("ascii").splitlines():
        name, _, value = line.partition(":")
        if name == key:
            return int(value.split()[0]) * 1024
    raise OSError(f"{_STATUS} has no {key}")
