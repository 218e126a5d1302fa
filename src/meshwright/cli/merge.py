"""`meshwright merge`: one overlay out of several that exist."""

import typing
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from meshwright import registry
from meshwright.cli.common import (
    Force,
    Json,
    Out,
    Seed,
    Settings,
    parse_settings,
    print_json,
    progress_bar,
    sizes,
)
from meshwright.runtime.wording import count

EPILOG = """**Examples**

`meshwright merge berlin oslo --algorithm sm --out both`

If links have costs:

`meshwright merge berlin oslo --algorithm sm --link-cost 38 --out both`

List the algorithms and their options:

`meshwright algorithms`
"""


def merge(
    datasets: Annotated[list[Path], typer.Argument(metavar="DIR", help="Overlays with no common node.")],
    algorithm: Annotated[
        str, typer.Option(metavar="NAME", help="Such as sm or nm. See: meshwright algorithms")
    ],
    out: Out,
    link_cost: Annotated[
        float | None, typer.Option(metavar="NUMBER", help="What a new link costs, if links have costs.")
    ] = None,
    settings: Settings = None,
    seed: Seed = 0,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Merge overlays: keep all links, and add a few that connect the topics the overlays share."""
    from meshwright.model.overlay import Overlay
    from meshwright.model.storage.dataset import check_free

    chosen = registry.find(algorithm, "merge")
    options = parse_settings(settings, typing.get_type_hints(chosen.options))
    check_free(out, force, datasets)
    begin = perf_counter()
    overlays = [Overlay.read(dataset, progress=progress_bar()) for dataset in datasets]
    read = perf_counter()
    from meshwright.building import merge as merge_overlays

    merged = merge_overlays(
        overlays, algorithm, link_cost=link_cost, seed=seed, progress=progress_bar(), **options
    )
    seconds = {"read": round(read - begin, 3), "merge": round(perf_counter() - read, 3)}
    made_by = {
        "command": "merge",
        "algorithm": algorithm,
        "options": {**merged.facts["options"], "link_cost": link_cost},
        "seed": seed,
        "inputs": [str(dataset) for dataset in datasets],
        "seconds": seconds,
    }
    merged.write(out, force=force, made_by=made_by, progress=progress_bar())
    if as_json:
        counts = {"nodes": merged.interests.node_count, "edges": len(merged)}
        print_json({"out": str(out), **counts, **made_by, "facts": dict(merged.facts)})
    else:
        added = len(merged) - sum(map(len, overlays))
        print(f"{out}: {sizes(merged)}, {count(added, 'new link')}, in {seconds['merge']:.2f} s")
