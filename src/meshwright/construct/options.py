"""The options of the algorithms in this folder, in a module of their own: importing it loads no kernel."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from meshwright.runtime.checks import (
    check_choice,
    check_flag,
    check_fraction,
    check_whole,
    is_number,
    is_whole,
)
from meshwright.runtime.errors import OptionError

TIES = ("shuffled", "small-first", "large-first")


@dataclass(frozen=True, kw_only=True)
class GmOptions:
    """How Greedy Merge settles ties, what topics weigh, and the memory it may take.

    Attributes:
        ties: which of the edges with the greatest contribution is taken: the first of all pairs of nodes,
            with the nodes `shuffled` by the seed, or also sorted by the number of their topics,
            `small-first` (about half the maximum degree; 1% fewer to 2% more edges, measured) or
            `large-first`.
        weights: by topic name, a whole number of at least 0 that its components count; 1 for topics that are
            not named. A topic of weight 0 gets no edges of its own, and may end up not connected.
        keep_bounds: keep a byte for each pair of nodes; without, the same overlay takes longer.
        memory_limit: bytes that may be taken; four fifths of what is free, unless given.
    """

    ties: str = "shuffled"
    weights: Mapping[str, int] | None = None
    keep_bounds: bool = True
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        check_choice("ties", self.ties, TIES)
        check_flag("keep_bounds", self.keep_bounds)
        check_whole("memory_limit", self.memory_limit, 1)
        if self.weights is not None and not isinstance(self.weights, Mapping):
            raise OptionError(
                f"weights is a {type(self.weights).__name__}; give a mapping of topic to number",
                option="weights",
            )
        for topic, weight in (self.weights or {}).items():
            if not isinstance(topic, str) or not is_whole(weight) or not 0 <= weight < 2**20:
                raise OptionError(f"topic {topic!r} weighs {weight!r}; give a whole number from 0 to 1048575")


@dataclass(frozen=True, kw_only=True)
class LowOdaOptions:
    """How Low-ODA weighs the maximum degree against the average, how it settles ties, and its memory.

    Attributes:
        rho: from 1 on. An edge that raises the maximum degree is taken where it contributes more than rho
            times as much as the best that does not: more gives a lower maximum, and a higher average degree.
        ties: as for Greedy Merge.
        memory_limit: bytes that may be taken; four fifths of what is free, unless given.
    """

    rho: float = 3.0
    ties: str = "shuffled"
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        check_rho(self.rho)
        check_choice("ties", self.ties, TIES)
        check_whole("memory_limit", self.memory_limit, 1)


def check_rho(rho: object) -> None:
    """Refuse what is no finite number of at least 1."""
    if not is_number(rho) or not 1 <= rho < inf:
        raise OptionError(f"rho is {rho!r}; give a finite number of at least 1", option="rho")


@dataclass(frozen=True, kw_only=True)
class RingOptions:
    """Ring-per-Topic has no options."""


@dataclass(frozen=True, kw_only=True)
class MergeOptions:
    """The memory that a merge may take.

    Attributes:
        keep_bounds: keep a byte for each pair of nodes that may be linked; without, the same overlay takes
            longer.
        memory_limit: bytes that may be taken; four fifths of what is free, unless given.
    """

    keep_bounds: bool = True
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        check_flag("keep_bounds", self.keep_bounds)
        check_whole("memory_limit", self.memory_limit, 1)


CRITERIA = ("pn-size", "time", "parallel-time")
PARTITIONINGS = ("random", "k-means")


@dataclass(frozen=True, kw_only=True)
class DcOptions:
    """How Divide and Conquer divides the nodes, and how it conquers and combines the parts.

    Attributes:
        partitions: the number of parts.
        part_size: the most nodes of a random part, and the mean of clusters, instead of the number of parts.
        choose_by: how to choose the number of parts where neither is given: make least the `pn-size` (the
            most nodes that one may have to know of; the default), the `time`, or the `parallel-time`, when
            every part has a machine of its own. For k-means, `elbow` is the default.
        partition_by: `random` parts of equal size, or clusters of like interests by `k-means`.
        ties: as for Greedy Merge, within each part.
        most_stars: how many stars one combine may take; where there are more, parts are combined in a tree.
        memory_limit: bytes that a part or a combine may take; four fifths of what is free, unless given.
    """

    partitions: int | None = None
    part_size: int | None = None
    choose_by: str | None = None
    partition_by: str = "random"
    ties: str = "shuffled"
    most_stars: int = 20_000
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        check_choice("partition_by", self.partition_by, PARTITIONINGS)
        check_choice("ties", self.ties, TIES)
        for name, least in (("partitions", 1), ("part_size", 1), ("memory_limit", 1)):
            check_whole(name, getattr(self, name), least)
        check_whole("most_stars", self.most_stars, 2, required=True)
        given = [name for name in ("partitions", "part_size", "choose_by") if getattr(self, name) is not None]
        if len(given) > 1:
            raise OptionError(f"{' and '.join(given)} are given; each sets the number of parts, give one")
        if self.choose_by is not None:
            elbow = ("elbow",) if self.partition_by == "k-means" else ()
            check_choice("choose_by", self.choose_by, CRITERIA + elbow)

    @property
    def criterion(self) -> str:
        """What chooses the number of parts where none is given."""
        return self.choose_by or ("elbow" if self.partition_by == "k-means" else "pn-size")


@dataclass(frozen=True, kw_only=True)
class DcbcOptions:
    """Which nodes are bulk, and into how many parts the lightweight ones are divided.

    Attributes:
        threshold: nodes of more topics than this are bulk, whatever their number; 0 makes all of them so.
            Unless given, it is the smallest that leaves at most `bulk_share` of the nodes and at
            most `bulk_limit` of them above it.
        bulk_share: from 0 to 1.
        bulk_limit: time grows with the number of bulk nodes times that of all nodes.
        partitions: how many parts, at most one for each lightweight node; as `dc` chooses it, unless given.
        part_size: the most lightweight nodes in a part, in place of `partitions`.
        memory_limit: bytes that a part may take; four fifths of what is free, unless given.
    """

    threshold: int | None = None
    bulk_share: float = 0.2
    bulk_limit: int = 4000
    partitions: int | None = None
    part_size: int | None = None
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("threshold", 0), ("partitions", 1), ("part_size", 1)):
            check_whole(name, getattr(self, name), least)
        check_whole("bulk_limit", self.bulk_limit, 0, required=True)
        check_whole("memory_limit", self.memory_limit, 1)
        check_fraction("bulk_share", self.bulk_share)
        if self.partitions is not None and self.part_size is not None:
            raise OptionError("partitions and part_size are given; each sets the number of parts, give one")


@dataclass(frozen=True, kw_only=True)
class DcbcDirectOptions:
    """How many nodes are bulk, and how evenly the links are spread over them.

    Attributes:
        bulk_size: how many nodes are bulk, those with the most topics; by default a fifth of all nodes, and
            at most 2,000.
        crowd: each topic gets one more bulk subscriber for this many subscribers; if the nodes with the most
            topics don't suffice, others are added to the bulk set.
        slack: a bulk node with fewer links is taken when it covers fewer topics than the best by at most
            this fraction, at least 0 and under 1. 0.15 gives 2 to 4% more links, and a maximum degree that is
            lower by a quarter to a half (measured).
        memory_limit: bytes that Greedy Merge on the bulk set may take; by default four fifths of the free
            memory.
    """

    bulk_size: int | None = None
    crowd: int = 1000
    slack: float = 0.0
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        for name in ("bulk_size", "memory_limit"):
            check_whole(name, getattr(self, name), 1)
        check_whole("crowd", self.crowd, 1, required=True)
        check_fraction("slack", self.slack, below_one=True)


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
class PdMawOptions(GrMawOptions):
    """How the primal-dual algorithm settles ties, and the memory it may take.

    Attributes:
        ties: which of the edges that become tight first is taken, as for `gr-maw`.
        memory_limit: bytes that may be taken; four fifths of what is free, unless given.
    """


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
