"""The ring: where nodes stand, and what a choice of fingers makes of them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from meshwright.errors import OptionError
from meshwright.kernels.arrays import Ids, Offsets
from meshwright.model.built import Built
from meshwright.model.fingers import PHASES_FACT, SPACE_FACT, TABLE, Fingers
from meshwright.model.rings import NONE, Phases, phase_count, phases
from meshwright.seeds import generator
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
            f"give at least {(node_count - 1).bit_length()}"
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
