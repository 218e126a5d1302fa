"""Where maintenance starts: an overlay that is topic-connected, or made so."""

import numpy as np

from meshwright.construct.gm import tie_order
from meshwright.construct.greedy_driver import component_labels
from meshwright.construct.low_oda import construct_low_edges
from meshwright.maintain.options import RepairSettings
from meshwright.model.overlay import Overlay
from meshwright.runtime.arrays import Ids
from meshwright.runtime.errors import InputError
from meshwright.runtime.progress import Progress


def missing_links(overlay: Overlay, settings: RepairSettings, progress: Progress | None) -> Ids:
    """The links that an overlay lacks to be topic-connected, by Low-ODA's rule; refused if so asked."""
    interests = overlay.interests
    labels = component_labels(interests, overlay.edges, progress)
    components = int(labels.max(initial=-1)) + 1
    connected = len(np.unique(interests.topic_ids))
    if components == connected:
        return np.empty((0, 2), np.int32)
    if settings.options.disconnected == "refuse":
        raise InputError(
            f"the overlay is not topic-connected: its {connected:,} topics have {components:,} components; "
            f"build another one, or let it be repaired first with disconnected='repair'"
        )
    order = tie_order(np.diff(interests.indptr), "shuffled", settings.seed)
    return construct_low_edges(interests, overlay.edges, order, settings.options.rho, None, progress)
