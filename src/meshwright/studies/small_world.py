"""Claims of [4]: Chen, Tock, Design of Routing Protocols and Overlay Topologies for Topic-based
Publish/Subscribe on Small-World Networks, Middleware Industry 2015.

All are about Fig. 2 and 3: NSMF on Chord, RandomSW and GrSwico, unif, 20 subscriptions a node. [4] states
averages over sweeps of 1,000 to 10,000 nodes or topics. It does not state how ties are settled, how many
fingers nodes have where their number is no power of two, or whether the node at the other end of a finger may
use it. Its path lengths at 10,000 nodes, 112, 107 and 24.7, and its support of 11.6% come out within 1% with
fingers in whole phases alone, links that serve both of their ends, and ties at random: so all claims are
measured, and those on path lengths also to the letter of Protocol 3.
"""  # noqa: D205

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from statistics import fmean
from typing import Any, NamedTuple

from meshwright import workloads
from meshwright.evaluate import evaluate
from meshwright.progress import Progress
from meshwright.registry import build
from meshwright.route import route
from meshwright.studies.claims import Claim, Measure, Statistics, over_runs

OVERLAYS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "Chord": ("chord", {}),
    "RandomSW": ("random-sw", {}),
    "GrSwico": ("gr-swico", {"ties": "random"}),
}
"""The overlays by the paper's names: algorithm and options."""

TOPICS, NODES, PUBLICATIONS = 2_000, 1_023, 2_000
_NODE_POINTS = (1_000, 4_000, 7_000, 10_000)
_TOPIC_POINTS = tuple(range(1_000, 10_001, 1_000))


class Setting(NamedTuple):
    """What [4] leaves open: fingers in whole phases alone, and links that serve both of their ends."""

    whole_phases: bool
    both_ways: bool


AS_THEIRS, TO_THE_LETTER = Setting(True, True), Setting(False, False)


@dataclass(frozen=True, kw_only=True)
class Found:
    """What NSMF takes on one overlay: pure forwards a publication, hops; and the TCO support ratio."""

    forwards: float
    path: float
    support: float


Point = Mapping[str, Found]
"""By overlay."""

Value = Callable[[list[Point]], float]


@cache
def measure_overlay(label: str, nodes: int, topics: int, setting: Setting, seed: int, count: int) -> Found:
    """NSMF with `count` publications on one overlay at one point of a sweep."""
    name, options = OVERLAYS[label]
    interests = workloads.unif(nodes, topics, subscriptions=20, seed=seed)
    overlay = build(interests, name, seed=seed, whole_phases=setting.whole_phases, **options)
    found = route(overlay, "nsmf", count, both_ways=setting.both_ways, seed=seed)
    return Found(
        forwards=found.pure_forwards / count,
        path=found.average_path_length or 0.0,
        support=evaluate(overlay, diameters=False, bound=False).tco_support_ratio,
    )


def measure_point(nodes: int, topics: int, setting: Setting, seed: int, count: int = PUBLICATIONS) -> Point:
    """All overlays of the same interests, with the same publications."""
    return {label: measure_overlay(label, nodes, topics, setting, seed, count) for label in OVERLAYS}


def _over_nodes(seed: int) -> list[Point]:
    return [measure_point(nodes, TOPICS, AS_THEIRS, seed) for nodes in _NODE_POINTS]


def _over_topics(seed: int) -> list[Point]:
    return [measure_point(NODES, topics, AS_THEIRS, seed) for topics in _TOPIC_POINTS]


def _most_nodes(seed: int) -> list[Point]:
    return _over_nodes(seed)[-1:]


def _most_topics(seed: int) -> list[Point]:
    return _over_topics(seed)[-1:]


def _most_nodes_to_the_letter(seed: int) -> list[Point]:
    return [measure_point(_NODE_POINTS[-1], TOPICS, TO_THE_LETTER, seed)]


class _Sweep(NamedTuple):
    points: Callable[[int], list[Point]]
    how: str


