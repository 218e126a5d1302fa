"""The options of a maintainer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from meshwright.construct.options import check_max_links, check_resilience, check_rho
from meshwright.maintain.prices import Prices
from meshwright.runtime.checks import Checked, checked, choice, flag, whole_number
from meshwright.runtime.errors import OptionError

POLICIES = ("shadow", "naive", "rebuild")
BACKUPS = ("primal-dual", "greedy", "greedy-cover")
DEGREES = ("overlay", "shadows")
STARTS = ("repair", "refuse")
TIES = ("few-links", "shuffled")
ALL = 2**31 - 1
"""Candidates without a limit."""


@dataclass(frozen=True, kw_only=True)
class MaintainOptions(Checked):
    """How an overlay is maintained.

    Attributes:
        policy: what a repair may link: a `shadow` set of a few nodes, or any nodes (`naive`); or the overlay
            is built again by Low-ODA each time (`rebuild`).
        backups: how the backups of a node are chosen, by `primal-dual` or `greedy`, or, whatever they weigh,
            as few as a greedy finds (`greedy-cover`: few nodes of many topics back up all others); for
            `shadow`.
        coverage: how many times the backups of a node cover its topics when they are chosen (lambda in the
            paper); those that are kept fall behind as nodes join.
        candidates: how many subscribers of a topic are considered as backups by `primal-dual`, drawn at
            random where there are more. The paper considers all of them, in a time that grows with the
            overlay; a number as large as the overlay does the same.
        keep_backups: whether the backups of all nodes are chosen at the start, kept, and chosen again when
            one of them leaves, as in the paper. Otherwise a repair chooses those that it needs, which takes a
            small part of the time and memory, and gives about the same degrees.
        rho: as for Low-ODA.
        degree_of: which maximum degree a repair considers: that of the whole `overlay`, or of the `shadows`,
            the nodes that it may link.
        ties: which of several equally good links a repair takes: one between nodes with `few-links` (this
            keeps the maximum degree lower), or any (`shuffled`). The paper does not define this.
        disconnected: what to do with an overlay that is not topic-connected: `repair` it first, or `refuse`.
        weigh_primaries: whether the weight of a backup includes the nodes that it backs up, beside its links;
            with `keep_backups`.
        resilience: with 2, every topic of three or more stays connected if any one node fails: repairs also
            restore the spare links. `Repair.unprotected` names the topics where there are none.
        max_links: how many links a node may have: a number for all, `column` for the column max_links of
            nodes/, or numbers by node; nodes without one, and nodes that join later, have no limit. A repair
            exceeds it only where a topic would stay cut otherwise, and for spares never;
            `Repair.over_max_links` names the nodes that have more.
        reoptimise: how many links may be changed for each event, beyond its repair, to keep the degrees low;
            0 for none. What is not used is saved for later events, up to 100 links. Repairs then link nodes
            that share many topics, and avoid busy ones; for `shadow`.
        reoptimise_a_minute: the most links that are changed so in a minute, by the times of the events, which
            are seconds; 0 for no limit.
        remember: how many ids of the last events are remembered; an event with a known id is passed over.
    """

    policy: str = choice("shadow", POLICIES)
    backups: str = choice("primal-dual", BACKUPS)
    coverage: int = whole_number(3, 1, 2**31 - 1)
    candidates: int = whole_number(256, 1, ALL)
    keep_backups: bool = flag(False)
    rho: float = checked(3.0, check_rho)
    degree_of: str = choice("overlay", DEGREES)
    ties: str = choice("few-links", TIES)
    disconnected: str = choice("repair", STARTS)
    weigh_primaries: bool = flag(True)
    resilience: int = checked(1, check_resilience)
    max_links: int | str | Mapping[str, int] | None = checked(None, check_max_links)
    reoptimise: int = whole_number(0, 0, 2**31 - 1)
    reoptimise_a_minute: int = whole_number(0, 0, 2**31 - 1)
    remember: int = whole_number(1_000_000, 0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reoptimise and (self.resilience > 1 or self.max_links is not None):
            raise OptionError(
                "reoptimise knows neither resilience nor max_links, and would remove spare links; "
                "leave out one of them",
                option="reoptimise",
            )
        if self.policy == "rebuild" and (self.resilience > 1 or self.max_links is not None):
            raise OptionError(
                "the policy rebuild knows neither resilience nor max_links; use shadow or naive",
                option="policy",
            )


class RepairSettings(NamedTuple):
    """What every repair depends on: the options, the random state, which it may advance, and the costs."""

    options: MaintainOptions
    seed: int
    rng: np.random.Generator
    prices: Prices | None = None
