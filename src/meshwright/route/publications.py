"""Publications: who publishes, and on which topic."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from meshwright.construct.option_checks import check_whole
from meshwright.errors import InputError
from meshwright.kernels.arrays import Flags, Ids, Offsets
from meshwright.model.interests import Interests
from meshwright.model.names import find
from meshwright.seeds import generator


@dataclass(frozen=True, kw_only=True)
class Publications:
    """The topic of each publication, and the slot of its issuer among the interests sorted by topic."""

    topics: Ids
    slots: Offsets

    def __len__(self) -> int:
        return len(self.topics)

    def issuers(self, interests: Interests) -> Ids:
        """The node that issues each."""
        return interests.node_ids[self.slots]


def draw_publications(interests: Interests, count: int, alive: Flags, seed: int) -> Publications:
    """As in [4], 5.1: every topic equally likely, then every subscriber of it.

    Topics without a subscriber, and subscribers that have failed, issue nothing.
    """
    check_whole("publications", count, 0, required=True)
    slots = np.flatnonzero(alive[interests.node_ids])
    bounds = np.searchsorted(slots, interests.topic_indptr)
    sizes = np.diff(bounds)
    able = np.flatnonzero(sizes)
    if count and not len(able):
        raise InputError("no topic has a subscriber that could publish; give interests that have some")
    random = generator(seed, "route.publications")
    topics = able[random.integers(0, len(able), count)] if count else np.empty(0, np.int64)
    chosen = bounds[topics] + random.integers(0, sizes[topics]) if count else np.empty(0, np.int64)
    return Publications(topics=topics.astype(np.int32), slots=slots[chosen])


def named_publications(interests: Interests, pairs: Iterable[tuple[str, str]], alive: Flags) -> Publications:
    """Of (topic, publisher) pairs of names.

    Refused are an unknown name, a topic without subscribers, and a publisher that is not one of them or has
    failed.
    """
    topics, slots = [], []
    for topic, publisher in pairs:
        at, node = find(interests.topics, topic, "topic"), find(interests.nodes, publisher, "node")
        first, end = interests.topic_indptr[at], interests.topic_indptr[at + 1]
        if first == end:
            raise InputError(f"a publication is on topic {topic!r}, which nobody subscribes to; leave it out")
        slot = first + int(np.searchsorted(interests.node_ids[first:end], node))
        if slot == end or interests.node_ids[slot] != node:
            raise InputError(
                f"{publisher!r} publishes on {topic!r}, to which it does not subscribe; add that interest, "
                f"or let one of its {end - first:,} subscribers publish"
            )
        if not alive[node]:
            raise InputError(f"{publisher!r} publishes on {topic!r} and has failed; let another node publish")
        topics.append(at)
        slots.append(slot)
    return Publications(topics=np.array(topics, np.int32), slots=np.array(slots, np.int64))
