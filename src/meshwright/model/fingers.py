"""Fingers: the links that every node of a small-world overlay keeps, one for each phase of the ring.

Nodes stand on a ring of `space` identifiers, at most one node on each. Node w is in phase i of node v if the
clockwise distance from v to w is at least 2^i and less than 2^(i+1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from meshwright.model.dense import frozen, set_fields
from meshwright.model.edges import Built
from meshwright.model.storage.manifest import stated
from meshwright.model.storage.schema import INTEGER, check_types
from meshwright.runtime.arrays import Ids, Offsets
from meshwright.runtime.errors import DatasetError, InputError
from meshwright.runtime.wording import count

if TYPE_CHECKING:
    from meshwright.model.overlay import Overlay


NONE = -1
"""In place of a node: the phase is empty."""


class Phases(NamedTuple):
    """By rank on the ring and phase, whom the finger of that phase may point to: ranks from `starts` on.

    They end before `ends`, and count on beyond the last rank: of n nodes, rank n is rank 0 again. Both are
    the same where the phase is empty.
    """

    starts: Ids
    ends: Ids


def phase_count(space: int, whole: bool = False) -> int:
    """How many phases there are; distances go up to `space` - 1.

    Where `space` is no power of two the ring cuts the last phase short; `whole` leaves that one out.
    """
    return max(0, space.bit_length() - 1) if whole else max(0, space - 1).bit_length()


def phases(positions: Offsets, space: int, count: int) -> Phases:
    """The first `count` phases of nodes at `positions`, which rise. O(n log n log space).

    The first phase that is not empty is left with the next node alone. Where every identifier has a node
    that is phase 0, which has no other. Where they are sparse it may have more nodes, and with a finger to
    another one no path would lead to the next: [4] assumes that away, and practical systems keep a
    link to their successor too.
    """
    around = np.concatenate([positions, positions + space])
    distances = np.minimum(2 ** np.arange(count + 1, dtype=np.int64), space)
    bounds = np.searchsorted(around, positions[:, None] + distances).astype(np.int32)
    starts, ends = bounds[:, :-1].copy(), bounds[:, 1:].copy()
    if len(positions) > 1:
        ranks = np.arange(len(positions))
        ends[ranks, np.argmax(ends > starts, axis=1)] = ranks + 2
    return Phases(starts, ends)


TABLE = "fingers"
SPACE_FACT, PHASES_FACT = "identifiers", "phases"
_COLUMNS = dict.fromkeys(("node_id", "position", "phase", "target_id"), INTEGER)
_MOST_IDENTIFIERS = 2**62
_MOST_PHASES = 63
"""A ring of as many identifiers has no more: each is twice as wide as the one before."""


@dataclass(frozen=True, eq=False, repr=False)
class Fingers:
    """Each node's position on a ring of identifiers, and its finger in each phase ([4], Property 1).

    `positions` has the identifier of each node, under `space`; `targets` is an int32 array, nodes by phases,
    with `NONE` where a phase is empty. Every phase that is not empty has a finger, into that phase, and the
    first of them leads to the next node; the last phase may be left out where the ring cuts it short. Checked
    when made in O(n log n log space); read-only.
    """

    positions: Offsets
    space: int
    targets: Ids

    def __post_init__(self) -> None:
        set_fields(self, positions=frozen(self.positions, np.int64, "positions"))
        set_fields(self, targets=frozen(self.targets, np.int32, "targets"))
        self._check_shape()
        self._check_targets()

    def __repr__(self) -> str:
        return f"Fingers({count(len(self.positions), 'node')} on a ring of {count(self.space, 'identifier')})"

    @classmethod
    def of(cls, overlay: Overlay) -> Fingers:
        """The fingers of an overlay that a small-world algorithm built; another overlay is refused."""
        facts = overlay.facts
        if TABLE not in overlay.tables or not {SPACE_FACT, PHASES_FACT} <= facts.keys():
            built_by = facts.get("algorithm")
            raise InputError(
                f"the overlay{f' of {built_by}' if built_by else ''} has no fingers; "
                f"build one with chord, random-sw or gr-swico"
            )
        count = overlay.interests.node_count
        space, phases = (stated(facts, fact, int, "the overlay") for fact in (SPACE_FACT, PHASES_FACT))
        return cls.from_table(overlay.tables[TABLE], count, space, phases)

    @classmethod
    def from_table(cls, table: pa.Table, node_count: int, space: int, phases: int) -> Fingers:
        """Build from rows of `fingers/`: node_id, position, phase, target_id; and the number of phases."""
        check_types(table.schema, _COLUMNS, f"{TABLE}/", DatasetError)
        if not 0 <= phases <= _MOST_PHASES:
            raise InputError(f"there are {phases:,} phases; give 0 to {_MOST_PHASES}")
        nodes, places, phase, targets = (table[name].to_numpy().astype(np.int64) for name in _COLUMNS)
        by_phase = np.full((node_count, phases), NONE, np.int32)
        _check_rows(nodes, phase, by_phase.shape)
        positions = np.zeros(node_count, np.int64)
        positions[nodes], by_phase[nodes, phase] = places, targets
        if not np.array_equal(positions[nodes], places):
            raise InputError("a node has two positions; write the fingers again")
        return cls(positions, space, by_phase)

    def to_table(self) -> pa.Table:
        """A row for each finger, by node and phase."""
        nodes, phase = np.nonzero(self.targets != NONE)
        return pa.table(
            {
                "node_id": pa.array(nodes, pa.int32()),
                "position": pa.array(self.positions[nodes], pa.int64()),
                "phase": pa.array(phase, pa.int32()),
                "target_id": pa.array(self.targets[nodes, phase], pa.int32()),
            }
        )

    def edges(self) -> Ids:
        """The pairs of a node and its fingers: the undirected view is an overlay of these."""
        nodes, phase = np.nonzero(self.targets != NONE)
        return np.column_stack([nodes, self.targets[nodes, phase]]).astype(np.int32)

    def built(self, **facts: int) -> Built:
        """What an algorithm returns that has chosen these fingers, and counted `facts`."""
        own = {SPACE_FACT: self.space, PHASES_FACT: self.targets.shape[1]}
        return Built(edges=self.edges(), facts=own | facts, tables={TABLE: self.to_table()})

    def _check_shape(self) -> None:
        count = len(self.positions)
        if not isinstance(self.space, int):
            raise InputError(f"space is {self.space!r}; give the number of identifiers, a whole number")
        if not 0 <= self.space <= _MOST_IDENTIFIERS or self.space < count:
            raise InputError(
                f"{count:,} nodes have {self.space:,} identifiers; "
                f"give at least one per node, and at most 2^62"
            )
        legal = {phase_count(self.space, whole) for whole in (False, True)}
        if self.targets.ndim != 2 or len(self.targets) != count or self.targets.shape[1] not in legal:
            raise InputError(
                f"the array of targets has shape {self.targets.shape}; give {(count, max(legal))}, "
                f"nodes by phases"
            )
        inside = (self.positions >= 0) & (self.positions < self.space)
        if not inside.all() or len(np.unique(self.positions)) < count:
            raise InputError(f"positions must be different and lie between 0 and {self.space - 1}")

    def _check_targets(self) -> None:
        count, targets = len(self.positions), self.targets
        if targets.size and not NONE <= targets.min() <= targets.max() < count:
            raise InputError(f"targets must lie between 0 and {count - 1}, or be {NONE} in an empty phase")
        order = np.argsort(self.positions)
        ranks = np.empty(count, np.int64)
        ranks[order] = np.arange(count)
        legal = phases(self.positions[order], self.space, targets.shape[1])
        starts, ends = (bounds[ranks] for bounds in legal)
        reached = ranks[:, None] + (ranks[targets] - ranks[:, None]) % max(1, count)
        right = np.where(targets == NONE, starts == ends, (starts <= reached) & (reached < ends))
        if not right.all():
            node, phase = np.argwhere(~right)[0]
            raise InputError(
                f"the finger of node {node} in phase {phase} is {targets[node, phase]}; a finger must lead "
                f"into its phase, a node's first finger must lead to the next node, and only a phase without "
                f"nodes may have none ({NONE})"
            )


def _check_rows(nodes: Offsets, phase: Offsets, shape: tuple[int, int]) -> None:
    inside = (nodes >= 0) & (nodes < shape[0]) & (phase >= 0) & (phase < shape[1])
    if not inside.all():
        raise InputError(f"a finger has a node or phase outside of {shape[0]} nodes and {shape[1]} phases")
    if len(np.unique(nodes * max(1, shape[1]) + phase)) < len(nodes):
        raise InputError("a node has two fingers in one phase; write the fingers again")
