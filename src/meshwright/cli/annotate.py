"""`meshwright annotate`: add what else is known of nodes and topics to a dataset."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from meshwright.cli.common import Force, Json, Out, print_json, progress_bar
from meshwright.cli.options.groups import options_for, read_limits
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.runtime.errors import OptionError

EPILOG = """**Examples**

A cap on the links of each broker, from a file with the columns node and max_links:

`meshwright annotate interests --nodes brokers.csv --out capped`

`meshwright build capped --algorithm gm --set max_links=column --out overlay`

How often topics are published on, from a file with the columns topic and rate:

`meshwright annotate overlay --topics rates.csv --out rated`

`meshwright deploy plan rated --driver mosquitto --out plan`
"""

_KEPT = ("algorithm", "options", "seed", "engine")
"""What made the links of an overlay, by the manifest; attributes don't change it."""


@options_for("limits", read_limits)
def annotate(
    dataset: Annotated[Path, typer.Argument(metavar="DIR", help="Interests or an overlay.")],
    out: Out,
    nodes: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="CSV, TSV (also .gz) or Parquet with a column node, and any of site, lat, lon, host, port "
            "and max_links; other columns are kept as they are.",
        ),
    ] = None,
    topics: Annotated[
        Path | None, typer.Option(metavar="PATH", help="The same with a column topic, and rate or others.")
    ] = None,
    limits: ReadLimits = READ_LIMITS,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Add attributes of nodes and topics to a dataset: sites, places, caps on links, publication rates."""
    from meshwright.model.interests import Interests
    from meshwright.model.overlay import Overlay
    from meshwright.model.storage.dataset import check_free
    from meshwright.model.storage.manifest import open_dataset

    tables = [path for path in (nodes, topics) if path is not None]
    if not tables:
        raise OptionError("there is nothing to add; give --nodes PATH, --topics PATH or both")
    check_free(out, force, [dataset, *tables])
    manifest = open_dataset(dataset, "interests", "overlay").manifest
    made_by = {key: manifest[key] for key in _KEPT if key in manifest}
    made_by |= {"command": "annotate", "inputs": [str(path) for path in (dataset, *tables)]}
    how: dict[str, Any] = {"force": force, "made_by": made_by, "progress": progress_bar()}
    if manifest["kind"] == "overlay":
        overlay = Overlay.read(dataset, progress=progress_bar())
        interests = overlay.interests.with_attributes(nodes, topics, limits=limits)
        replace(overlay, interests=interests).write(out, **how)
    else:
        interests = Interests.read(dataset, progress=progress_bar()).with_attributes(
            nodes, topics, limits=limits
        )
        interests.write(out, **how)
    held = {
        "node_attributes": interests.node_attributes,
        "topic_attributes": interests.topic_attributes,
    }
    columns = {what: [] if table is None else table.column_names for what, table in held.items()}
    if as_json:
        print_json({"out": str(out), **columns, **made_by})
    else:
        for what, names in columns.items():
            print(f"{out}: {what.replace('_', ' ')}: {', '.join(names) or 'none'}")
