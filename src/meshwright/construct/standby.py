"""Standby links: those that a resilient overlay has beside the ones that connect its topics."""

import numpy as np
import pyarrow as pa

from meshwright.model.edges import canonical
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Ids
from meshwright.runtime.columns import arrow_of

STANDBY = "standby"
"""The table of an overlay that lists them."""


def standby_table(interests: Interests, before: Ids, edges: Ids) -> pa.Table:
    """The links of `edges` that are not among those `before`, in the columns of `edges/`."""
    ours, _ = canonical(interests.nodes, edges, None)
    known, _ = canonical(interests.nodes, before, None)
    keys, old = (own[:, 0].astype(np.int64) * interests.node_count + own[:, 1] for own in (ours, known))
    spare = ours[~np.isin(keys, old)]
    ends = {
        f"{end}_id": arrow_of(np.ascontiguousarray(spare[:, at]))
        for at, end in enumerate(("source", "target"))
    }
    names = {end: interests.nodes.take(ends[f"{end}_id"]) for end in ("source", "target")}
    return pa.table({**names, **ends})
