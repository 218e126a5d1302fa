"""The options of the algorithms in this folder, in a module of their own: importing it loads no kernel."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import ClassVar

from meshwright.runtime import checks
from meshwright.runtime.checks import Checked
from meshwright.runtime.errors import OptionError
from meshwright.runtime.wording import type_of

TIES = ("shuffled", "small-first", "large-first")
LOAD = "load"
"""The ties that make the greatest expected load of a node small."""

LOAD_TIES = (*TIES, LOAD)
BULK_TIES = (*TIES, "bulk-first")
GUIDES = ("none", "dual")
COLUMN = "column"
"""The value of max_links that says: each node's own, the column of `nodes/`."""

UNLIMITED = 2**62
"""A cap that no node reaches."""


def check_resilience(name: str, value: object) -> None:
    """Refuse what is neither 1 nor 2."""
    if not checks.is_whole(value) or not 1 <= value <= 2:
        too_much = checks.is_whole(value) and value > 2
        more = " (overlays for the failure of two nodes at once are not built)" if too_much else ""
        raise OptionError(
            f"the option {name} is {value!r}; give 1 (topics are connected) or 2 (also after the failure of "
            f"any one node){more}",
            option=name,
        )


def check_max_links(name: str, value: object) -> None:
    """Refuse what is no cap: a whole number, COLUMN, or whole numbers by node, of which some may be 0."""
    for node, cap in value.items() if isinstance(value, Mapping) else ():
        if cap is not None and (not checks.is_whole(cap) or not 0 <= cap < 2**31):
            raise OptionError(
                f"the option {name} of node {node!r} is {cap!r}; give a whole number of links from 0 on, or "
                f"leave the node out",
                option=name,
            )
    for cap in () if isinstance(value, Mapping) else (value,):
        if cap is not None and cap != COLUMN and (not checks.is_whole(cap) or not 1 <= cap < 2**31):
            raise OptionError(
                f"the option {name} is {cap!r}; give a whole number of links from 1 to 2,147,483,647 for "
                f'all nodes, or "{COLUMN}" for the column {name} of nodes/ (in Python also a mapping of '
                f"nodes to numbers)",
                option=name,
            )


@dataclass(frozen=True, kw_only=True)
class RobustOptions(Checked):
    """What an overlay must withstand, and how many links a node can bear.

    Attributes:
        resilience: with 2, every topic of three or more stays connected if any one node fails. A topic of two
            has only its link. 1 asks for connected topics alone.
        max_links: the most links that a node may have: a number for all nodes, `column` for the column
            max_links of nodes/, where nodes without a value have no limit, or in Python a mapping of nodes to
            numbers, of which 0 means no links. If that can't be, the answer is an
            error: it says either which nodes and topics prove it, or how near the search came.
    """

    begins_anew: ClassVar[bool] = False
    """Whether a resilient overlay may be another one, and not what the algorithm built with spares."""

    is_resilient: ClassVar[bool] = False
    """Whether the algorithm itself builds what the resilience asks for, in parts."""

    resilience: int = checks.checked(1, check_resilience)
    max_links: int | str | Mapping[str, int] | None = checks.checked(None, check_max_links)

    @property
    def asks_for_more(self) -> bool:
        """Whether something is asked for that the algorithm itself does not do."""
        return (self.resilience > 1 and not self.is_resilient) or self.max_links is not None