_HOW = "unif, 20 topics a node, 2,000 publications, ties at random, whole phases, links that serve both ends"
_NODES_SWEEP = _Sweep(_over_nodes, f"{_HOW}; 2,000 topics; mean over 1,000 to 10,000 nodes by 3,000.")
_TOPICS_SWEEP = _Sweep(_over_topics, f"{_HOW}; 1,023 nodes; mean over 1,000 to 10,000 topics by 1,000.")
_MOST_NODES = _Sweep(_most_nodes, f"{_HOW}; 2,000 topics and 10,000 nodes.")
_MOST_TOPICS = _Sweep(_most_topics, f"{_HOW}; 1,023 nodes and 10,000 topics.")
_TO_THE_LETTER = _Sweep(
    _most_nodes_to_the_letter,
    "unif, 10,000 nodes, 2,000 topics, 20 each, 2,000 publications, ties at random; a finger in every phase, "
    "which serves its owner alone.",
)


def _measured(sweep: _Sweep, value: Value) -> Measure:
    def measure(runs: int, seed: int, progress: Progress | None) -> Statistics:
        return over_runs(lambda run: value(sweep.points(seed + run)), "small world", runs, progress)

    return measure


def _overhead(name: str) -> Value:
    """Mean over the points of the pure forwards as a multiple of GrSwico's."""
    return lambda points: fmean(at[name].forwards / at["GrSwico"].forwards for at in points)


def _mean(measure: str, *names: str) -> Value:
    """Mean over the points, the least of several overlays."""
    return lambda points: min(fmean(getattr(at[name], measure) for at in points) for name in names)


def _share_of_rises(points: list[Point]) -> float:
    """Share of the steps from one point to the next at which the support of GrSwico rises."""
    return fmean(after["GrSwico"].support > before["GrSwico"].support for before, after in pairwise(points))


def _last_over_first(value: Value) -> Value:
    return lambda points: value(points[-1:]) / value(points[:1])


def _gap(points: list[Point]) -> float:
    return _mean("path", "Chord")(points) - _mean("path", "GrSwico")(points)


_DIRECTED = (
    "To the letter RandomSW is a little above Chord, in [4] below it. With links that serve both of their "
    "ends, and none in a phase that the ring cuts short, all three overlays are within 1% of [4]."
)


def _claims_on_overhead() -> Iterator[Claim]:
    stated = (
        ("2a", _NODES_SWEEP, {"Chord": 1.32, "RandomSW": 1.29}),
        ("3a", _TOPICS_SWEEP, {"Chord": 1.371, "RandomSW": 1.335}),
        ("3a-most", _MOST_TOPICS, {"Chord": 1.445, "RandomSW": 1.393}),
    )
    for figure, sweep, expected in stated:
        for name, ratio in expected.items():
            yield Claim(
                name=f"figure-{figure}-{OVERLAYS[name][0]}",
                source=f"[4], Fig. {figure[0]}(a)",
                statement=f"{name} exerts {ratio - 1:.1%} more pure forwards than GrSwico.",
                expected=ratio,
                tolerance=0.1,
                how=f"Pure forwards over those on GrSwico; {sweep.how}",
                measure=_measured(sweep, _overhead(name)),
            )


def _claims_on_paths() -> Iterator[Claim]:
    for name, hops in {"GrSwico": 24.7, "Chord": 112.0, "RandomSW": 107.0}.items():
        for suffix, sweep, tolerance in (("", _MOST_NODES, 0.03), ("-letter", _TO_THE_LETTER, 0.1)):
            yield Claim(
                name=f"figure-2b-{OVERLAYS[name][0]}{suffix}",
                source="[4], 5.2 and Fig. 2(b)",
                statement=f"At 10,000 nodes the average path length on {name} is {hops:g}.",
                expected=hops,
                tolerance=tolerance,
                how=sweep.how,
                measure=_measured(sweep, _mean("path", name)),
                reason=_DIRECTED if name == "RandomSW" and suffix else "",
            )


