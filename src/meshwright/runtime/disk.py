"""The disk model: how much work writes, and the refusal of what does not fit on the disk."""

import shutil
from pathlib import Path

from meshwright.runtime.errors import CapacityError

_SHARE_OF_FREE_DISK = 0.95


def list_bytes(interests: int, topics: int) -> int:
    """About what `lists/` takes: the bits of a topic and two more for each interest (measured)."""
    return interests * (max(1, (topics - 1).bit_length()) + 2) // 8


def node_bytes(nodes: int) -> int:
    """About what `nodes/` takes, with generated names (measured)."""
    return 10 * nodes


def edge_bytes(interests: int) -> int:
    """About what a build in tasks writes beside its interests: an edge for each six of them, 15 bytes each.

    Those are the edges of parts, the same on their way to be sorted, and `edges/` (measured: 389 million
    edges for 2.8 thousand million interests).
    """
    return 15 * interests // 6


def sent_bytes(nodes: int, edges: int) -> int:
    """About what evaluating an overlay around hubs has in scratch files: edges once, and counts by node."""
    return 8 * edges + 32 * nodes


def check_disk(what: str, estimate: int, folder: Path) -> None:
    """Refuse work that writes more than is free where `folder` is, or is to be made, less a twentieth."""
    home = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.is_dir())
    limit = int(_SHARE_OF_FREE_DISK * shutil.disk_usage(home).free)
    if estimate > limit:
        raise CapacityError(
            f"{what} writes about {estimate / 1e9:,.1f} GB, but {home} has room for {limit / 1e9:,.1f} GB; "
            f"free some space, or choose another place"
        )
