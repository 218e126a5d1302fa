"""Building an overlay of a local dataset in this process, with the manifest that Spark's build writes too."""

from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

from meshwright import registry
from meshwright.model.dataset import check_free, read_manifest
from meshwright.model.interests import Interests
from meshwright.progress import Progress


def build_here(
    dataset: Path,
    out: Path,
    algorithm: str,
    *,
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
    seconds["read"] = round(perf_counter() - begin, 3)
    begin = perf_counter()
    overlay = registry.build(interests, algorithm, seed=seed, progress=progress, **options)
    seconds["build"] = round(perf_counter() - begin, 3)
    made_by = {
        "command": "build",
        "engine": "local",
        "algorithm": algorithm,
        "options": overlay.facts["options"],
        "seed": seed,
        "inputs": [str(dataset)],
        "seconds": seconds,
    }
    overlay.write(out, force=force, made_by=made_by, progress=progress)
    return read_manifest(out)
