"""The options of the algorithms for links that cost, apart from them so that reading them loads no kernel."""

from dataclasses import dataclass

from meshwright.construct.options import TIES, _check_choice, _check_whole


@dataclass(frozen=True, kw_only=True)
class GrMawOptions:
    """How the greedy by cost settles ties, and the memory it may take.

    Attributes:
        ties: which of the edges with the least cost per contribution is taken, as for Greedy Merge: the first
            of all pairs of nodes, with the nodes `shuffled` by the seed, or also sorted by the number of
            their topics, `small-first` or `large-first`.
        memory_limit: bytes that may be taken; four fifths of what is free, unless given.
    """

    ties: str = "shuffled"
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        _check_choice("ties", self.ties, TIES)
        _check_whole("memory_limit", self.memory_limit, 1)
