"""Chord and RandomSW: small worlds that know nothing of interests."""

from meshwright.model.built import Built
from meshwright.model.costs import Costs
from meshwright.model.interests import Interests
from meshwright.progress import Progress, stage
from meshwright.smallworld.options import SmallWorldOptions
from meshwright.smallworld.ring import first_ranks, place, random_ranks


def chord(
    interests: Interests,
    costs: Costs | None,
    options: SmallWorldOptions,
    seed: int,
    progress: Progress | None,
) -> Built:
    """Chord: the finger of a phase is its first node.

    Guarantee: one finger for each phase that is not empty, so at most log2 of the identifiers for each node,
    rounded up; between any two nodes at most as many hops, unless `whole_phases`. It promises no connected
    topic: `nsmf` routes on it. Costs change nothing.

    Cost: O(n log n) for each phase, in time; 16 bytes for each node and phase.

    Source: [4], 5.1 (1), after Stoica et al., SIGCOMM 2001. Stoica's finger of an empty phase is the next
    node beyond it, which is a finger of another phase already; here there is none.

    [4] Chen, Tock: Design of Routing Protocols and Overlay Topologies for Topic-based Publish/Subscribe on
    Small-World Networks, Middleware Industry 2015.
    """
    del costs
    with stage(progress, "choosing fingers"):
        ring = place(interests.node_count, options, seed)
        return ring.built(first_ranks(ring))


def random_sw(
    interests: Interests,
    costs: Costs | None,
    options: SmallWorldOptions,
    seed: int,
    progress: Progress | None,
) -> Built:
    """RandomSW: the finger of a phase is any of its nodes, all equally likely.

    Guarantee and cost: as `chord`, but for the hops: a finger may lead beyond the target, so that there are
    up to two a phase where every identifier has a node. Source: [4], 5.1 (2).
    """
    del costs
    with stage(progress, "choosing fingers"):
        ring = place(interests.node_count, options, seed)
        return ring.built(random_ranks(ring, seed))
