"""`meshwright report`: a page about an overlay, alone or beside others."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from meshwright.cli.common import Force, Json, print_json, print_table, progress_bar
from meshwright.cli.options.costs import CostOptions
from meshwright.cli.options.groups import options_for
from meshwright.runtime.errors import DatasetError, OptionError, visible
from meshwright.runtime.places import is_local_address, local_path

if TYPE_CHECKING:
    from meshwright.pipeline.cost_files import CostFiles

EPILOG = """The page shows the links of TODAY, their cost, the busiest nodes, the load by topic, and the
topics that are not connected. For each TARGET, it shows what would be saved, and how many links would be
opened and closed. All overlays must have the same interests. An overlay without costs takes those of another
one, if that was built with costs. The exit code is 0 even if a topic is not connected.

**Examples**

`meshwright report overlay --out overlay.html`

`meshwright report today result/overlay --out saved.html`

`meshwright report today result/overlay --costs rtt.csv --out saved.html --json`
"""


@options_for("prices", CostOptions, CostOptions.files)
def report(
    today: Annotated[str, typer.Argument(metavar="TODAY", help="A dataset with an overlay.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE.html", help="The page to write.")],
    targets: Annotated[
        list[str] | None,
        typer.Argument(metavar="TARGET", help="Overlays to put in its place.", show_default=False),
    ] = None,
    prices: "CostFiles | None" = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Write a page about any overlay, alone or beside others that could take its place."""
    from meshwright.pipeline.report import report_here

    if find_spec("matplotlib") is None:
        raise OptionError("the page needs matplotlib, which is not installed; install meshwright[report]")
    paths = [_path(text) for text in (today, *(targets or []))]
    found = report_here(paths, out, costs=prices, force=force, progress=progress_bar())
    if as_json:
        print_json({"out": str(out), **found})
    else:
        _print_for_people(out, found)


def _path(text: str) -> Path:
    if not is_local_address(text):
        raise DatasetError(f"{text} is not on this machine; copy the dataset here, and give its folder")
    return local_path(text)


_ROWS = {
    "links": "edges",
    "cost": "cost",
    "average degree": "average_degree",
    "maximum degree": "maximum_degree",
    "longest path": "maximum_topic_diameter",
    "topics cut": "disconnected_topics",
    "links to open": "opened",
    "links to close": "closed",
    "links kept": "kept",
}
_MOST_OVERLAYS = 5
_ROOM = 60  # of 80 columns, beside the words of the rows


def _print_for_people(out: Path, found: dict[str, Any]) -> None:
    """The overlays side by side, what to beware of, and where to look."""
    overlays = [found["today"], *found["targets"]][:_MOST_OVERLAYS]
    unit = found["today"]["unit"]
    rows = [
        (f"cost, {unit}" if key == "cost" and unit else words, *(one.get(key) for one in overlays))
        for words, key in _ROWS.items()
        if any(one.get(key) is not None for one in overlays)
    ]
    longest = _ROOM // len(overlays) - 3
    print_table(("", *(_short(one["name"], longest) for one in overlays)), rows)
    more = 1 + len(found["targets"]) - len(overlays)
    if more:
        print(f"and {more} more, on the page and with --json.")
    for target in found["targets"]:
        if target["no_costs"]:
            print(visible(f"{target['name']}: {target['no_costs']}"))
    for text in found["busiest"]["warnings"]:
        print(visible(f"Warning: {text}"))
    print(f"Open the page: {out}")


def _short(name: str, longest: int) -> str:
    return name if len(name) <= longest else f"…{name[1 - longest :]}"
