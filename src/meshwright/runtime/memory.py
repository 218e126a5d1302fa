"""The memory model: how much is free, how much work takes, and the refusal of what does not fit."""

import os
from collections.abc import Mapping
from pathlib import Path

from meshwright.runtime.errors import CapacityError

BYTES: dict[str, Mapping[str, int]] = {
    # Names come as a table, as an array and as offsets, interests as a table and as arrays.
    "reading": {"nodes": 120, "topics": 120, "interests": 16},
    # Measured on rows of 39 bytes in which every name is another, the worst case. Names that come 28 times
    # take half of it.
    "ingesting": {"text_bytes": 7},
    # Measured: 0.3 GB for a million nodes and 28 million interests, with names and what is being written.
    "generating": {"nodes": 60, "interests": 10},
    "profiling": {"interests": 40},
    "sampling": {"interests": 60},
    # Beside the interests themselves.
    "building": {"interests": 60},
    # Measured: 1.1 GB for 28 million interests and 4 million edges in all; views took 0.4 GB for 9.4 million
    # logical links, the table that they are read from included.
    "evaluating": {"interests": 30, "edges": 100, "views": 50},
    # Building, and then evaluating an overlay with a link for each interest.
    "running": {"interests": 130},
    # Lists on the driver: as Spark hands them over, as bytes, and as arrays twice.
    "fetching": {"nodes": 40, "interests": 16},
    # The arrays of the kernels, by their types.
    "bounding": {"interests": 40},
    "greedy": {"pairs": 1, "interests": 52, "words": 16, "candidates": 16},
    # Beside the greedy: what subscribers want, by slot and listed by topic, and two more edges for each.
    "wanting": {"interests": 40, "words": 8},
    "pricing": {"tree_slots": 12, "candidates": 16},
    "reverse delete": {"shared_topics": 28, "interests": 76},
    # Prices of candidate edges, those before and after others join them.
    "raising prices": {"shares": 84, "interests": 80},
    "exchanging": {"interests": 40, "edges": 48},
    "repairing": {"pairs": 1},
    "costs": {"pairs": 8},
}
"""For each kind of work: the bytes that it takes at its peak for each thing that it works on."""

_SHARE_OF_FREE_MEMORY = 0.8
_CONTAINER = Path("/sys/fs/cgroup")


def needed(work: str, **counts: int) -> int:
    """How many bytes work takes by the table; counts of what it does not name are left out."""
    return sum(size * counts[thing] for thing, size in BYTES[work].items())


def fits(work: str, counts: Mapping[str, int]) -> bool:
    """Whether reading a dataset with these counts and working on it leaves a fifth of the free memory."""
    return has_room(needed("reading", **counts) + needed(work, **counts))


def has_room(estimate: int) -> bool:
    """Whether work that takes this many bytes leaves a fifth of the free memory."""
    return estimate <= _limit()


def check_memory(what: str, estimate: int, instead: str, limit: int | None = None) -> None:
    """Refuse work that takes more than `limit` bytes (four fifths of what is free, unless given)."""
    limit = _limit() if limit is None else limit
    if estimate > limit:
        raise CapacityError(
            f"{what} needs about {_size(estimate)}, but the limit is {_size(limit)}; {instead}"
        )


def _limit() -> int:
    return int(_SHARE_OF_FREE_MEMORY * free_memory())


def _size(count: int) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{count / 1e6:,.3g} MB"


def free_memory() -> int:
    """How many bytes could be taken now without swapping, the container's limit included."""
    return min(_free_on_machine(), _free_in_container())


def installed_memory() -> int:
    """How many bytes the machine has."""
    return int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES"))


def _free_on_machine() -> int:
    try:
        text = Path("/proc/meminfo").read_text("ascii")
    except OSError:
        return installed_memory()
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
