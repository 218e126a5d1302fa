"""The claims of [3], overlays under churn, from its section VI."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt

from meshwright.runtime.arrays import Floats
from meshwright.studies.catalogue import Curves, Point, Related
from meshwright.studies.claims import Claim, Scope
from meshwright.studies.shadows import backups, degrees, repairs
from meshwright.studies.shadows.runs import ChurnSetting, Run, Way, base, burdens, rebuilds, run

SETTINGS = {
    "smoke": ChurnSetting(nodes=60, topics=20, least=3, most=12, rounds=12, span=6, rebuilt=2),
    "quick": ChurnSetting(span=250, rebuilt=2),
    "paper": ChurnSetting(),
}
"""By scale; at the sizes of [3] but for "smoke". Low-ODA is run in fewer rounds at the scale "quick"."""

_READINGS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "zipf": (
        "Topics are popular by a Zipf law of exponent 2, one of the three that [3] names.",
        {"law": "zipf"},
    ),
    "expo": (
        "Topics are popular by an exponential law, one of the three that [3] names.",
        {"law": "expo"},
    ),
    "exponent-1.5": (
        "The power law of sizes has exponent 1.5, so that nodes have more topics.",
        {"size_exponent": 1.5},
    ),
    "exponent-2.5": (
        "The power law of sizes has exponent 2.5, so that nodes have fewer topics.",
        {"size_exponent": 2.5},
    ),
}
"""Other workloads: another popularity, and other exponents of the sizes, which [3] does not state."""


def claims(setting: ChurnSetting) -> Iterator[Claim]:
    """What the paper states, each with its way of measuring, and variants of all claims by workload."""
    others = {
        suffix: {one.name: one for one in _claims(replace(setting, **changes))}
        for suffix, (_, changes) in _READINGS.items()
    }
    for claim in _claims(setting):
        yield claim
        if not claim.variant_of:
            for suffix, (words, _) in _READINGS.items():
                yield claim.variant(suffix, words, others[suffix][claim.name].measure)


def _claims(setting: ChurnSetting) -> tuple[Claim, ...]:
    return (*backups.claims(setting), *degrees.claims(setting), *repairs.claims(setting))


def claims_at(scope: Scope) -> tuple[Claim, ...]:
    """The claims at a scale."""
    return tuple(claims(SETTINGS[scope.scale]))


_POINTS = 20
"""Of a curve over the rounds."""


def _over_rounds(name: str, found: Run, measure: str) -> Iterator[Point]:
    values, step = getattr(found, measure), max(1, len(found.rounds) // _POINTS)
    for at in range(step - 1, len(found.rounds), step):
        yield Point(name, float(found.rounds[at]), float(values[at]))


def _figure_4(measure: str, seed: int, scope: Scope) -> Iterator[Point]:
    setting = SETTINGS[scope.scale]
    for backups_by in ("primal-dual", "greedy"):
        yield from _over_rounds(backups_by, run(setting, Way(backups=backups_by), seed), measure)


def _figure_5(seed: int, scope: Scope) -> Iterator[Point]:
    setting = SETTINGS[scope.scale]
    for coverage in degrees.COVERAGES:
        yield from _over_rounds(f"coverage {coverage}", run(setting, Way(coverage=coverage), seed), "maximum")


def _figure_6(measure: str, seed: int, scope: Scope) -> Iterator[Point]:
    setting = SETTINGS[scope.scale]
    for policy in ("shadow", "naive"):
        yield from _over_rounds(policy, run(setting, Way(policy=policy), seed), measure)
    yield from _over_rounds("low-oda", rebuilds(setting, seed), measure)


def _by_size(what: str, way: Way, seed: int, scope: Scope) -> Iterator[Point]:
    """The mean over the nodes with so many topics, for each number of topics."""
    setting = SETTINGS[scope.scale]
    sizes = np.diff(base(setting, seed).interests.indptr)
    values = getattr(burdens(setting, way, seed), what)
    for size in np.unique(sizes):
        yield Point(way.backups, float(size), float(values[sizes == size].mean()))


_DOTS = 100
"""Joins, or leaves, of a seed that are shown."""


def _each(name: str, x: Floats, y: Floats, own: npt.NDArray[np.bool_]) -> Iterator[Point]:
    """A point for each of some of the rounds, evenly among them."""
    places = np.flatnonzero(own)
    for at in places[:: max(1, len(places) // _DOTS)]:
        yield Point(name, float(x[at]), float(y[at]))


def _figure_7(joins: bool, seed: int, scope: Scope) -> Iterator[Point]:
    """Times over that of Low-ODA by the size of the shadow set, which Naive takes from Shadow, as in [3]."""
    setting = SETTINGS[scope.scale]
    low = float(rebuilds(setting, seed).seconds.mean())
    shadow = run(setting, Way(), seed)
    for policy in ("shadow", "naive"):
        found = run(setting, Way(policy=policy), seed)
        yield from _each(policy, shadow.shadow_sizes, found.seconds / low, shadow.joins == joins)


def _figure_8(joins: bool, seed: int, scope: Scope) -> Iterator[Point]:
    setting = SETTINGS[scope.scale]
    for name, found in (("shadow", run(setting, Way(), seed)), ("low-oda", rebuilds(setting, seed))):
        yield from _each(name, found.topics, found.ratios, found.joins == joins)


def _means(stated: Mapping[str, float]) -> tuple[Point, ...]:
    """Means over all rounds that the paper states, by series."""
    return tuple(Point(name, nan, mean) for name, mean in stated.items())


_over_sizes = partial(Curves, x="topics of the node")
FIGURE_2, FIGURE_3 = (
    (
        _over_sizes(
            measure=partial(_by_size, "backups", way), y="backups", stated=_means({way.backups: mean})
        ),
        _over_sizes(
            measure=partial(_by_size, "primaries", way),
            y="primaries",
            stated=tuple(Point(way.backups, nan, end) for end in ends),
        ),
    )
    for way, mean, ends in ((backups.GREEDY, 22.0, (581.0,)), (backups.PRIMAL_DUAL, 56.0, (21.0, 59.0)))
)
_over_churn = partial(Curves, x="round")
_MAXIMUM, _AVERAGE = "maximum degree", "average degree"
FIGURE_4 = (
    _over_churn(measure=partial(_figure_4, "maximum"), y=_MAXIMUM, stated=(Point("greedy", 1_000, 84),)),
    _over_churn(measure=partial(_figure_4, "average"), y=_AVERAGE),
)
FIGURE_5 = _over_churn(
    measure=_figure_5,
    y=_MAXIMUM,
    stated=tuple(Point(f"coverage {at}", 1_000, most) for at, most in degrees.COVERAGES.items()),
)
FIGURE_6 = (
    _over_churn(
        measure=partial(_figure_6, "maximum"),
        y=_MAXIMUM,
        stated=(Point("shadow", 1, 13), Point("shadow", 1_000, 22)),
        related=(Related("shadow", "low-oda", more=5.5, relation="at most"),),
    ),
    _over_churn(
        measure=partial(_figure_6, "average"),
        y=_AVERAGE,
        related=(Related("shadow", "low-oda", more=0.798, relation="at most"),),
    ),
)
_SHADOW_SETS = (Point("shadow", 0.0159 * 2_000, nan), Point("shadow", 0.0497 * 2_000, nan))
"""The size of the shadow set, on average and at most: 1.59% and 4.97% of the nodes."""

FIGURE_7 = tuple(
    Curves(
        measure=partial(_figure_7, joins),
        x="nodes in the shadow set",
        y=f"time over the mean of Low-ODA, {words}",
        stated=(*_means(stated), *_SHADOW_SETS),
        dots=True,
    )
    for joins, words, stated in (
        (True, "joins", {"shadow": 0.00014, "naive": 0.00043}),
        (False, "leaves", {"shadow": 0.0178, "naive": 0.14}),
    )
)
FIGURE_8 = tuple(
    Curves(
        measure=partial(_figure_8, joins),
        x="topics of the node that joins or leaves",
        y=f"links changed, share of all, {words}",
        stated=_means(stated),
        dots=True,
    )
    for joins, words, stated in (
        (True, "joins", {"shadow": 0.00068, "low-oda": 0.113}),
        (False, "leaves", {"shadow": 0.0017, "low-oda": 0.075}),
    )
)
