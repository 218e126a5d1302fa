"""`meshwright report`: a page about an overlay, alone or beside others."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from meshwright.cli.common import Bound, Force, Json, print_json, print_table, progress_bar, shown, with_unit
from meshwright.cli.options.costs import CostOptions
from meshwright.cli.options.groups import options_for
from meshwright.runtime.errors import DatasetError, OptionError, visible
from meshwright.runtime.places import is_local_address, local_path
from meshwright.runtime.wording import count

if TYPE_CHECKING:
    from meshwright.pipeline.cost_files import CostFiles

EPILOG = """The page shows the links of TODAY, their cost, the busiest nodes, the load by topic, and the
topics that are not connected. For each TARGET, it shows what would be saved, and how many links would be
opened and closed. All overlays must have the same interests. An overlay without costs takes those of another
one, if that was built with costs. With --costs, --inner or --places, all links cost what you give. The exit
code is 0 even if a topic is not connected.

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
    bound: Bound = "quick",
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Write a page about any overlay, alone or beside others that could take its place."""
    from meshwright.pipeline.report import report_here

    if find_spec("matplotlib") is None:
        raise OptionError("the page needs matplotlib, which is not installed; install meshwright[report]")
    paths = [_path(text) for text in (today, *(targets or []))]
    found = report_here(paths, out, costs=prices, bound=bound, force=force, progress=progress_bar())
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
    "links per node": "average_degree",
    "most links of a node": "maximum_degree",
    "cut topics": "disconnected_topics",
    "longest path inside a topic": "longest",
    "links that no topic uses": "idle_links",
    "links to open": "opened",
    "links to close": "closed",
    "links that stay": "kept",
}
_MOST_OVERLAYS = 5
_ROOM = 51  # of 80 columns, beside the words of the rows


def _print_for_people(out: Path, found: dict[str, Any]) -> None:
    """The overlays side by side, what to beware of, and where to look."""
    _print_side_by_side(found)
    paths = found["paths"]
    if paths and paths["cut"] and paths["topics"]:
        topics = count(paths["topics"], "topic that is", "topics that are")
        print(f"Paths are compared over the {topics} connected in all overlays.")
    for target in found["targets"]:
        if target["no_costs"]:
            print(visible(f"{target['name']}: {target['no_costs']}"))
    for text in (*_repriced(found["repriced"]), *_warnings(found)):
        print(visible(text))
    print(f"Open the page: {out}")


def _print_side_by_side(found: dict[str, Any]) -> None:
    from meshwright.report.words import WHAT_CUT_MEANS

    overlays = _with_paths(found)[:_MOST_OVERLAYS]
    rows = [
        (words, *(_cost(one) if key == "cost" else one.get(key) for one in overlays))
        for words, key in _ROWS.items()
        if any(one.get(key) for one in overlays) or key == "edges"
    ]
    longest = _ROOM // len(overlays) - 3
    print_table(("", *(_short(one["name"], longest) for one in overlays)), rows)
    more = 1 + len(found["targets"]) - len(overlays)
    if more:
        print(f"and {more} more, on the page and with --json.")
    if any(one["disconnected_topics"] for one in overlays):
        print(WHAT_CUT_MEANS)


def _with_paths(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The overlays, each with its longest path over the topics that all of them connect."""
    today, targets, paths = found["today"], found["targets"], found["paths"]
    longest = paths["longest"] if paths else [today["maximum_topic_diameter"]]
    return [one | {"longest": own} for one, own in zip([today, *targets], longest, strict=True)]


def _cost(overlay: dict[str, Any]) -> str | None:
    cost = overlay["cost"]
    return None if cost is None else with_unit(shown(float(cost)), overlay["unit"] or None)


def _repriced(found: list[dict[str, Any]]) -> Iterator[str]:
    from meshwright.report.contents import Repriced
    from meshwright.report.summary import repriced_in_words

    for text in repriced_in_words([Repriced(**one) for one in found]):
        yield f"Note: {text}".replace("\N{NO-BREAK SPACE}", " ")


def _warnings(found: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the busiest nodes of each overlay; those of a target with its name."""
    yield from (f"Warning: {text}" for text in found["busiest"]["warnings"])
    for target in found["targets"]:
        yield from (f"Warning: {target['name']}: {text}" for text in target["busiest"]["warnings"])


def _short(name: str, longest: int) -> str:
    return name if len(name) <= longest else f"…{name[1 - longest :]}"
