"""The options of the algorithms in this folder, apart from them so that reading them loads no kernel."""

from collections.abc import Mapping
from dataclasses import dataclass

from meshwright.errors import OptionError

TIES = ("shuffled", "small-first", "large-first")


@dataclass(frozen=True, kw_only=True)
class GmOptions:
    """How Greedy Merge settles ties, what topics weigh, and the memory it may take.

    Attributes:
        ties: which of the edges with the greatest contribution is taken: the first of all pairs of nodes,
            with the nodes `shuffled` by the seed, or also sorted by the number of their topics,
            `small-first` (about half the maximum degree; 1% fewer to 2% more edges, measured) or
            `large-first`.
        weights: by topic name, a whole number from 0 on that its components count; 1 for topics that are
            not named. A topic of weight 0 gets no edges of its own, and may end up not connected.
        keep_bounds: keep a byte for each pair of nodes; without, the same overlay takes longer.
        memory_limit: bytes that may be taken; four fifths of what is free, unless given.
    """

    ties: str = "shuffled"
    weights: Mapping[str, int] | None = None
    keep_bounds: bool = True
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        if self.ties not in TIES:
            raise OptionError(f"ties is {self.ties!r}; choose one of {', '.join(TIES)}")
        for topic, weight in (self.weights or {}).items():
            if isinstance(weight, bool) or not isinstance(weight, int) or not 0 <= weight < 2**20:
                raise OptionError(f"topic {topic!r} weighs {weight!r}; give a whole number from 0 to 1048575")
        if self.memory_limit is not None and self.memory_limit <= 0:
            raise OptionError(f"memory_limit is {self.memory_limit}; give a number of bytes over 0")


@dataclass(frozen=True, kw_only=True)
class RingOptions:
    """Ring-per-Topic has no options."""
