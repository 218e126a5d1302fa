"""The overlay built again from nothing each time: a measure for the other policies."""

import numpy as np

from meshwright.kernels.arrays import Ids, Offsets
from meshwright.maintain.fresh import fresh_problem
from meshwright.maintain.mending import Mending, uproot_losers
from meshwright.maintain.options import Setting
from meshwright.maintain.state import Change, State


def repair(state: State, change: Change, setting: Setting) -> Mending:
    """Exchange all links for those of Low-ODA for the interests as they are; both hold some in common."""
    gone = uproot_losers(state, change).removed
    old, new = state.edges(), fresh_problem(state, setting.options.rho, setting.seed).solve()
    old_keys, new_keys = _keys(old), _keys(new)
    removed, added = old[~np.isin(old_keys, new_keys)], new[~np.isin(new_keys, old_keys)]
    state.link(added)
    state.unlink(removed)
    return Mending(added, np.concatenate([gone, removed]), len(state.nodes) - int(change.leaving.sum()))


def _keys(edges: Ids) -> Offsets:
    return edges[:, 0].astype(np.int64) << 32 | edges[:, 1]
