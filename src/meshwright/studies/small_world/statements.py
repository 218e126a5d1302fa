"""What [4] states of its figures 2 and 3, and how each statement is measured.

The sweeps are those of [4], 5.2 and 5.3: NSMF on Chord, RandomSW and GrSwico over nodes or topics.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from statistics import fmean
from typing import Any, NamedTuple

from meshwright import workloads
from meshwright.building import build
from meshwright.metrics.evaluation import evaluate
from meshwright.routing.api import route
from meshwright.studies.claims import Expected, about, at_least, at_most

OVERLAYS = {"Chord": "chord", "RandomSW": "random-sw", "GrSwico": "gr-swico"}
"""By the paper's names."""

TOPICS, NODES, SUBSCRIPTIONS = 2_000, 1_023, 20


class Sizes(NamedTuple):
    """The sizes of a study.

    Attributes:
        node_steps: the points of Fig. 2; [4] states where sweeps begin and end, not how many points they
            have.
        topic_steps: the points of Fig. 3.
        topics: where the nodes grow.
        nodes: where the topics grow.
        publications: on every overlay.
    """

    node_steps: tuple[int, ...] = tuple(range(1_000, 10_001, 1_000))
    topic_steps: tuple[int, ...] = tuple(range(1_000, 10_001, 1_000))
    topics: int = TOPICS
    nodes: int = NODES
    publications: int = 10_000


SIZES = {
    "smoke": Sizes((40, 80), (40, 80), 60, 63, 50),
    "quick": Sizes(node_steps=(1_000, 4_000, 7_000, 10_000)),
    "paper": Sizes(),
}
"""By scale."""


class SweepSetting(NamedTuple):
    """What [4] leaves open.

    Whether the phase that the ring cuts short has a finger, where nodes are no power of two; whether the node
    at the other end of a finger may use the link too; which of the nodes with the greatest contribution
    GrSwico takes; and which when none contributes.
    """

    whole_phases: bool
    both_ways: bool
    ties: str
    fill: str


TO_THE_LETTER = SweepSetting(whole_phases=False, both_ways=False, ties="random", fill="random")
"""Property 1 and Protocol 3 as they stand, with no preference among equals."""

FITTED = SweepSetting(whole_phases=True, both_ways=True, ties="farthest", fill="first")
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
def measure_overlay(
    label: str, nodes: int, topics: int, setting: SweepSetting, seed: int, count: int
) -> Found:
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


def measure_point(nodes: int, topics: int, setting: SweepSetting, seed: int, count: int) -> Point:
    """All overlays of the same interests, with the same publications."""
    return {label: measure_overlay(label, nodes, topics, setting, seed, count) for label in OVERLAYS}


Value = Callable[[list[Point]], float]


class Sweep(NamedTuple):
    """What grows, and whether only the largest system is looked at."""

    grows: str
    last: bool = False

    def steps(self, sizes: Sizes) -> tuple[int, ...]:
        """The numbers of what grows."""
        every = sizes.node_steps if self.grows == "nodes" else sizes.topic_steps
        return every[-1:] if self.last else every

    def points(self, sizes: Sizes) -> list[tuple[int, int]]:
        """Nodes and topics of every point."""
        steps = self.steps(sizes)
        return [(step, sizes.topics) if self.grows == "nodes" else (sizes.nodes, step) for step in steps]

    def where(self, sizes: Sizes) -> str:
        """The points in words."""
        many = ", ".join(f"{step:,}" for step in self.steps(sizes))
        if self.grows == "nodes":
            return f"{sizes.topics:,} topics and {many} nodes"
        return f"{sizes.nodes:,} nodes and {many} topics"


_OVER_NODES, _OVER_TOPICS = Sweep("nodes"), Sweep("topics")
_MOST_NODES, _MOST_TOPICS = Sweep("nodes", last=True), Sweep("topics", last=True)


def _more_forwards(name: str) -> Value:
    """Mean over the points of how many more pure forwards there are than on GrSwico, as a share of these."""
    return lambda points: fmean(at[name].forwards / at["GrSwico"].forwards for at in points) - 1


def _mean(measure: str, *names: str) -> Value:
    """Mean over the points, the least of several overlays."""
    return lambda points: min(fmean(getattr(at[name], measure) for at in points) for name in names)


def _times_gr_swico(points: list[Point]) -> float:
    return _mean("path", "Chord", "RandomSW")(points) / _mean("path", "GrSwico")(points)


def _share_of_rises(points: list[Point]) -> float:
    """Share of the steps from one point to the next at which the support of GrSwico rises."""
    return fmean(after["GrSwico"].support > before["GrSwico"].support for before, after in pairwise(points))


