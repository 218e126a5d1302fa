"""`meshwright build`: an overlay out of interests."""

import typing
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from meshwright import registry
from meshwright.cli.common import Force, Json, Out, Seed, Settings, parse_settings, print_json, progress_bar

_EPILOG = """**Examples**

`meshwright build workload --algorithm gm --out overlay`

`meshwright build workload --algorithm gm --set ties=small-first --seed 7 --out overlay`

`meshwright algorithms` lists the algorithms and their options.
"""


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog=_EPILOG)(build)


def build(
    dataset: Annotated[Path, typer.Argument(metavar="DIR", help="A dataset with interests.")],
    algorithm: Annotated[str, typer.Option(metavar="NAME", help="See: meshwright algorithms")],
    out: Out,
    settings: Settings = None,
    seed: Seed = 0,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Compute the links that keep the subscribers of every topic connected, and write the overlay."""
    from meshwright.model.dataset import check_free
    from meshwright.model.interests import Interests

    chosen = registry.find(algorithm, "build")
    options = parse_settings(settings, typing.get_type_hints(chosen.options))
    check_free(out, force)
    seconds = {}
    begin = perf_counter()
    interests = Interests.read(dataset)
    seconds["read"] = round(perf_counter() - begin, 3)
    begin = perf_counter()
    overlay = registry.build(interests, algorithm, seed=seed, progress=progress_bar(), **options)
    seconds["build"] = round(perf_counter() - begin, 3)
    made_by = {
        "command": "build",
        "algorithm": algorithm,
        "options": overlay.facts["options"],
        "seed": seed,
        "inputs": [str(dataset)],
        "seconds": seconds,
    }
    overlay.write(out, force=force, made_by=made_by, progress=progress_bar())
    degree = 2 * len(overlay) / max(1, interests.node_count)
    if as_json:
        counts = {"nodes": interests.node_count, "edges": len(overlay), "average_degree": degree}
        print_json({"out": str(out), **counts, **made_by, "facts": dict(overlay.facts)})
    else:
        print(f"{out}: {overlay!r}, average degree {degree:.2f}, in {seconds['build']:.2f} s")