@dataclass(frozen=True, kw_only=True)
class GmOptions(RobustOptions):
    """How Greedy Merge settles ties, what topics weigh, and the memory it may take.

    Attributes:
        ties: which of the edges with the greatest contribution is taken: the first of all pairs of nodes,
            with the nodes `shuffled` by the seed, or also sorted by the number of their topics,
            `small-first` (about half the maximum degree; 1% fewer to 2% more edges, measured) or
            `large-first`. With `load`, one overlay is built with nodes `shuffled`, one `small-first`, and one
            sorted by the messages of their topics (the column rate of topics/); that whose busiest node has
            the least expected load counts. It takes three times as long.
        weights: by topic name, a whole number of at least 0 that its components count; 1 for topics that are
            not named. A topic of weight 0 gets no edges of its own, and may end up not connected.
        keep_bounds: keep a byte for each pair of nodes; without, the same overlay takes longer.
        memory_limit: bytes that may be taken; four fifths of what is free, unless given.
    """

    begins_anew: ClassVar[bool] = True

    ties: str = checks.choice("shuffled", LOAD_TIES)
    weights: Mapping[str, int] | None = None
    keep_bounds: bool = checks.flag(True)
    memory_limit: int | None = checks.whole_number(None, 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weights and self.asks_for_more:
            raise OptionError("weights can't be combined with resilience or max_links; leave either out")
        if self.weights is not None and not isinstance(self.weights, Mapping):
            raise OptionError(
                f"the weights are {type_of(self.weights)}; give a mapping of topic to number",
                option="weights",
            )
        for topic, weight in (self.weights or {}).items():
            if not isinstance(topic, str) or not checks.is_whole(weight) or not 0 <= weight < 2**20:
                raise OptionError(f"topic {topic!r} weighs {weight!r}; give a whole number from 0 to 1048575")


_BUDGET = re.compile(r"(\d+(?:\.\d+)?)s")


def _check_budget(name: str, budget: object) -> None:
    """Refuse what is neither a whole number of steps from 1 on nor seconds above 0, such as "30s"."""
    if budget is None or (checks.is_whole(budget) and 1 <= budget < 2**31):
        return
    found = _BUDGET.fullmatch(budget) if isinstance(budget, str) else None
    if found is None or not 0 < float(found[1]) < 2**31:
        raise OptionError(
            f'the {name} is {budget!r}; give a whole number of steps from 1 on, or seconds such as "30s"',
            option=name,
        )


@dataclass(frozen=True, kw_only=True)
class DgOptions(RobustOptions):
    """How long Dual-guided Greedy searches, how it settles ties, and the memory it may take.

    Attributes:
        budget: how many steps prices are raised, or for how many seconds, such as "30s"; by default 150 to
        600
            steps, fewer the more interests there are. More steps give fewer links. Only steps give the same
            overlay each time.
        ties: as for Greedy Merge, whose overlay it begins with; `load` as well.
        memory_limit: bytes that may be taken; four fifths of what is free, unless given.
    """

    begins_anew: ClassVar[bool] = True

    budget: int | str | None = checks.checked(None, _check_budget)
    ties: str = checks.choice("shuffled", LOAD_TIES)
    memory_limit: int | None = checks.whole_number(None, 1)

    @property
    def steps(self) -> int | None:
        """The steps; None where the budget is in seconds, or not given."""
        return int(self.budget) if checks.is_whole(self.budget) else None

    @property
    def seconds(self) -> float | None:
        """The seconds; None where the budget is in steps, or not given."""
        return float(self.budget[:-1]) if isinstance(self.budget, str) else None


OBJECTIVES = ("links", "cost")


def _check_seconds(name: str, budget: object) -> None:
    """Refuse what is no number of seconds above 0, as a number or such as "30s"."""
    found = _BUDGET.fullmatch(budget) if isinstance(budget, str) else None
    seconds = float(found[1]) if found else budget
    if not checks.is_number(seconds) or not 0 < seconds < 2**31:
        raise OptionError(f'the {name} is {budget!r}; give seconds above 0, such as "30s"', option=name)


@dataclass(frozen=True, kw_only=True)
class ExactOptions(Checked):
    """For how long the optimum is looked for, and what is least.

    Attributes:
        budget: seconds, as a number or such as "30s". Once they are over, the best overlay found is given,
            and how much better another might be.
        objective: the number of `links`, or their `cost`.
    """

    budget: float | str = checks.checked("600s", _check_seconds)
    objective: str = checks.choice("links", OBJECTIVES)

    @property
    def seconds(self) -> float:
        """The budget as a number."""
        return float(self.budget[:-1]) if isinstance(self.budget, str) else float(self.budget)


def check_rho(name: str, rho: object) -> None:
    """Refuse what is no finite number of at least 1."""
    if not checks.is_number(rho) or not 1 <= rho < inf:
        raise OptionError(f"{name} is {rho!r}; give a finite number of at least 1", option=name)


@dataclass(frozen=True, kw_only=True)
class LowOdaOptions(RobustOptions):
    """How Low-ODA weighs the maximum degree against the average, how it settles ties, and its memory.

    Attributes:
        rho: from 1 on. An edge that raises the maximum degree is taken where it contributes more than rho
            times as much as the best that does not: more gives a lower maximum, and a higher average degree.
        ties: as for Greedy Merge.
        memory_limit: bytes that may be taken; four fifths of what is free, unless given.
    """

    rho: float = checks.checked(3.0, check_rho)
    ties: str = checks.choice("shuffled", TIES)
    memory_limit: int | None = checks.whole_number(None, 1)


@dataclass(frozen=True, kw_only=True)
class MergeOptions(Checked):
    """The memory that a merge may take.

    Attributes:
        keep_bounds: keep a byte for each pair of nodes that may be linked; without, the same overlay takes
            longer.
        memory_limit: bytes that may be taken; four fifths of what is free, unless given.
    """

    keep_bounds: bool = checks.flag(True)
    memory_limit: int | None = checks.whole_number(None, 1)


CRITERIA = ("pn-size", "time", "parallel-time")
PARTITIONINGS = ("random", "k-means")


def _check_one(options: object, *names: str) -> None:
    given = [name for name in names if getattr(options, name) is not None]
    if len(given) > 1:
        raise OptionError(f"{' and '.join(given)} each set the number of parts; give only one of them")


def _check_guide(guide: str, resilience: int) -> None:
    if guide != "none" and resilience > 1:
        raise OptionError("guide can't be combined with resilience; leave either out, or use dcbc-direct")


@dataclass(frozen=True, kw_only=True)
class DcOptions(RobustOptions):
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
        guide: `dual` learns on a sample what each topic pays for its links, and the greedy then counts these
            prices in all parts: fewer links where topics are unequally popular, and it takes longer.
        memory_limit: bytes that a part or a combine may take; four fifths of what is free, unless given.
    """

    is_resilient: ClassVar[bool] = True

    partitions: int | None = checks.whole_number(None, 1)
    part_size: int | None = checks.whole_number(None, 1)
    choose_by: str | None = None
    partition_by: str = checks.choice("random", PARTITIONINGS)
    ties: str = checks.choice("shuffled", TIES)
    most_stars: int = checks.whole_number(20_000, 2)
    guide: str = checks.choice("none", GUIDES)
    memory_limit: int | None = checks.whole_number(None, 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_one(self, "partitions", "part_size", "choose_by")
        _check_guide(self.guide, self.resilience)
        if self.choose_by is not None:
            elbow = ("elbow",) if self.partition_by == "k-means" else ()
            checks.check_choice("choose_by", self.choose_by, CRITERIA + elbow)

    @property
    def criterion(self) -> str:
        """What chooses the number of parts where none is given."""
        return self.choose_by or ("elbow" if self.partition_by == "k-means" else "pn-size")


@dataclass(frozen=True, kw_only=True)
class DcbcOptions(RobustOptions):
    """Which nodes are bulk, and into how many parts the lightweight ones are divided.

    Attributes:
        threshold: nodes of more topics than this are bulk, whatever their number; 0 makes all of them so.
            Unless given, it is the smallest that leaves at most `bulk_share` of the nodes and at
            most `bulk_limit` of them above it.
        bulk_share: from 0 to 1.
        bulk_limit: time grows with the number of bulk nodes times that of all nodes.
        partitions: how many parts, at most one for each lightweight node; as `dc` chooses it, unless given.
        part_size: the most lightweight nodes in a part, in place of `partitions`.
        ties: as for Greedy Merge, in the bulk set and in each part. In a part, `shuffled` and `small-first`
            prefer links between two lightweight nodes; `bulk-first`, also shuffled, and `large-first` prefer
            links to bulk nodes (shorter topic diameters, two to three times the maximum degree).
        guide: `dual` counts prices of topics in the parts, as for `dc`.
        memory_limit: bytes that a part may take; four fifths of what is free, unless given.
    """

    is_resilient: ClassVar[bool] = True

    threshold: int | None = checks.whole_number(None, 0)
    bulk_share: float = checks.fraction(0.2)
    bulk_limit: int = checks.whole_number(4000, 0)
    partitions: int | None = checks.whole_number(None, 1)
    part_size: int | None = checks.whole_number(None, 1)
    ties: str = checks.choice("shuffled", BULK_TIES)
    guide: str = checks.choice("none", GUIDES)
    memory_limit: int | None = checks.whole_number(None, 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_one(self, "partitions", "part_size")
        _check_guide(self.guide, self.resilience)


@dataclass(frozen=True, kw_only=True)
class DcbcDirectOptions(RobustOptions):
    """How many nodes are bulk, and how evenly the links are spread over them.

    Attributes:
        bulk_size: how many nodes are bulk, those with the most topics; by default a fifth of all nodes, and
            at most 2,000, or 8,000 with a guide.
        crowd: each topic gets one more bulk subscriber for this many subscribers, up to 128; if the nodes
            with the most topics don't suffice, others are added to the bulk set.
        slack: a bulk node with fewer links is taken when it covers fewer topics than the best by at most
            this fraction, at least 0 and under 1. 0.15 gives 2 to 4% more links, and a maximum degree that is
            lower by a quarter to a half (measured).
        guide: `dual` searches for covers shorter than the greedy ones, led by what each topic pays for its
            links on a sample: at least 8% fewer links at a million nodes, and it takes longer.
        memory_limit: bytes that Greedy Merge on the bulk set may take; by default four fifths of the free
            memory.
    """

    is_resilient: ClassVar[bool] = True

    bulk_size: int | None = checks.whole_number(None, 1)
    crowd: int = checks.whole_number(1000, 1)
    slack: float = checks.fraction(0.0, below_one=True)
    guide: str = checks.choice("none", GUIDES)
    memory_limit: int | None = checks.whole_number(None, 1)


@dataclass(frozen=True, kw_only=True)
class TrMawOptions(RobustOptions):
    """How trees settle ties.

    Attributes:
        ties: which of the pairs with the least cost is taken: the first of all pairs of nodes, with the nodes
            `shuffled` by the seed, or also sorted by the number of their topics, `small-first` or
            `large-first`. All topics have the same order.
    """

    ties: str = checks.choice("shuffled", TIES)


@dataclass(frozen=True, kw_only=True)
class GrMawOptions(RobustOptions):
    """How the greedy by cost settles ties, and the memory it may take.

    Attributes:
        ties: which of the edges with the least cost per contribution is taken, as for Greedy Merge: the first
            of all pairs of nodes, with the nodes `shuffled` by the seed, or also sorted by the number of
            their topics, `small-first` or `large-first`.
        memory_limit: bytes that may be taken; four fifths of what is free, unless given.
    """

    ties: str = checks.choice("shuffled", TIES)
    memory_limit: int | None = checks.whole_number(None, 1)


@dataclass(frozen=True, kw_only=True)
class PdMawOptions(GrMawOptions):
    """How the primal-dual algorithm settles ties, and the memory it may take.

    Attributes:
        ties: which of the edges that become tight first is taken, as for `gr-maw`.
        memory_limit: bytes that may be taken; four fifths of what is free, unless given.
    """


@dataclass(frozen=True, kw_only=True)
class DgMawOptions(DgOptions):
    """How long Dual-guided Greedy by cost searches, how it settles ties, and the memory it may take.

    Attributes:
        budget: as for Dual-guided Greedy; more steps give cheaper links.
        ties: as for `gr-maw`, whose overlay it begins with.
        memory_limit: bytes that may be taken; four fifths of what is free, unless given.
    """

    begins_anew: ClassVar[bool] = False


DIVISIONS = ("k-means", "landmarks", "sites")


@dataclass(frozen=True, kw_only=True)
class DcMawOptions(RobustOptions):
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

    divide_by: str = checks.choice("k-means", DIVISIONS)
    partitions: int | None = checks.whole_number(None, 1)
    part_size: int | None = checks.whole_number(None, 1)
    landmarks: int = checks.whole_number(6, 1)
    cost_levels: int = checks.whole_number(3, 1)
    least_bin: int = checks.whole_number(10, 1)
    ties: str = checks.choice("shuffled", TIES)
    most_stars: int = checks.whole_number(20_000, 2)
    memory_limit: int | None = checks.whole_number(None, 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_one(self, "partitions", "part_size")
        if self.divide_by != "k-means" and (self.partitions or self.part_size):
            raise OptionError("partitions and part_size apply only to divide_by=k-means; leave them out")
