"""The sweeps of [4], 5.2 and 5.3: NSMF on Chord, RandomSW and GrSwico over nodes or topics.

[4] Chen, Tock: Design of Routing Protocols and Overlay Topologies for Topic-based Publish/Subscribe on
Small-World Networks, Middleware Industry 2015.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from meshwright import workloads
from meshwright.evaluate import evaluate
from meshwright.registry import build
from meshwright.route import route

OVERLAYS = {"Chord": "chord", "RandomSW": "random-sw", "GrSwico": "gr-swico"}
"""By the paper's names."""

TOPICS, NODES, SUBSCRIPTIONS = 2_000, 1_023, 20
STEPS = tuple(range(1_000, 10_001, 1_000))
"""Of nodes and of topics; [4] states where sweeps begin and end, not how many points they have."""


class Setting(NamedTuple):
    """What [4] leaves open.

    Whether the phase that the ring cuts short has a finger, where nodes are no power of two; whether the node
    at the other end of a finger may use the link too; which of the nodes with the greatest contribution
    GrSwico takes; and which when none contributes.
    """

    whole_phases: bool
    both_ways: bool
    ties: str
    fill: str


TO_THE_LETTER = Setting(whole_phases=False, both_ways=False, ties="random", fill="random")
"""Property 1 and Protocol 3 as they stand, with no preference among equals."""

FITTED = Setting(whole_phases=True, both_ways=True, ties="farthest", fill="first")
"""What comes nearest to the numbers of [4]: chosen after seeing what each choice gives."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """What NSMF takes on one overlay: pure forwards a publication, hops; and the TCO support ratio."""

    forwards: float
    path: float
    support: float


Point = Mapping[str, Found]
"""By overlay."""


@cache
def measure_overlay(label: str, nodes: int, topics: int, setting: Setting, seed: int, count: int) -> Found:
    """NSMF with `count` publications on one overlay at one point of a sweep."""
    options: dict[str, Any] = {"ties": setting.ties, "fill": setting.fill} if label == "GrSwico" else {}
    interests = workloads.unif(nodes, topics, subscriptions=SUBSCRIPTIONS, seed=seed)
    overlay = build(interests, OVERLAYS[label], seed=seed, whole_phases=setting.whole_phases, **options)
    found = route(overlay, "nsmf", count, both_ways=setting.both_ways, seed=seed)
    return Found(
        forwards=found.pure_forwards / count,
        path=found.average_path_length or 0.0,
        support=evaluate(overlay, diameters=False, bound=False).tco_support_ratio,
    )


def measure_point(nodes: int, topics: int, setting: Setting, seed: int, count: int) -> Point:
    """All overlays of the same interests, with the same publications."""
    return {label: measure_overlay(label, nodes, topics, setting, seed, count) for label in OVERLAYS}
