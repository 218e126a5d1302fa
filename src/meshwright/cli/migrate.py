"""`meshwright migrate`: the steps from one overlay to another."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from meshwright.cli.common import Force, Json, print_json, print_table, progress_bar, with_unit
from meshwright.cli.options.costs import CostOptions
from meshwright.cli.options.groups import options_for
from meshwright.runtime.wording import count

if TYPE_CHECKING:
    from meshwright.pipeline.cost_files import CostFiles

EPILOG = """In each step, first open its links and then close its links. Every topic that is connected
stays connected at every moment.

**Examples**

`meshwright import workload --edges bridges.csv --out today`

`meshwright build workload --algorithm gm --out target`

`meshwright migrate today target --steps-of 10 --out way`

The folder `way` has the changes as `changes.csv` and `changes/`, the steps as `steps.csv` and `steps/`, and a
page, `migration.html`.
"""


@options_for("prices", CostOptions, CostOptions.files)
def migrate(
    today: Annotated[Path, typer.Argument(metavar="TODAY", help="The overlay that is in use.")],
    target: Annotated[
        Path, typer.Argument(metavar="TARGET", help="The overlay to reach, of the same interests.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder to write.")],
    steps_of: Annotated[
        int, typer.Option(metavar="N", help="The most links that one step opens and closes.")
    ] = 20,
    prices: "CostFiles | None" = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Plan how to turn one overlay into another, step by step, without cutting a topic."""
    from meshwright.pipeline.migrate import migrate_here
    from meshwright.runtime.checks import check_whole

    check_whole("--steps-of", steps_of, 1, required=True)
    manifest = migrate_here(today, target, out, steps_of, costs=prices, force=force, progress=progress_bar())
    if as_json:
        print_json({"out": str(out), **manifest})
    else:
        _print(out, manifest)


_WORDS = {
    "links": "links",
    "average_degree": "links per node",
    "maximum_degree": "most links of a node",
    "cut_topics": "cut topics",
    "cost": "cost",
}


def _print(out: Path, manifest: dict[str, Any]) -> None:
    numbers, facts = manifest["counts"], manifest["facts"]
    before, after = facts["before"], facts["after"]
    words = _WORDS | {"cost": with_unit("cost", facts["unit"] and f"({facts['unit']})")}
    rows = [(told, before[key], after[key]) for key, told in words.items() if key in before]
    print_table(("", "today", "target"), rows)
    print(
        f"{out}: {count(numbers['steps'], 'step')}; {numbers['opened']:,} to open, {numbers['closed']:,} to "
        f"close, {facts['kept']:,} stay; at most {count(facts['most_links'], 'link')} on the way"
    )
    if facts["repriced"]:
        links = count(facts["repriced"], "link")
        print(
            f"{links} of both overlays had another cost today; the target's counts for both. To price all "
            f"links alike, give --costs."
        )
