"""`meshwright export`: an overlay for other programs."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from meshwright.cli.common import Force, progress_bar, sizes
from meshwright.runtime.checks import check_choice
from meshwright.runtime.errors import OptionError
from meshwright.runtime.progress import stage

_FORMATS = "graphml|gml|dot|csv|json"
EPILOG = """**Examples**

`meshwright export overlay --to graphml --out overlay.graphml`

`meshwright export overlay --to dot | sfdp -Tsvg > overlay.svg`

With the topics that cross each link, to configure bridges:

`meshwright export overlay --tree shortest --out bridges.csv`

The spare links of a resilient overlay:

`meshwright export overlay --links standby --out spares.csv`
"""


def export(
    dataset: Annotated[Path, typer.Argument(metavar="DIR", help="A dataset with an overlay.")],
    to: Annotated[
        str | None, typer.Option(metavar=_FORMATS, help="The format; by default the suffix of --out.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file to write; by default stdout.")
    ] = None,
    tree: Annotated[
        str | None,
        typer.Option(
            metavar="shortest|cheapest",
            help="List the topics that cross each link, if each topic uses its tree of shortest paths or of "
            "lowest cost. CSV then has a row for each link and topic.",
        ),
    ] = None,
    links: Annotated[
        str,
        typer.Option(
            metavar="all|primary|standby",
            help="Which links of a resilient overlay to write: primary, those that connect all topics while "
            "no node fails, standby, the others, or all.",
        ),
    ] = "all",
    force: Force = False,
) -> None:
    """Write an overlay as a file that other programs read."""
    from meshwright import exporting
    from meshwright.model.overlay import Overlay

    if out is None and to is None:
        raise OptionError(f"export got neither --to nor --out; give --to {_FORMATS}")
    if to is not None:
        exporting.check_format(to)
    check_choice("links", links, ("all", "primary", "standby"))
    overlay = Overlay.read(dataset, progress=progress_bar())
    if links != "all":
        from meshwright.construct.standby import primary_links, standby_links

        overlay = {"primary": primary_links, "standby": standby_links}[links](overlay)
    if out is None and sys.stdout is None:
        raise OptionError("export has no stdout to write to; give --out FILE")
    if out is None:
        crossed = None if tree is None else exporting.crossings(overlay, tree, progress_bar())
        exporting.check_exportable(overlay, str(to), crossed)
        sys.stdout.reconfigure(encoding="utf-8", newline="")  # type: ignore[union-attr]
        exporting.write_export(overlay, str(to), sys.stdout, crossed)
        sys.stdout.flush()
    else:
        with stage(progress_bar(), f"writing {out}"):
            crossed = exporting.export(overlay, out, to, tree=tree, force=force, progress=progress_bar())
        print(f"{out}: {sizes(overlay)}")
    if crossed is not None and crossed.unused:
        from meshwright.construct.standby import is_resilient

        unused = "1 link is" if crossed.unused == 1 else f"{crossed.unused:,} links are"
        why = "spares for when a node fails" if is_resilient(overlay) else "could be spared"
        print(f"meshwright: {unused} in no topic's tree: {why}", file=sys.stderr)
