"""What repairs came to, in numbers and in pictures."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from meshwright.maintain.maintainer import Maintainer
from meshwright.maintain.recording import repairs_table
from meshwright.maintain.rehearsal import rehearse
from meshwright.maintain.steps import Step
from meshwright.model.churn import Event
from meshwright.model.overlay import Overlay
from meshwright.progress import Progress, stage
from meshwright.report import Run, run_of, write_churn_page


def summary(repairs: pa.Table) -> dict[str, Any]:
    """Of a table as `repairs/` holds: links opened and closed, and by kind of event how many and how long."""
    run = run_of("", repairs)
    return {
        "events": int(pa.compute.sum(repairs["events"]).as_py() or 0),
        "opened": int(pa.compute.sum(repairs["opened"]).as_py() or 0),
        "closed": int(pa.compute.sum(repairs["closed"]).as_py() or 0),
        "repairs": {str(kind): _of_kind(run, run.kinds == kind) for kind in np.unique(run.kinds)},
    }


def _of_kind(run: Run, own: Any) -> dict[str, float]:
    milliseconds = 1e3 * run.repair_seconds[own]
    return {
        "count": int(own.sum()),
        "mean_changes": round(float(run.changes[own].mean()), 3),
        "median_milliseconds": round(float(np.median(milliseconds)), 3),
        "p99_milliseconds": round(float(np.quantile(milliseconds, 0.99)), 3),
    }


def write_page(
    path: Path,
    policies: Mapping[str, pa.Table],
    parameters: Mapping[str, Any],
) -> None:
    """A page with pictures of what policies did, by the tables of their repairs; the first is ours."""
    runs = [run_of(policy, repairs) for policy, repairs in policies.items()]
    write_churn_page(path, "Churn", runs, dict(_plain(parameters)))


def _plain(parameters: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Options one by one, and without what the tables of the page tell."""
    for key, value in parameters.items():
        if key == "options":
            yield from value.items()
        elif key != "repairs":
            yield key, value


def tried(
    overlay: Overlay,
    groups: Sequence[Sequence[Event]],
    options: Mapping[str, Any],
    seed: int,
    progress: Progress | None,
) -> pa.Table:
    """The repairs that a maintainer with these options makes of these events."""
    rehearse(options, progress)
    live = Maintainer(overlay, seed=seed, progress=progress, **options)
    steps = []
    with stage(progress, f"churn with {live.options.policy}", len(groups)) as advance:
        for at, events in enumerate(groups, 1):
            steps.append((Step(tuple(events)), live.apply(events, lenient=True)))
            advance(at)
    return repairs_table(steps)
