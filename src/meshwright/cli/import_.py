"""`meshwright import`: read the links of an existing mesh."""

from pathlib import Path
from typing import Annotated

import typer

from meshwright.cli.common import Force, Json, Out, print_json, progress_bar
from meshwright.cli.options.groups import options_for, read_limits
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits

EPILOG = """**Example**

`meshwright import workload --edges bridges.csv --source from --target to --out overlay`
"""


@options_for("limits", read_limits)
def import_(
    dataset: Annotated[Path, typer.Argument(metavar="DIR", help="A dataset with the nodes' interests.")],
    edges: Annotated[
        Path, typer.Option(metavar="PATH", help="CSV, TSV (also .gz) or Parquet: one link per row.")
    ],
    out: Out,
    source: Annotated[str, typer.Option(help="The column with one end of a link.")] = "source",
    target: Annotated[str, typer.Option(help="The column with the other end.")] = "target",
    cost: Annotated[str | None, typer.Option(help="The column with the cost of a link.")] = None,
    limits: ReadLimits = READ_LIMITS,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Read the links of an existing mesh and write them as an overlay, to evaluate or compare."""
    from meshwright.model.interests import Interests
    from meshwright.model.overlay import Overlay
    from meshwright.model.storage.dataset import check_free

    check_free(out, force)
    interests = Interests.read(dataset)
    parquet = edges.is_dir() or edges.suffix.lower() == ".parquet"
    read = Overlay.from_parquet if parquet else Overlay.from_csv
    overlay = read(interests, edges, source, target, cost=cost, limits=limits, progress=progress_bar())
    made_by = {
        "command": "import",
        "options": {"source": source, "target": target, "cost": cost},
        "inputs": [str(dataset), str(edges)],
    }
    overlay.write(out, force=force, made_by=made_by, progress=progress_bar())
    if as_json:
        counts = {"nodes": interests.node_count, "edges": len(overlay)}
        print_json({"out": str(out), **counts, **made_by})
    else:
        print(f"{out}: {overlay!r}")
