"""What [4] states of its figures 2 and 3, and how each statement is measured.

The sweeps are those of [4], 5.2 and 5.3: NSMF on Chord, RandomSW and GrSwico over nodes or topics.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from statistics import fmean, median
from typing import Any, NamedTuple

from meshwright import workloads
from meshwright.building import build
from meshwright.metrics.evaluation import evaluate
from meshwright.routing.api import route
from meshwright.studies.claims import FALLS, RISES, Expected, about, at_least, trend
from meshwright.studies.tolerances import NUMBER

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


READINGS: Mapping[str, tuple[str, SweepSetting]] = {
    "whole-phases": (
        "There is no finger in the phase that the ring cuts short.",
        TO_THE_LETTER._replace(whole_phases=True),
    ),
    "both-ways": (
        "A finger serves both of its ends, as links of an undirected graph do.",
        TO_THE_LETTER._replace(both_ways=True),
    ),
    "farthest": (
        "Of equals, GrSwico takes the farthest, and the first where none contributes.",
        TO_THE_LETTER._replace(ties="farthest", fill="first"),
    ),
    "fitted": ("All three at once, which comes nearest to the numbers of [4].", FITTED),
}
"""One choice after another changed, and then all."""

ALL_READINGS = tuple(READINGS)
_OF_ALL_PATHS = ("whole-phases", "both-ways", "fitted")
"""Which change paths on Chord and RandomSW: these have no choice among equals."""
_OF_GR_SWICOS_SUPPORT = ("whole-phases", "farthest", "fitted")
"""Which change the support of GrSwico: it is a matter of links, whoever may use them."""
_OF_ALL_SUPPORT = ("whole-phases",)
"""Which change the support of Chord and RandomSW."""


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


_OTHERS = ("Chord", "RandomSW")


def _times_gr_swico(points: list[Point]) -> float:
    """Mean over the points of how many times the hops on GrSwico there are, the lesser of the others."""
    return min(fmean(at[name].path / at["GrSwico"].path for at in points) for name in _OTHERS)


def _means_over_gr_swicos(points: list[Point]) -> float:
    return _mean("path", *_OTHERS)(points) / _mean("path", "GrSwico")(points)


def _share_of_rises(points: list[Point]) -> float:
    """Share of the steps from one point to the next at which the support of GrSwico rises."""
    return fmean(after["GrSwico"].support > before["GrSwico"].support for before, after in pairwise(points))


def _trend_of_overhead(points: list[Point]) -> float:
    """The lesser of the two trends."""
    return min(trend([_more_forwards(name)([at]) for at in points]) for name in _OTHERS)


def _trend_of_gap(points: list[Point]) -> float:
    """The greater of the two trends."""
    return max(trend([at[name].path - at["GrSwico"].path for at in points]) for name in _OTHERS)


class Otherwise(NamedTuple):
    """Another way to measure a statement, to the letter: how it is called, in which words, and the value."""

    suffix: str
    words: str
    value: Value


class Statement(NamedTuple):
    """What the text says of a figure, and how to measure it.

    Attributes:
        name: of the statement, after its figure.
        source: where the paper has it.
        statement: in words.
        expected: the number.
        sweep: the systems.
        value: what is measured over them.
        measured: that in words.
        readings: of what [4] leaves open, those that can change the value.
        otherwise: other values that may be meant.
    """

    name: str
    source: str
    statement: str
    expected: Expected
    sweep: Sweep
    value: Value
    measured: str
    readings: tuple[str, ...] = ALL_READINGS
    otherwise: tuple[Otherwise, ...] = ()


def _overheads() -> Iterator[Statement]:
    stated = (
        ("2a", _OVER_NODES, ", on average", {"Chord": 0.32, "RandomSW": 0.29}),
        ("3a", _OVER_TOPICS, ", on average", {"Chord": 0.371, "RandomSW": 0.335}),
        ("3a-most", _MOST_TOPICS, " at 10,000 topics", {"Chord": 0.445, "RandomSW": 0.393}),
    )
    for figure, sweep, where, expected in stated:
        for name, more in expected.items():
            yield Statement(
                name=f"{figure}-{name}",
                source=f"[4], Fig. {figure[0]}(a)",
                statement=f"{name} exerts {more:.1%} more pure forwards than GrSwico{where}.",
                expected=about(more, NUMBER),
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
            expected=about(hops, NUMBER),
            sweep=_MOST_NODES,
            value=_mean("path", name),
            measured="Hops from the issuer on, over all deliveries",
            readings=ALL_READINGS if name == "GrSwico" else _OF_ALL_PATHS,
        )


def _stated(
    name: str,
    statement: str,
    expected: Expected,
    value: Value,
    measured: str = "Mean",
    readings: tuple[str, ...] = ALL_READINGS,
    otherwise: tuple[Otherwise, ...] = (),
) -> Statement:
    """What the text says of a whole figure, such as 2b, over nodes in Fig. 2 and over topics in Fig. 3."""
    source = f"[4], 5.{name[0]} and Fig. {name[0]}({name[1]})"
    sweep = _OVER_NODES if name[0] == "2" else _OVER_TOPICS
    return Statement(name, source, statement, expected, sweep, value, measured, readings, otherwise)


def _median_of(grows: str, name: str) -> Otherwise:
    return Otherwise(
        "median",
        f"The median over the {grows} is meant, which single ones do not raise.",
        lambda points: median(at[name].support for at in points),
    )


def _other_means(name: str) -> tuple[Otherwise, ...]:
    """Other means of a support ratio over the topics."""
    return (
        Otherwise(
            "more-topics",
            "The mean leaves out the fewest topics, at which the ratio is highest.",
            lambda points: _mean("support", name)(points[1:]),
        ),
        _median_of("topics", name),
    )


STATEMENTS = (
    *_overheads(),
    *_paths(),
    _stated(
        "2b-ratio",
        "The path lengths on Chord and RandomSW are over 3.3 times that on GrSwico, on average.",
        at_least(3.3),
        _times_gr_swico,
        "Hops over those on GrSwico, mean over the nodes, the lesser of the two",
        otherwise=(
            Otherwise(
                "ratio-of-means",
                "The ratio of the means over the nodes is meant, which the longest paths raise.",
                _means_over_gr_swicos,
            ),
        ),
    ),
    _stated(
        "2c-GrSwico",
        "The TCO support ratio of GrSwico is 75.3% on average.",
        about(0.753, NUMBER),
        _mean("support", "GrSwico"),
        readings=_OF_GR_SWICOS_SUPPORT,
    ),
    *(
        _stated(
            f"2c-{name}",
            f"The TCO support ratio of {name} is around 11.6%, on average.",
            about(0.116, NUMBER),
            _mean("support", name),
            readings=_OF_ALL_SUPPORT,
            otherwise=(_median_of("nodes", name),),
        )
        for name in _OTHERS
    ),
    _stated(
        "2c-rise",
        "The TCO support ratio of GrSwico increases with the number of nodes.",
        at_least(1.0),
        _share_of_rises,
        "Share of the steps from one number to the next at which it does",
        _OF_GR_SWICOS_SUPPORT,
    ),
    _stated(
        "3a-rise",
        "The advantage over Chord and RandomSW increases with the number of topics.",
        RISES,
        _trend_of_overhead,
        "Trend (Kendall's tau-a) of the share of more pure forwards over the topics, the lesser of the two",
    ),
    _stated(
        "3b-GrSwico",
        "The average path length on GrSwico is 7.8 hops, on average.",
        about(7.8, NUMBER),
        _mean("path", "GrSwico"),
    ),
    _stated(
        "3b-others",
        "Those on Chord and RandomSW are over 13 hops, on average.",
        at_least(13.0),
        _mean("path", *_OTHERS),
        "The lesser of the two means",
        _OF_ALL_PATHS,
    ),
    _stated(
        "3b-gap",
        "The gap between GrSwico and the others shrinks as the number of topics increases.",
        FALLS,
        _trend_of_gap,
        "Trend over the topics of the hops on either less those on GrSwico, the greater of the two",
    ),
    _stated(
        "3c-GrSwico",
        "The TCO support ratio of GrSwico is up to 44% on average.",
        about(0.44, NUMBER),
        _mean("support", "GrSwico"),
        readings=_OF_GR_SWICOS_SUPPORT,
        otherwise=_other_means("GrSwico"),
    ),
    *(
        _stated(
            f"3c-{name}",
            f"The TCO support ratio of {name} is around 6%, on average.",
            about(0.06, NUMBER),
            _mean("support", name),
            readings=_OF_ALL_SUPPORT,
            otherwise=_other_means(name),
        )
        for name in _OTHERS
    ),
)
"""What the text states of its figures, which show more than it tells."""
