"""What the machine offers: cores, and threads worth starting on them."""

import os

_MOST_THREADS = 8


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads() -> int:
    """How many threads a kernel should run on; more than eight only wait for memory."""
    return min(cores(), _MOST_THREADS)
