"""Algorithms that can't be spread over tasks, on the driver."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from meshwright import registry
from meshwright.model.costs import Costs
from meshwright.model.dataset import draft
from meshwright.model.manifest import MANIFEST, read_manifest, without_files
from meshwright.model.overlay import Overlay
from meshwright.pipeline.engine.loading import load_interests
from meshwright.pipeline.engine.storage import copy_folder
from meshwright.progress import Progress, stage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def build_on_driver(
    session: SparkSession,
    dataset: Path,
    algorithm: str,
    *,
    counts: Mapping[str, int],
    costs: Costs | None,
    reverse_delete: bool,
    seed: int,
    options: Mapping[str, Any],
    progress: Progress | None,
) -> Overlay:
    """As `registry.build`, after a check that the interests fit into the driver's memory."""
    with stage(progress, "reading the interests"):
        interests = load_interests(session, dataset, counts)
    return registry.build(
        interests,
        algorithm,
        costs=costs,
        reverse_delete=reverse_delete,
        seed=seed,
        progress=progress,
        **options,
    )


def write_from_driver(
    session: SparkSession, overlay: Overlay, out: Path, force: bool, made_by: Mapping[str, Any]
) -> dict[str, Any]:
    """Write an overlay to wherever `out` is; gives its manifest."""
    if isinstance(out, Path):
        overlay.write(out, force=force, made_by=made_by)
        return without_files(read_manifest(out))
    with tempfile.TemporaryDirectory(prefix="meshwright-") as name, draft(out, force) as folder:
        local = Path(name) / "overlay"
        overlay.write(local, made_by=made_by)
        for table in local.iterdir():
            if table.name != MANIFEST:
                copy_folder(session, table, folder / table.name)
        copy_folder(session, local / MANIFEST, folder / MANIFEST)
    return without_files(read_manifest(out))
