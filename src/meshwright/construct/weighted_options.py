"""The options of the algorithms for links that cost, apart from them so that reading them loads no kernel."""

from dataclasses import dataclass

from meshwright.construct.option_checks import check_choice, check_whole
from meshwright.construct.options import TIES
from meshwright.errors import OptionError


@dataclass(frozen=True, kw_only=True)
class TrMawOptions:
    """How trees settle ties.

    Attributes:
        ties: which of the pairs with the least cost is taken: the first of all pairs of nodes, with the nodes
            `shuffled` by the seed, or also sorted by the number of their topics, `small-first` or
            `large-first`. All topics have the same order.
    """

    ties: str = "shuffled"

    def __post_init__(self) -> None:
        check_choice("ties", self.ties, TIES)


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
        check_choice("ties", self.ties, TIES)
        check_whole("memory_limit", self.memory_limit, 1)


@dataclass(frozen=True, kw_only=True)
class PdMawOptions:
    """How the primal-dual algorithm settles ties, and the memory it may take.

    Attributes:
        ties: which of the edges that become tight first is taken, as for `gr-maw`.
        memory_limit: bytes that may be taken; four fifths of what is free, unless given.
    """

    ties: str = "shuffled"
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        check_choice("ties", self.ties, TIES)
        check_whole("memory_limit", self.memory_limit, 1)


DIVISIONS = ("k-means", "landmarks", "sites")


@dataclass(frozen=True, kw_only=True)
class DcMawOptions:
    """How the nodes are divided by their costs, and how the parts are conquered and combined.

    Attributes:
        divide_by: clusters of nodes with like costs by `k-means`, bins of nodes that see `landmarks` alike,
            or the `sites` that nodes are on.
        partitions: the number of parts, for k-means.
        part_size: the mean number of nodes in a part, for k-means, instead of the number of parts; 100, the
            paper's clusters, unless given.
        landmarks: how many nodes the others measure their cost to, for landmarks.
        cost_levels: into how many levels the costs to landmarks are put, for landmarks.
        least_bin: bins of fewer nodes are dissolved into others, for landmarks.
        ties: as for `gr-maw`, within each part.
        most_stars: how many representatives one combine may take; where there are more, parts are combined in
            a tree.
        memory_limit: bytes that a part or a combine may take; four fifths of what is free, unless given.
    """

    divide_by: str = "k-means"
    partitions: int | None = None
    part_size: int | None = None
    landmarks: int = 6
    cost_levels: int = 3
    least_bin: int = 10
    ties: str = "shuffled"
    most_stars: int = 20_000
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        check_choice("divide_by", self.divide_by, DIVISIONS)
        check_choice("ties", self.ties, TIES)
        for name in ("partitions", "part_size", "memory_limit"):
            check_whole(name, getattr(self, name), 1)
        for name, least in (("landmarks", 1), ("cost_levels", 1), ("least_bin", 1), ("most_stars", 2)):
            check_whole(name, getattr(self, name), least, required=True)
        if self.partitions is not None and self.part_size is not None:
            raise OptionError("partitions and part_size are given; each sets the number of parts, give one")
        if self.divide_by != "k-means" and (self.partitions or self.part_size):
            raise OptionError(
                f"partitions and part_size are for k-means; {self.divide_by} has as many parts as it finds"
            )
