"""What every policy hands back, and what they have in common."""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.arrays import Ids, Offsets
from meshwright.kernels.live import uproot
from meshwright.kernels.repairing import plan_repair
from meshwright.maintain.options import Setting
from meshwright.maintain.state import Change, State


class Mending(NamedTuple):
    """The links added and removed, pairs of places, and how many nodes a repair looked at for them."""

    added: Ids
    removed: Ids
    shadows: int


class Uprooted(NamedTuple):
    """What losses leave behind: see `kernels.live.uproot`."""

    seeds: Offsets
    shadows: Ids
    removed: Ids


def uproot_losers(state: State, change: Change) -> Uprooted:
    """Take away the links that losses make useless."""
    if not change.has_losses:
        return Uprooted(np.empty(0, np.int64), np.empty(0, np.int32), np.empty((0, 2), np.int32))
    lost = change.movers, change.leaving, change.lost_indptr, change.lost
    return Uprooted(*uproot(state.live, state.room, *lost))


def connect(
    state: State,
    change: Change,
    uprooted: Uprooted,
    shadows: Ids,
    everybody: bool,
    setting: Setting,
) -> Mending:
    """Add the links that Low-ODA's rule takes among the shadows, or among everybody."""
    options = setting.options
    edges, looked_at = plan_repair(
        state.live,
        state.room,
        uprooted.seeds,
        change.gained,
        shadows,
        everybody,
        options.degree_of == "shadows",
        float(options.rho),
        int(setting.rng.integers(1, 2**62)) if options.ties == "shuffled" else 0,
    )
    state.link(edges)
    return Mending(edges, uprooted.removed, looked_at)
