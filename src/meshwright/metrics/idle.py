"""Links that no topic uses."""

import numpy as np

from meshwright.model.overlay import Overlay


def idle_links(overlay: Overlay) -> int:
    """How many links join two nodes that have no topic in common.

    O(sum over links of both topic lists).
    """
    from meshwright.kernels.greedy.sub_overlays import count_links

    interests = overlay.interests
    starts = count_links(interests.indptr.copy(), interests.topic_ids.copy(), overlay.edges.copy())
    return int(np.count_nonzero(np.diff(starts) == 0))