CLAIMS = (
    *_claims_on_overhead(),
    *_claims_on_paths(),
    Claim(
        name="figure-2b-ratio",
        source="[4], 5.2 and Fig. 2(b)",
        statement="The path lengths on Chord and RandomSW are over 3.3 times that on GrSwico, on average.",
        expected=3.3,
        relation="at least",
        tolerance=0.0,
        how=f"The lesser of the two means over that of GrSwico; {_NODES_SWEEP.how}",
        measure=_measured(
            _NODES_SWEEP,
            lambda points: _mean("path", "Chord", "RandomSW")(points) / _mean("path", "GrSwico")(points),
        ),
    ),
    Claim(
        name="figure-2c-gr-swico",
        source="[4], 5.2 and Fig. 2(c)",
        statement="The TCO support ratio of GrSwico is 75.3% on average.",
        expected=0.753,
        tolerance=0.1,
        how=_NODES_SWEEP.how,
        measure=_measured(_NODES_SWEEP, _mean("support", "GrSwico")),
    ),
    Claim(
        name="figure-2c-chord",
        source="[4], 5.2 and Fig. 2(c)",
        statement="The TCO support ratios of Chord and RandomSW are around 11.6%, on average.",
        expected=0.116,
        tolerance=0.1,
        how=_NODES_SWEEP.how,
        measure=_measured(_NODES_SWEEP, _mean("support", "Chord", "RandomSW")),
    ),
    Claim(
        name="figure-2c-rises",
        source="[4], 5.2 and Fig. 2(c)",
        statement="The TCO support ratio of GrSwico increases with the number of nodes.",
        expected=1.0,
        tolerance=0.0,
        how=f"Share of the steps from one number to the next at which it does; {_NODES_SWEEP.how}",
        measure=_measured(_NODES_SWEEP, _share_of_rises),
    ),
    Claim(
        name="figure-3a-rises",
        source="[4], 5.3 and Fig. 3(a)",
        statement="The advantage over Chord increases with the number of topics.",
        expected=1.0,
        relation="at least",
        tolerance=0.0,
        how=f"Pure forwards over those on GrSwico, at the most topics over those at the fewest; {_HOW}.",
        measure=_measured(_TOPICS_SWEEP, _last_over_first(_overhead("Chord"))),
    ),
    Claim(
        name="figure-3b-gr-swico",
        source="[4], 5.3 and Fig. 3(b)",
        statement="The average path length on GrSwico is 7.8 hops, on average over the numbers of topics.",
        expected=7.8,
        tolerance=0.1,
        how=_TOPICS_SWEEP.how,
        measure=_measured(_TOPICS_SWEEP, _mean("path", "GrSwico")),
    ),
    Claim(
        name="figure-3b-chord",
        source="[4], 5.3 and Fig. 3(b)",
        statement="Those on Chord and RandomSW are over 13 hops, on average.",
        expected=13.0,
        tolerance=0.1,
        how=_TOPICS_SWEEP.how,
        measure=_measured(_TOPICS_SWEEP, _mean("path", "Chord", "RandomSW")),
    ),
    Claim(
        name="figure-3b-converges",
        source="[4], 5.3 and Fig. 3(b)",
        statement="The gap between GrSwico and the others shrinks as the number of topics increases.",
        expected=1.0,
        relation="at most",
        tolerance=0.0,
        how=f"Hops on Chord less those on GrSwico, at the most topics over those at the fewest; {_HOW}.",
        measure=_measured(_TOPICS_SWEEP, _last_over_first(_gap)),
    ),
    Claim(
        name="figure-3c-gr-swico",
        source="[4], 5.3 and Fig. 3(c)",
        statement="The TCO support ratio of GrSwico is up to 44%.",
        expected=0.44,
        relation="at least",
        tolerance=0.0,
        how=_TOPICS_SWEEP.how,
        measure=_measured(_TOPICS_SWEEP, _mean("support", "GrSwico")),
    ),
    Claim(
        name="figure-3c-chord",
        source="[4], 5.3 and Fig. 3(c)",
        statement="The TCO support ratios of Chord and RandomSW are around 6%, on average.",
        expected=0.06,
        tolerance=0.1,
        how=_TOPICS_SWEEP.how,
        measure=_measured(_TOPICS_SWEEP, _mean("support", "Chord", "RandomSW")),
    ),
)
"""What the text states of its figures, which show more than it tells."""
