"""The options of the small-world overlays, in a module of their own: importing it loads no kernel."""

from dataclasses import dataclass

from meshwright.runtime.checks import Checked, choice, flag, whole_number

PLACEMENTS = ("shuffled", "sorted")
TIES = ("nearest", "random", "farthest")
TARGET_SLOTS = ("if-free", "never", "required")
FILLS = ("first", "random")
MOST_BITS = 62


@dataclass(frozen=True, kw_only=True)
class SmallWorldOptions(Checked):
    """Where nodes stand on the ring.

    Attributes:
        placement: `shuffled` by the seed, as hashed addresses are, or `sorted` by name.
        bits: the ring has 2^bits identifiers, of which nodes take some at random; unless given, as many as
            there are nodes, and each is taken.
        whole_phases: leave the last phase without a finger where the ring cuts it short, since the number of
            identifiers is no power of two: a link less for each node. The numbers of [4] fit that.
    """

    placement: str = choice("shuffled", PLACEMENTS)
    bits: int | None = whole_number(None, 0, MOST_BITS)
    whole_phases: bool = flag(False)


@dataclass(frozen=True, kw_only=True)
class GrSwicoOptions(SmallWorldOptions):
    """Where nodes stand on the ring, and how fingers are chosen among those of equal contribution.

    Attributes:
        ties: of the nodes of a phase with the greatest contribution, the `nearest`, one at `random` (up to 6%
            more pure forwards, measured: a finger that leads farther is more often beyond the target) or the
            `farthest` (up to 9% more).
        target_slot: whether a link becomes a finger of both its ends: `if-free`, where that phase of the
            target has none yet; `never`, so that every node chooses all of its fingers (more links, more
            support); or `required`, so that only links count which can be fingers of both: what [4], Alg. 4
            says to the letter, and which leaves most fingers to chance.
        fill: where a phase's finger leads if no link into it contributes any more, to its `first` node, as
            Chord's, or to one at `random`: some 13% more pure forwards, measured, where topics are popular
            and so the next subscriber is near, and as many where they are rare.
    """

    ties: str = choice("nearest", TIES)
    target_slot: str = choice("if-free", TARGET_SLOTS)
    fill: str = choice("first", FILLS)
