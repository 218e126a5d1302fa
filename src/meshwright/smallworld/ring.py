"""The ring: where nodes stand, and Chord and RandomSW, the small worlds that ignore interests."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built
from meshwright.model.fingers import (
    NONE,
    PHASES_FACT,
    SPACE_FACT,
    TABLE,
    Fingers,
    Phases,
    phase_count,
    phases,
)
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Ids, Offsets
from meshwright.runtime.errors import OptionError
from meshwright.runtime.progress import Progress, stage
from meshwright.runtime.seeds import generator
from meshwright.smallworld.options import SmallWorldOptions


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
        fingers = self.fingers(ranks)
        return Built(
            edges=fingers.edges(),
            facts={SPACE_FACT: self.space, PHASES_FACT: self.phase_count, **facts},
            tables={TABLE: fingers.to_table()},
        )


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
