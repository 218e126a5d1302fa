"""`meshwright route`: what it takes to carry publications over an overlay."""

from pathlib import Path
from typing import Annotated

import typer

from meshwright.cli.common import Json, Seed, print_json, print_table, progress_bar
from meshwright.runtime.errors import OptionError

EPILOG = """`flood` and `tree` need an overlay that connects every topic. `nsmf` needs an overlay of `chord`,
`random-sw` or `gr-swico`: a ring of nodes with additional links, called fingers.

Publications are drawn at random: first a topic, then one of its subscribers, each with equal probability.
Publications can also be read from a file with the columns topic and publisher. If the overlay was made
from filters, the topic is the name that is published.

**Examples**

`meshwright route overlay --protocol flood --publications 10000`

`meshwright route overlay --protocol tree --tree cheapest --publications log.csv`

First build an overlay with fingers, then route over it:

`meshwright build workload --algorithm gr-swico --out ring`

`meshwright route ring --protocol nsmf --publications 100000 --loss 0.01 --failed 0.05 --json`
"""


def route(
    dataset: Annotated[Path, typer.Argument(metavar="DIR", help="A dataset with an overlay.")],
    protocol: Annotated[str, typer.Option(metavar="flood|tree|nsmf", help="How publications travel.")],
    publications: Annotated[
        str,
        typer.Option(
            metavar="N|FILE", help="How many publications to draw, or a CSV or Parquet file of publications."
        ),
    ] = "1000",
    tree: Annotated[
        str | None,
        typer.Option(
            metavar="shortest|cheapest",
            help="With --protocol tree: the tree of shortest paths (shortest) or of lowest cost (cheapest); "
            "by default shortest.",
            show_default=False,
        ),
    ] = None,
    both_ways: Annotated[
        bool,
        typer.Option("--both-ways", help="With --protocol nsmf: a link can be used from both of its ends."),
    ] = False,
    loss: Annotated[float, typer.Option(metavar="P", help="The probability that a message is lost.")] = 0.0,
    failed: Annotated[float, typer.Option(metavar="P", help="The share of nodes that have failed.")] = 0.0,
    simulate: Annotated[
        bool,
        typer.Option(
            "--simulate", help="Run the protocols in the simulator, with the same counts, but slower."
        ),
    ] = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Carry publications over an overlay, and count messages, pure forwards, hops and load."""
    from meshwright.model.overlay import Overlay
    from meshwright.routing.api import route as carry

    source = _source(publications)
    found = carry(
        Overlay.read(dataset, progress=progress_bar()),
        protocol,
        source,
        tree=tree,
        both_ways=both_ways,
        loss=loss,
        failed=failed,
        simulate=simulate,
        seed=seed,
        progress=progress_bar(),
    )
    if as_json:
        print_json(found.to_json())
    else:
        rows = [(name.replace("_", " "), value) for name, value in found.to_json().items()]
        print_table(("measure", "value"), rows, title=str(dataset))


def _source(text: str) -> int | Path:
    """A number of publications, or the file that they are in."""
    if text.removeprefix("-").isdecimal():
        return int(text)
    if not Path(text).exists():
        raise OptionError(
            f"--publications is {text!r}; give a whole number or a file that exists", option="--publications"
        )
    return Path(text)