def _rise_of_overhead(points: list[Point]) -> float:
    return _more_forwards("Chord")(points[-1:]) / _more_forwards("Chord")(points[:1])


def _rise_of_gap(points: list[Point]) -> float:
    first, last = (at["Chord"].path - at["GrSwico"].path for at in (points[0], points[-1]))
    return last / first


_near = partial(about, tolerance=0.1)


class Statement(NamedTuple):
    """What the text says of a figure, and how to measure it."""

    name: str
    source: str
    statement: str
    expected: Expected
    sweep: Sweep
    value: Value
    measured: str


def _overheads() -> Iterator[Statement]:
    stated = (
        ("2a", _OVER_NODES, {"Chord": 0.32, "RandomSW": 0.29}),
        ("3a", _OVER_TOPICS, {"Chord": 0.371, "RandomSW": 0.335}),
        ("3a-most", _MOST_TOPICS, {"Chord": 0.445, "RandomSW": 0.393}),
    )
    for figure, sweep, expected in stated:
        for name, more in expected.items():
            yield Statement(
                name=f"{figure}-{name}",
                source=f"[4], Fig. {figure[0]}(a)",
                statement=f"{name} exerts {more:.1%} more pure forwards than GrSwico.",
                expected=_near(more),
                sweep=sweep,
                value=_more_forwards(name),
                measured="Pure forwards over those on GrSwico, less 1",
            )


HOPS = {"GrSwico": 24.7, "Chord": 112.0, "RandomSW": 107.0}
"""The paper's path lengths at 10,000 nodes."""


def _paths() -> Iterator[Statement]:
    for name, hops in HOPS.items():
        yield Statement(
            name=f"2b-{name}",
            source="[4], 5.2 and Fig. 2(b)",
            statement=f"At 10,000 nodes the average path length on {name} is {hops:g}.",
            expected=_near(hops),
            sweep=_MOST_NODES,
            value=_mean("path", name),
            measured="Hops from the issuer on, over all deliveries",
        )


def _stated(name: str, statement: str, expected: Expected, value: Value, measured: str = "Mean") -> Statement:
    """What the text says of a whole figure, such as 2b, over nodes in Fig. 2 and over topics in Fig. 3."""
    source = f"[4], 5.{name[0]} and Fig. {name[0]}({name[1]})"
    sweep = _OVER_NODES if name[0] == "2" else _OVER_TOPICS
    return Statement(name, source, statement, expected, sweep, value, measured)


STATEMENTS = (
    *_overheads(),
    *_paths(),
    _stated(
        "2b-ratio",
        "The path lengths on Chord and RandomSW are over 3.3 times that on GrSwico, on average.",
        at_least(3.3),
        _times_gr_swico,
        "The lesser of the two means over that of GrSwico",
    ),
    _stated(
        "2c-GrSwico",
        "The TCO support ratio of GrSwico is 75.3% on average.",
        _near(0.753),
        _mean("support", "GrSwico"),
    ),
    _stated(
        "2c-others",
        "The TCO support ratios of Chord and RandomSW are around 11.6%, on average.",
        _near(0.116),
        _mean("support", "Chord", "RandomSW"),
        "The lesser of the two means",
    ),
    _stated(
        "2c-rise",
        "The TCO support ratio of GrSwico increases with the number of nodes.",
        at_least(1.0),
        _share_of_rises,
        "Share of the steps from one number to the next at which it does",
    ),
    _stated(
        "3a-rise",
        "The advantage over Chord increases with the number of topics.",
        at_least(1.0),
        _rise_of_overhead,
        "The share of more pure forwards, at the most topics over that at the fewest",
    ),
    _stated(
        "3b-GrSwico",
        "The average path length on GrSwico is 7.8 hops, on average.",
        _near(7.8),
        _mean("path", "GrSwico"),
    ),
    _stated(
        "3b-others",
        "Those on Chord and RandomSW are over 13 hops, on average.",
        at_least(13.0),
        _mean("path", "Chord", "RandomSW"),
        "The lesser of the two means",
    ),
    _stated(
        "3b-gap",
        "The gap between GrSwico and the others shrinks as the number of topics increases.",
        at_most(1.0),
        _rise_of_gap,
        "Hops on Chord less those on GrSwico, at the most topics over those at the fewest",
    ),
    _stated(
        "3c-GrSwico",
        "The TCO support ratio of GrSwico is up to 44% on average.",
        _near(0.44),
        _mean("support", "GrSwico"),
    ),
    _stated(
        "3c-others",
        "The TCO support ratios of Chord and RandomSW are around 6%, on average.",
        _near(0.06),
        _mean("support", "Chord", "RandomSW"),
        "The lesser of the two means",
    ),
)
"""What the text states of its figures, which show more than it tells."""
