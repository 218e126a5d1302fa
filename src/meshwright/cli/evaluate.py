"""`meshwright evaluate`: how good an overlay is."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from meshwright.cli.common import Json, print_json, print_table, progress_bar
from meshwright.evaluate import Evaluation
from meshwright.evaluate import evaluate as evaluate_overlay

_EPILOG = """The exit code is 1 where a topic is not connected.

**Examples**

`meshwright evaluate overlay`

`meshwright evaluate overlay --json | jq .average_degree`
"""
_SHOWN_TOPICS = 10


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog=_EPILOG)(evaluate)


def evaluate(
    dataset: Annotated[Path, typer.Argument(metavar="DIR", help="A dataset with an overlay.")],
    as_json: Json = False,
) -> None:
    """Measure an overlay: degrees, connectivity and exact diameter of every topic, distance from optimal."""
    from meshwright.model.overlay import Overlay

    overlay = Overlay.read(dataset)
    found = evaluate_overlay(overlay, progress=progress_bar())
    if as_json:
        print_json(
            found.to_json()
            | {
                "disconnected_topic_components": found.disconnected_topic_components(),
                "degree_distribution": found.degree_distribution().tolist(),
            }
        )
    else:
        _print_for_people(dataset, found)
    if not found.topic_connected:
        raise typer.Exit(1)


def _print_for_people(dataset: Path, found: Evaluation) -> None:
    rows = [(name.replace("_", " "), value) for name, value in found.to_json().items()]
    print_table(("measure", "value"), rows, title=str(dataset))
    bound = found.lower_bound_average_degree
    if bound and found.topic_connected:
        print(f"No topic-connected overlay has an average degree under {bound:.2f}: ", end="")
        print(f"this one is within {found.average_degree / bound:.2f} times of the least possible.")
    quarters = np.quantile(found.degrees, [0.25, 0.5, 0.75, 0.99]) if found.nodes else [0, 0, 0, 0]
    low, median, high, most = (f"{links:.0f}" for links in quarters)
    print(
        f"Half of the nodes have {low} to {high} links, the median is {median}, and 99% have at most {most}."
    )
    broken = found.disconnected_topic_components()
    if broken:
        shown = ", ".join(f"{name!r} ({parts} parts)" for name, parts in list(broken.items())[:_SHOWN_TOPICS])
        more = f" and {len(broken) - _SHOWN_TOPICS:,} more" if len(broken) > _SHOWN_TOPICS else ""
        print(f"Not connected: {shown}{more}")
