"""How an overlay is maintained."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from meshwright.construct.options import check_rho
from meshwright.runtime.checks import check_choice, check_flag, check_whole
from meshwright.runtime.errors import OptionError

POLICIES = ("shadow", "naive", "rebuild")
BACKUPS = ("primal-dual", "greedy")
DEGREES = ("overlay", "shadows")
STARTS = ("repair", "refuse")
TIES = ("few-links", "shuffled")


@dataclass(frozen=True, kw_only=True)
class MaintainOptions:
    """How an overlay is maintained.

    Attributes:
        policy: what a repair may link: a `shadow` set of a few nodes, or any nodes (`naive`); or the overlay
            is built again by Low-ODA each time (`rebuild`).
        backups: how the backups of a node are chosen, by `primal-dual` or `greedy`; for `shadow`.
        coverage: how many times the backups of a node cover its topics (the paper's lambda).
        rho: as for Low-ODA.
        degree_of: whose maximum degree a repair minds, that of the whole `overlay`, or of the `shadows`,
            which it may link.
        ties: which of the links that the rule allows a repair takes: that of nodes with `few-links` (a lower
            maximum degree), or any, `shuffled`. The paper says nothing of ties.
        disconnected: what to do with an overlay that is not topic-connected: `repair` it first, or `refuse`.
        weigh_primaries: whether the weight of a backup counts those that it is a backup of, beside its links.
        remember: how many of the last events' ids are known, so that one that comes again is passed over.
    """

    policy: str = "shadow"
    backups: str = "primal-dual"
    coverage: int = 3
    rho: float = 3.0
    degree_of: str = "overlay"
    ties: str = "few-links"
    disconnected: str = "repair"
    weigh_primaries: bool = True
    remember: int = 1_000_000

    def __post_init__(self) -> None:
        check_choice("policy", self.policy, POLICIES)
        check_choice("backups", self.backups, BACKUPS)
        check_choice("degree_of", self.degree_of, DEGREES)
        check_choice("ties", self.ties, TIES)
        check_choice("disconnected", self.disconnected, STARTS)
        check_whole("coverage", self.coverage, 1, 2**31 - 1, required=True)
        check_whole("remember", self.remember, 0, required=True)
        check_rho(self.rho)
        check_flag("weigh_primaries", self.weigh_primaries)


class RepairSettings(NamedTuple):
    """What every step of a maintainer goes by; the random state moves on with each."""

    options: MaintainOptions
    seed: int
    rng: np.random.Generator


def make_options(values: Mapping[str, Any]) -> MaintainOptions:
    """The options, checked; an unknown name is refused with those that exist."""
    known = [field.name for field in fields(MaintainOptions)]
    for name in values:
        if name not in known:
            raise OptionError(f"there is no option {name!r}; choose among {', '.join(known)}", option=name)
    return MaintainOptions(**values)
