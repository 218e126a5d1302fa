"""ShadowDynAlg: a repair links a few nodes, the neighbours and backups of those that changed."""

import numpy as np

from meshwright.maintain import backups
from meshwright.maintain.mending import Mending, connect, uproot_losers
from meshwright.maintain.options import Setting
from meshwright.maintain.state import Change, State


def repair(state: State, change: Change, setting: Setting) -> Mending:
    """Connect what a change has disconnected by links among the shadow set.

    Guarantee: every component of every topic has a node in the shadow set, so the overlay is topic-connected
    again. For one that leaves, the shadow set is its neighbours and its backups; for one that joins, itself
    and its backups, which are built first; for one that subscribes, the same; for one that unsubscribes, its
    neighbours in the topics that it gives up, and its backups. A batch has the union of these.

    Cost: O(|S|² |topics|) at most, and the searches; nothing that grows with the overlay but, for those who
    gain topics, the number of subscribers of a topic.

    Source: [3], Alg. 7, 9 and 10, for a leave and a join; the paper leaves the other events as extensions.

    [3] Chen, Jacobsen, Vitenberg: Reinforce Your Overlay with Shadows, 2012.
    """
    uprooted = uproot_losers(state, change)
    shadows = uprooted.shadows
    if len(change.gainers):
        backups.build(state, change.gainers, setting)
        own = [state.row("backups", at) for at in change.gainers.tolist()]
        shadows = np.concatenate([shadows, change.gainers, *own])
    return connect(state, change, uprooted, shadows, False, setting)
