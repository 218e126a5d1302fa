"""What the machine offers: cores, and threads worth starting on them."""

import os

MOST_THREADS = 8
"""Threads that one kernel may use: more than eight only wait for memory."""


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads() -> int:
    """How many threads a kernel should run on."""
    return min(cores(), MOST_THREADS)
