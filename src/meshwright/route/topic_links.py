"""The links of every topic: those of an overlay whose two ends are both interested in it."""

import numpy as np

from meshwright.errors import InputError
from meshwright.kernels.arrays import Ids, Offsets
from meshwright.kernels.routing_arrays import TopicLinks
from meshwright.model.dense import sealed
from meshwright.model.overlay import Overlay
from meshwright.progress import Progress, stage


def topic_links(overlay: Overlay, progress: Progress | None = None) -> TopicLinks:
    """The links of all topics; an overlay that leaves a topic in several parts is refused.

    O(the topics that both ends of an edge have), 16 bytes for each topic that they share.
    """
    from meshwright.kernels.flooding import count_unreached, link_slots
    from meshwright.kernels.reverse_delete import count_links
    from meshwright.kernels.subgraphs import interest_ranks

    interests, edges = overlay.interests, overlay.edges
    with stage(progress, "finding the links of topics"):
        ranks = interest_ranks(interests.topic_ids, interests.topic_count)
        slots = (interests.topic_indptr[interests.topic_ids] + ranks).astype(np.int32)
        # Writable, as reverse delete has them: a kernel is compiled once for each kind of array.
        starts = count_links(interests.indptr.copy(), interests.topic_ids.copy(), edges.copy())
        pairs = link_slots(interests.indptr, interests.topic_ids, slots, edges, starts)
        shared = np.repeat(np.arange(len(edges), dtype=np.int32), np.diff(starts))
        links = linked(overlay, pairs, shared)
        unreached = count_unreached(links)
    _check_connected(overlay, np.flatnonzero(unreached))
    return links


def linked(overlay: Overlay, pairs: Ids, edge_ids: Ids) -> TopicLinks:
    """The links between pairs of slots, each with the edge that it is part of."""
    from meshwright.kernels.subgraphs import links_of

    interests = overlay.interests
    found = links_of(sealed(pairs), len(interests))
    return TopicLinks(
        topic_indptr=interests.topic_indptr,
        nodes=interests.node_ids,
        indptr=found.indptr,
        others=found.nodes,
        edge_ids=edge_ids[found.edge_ids],
    )


def _check_connected(overlay: Overlay, broken: Offsets) -> None:
    if len(broken):
        name = overlay.interests.topics[int(broken[0])].as_py()
        more = f" and {len(broken) - 1:,} more topics" if len(broken) > 1 else ""
        raise InputError(
            f"the overlay is not topic-connected: {name!r}{more} would not reach all subscribers; route by "
            f"nsmf where there are fingers, or build an overlay that connects every topic, as gm does"
        )
