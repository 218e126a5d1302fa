"""Standby links: those that a resilient overlay has beside the ones that connect its topics."""

import numpy as np
import pyarrow as pa

from meshwright.construct.reverse_delete import by_shared_topics, edge_keys, reverse_delete
from meshwright.model.edges import canonical
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.runtime.arrays import Flags, Ids
from meshwright.runtime.columns import arrow_of, numpy_of
from meshwright.runtime.errors import InputError
from meshwright.runtime.packing import pack
from meshwright.runtime.progress import Progress

STANDBY = "standby"
"""The table of an overlay that lists them."""


def primary_edges(
    interests: Interests,
    before: Ids,
    edges: Ids,
    *,
    memory_limit: int | None = None,
    progress: Progress | None = None,
) -> Ids:
    """Those of `edges` that connect all topics, none of them idle.

    Links from `before` are preferred, and then those whose ends share most topics.
    """
    listed = np.isin(edge_keys(edges), edge_keys(before))
    ordered = np.concatenate([edges[listed], by_shared_topics(edges[~listed], interests)])
    return reverse_delete(interests, ordered, memory_limit=memory_limit, progress=progress)


def standby_table(interests: Interests, primary: Ids, edges: Ids) -> pa.Table:
    """The links of `edges` that are not `primary`, in the columns of `edges/`."""
    ours, _ = canonical(interests.nodes, edges, None)
    spare = ours[~np.isin(edge_keys(ours), edge_keys(primary))]
    ends = {
        f"{end}_id": arrow_of(np.ascontiguousarray(spare[:, at]))
        for at, end in enumerate(("source", "target"))
    }
    names = {end: interests.nodes.take(ends[f"{end}_id"]) for end in ("source", "target")}
    return pa.table({**names, **ends})


def standby_links(overlay: Overlay) -> Overlay:
    """The standby links alone, as an overlay of the same interests; with their costs, if links cost.

    Example:
        >>> import meshwright as mw
        >>> interests = mw.Interests.from_pairs([(node, "news") for node in "abc"])
        >>> overlay = mw.build(interests, "gm", resilience=2)
        >>> len(overlay), len(mw.standby_links(overlay)), len(mw.primary_links(overlay))
        (3, 1, 2)
    """
    return _chosen(overlay, _is_standby(overlay))


def primary_links(overlay: Overlay) -> Overlay:
    """The links of a resilient overlay that connect every topic while no node fails; none of them is idle."""
    return _chosen(overlay, ~_is_standby(overlay))


def is_resilient(overlay: Overlay) -> bool:
    """Whether an overlay was built, or is maintained, so that topics survive the failure of a node."""
    made = ("options", "maintained")
    return any(dict(overlay.facts.get(how) or {}).get("resilience", 1) > 1 for how in made)


def _is_standby(overlay: Overlay) -> Flags:
    table = overlay.tables.get(STANDBY)
    if table is None:
        if not is_resilient(overlay):
            raise InputError(
                "the overlay has no standby links; build it with resilience=2, or maintain it with that"
            )
        edges = by_shared_topics(overlay.edges, overlay.interests)
        table = standby_table(overlay.interests, reverse_delete(overlay.interests, edges), edges)
    listed = pack(numpy_of(table["source_id"]), numpy_of(table["target_id"]))
    return np.isin(pack(overlay.edges[:, 0], overlay.edges[:, 1]), listed)


def _chosen(overlay: Overlay, chosen: Flags) -> Overlay:
    costs = None if overlay.costs is None else overlay.costs[chosen]
    return Overlay.from_arrays(overlay.interests, overlay.edges[chosen], costs)
