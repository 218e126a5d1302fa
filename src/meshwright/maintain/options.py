"""The options of a maintainer."""

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
        coverage: how many times the backups of a node cover its topics (lambda in the paper).
        rho: as for Low-ODA.
        degree_of: which maximum degree a repair considers: that of the whole `overlay`, or of the `shadows`,
            the nodes that it may link.
        ties: which of several equally good links a repair takes: one between nodes with `few-links` (this
            keeps the maximum degree lower), or any (`shuffled`). The paper does not define this.
        disconnected: what to do with an overlay that is not topic-connected: `repair` it first, or `refuse`.
        weigh_primaries: whether the weight of a backup includes the nodes that it backs up, beside its links.
        remember: how many ids of the last events are remembered; an event with a known id is passed over.
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
    """The options and random state that every repair depends on; each repair may advance the random state."""

    options: MaintainOptions
    seed: int
    rng: np.random.Generator


def make_options(values: Mapping[str, Any]) -> MaintainOptions:
    """Check options; the error for an unknown name lists those that exist."""
    known = [field.name for field in fields(MaintainOptions)]
    for name in values:
        if name not in known:
            raise OptionError(f"there is no option {name!r}; choose among {', '.join(known)}", option=name)
    return MaintainOptions(**values)
