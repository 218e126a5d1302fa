"""NaiveDynAlg: a repair may link any nodes."""

import numpy as np

from meshwright.maintain.mending import Mending, connect, uproot_losers
from meshwright.maintain.options import Setting
from meshwright.maintain.state import Change, State


def repair(state: State, change: Change, setting: Setting) -> Mending:
    """Connect what a change has disconnected by links among all subscribers of the topics that fell apart.

    Source: [3], Alg. 3 and 4. A link between others contributes nothing, so leaving these out changes nothing
    but the time, which is that of Low-ODA on the topics that fell apart.

    [3] Chen, Jacobsen, Vitenberg: Reinforce Your Overlay with Shadows, 2012.
    """
    uprooted = uproot_losers(state, change)
    return connect(state, change, uprooted, np.empty(0, np.int32), True, setting)
