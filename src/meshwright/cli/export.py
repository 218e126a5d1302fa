"""`meshwright export`: an overlay for other programs."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from meshwright.cli.common import Force
from meshwright.runtime.errors import OptionError

_FORMATS = "graphml|gml|dot|csv|json"
EPILOG = """**Examples**

`meshwright export overlay --to graphml --out overlay.graphml`

`meshwright export overlay --to dot | sfdp -Tsvg > overlay.svg`
"""


def export(
    dataset: Annotated[Path, typer.Argument(metavar="DIR", help="A dataset with an overlay.")],
    to: Annotated[
        str | None, typer.Option(metavar=_FORMATS, help="The format; by default the suffix of --out.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file to write; by default stdout.")
    ] = None,
    force: Force = False,
) -> None:
    """Write an overlay as a file that other programs read."""
    from meshwright.model import export as exports
    from meshwright.model.overlay import Overlay

    if out is None and to is None:
        raise OptionError(f"export got neither --to nor --out; give --to {_FORMATS}")
    if to is not None:
        exports.check_format(to)
    overlay = Overlay.read(dataset)
    if out is None and sys.stdout is None:
        raise OptionError("export has no stdout to write to; give --out FILE")
    if out is None:
        sys.stdout.reconfigure(encoding="utf-8", newline="")  # type: ignore[union-attr]
        exports.write_export(overlay, str(to), sys.stdout)
        sys.stdout.flush()
    else:
        exports.export(overlay, out, to, force=force)
        print(f"{out}: {overlay!r}")
