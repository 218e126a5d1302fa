"""What a run of gossip did to every node: its links before and after, as a table and as distributions."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from meshwright.evaluate.distributions import distribution
from meshwright.evaluate.views import LinkCounts
from meshwright.kernels.arrays import Flags, Floats, Offsets
from meshwright.model.views import Views

TABLE = "views_by_node"
"""The table of an overlay that says how the views of its nodes became what they are."""


class BeforeAfter(NamedTuple):
    """The views of all nodes before a run and after it, and their link counts."""

    views: tuple[Views, Views]
    counts: tuple[LinkCounts, LinkCounts]


def improvements(before: LinkCounts, after: LinkCounts) -> Floats:
    """The share of its physical links that each node with links, before and after, was freed of."""
    there = _linked(before, after)
    return 1 - after.physical[there] / before.physical[there]


def present(before: Views, now: Views) -> Flags:
    """Which nodes are there: who is gone had topics before, and has none now."""
    had, has = (np.diff(views.interests.indptr) > 0 for views in (before, now))
    found: Flags = ~had | has
    return found


def view_table(run: BeforeAfter) -> pa.Table:
    """A row for each node: its topics, LVS, PVS and in how many views it is, before and after.

    `improvement` is the share of its physical links that it was freed of, negative where it got more; null
    where it has none, before or after.
    """
    (first, last), (before, after) = run.views, run.counts
    there = _linked(before, after)
    improvement = np.zeros(len(there))
    improvement[there] = improvements(before, after)
    return pa.table(
        {
            "node": first.interests.nodes,
            "node_id": pa.array(np.arange(len(there), dtype=np.int32)),
            "topics": pa.array(np.diff(last.interests.indptr).astype(np.int32)),
            "lvs_before": pa.array(before.logical),
            "lvs_after": pa.array(after.logical),
            "pvs_before": pa.array(before.physical),
            "pvs_after": pa.array(after.physical),
            "in_views_before": pa.array(before.held_by),
            "in_views_after": pa.array(after.held_by),
            "improvement": pa.array(improvement, mask=~there),
        }
    )


def distributions(run: BeforeAfter) -> dict[str, dict[str, Any]]:
    """Of LVS, PVS and in-views over the nodes that are there, before (`initial_…`) and after.

    And of `improvement_percent`, over those with links before and after, by whole percents rounded down.
    """
    found = {}
    for prefix, views, counts in zip(("initial_", ""), run.views, run.counts, strict=True):
        here = present(run.views[0], views)
        own = {"logical_view_size": counts.logical, "physical_view_size": counts.physical}
        for name, values in (own | {"in_views": counts.held_by}).items():
            found[f"{prefix}{name}"] = distribution(values[here])
    before, after = (counts.physical[_linked(*run.counts)] for counts in run.counts)
    return found | {"improvement_percent": _improvement(before, after)}


def _improvement(before: Offsets, after: Offsets) -> dict[str, Any]:
    """By whole numbers alone, so that 40% is not 39.999… and counted a percent below."""
    return distribution(100 * (before - after) / before, 100 * (before - after) // before)


def _linked(before: LinkCounts, after: LinkCounts) -> Flags:
    found: Flags = (before.physical > 0) & (after.physical > 0)
    return found
