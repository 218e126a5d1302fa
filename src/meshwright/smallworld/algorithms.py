"""Small worlds on a ring: Chord and RandomSW ignore interests, and GrSwico's fingers lead to common ones."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from meshwright.construct.parts.topic_lists import Lists, lists_of, take_lists
from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built
from meshwright.model.fingers import NONE, Fingers, Phases, phase_count, phases
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Ids, Offsets, Ticks
from meshwright.runtime.errors import OptionError
from meshwright.runtime.progress import Progress, run_with_ticks, stage
from meshwright.runtime.seeds import generator
from meshwright.smallworld.options import TARGET_SLOTS, GrSwicoOptions, SmallWorldOptions


@dataclass(frozen=True, kw_only=True)
class Ring:
    """Nodes by rank: clockwise, from the one with the least identifier on."""

    space: int
    phase_count: int
    nodes: Ids
    positions: Offsets

    def __len__(self) -> int:
        return len(self.nodes)

    @cached_property
    def phases(self) -> Phases:
        """Whom each finger may point to, by rank."""
        return phases(self.positions, self.space, self.phase_count)

    def fingers(self, ranks: Ids) -> Fingers:
        """The fingers that lead to `ranks`, an array of ranks by phases."""
        positions, targets = np.empty(len(self), np.int64), np.full_like(ranks, NONE)
        positions[self.nodes] = self.positions
        targets[self.nodes] = np.where(ranks == NONE, NONE, self.nodes[ranks]) if len(self) else ranks
        return Fingers(positions, self.space, targets)

    def built(self, ranks: Ids, **facts: int) -> Built:
        """The overlay of fingers that lead to `ranks`."""
        return self.fingers(ranks).built(**facts)


def place(node_count: int, options: SmallWorldOptions, seed: int) -> Ring:
    """Put nodes on a ring."""
    space = node_count if options.bits is None else 2**options.bits
    if space < node_count:
        raise OptionError(
            f"bits is {options.bits}, which makes {space:,} identifiers for {node_count:,} nodes; "
            f"give at least {(node_count - 1).bit_length()}",
            option="bits",
        )
    random = generator(seed, "smallworld.ring")
    positions = random.choice(space, node_count, replace=False) if node_count else np.empty(0, np.int64)
    if options.placement == "sorted":
        positions.sort()
    nodes = np.argsort(positions).astype(np.int32)
    count = phase_count(space, options.whole_phases)
    return Ring(space=space, phase_count=count, nodes=nodes, positions=positions[nodes])


def first_ranks(ring: Ring) -> Ids:
    """The first node of each phase that is not empty as its finger."""
    starts, ends = ring.phases
    return np.where(starts < ends, starts % max(1, len(ring)), NONE).astype(np.int32)


def random_ranks(ring: Ring, seed: int) -> Ids:
    """A finger for each phase that is not empty, every node of the phase being equally likely."""
    starts, ends = ring.phases
    drawn = generator(seed, "smallworld.fingers").random(starts.shape)
    ranks = starts + (drawn * (ends - starts)).astype(np.int32)
    return np.where(starts < ends, ranks % max(1, len(ring)), NONE).astype(np.int32)


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


_WORD = 64
_PAYING = 0.5
"""If walks over the subscribers of 64 topics take at least this many steps per pair of nodes, the topics get
bits. The threshold is low, since each count decides again whether bits are faster."""


def gr_swico(
    interests: Interests, costs: Costs | None, options: GrSwicoOptions, seed: int, progress: Progress | None
) -> Built:
    """Greedy Small-World and Interest-Close overlay (GrSwico).

    Guarantee: one finger for each phase that is not empty. As long as a link contributes, every link taken
    had the greatest contribution of all pairs of a node and another one in a phase of its without a finger;
    phases then left without are filled as `fill` says. Deterministic for a seed. It promises no connected
    topic: `nsmf` routes on it, over as many hops as on `random_sw`. Costs change nothing.

    Cost: at worst O(Σ|V(t)|²) for each level of contribution, in practice a few counts of a node's pairs for
    each node: a walk over the subscribers of its topics, the most popular ones being counted for 64 at once
    (`kernels/smallworld/fingers.py`). About 44 bytes per interest, 24 for each node and phase, and 16 per
    node for each 64 popular topics. [4] states O(|V|²|T|).

    Source: [4], Alg. 4, with pairs of an owner and a target. A link takes the phase of its owner and, where
    that phase of the target is free, becomes the target's finger too. The letter of Alg. 4 removes links by
    the phases of both ends; then only links whose two slots are free remain, and Property 1 can't be had:
    for |V| = 2^k every link needs the last phase of one of its ends, so at most |V| links fill |V|k slots.
    Both that and fingers of the owner alone are options. Of equals the first is taken, by the owner's place
    on the ring, then by phase, then by `ties`.
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
    from meshwright.kernels.core.topic_components import start_components
    from meshwright.kernels.smallworld.fingers import FILLED, Scratch, Slots, choose_fingers

    lists, words = _popular_first(take_lists(lists_of(interests), ring.nodes), interests.topic_count)
    ones = np.ones(interests.topic_count, np.int32)
    state = start_components(lists.indptr, lists.topic_ids, interests.topic_count, ones, words)
    starts, ends = ring.phases
    own_topics = np.diff(lists.indptr).astype(np.int32)[:, None]
    slots = Slots(
        starts=starts,
        ends=ends,
        fingers=np.full_like(starts, NONE),
        tops=np.where(ends > starts, own_topics, 0).astype(np.int32),
        priority=_priority(len(ring), options.ties, seed),
        edges=np.empty((starts.size, 2), np.int32),
        counts=np.zeros(2, np.int64),
    )
    nodes, phases = starts.shape
    scratch = Scratch(
        gains=np.zeros(nodes, np.int32),
        touched=np.zeros(nodes, np.int32),
        asked=np.zeros(phases, np.bool_),
        best=np.zeros(phases, np.int32),
        chosen=np.zeros(phases, np.int32),
    )
    choose_fingers(state, slots, TARGET_SLOTS.index(options.target_slot), scratch, ticks)
    taken, counted = (int(count) for count in slots.counts)
    slots.fingers[slots.tops != FILLED] = NONE
    return slots.edges[:taken], counted, slots.fingers


def _popular_first(lists: Lists, topic_count: int) -> tuple[Lists, int]:
    """The lists with topics numbered by falling popularity, and how many words of bits these are worth.

    The numbers of topics change no choice. Where no word is worth it, they stay as they are.
    """
    nodes = len(lists.nodes)
    sizes = np.bincount(lists.topic_ids, minlength=topic_count)
    order = np.argsort(-sizes, kind="stable")
    squares = np.add.reduceat(sizes[order].astype(np.float64) ** 2, np.arange(0, topic_count, _WORD))
    words = int(np.count_nonzero(squares > _PAYING * nodes**2))
    if not words:
        return lists, 0
    numbers = np.empty(topic_count, np.int64)
    numbers[order] = np.arange(topic_count)
    keys = np.repeat(np.arange(nodes) * topic_count, np.diff(lists.indptr)) + numbers[lists.topic_ids]
    keys.sort()
    return lists._replace(topic_ids=(keys % topic_count).astype(np.int32)), words


def _priority(nodes: int, ties: str, seed: int) -> Ids:
    """By rank, counted on beyond the last: of two nodes of one phase, who comes first."""
    if ties != "random":
        ahead = np.arange(2 * nodes, dtype=np.int32)
        return ahead if ties == "nearest" else ahead[::-1].copy()
    return np.tile(generator(seed, "smallworld.ties").permutation(nodes).astype(np.int32), 2)
