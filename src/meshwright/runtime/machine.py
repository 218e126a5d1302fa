"""What the machine offers: cores, and memory that a job may take."""

import os
from pathlib import Path

from meshwright.runtime.errors import CapacityError

_SHARE_OF_FREE_MEMORY = 0.8
_MOST_THREADS = 8
_CONTAINER = Path("/sys/fs/cgroup")


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads() -> int:
    """How many threads a kernel should run on; more than eight only wait for memory."""
    return min(cores(), _MOST_THREADS)


def free_memory() -> int:
    """How many bytes could be taken now without swapping, the container's limit included."""
    return min(_free_on_machine(), _free_in_container())


def _free_on_machine() -> int:
    try:
        text = Path("/proc/meminfo").read_text("ascii")
    except OSError:
        return int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES"))
    fields = dict(line.split(":", 1) for line in text.splitlines())
    return int(fields["MemAvailable"].split()[0]) * 1024


def _free_in_container() -> int:
    try:
        limit = (_CONTAINER / "memory.max").read_text("ascii").strip()
        used = int((_CONTAINER / "memory.current").read_text("ascii"))
        counted = dict(line.split() for line in (_CONTAINER / "memory.stat").read_text("ascii").splitlines())
        used -= int(counted["inactive_file"])  # a cache, given back when somebody needs the room
    except (OSError, ValueError, KeyError):
        return _free_on_machine()
    return _free_on_machine() if limit == "max" else max(0, int(limit) - used)


def check_memory(what: str, needed: int, instead: str, limit: int | None = None) -> None:
    """Refuse work that needs more than `limit` bytes (four fifths of what is free, unless given)."""
    if limit is None:
        limit = int(_SHARE_OF_FREE_MEMORY * free_memory())
    if needed > limit:
        raise CapacityError(f"{what} needs about {_size(needed)} and may take {_size(limit)}; {instead}")


def _size(count: int) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{count / 1e6:,.3g} MB"
