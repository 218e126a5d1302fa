"""`meshwright import`: read the links of an existing mesh."""

from pathlib import Path
from typing import Annotated, Any

import typer

from meshwright.cli.common import Force, Json, Out, print_json, progress_bar
from meshwright.cli.options.columns import chosen_column
from meshwright.cli.options.groups import options_for, read_limits
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.runtime.errors import OptionError, columns_named_by

EPILOG = """**Examples**

`meshwright import workload --edges bridges.csv --source from --target to --out overlay`

`meshwright import workload --edges links.tsv --source 1 --target 2 --cost 3 --out overlay`
"""


def _column(words: str) -> Any:
    return typer.Option(metavar="COLUMN", help=words)


@options_for("limits", read_limits)
def import_(
    dataset: Annotated[Path, typer.Argument(metavar="DIR", help="A dataset with the nodes' interests.")],
    edges: Annotated[
        Path, typer.Option(metavar="PATH", help="CSV, TSV (also .gz) or Parquet: one link per row.")
    ],
    out: Out,
    source: Annotated[
        str,
        typer.Option(
            metavar="COLUMN", help="The column with one end of a link, by name or by position from 1."
        ),
    ] = "source",
    target: Annotated[str, typer.Option(metavar="COLUMN", help="The column with the other end.")] = "target",
    cost: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column with the cost of a link.")
    ] = None,
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line names the columns. By default it does, unless columns are chosen by "
            "position.",
        ),
    ] = None,
    limits: ReadLimits = READ_LIMITS,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Read the links of an existing mesh and write them as an overlay, to evaluate or compare."""
    from meshwright.model.interests import Interests
    from meshwright.model.overlay import Overlay
    from meshwright.model.storage.dataset import check_free

    check_free(out, force, [dataset, edges])
    interests = Interests.read(dataset, progress=progress_bar())
    columns = {
        name: chosen_column(f"--{name}", text)
        for name, text in {"source": source, "target": target, "cost": cost}.items()
        if text is not None
    }
    how: dict[str, Any] = {"cost": None, **columns, "limits": limits, "progress": progress_bar()}
    parquet = edges.is_dir() or edges.suffix.lower() == ".parquet"
    if parquet and header is not None:
        raise OptionError("--header and --no-header apply only to CSV and TSV; leave them out")
    with columns_named_by("--source, --target or --cost"):
        if parquet:
            overlay = Overlay.from_parquet(interests, edges, **how)
        else:
            overlay = Overlay.from_csv(interests, edges, header=header, **how)
    made_by = {
        "command": "import",
        "options": {"cost": None, **columns},
        "inputs": [str(dataset), str(edges)],
    }
    overlay.write(out, force=force, made_by=made_by, progress=progress_bar())
    if as_json:
        counts = {"nodes": interests.node_count, "edges": len(overlay)}
        print_json({"out": str(out), **counts, **made_by})
    else:
        print(f"{out}: {overlay!r}")
