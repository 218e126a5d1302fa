"""GrSwico: a small world whose fingers lead to nodes of common interests."""

import numpy as np

from meshwright.construct.lists import lists_of, take_lists
from meshwright.kernels.arrays import Ids
from meshwright.model.built import Built
from meshwright.model.costs import Costs
from meshwright.model.interests import Interests
from meshwright.model.rings import NONE
from meshwright.progress import Progress, Ticks, run_with_ticks
from meshwright.seeds import generator
from meshwright.smallworld.options import TARGET_SLOTS, GrSwicoOptions
from meshwright.smallworld.ring import Ring, first_ranks, place, random_ranks


def gr_swico(
    interests: Interests, costs: Costs | None, options: GrSwicoOptions, seed: int, progress: Progress | None
) -> Built:
    """Greedy Small-World and Interest-Close overlay (GrSwico).

    Guarantee: one finger for each phase that is not empty. As long as a link contributes, every link taken
    had the greatest contribution of all pairs of a node and another one in a phase of its without a finger;
    phases then left without are filled as `fill` says. Deterministic for a seed. It promises no connected
    topic: `nsmf` routes on it, over as many hops as on `random_sw`. Costs change nothing.

    Cost: at worst O(Σ|V(t)|²) for each level of contribution, in practice a few walks over the subscribers
    of a node's topics for each node (`kernels/finger_choice.py`); about 44 bytes an interest and 24 for each
    node and phase. [4] states O(|V|²|T|).

    Source: [4], Alg. 4, with pairs of an owner and a target. A link takes the phase of its owner and, where
    that phase of the target is free, becomes the target's finger too. The letter of Alg. 4 removes links by
    the phases of both ends; then only links whose two slots are free remain, and Property 1 can't be had:
    for |V| = 2^k every link needs the last phase of one of its ends, so at most |V| links fill |V|k slots.
    Both that and fingers of the owner alone are options. Of equals the first is taken, by the owner's place
    on the ring, then by phase, then by `ties`.

    [4] Chen, Tock: Design of Routing Protocols and Overlay Topologies for Topic-based Publish/Subscribe on
    Small-World Networks, Middleware Industry 2015.
    """
    del costs
    ring = place(interests.node_count, options, seed)
    slots = int(np.count_nonzero(ring.phases.ends > ring.phases.starts))
    taken, counted, ranks = run_with_ticks(
        lambda ticks: choose(interests, ring, options, seed, ticks), "choosing fingers", slots, progress
    )
    left = ranks == NONE
    others = random_ranks(ring, seed) if options.fill == "random" else first_ranks(ring)
    fingers = np.where(left, others, ranks).astype(np.int32)
    filled = int(np.count_nonzero(left & (fingers != NONE)))
    return ring.built(fingers, links_chosen=len(taken), fingers_filled=filled, contributions_counted=counted)


def choose(
    interests: Interests, ring: Ring, options: GrSwicoOptions, seed: int, ticks: Ticks
) -> tuple[Ids, int, Ids]:
    """The links in the order in which they were taken, how often one was counted, and all fingers by rank.

    Links and fingers are ranks on the ring; a phase that no link with a contribution fills has none.
    """
    from meshwright.kernels import finger_choice as kernel
    from meshwright.kernels.topic_components import start_components

    lists = take_lists(lists_of(interests), ring.nodes)
    ones = np.ones(interests.topic_count, np.int32)
    state = start_components(lists.indptr, lists.topic_ids, interests.topic_count, ones, 0)
    starts, ends = ring.phases
    own_topics = np.diff(lists.indptr).astype(np.int32)[:, None]
    slots = kernel.Slots(
        starts=starts,
        ends=ends,
        fingers=np.full_like(starts, NONE),
        tops=np.where(ends > starts, own_topics, 0).astype(np.int32),
        priority=_priority(len(ring), options.ties, seed),
        edges=np.empty((starts.size, 2), np.int32),
        counts=np.zeros(2, np.int64),
    )
    nodes, phases = starts.shape
    scratch = kernel.Scratch(
        gains=np.zeros(nodes, np.int32),
        touched=np.zeros(nodes, np.int32),
        best=np.zeros(phases, np.int32),
        chosen=np.zeros(phases, np.int32),
    )
    kernel.choose_fingers(state, slots, TARGET_SLOTS.index(options.target_slot), scratch, ticks)
    taken, counted = (int(count) for count in slots.counts)
    return slots.edges[:taken], counted, slots.fingers


def _priority(nodes: int, ties: str, seed: int) -> Ids:
    """By rank, counted on beyond the last: of two nodes of one phase, who comes first."""
    if ties != "random":
        ahead = np.arange(2 * nodes, dtype=np.int32)
        return ahead if ties == "nearest" else ahead[::-1].copy()
    return np.tile(generator(seed, "smallworld.ties").permutation(nodes).astype(np.int32), 2)
