"""Building an overlay of a local dataset in this process, with the manifest that Spark's build writes too."""

from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

from meshwright import building
from meshwright.model.interests import Interests
from meshwright.model.storage.dataset import check_free
from meshwright.model.storage.manifest import read_manifest, without_files
from meshwright.pipeline.cost_files import CostFiles
from meshwright.runtime.progress import Progress


def build_here(
    dataset: Path,
    out: Path,
    algorithm: str,
    *,
    costs: CostFiles | None = None,
    reverse_delete: bool = False,
    seed: int = 0,
    options: Mapping[str, Any],
    force: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Build an overlay of a dataset's interests and write it to `out`; gives the manifest."""
    check_free(out, force)
    seconds = {}
    begin = perf_counter()
    interests = Interests.read(dataset)
    prices = None if costs is None else costs.load(interests)
    seconds["read"] = round(perf_counter() - begin, 3)
    begin = perf_counter()
    overlay = building.build(
        interests,
        algorithm,
        costs=prices,
        reverse_delete=reverse_delete,
        seed=seed,
        progress=progress,
        **options,
    )
    seconds["build"] = round(perf_counter() - begin, 3)
    made_by = {
        "command": "build",
        "engine": "local",
        "algorithm": algorithm,
        "options": overlay.facts["options"],
        "reverse_delete": reverse_delete,
        "costs": None if costs is None else costs.given(),
        "seed": seed,
        "inputs": [str(dataset)],
        "seconds": seconds,
    }
    overlay.write(out, force=force, made_by=made_by, progress=progress)
    return without_files(read_manifest(out))
