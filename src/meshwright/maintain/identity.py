"""Whose journal it is: of which overlay, with which options."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from meshwright.errors import DatasetError
from meshwright.maintain.maintainer import Maintainer
from meshwright.maintain.options import make_options
from meshwright.model.manifest import versions
from meshwright.model.overlay import Overlay


def fingerprint(overlay: Overlay) -> str:
    """The same for overlays of the same nodes, topics, interests and links, whatever attributes they have."""
    interests = overlay.interests
    found = hashlib.sha256()
    for names in (interests.nodes, interests.topics):
        found.update(len(names).to_bytes(8, "little"))
        for name in names.to_pylist():
            data = name.encode()
            found.update(len(data).to_bytes(4, "little") + data)
    for array in (interests.indptr, interests.topic_ids, overlay.edges):
        found.update(array.tobytes())
    return found.hexdigest()


def identity(overlay: Overlay) -> dict[str, Any]:
    """What a journal says of the overlay that it began with, and of the program that wrote it."""
    return {
        "by": versions().get("meshwright", "unknown"),
        "overlay": fingerprint(overlay),
        "nodes": overlay.interests.node_count,
        "edges": len(overlay),
    }


def check_overlay(folder: Path, known: Mapping[str, Any], overlay: Overlay) -> None:
    """Refuse a journal of another overlay."""
    if known["overlay"] != fingerprint(overlay):
        raise DatasetError(
            f"{folder} is the journal of another overlay, of {known['nodes']:,} nodes and "
            f"{known['edges']:,} links when it began; give that one, or another folder"
        )


def check_options(folder: Path, live: Maintainer, seed: int, options: Mapping[str, Any]) -> None:
    """Refuse a journal whose maintainer has other options."""
    given = {**asdict(make_options(options)), "seed": int(seed)}
    for name, known in {**asdict(live.options), "seed": live.seed}.items():
        if given[name] != known:
            raise DatasetError(
                f"{folder} is a journal with {name} {known!r}, not {given[name]!r}; "
                f"give the same options, or another folder"
            )
