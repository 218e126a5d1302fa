"""How many peers a view has."""

import numpy as np

from meshwright.gossip.options import StanOptions
from meshwright.kernels.arrays import Offsets
from meshwright.model.interests import Interests


def view_sizes(interests: Interests, options: StanOptions) -> Offsets:
    """By topic: min(n - 1, ⌈ln n + c⌉) for n subscribers, with exp(-e^-c) the probability of connection.

    [5], 3.3, after Kermarrec, Massoulié, Ganesh, TPDS 2003: with ln n + c random peers a node, gossip reaches
    all n with that probability, in the limit. A view size that is given is cut to the topic as well.
    """
    subscribers = np.diff(interests.topic_indptr)
    if options.view_size is None:
        margin = -np.log(-np.log(options.connected)) if options.connected > 0 else -np.inf
        wanted = np.ceil(np.log(np.maximum(subscribers, 1)) + margin)
    else:
        wanted = np.full(len(subscribers), float(options.view_size))
    return np.clip(wanted, 0, np.maximum(subscribers - 1, 0)).astype(np.int64)
