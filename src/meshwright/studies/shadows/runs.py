"""Runs: overlays that the studies of [3] keep under churn, and what is noted of every round.

Everything is kept by run, since several claims look at the same one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from meshwright import workloads
from meshwright.building import build
from meshwright.maintain.maintainer import Maintainer
from meshwright.maintain.options import ALL
from meshwright.maintain.repairs import Repair
from meshwright.model.events import Event
from meshwright.model.overlay import Overlay
from meshwright.runtime.arrays import Floats
from meshwright.studies.laws import LAWS
from meshwright.studies.timing import settled


@dataclass(frozen=True, kw_only=True)
class ChurnSetting:
    """The sizes of a study, those of [3], VI, unless given.

    Attributes:
        law: of the popularity of topics.
        nodes: at the beginning.
        topics: how many there are.
        least: topics of a node.
        most: topics of a node; sizes between follow a power law.
        size_exponent: of that law. [3] states none; 2.0 is the only exponent that it states anywhere, that of
            its Zipf law, so it is the one that counts.
        rounds: in each a node joins or one leaves.
        span: rounds in which Low-ODA is run `rebuilt` times, at their end, one after the other; in the
            others it would say the same and take hours.
        rebuilt: see `span`.
    """

    law: str = "unif"
    nodes: int = 2_000
    topics: int = 200
    least: int = 10
    most: int = 90
    size_exponent: float = 2.0
    rounds: int = 1_000
    span: int = 50
    rebuilt: int = 5


class Way(NamedTuple):
    """How an overlay is maintained; [3] does not say how ties are settled, so any may be taken."""

    policy: str = "shadow"
    backups: str = "primal-dual"
    coverage: int = 3
    candidates: int = ALL
    keep_backups: bool = True
    degree_of: str = "overlay"
    weigh_primaries: bool = True
    ties: str = "shuffled"


class OtherWay(NamedTuple):
    """Another way that may explain a difference: how it is called, and in which words."""

    suffix: str
    hypothesis: str
    way: Way


MORE_COVERS = OtherWay(
    "more-covers",
    "Backups cover every topic five times, which gives sets of 2.8% of the nodes.",
    Way(coverage=5),
)
FEW_LINKS = OtherWay(
    "few-links", "Of equal links, those between nodes of few links are taken.", Way(ties="few-links")
)
OF_SHADOWS = OtherWay(
    "of-shadows", "A repair minds the maximum degree of the shadow set alone.", Way(degree_of="shadows")
)
BY_LINKS = OtherWay(
    "by-links",
    "Algorithm 11 weighs a backup by its links alone.",
    Way(backups="greedy", weigh_primaries=False),
)
COVER = OtherWay(
    "cover",
    "Algorithm 11 takes whoever covers the most topics, whatever it weighs.",
    Way(backups="greedy-cover"),
)


@dataclass(frozen=True, kw_only=True)
class Run:
    """What came of the rounds, a number for each.

    Attributes:
        rounds: their numbers, from 1 on.
        joins: whether a node joined; else one left.
        changes: links opened and closed, those of the node that left included.
        ratios: the same over the links before.
        topics: how many the node has that joined or left.
        shadow_sizes: nodes that the repair looked at.
        shadows: the same over all nodes.
        seconds: of Step II.
        maximum: the most links of a node afterwards.
        average: links per node afterwards.
    """

    rounds: Floats
    joins: npt.NDArray[np.bool_]
    changes: Floats
    ratios: Floats
    topics: Floats
    shadow_sizes: Floats
    shadows: Floats
    seconds: Floats
    maximum: Floats
    average: Floats


@cache
def base(setting: ChurnSetting, seed: int) -> Overlay:
    """The overlay at the beginning."""
    interests = LAWS[setting.law](
        setting.nodes,
        setting.topics,
        min_subscriptions=setting.least,
        max_subscriptions=setting.most,
        size_exponent=setting.size_exponent,
        seed=seed,
    )
    return build(interests, "low-oda", seed=seed)


@cache
def start(setting: ChurnSetting, way: Way, seed: int) -> Maintainer:
    """A maintainer at the beginning, which nobody may change."""
    return Maintainer(base(setting, seed), seed=seed, **way._asdict())


@cache
def run(setting: ChurnSetting, way: Way, seed: int) -> Run:
    """All rounds, one by one."""
    kept, events = start(setting, way, seed).snapshot(), _events(setting, seed)
    sizes = _sizes(setting, seed)

    def rounds(count: int) -> Run:
        live = Maintainer.restore(kept)
        return _noted(((event, live.apply([event])) for event in events[:count]), sizes)

    settled(lambda: rounds(_FIRST))
    return rounds(len(events))


_FIRST = 20
"""So many rounds are done before, so that times of the others are not those of compiling."""


@cache
def rebuilds(setting: ChurnSetting, seed: int, rho: float = 3.0) -> Run:
    """Those rounds in which Low-ODA is run: the last few of every span."""
    live = Maintainer(base(setting, seed), "rebuild", seed=seed, rho=rho)
    events = _events(setting, seed)

    def rounds() -> Iterator[tuple[Event, Repair]]:
        for begin in range(0, setting.rounds, setting.span):
            own = events[begin : begin + setting.span]
            live.apply(own[: -setting.rebuilt])
            for event in own[-setting.rebuilt :]:
                yield event, live.apply([event])

    return _noted(rounds(), _sizes(setting, seed))


def _events(setting: ChurnSetting, seed: int) -> list[Event]:
    return workloads.churn(base(setting, seed).interests, setting.rounds, seed=seed)


def _sizes(setting: ChurnSetting, seed: int) -> dict[str, int]:
    """By node, how many topics it has; of those that join, too."""
    interests = base(setting, seed).interests
    sizes = dict(zip(interests.nodes.to_pylist(), np.diff(interests.indptr).tolist(), strict=True))
    return sizes | {event.node: len(event.topics) for event in _events(setting, seed) if event.topics}


def _noted(rounds: Iterator[tuple[Event, Repair]], sizes: Mapping[str, int]) -> Run:
    rows = np.array([(*_row(event, repair), sizes[event.node]) for event, repair in rounds], np.float64)
    at, joins, opened, closed, links, shadows, nodes, seconds, maximum, topics = rows.T
    changes = opened + closed
    return Run(
        rounds=at,
        joins=joins > 0,
        changes=changes,
        ratios=changes / (links - opened + closed),
        topics=topics,
        shadow_sizes=shadows,
        shadows=shadows / nodes,
        seconds=seconds,
        maximum=maximum,
        average=2 * links / nodes,
    )


def _row(event: Event, repair: Repair) -> tuple[float, ...]:
    return (
        event.at,
        event.event == "join",
        len(repair.added),
        len(repair.removed),
        repair.links,
        repair.shadows,
        repair.nodes,
        repair.repair_seconds,
        repair.maximum_degree,
    )


class Burdens(NamedTuple):
    """How many backups each node has at the beginning, and of how many it is one."""

    backups: Floats
    primaries: Floats


@cache
def burdens(setting: ChurnSetting, way: Way, seed: int) -> Burdens:
    """Step I of [3], before any churn."""
    live = start(setting, way, seed)
    names = base(setting, seed).interests.nodes.to_pylist()
    return Burdens(
        np.array([len(live.backups_of(name)) for name in names], np.float64),
        np.array([len(live.primaries_of(name)) for name in names], np.float64),
    )
