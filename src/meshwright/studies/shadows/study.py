"""The claims of [3], overlays under churn, from its section VI."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from meshwright.studies.catalogue import Curves, Point
from meshwright.studies.claims import Claim, Scope
from meshwright.studies.shadows import backups, degrees, repairs
from meshwright.studies.shadows.runs import ChurnSetting, Run, Way, rebuilds, run

SETTINGS = {
    "smoke": ChurnSetting(nodes=60, topics=20, least=3, most=12, rounds=12, span=6, rebuilt=2),
    "quick": ChurnSetting(span=250, rebuilt=2),
    "paper": ChurnSetting(),
}
"""By scale; at the sizes of [3] but for "smoke". Low-ODA is run in fewer rounds at the scale "quick"."""

_LAWS = {
    "zipf": "Topics are popular by a Zipf law of exponent 2, one of the three that [3] names.",
    "expo": "Topics are popular by an exponential law, one of the three that [3] names.",
}


def claims(setting: ChurnSetting) -> Iterator[Claim]:
    """What the paper states, each with its way of measuring, and variants of all claims by law."""
    by_law = {law: {one.name: one for one in _claims(replace(setting, law=law))} for law in _LAWS}
    for claim in _claims(setting):
        yield claim
        if not claim.variant_of:
            for law, words in _LAWS.items():
                yield claim.variant(law, words, by_law[law][claim.name].measure)


def _claims(setting: ChurnSetting) -> tuple[Claim, ...]:
    return (*backups.claims(setting), *degrees.claims(setting), *repairs.claims(setting))


def claims_at(scope: Scope) -> tuple[Claim, ...]:
    """The claims at a scale."""
    return tuple(claims(SETTINGS[scope.scale]))


_POINTS = 20
"""Of a curve over the rounds."""


def _over_rounds(name: str, found: Run) -> Iterator[Point]:
    step = max(1, len(found.rounds) // _POINTS)
    for at in range(step - 1, len(found.rounds), step):
        yield Point(name, float(found.rounds[at]), float(found.maximum[at]))


def _figure_4(seed: int, scale: str) -> Iterator[Point]:
    setting = SETTINGS[scale]
    for backups_by in ("primal-dual", "greedy"):
        yield from _over_rounds(backups_by, run(setting, Way(backups=backups_by), seed))


def _figure_5(seed: int, scale: str) -> Iterator[Point]:
    setting = SETTINGS[scale]
    for coverage in degrees.COVERAGES:
        yield from _over_rounds(f"coverage {coverage}", run(setting, Way(coverage=coverage), seed))


def _figure_6(seed: int, scale: str) -> Iterator[Point]:
    setting = SETTINGS[scale]
    for policy in ("shadow", "naive"):
        yield from _over_rounds(policy, run(setting, Way(policy=policy), seed))
    yield from _over_rounds("low-oda", rebuilds(setting, seed))


_over_churn = partial(Curves, x="round", y="maximum degree")
FIGURE_4 = _over_churn(measure=_figure_4, stated=(Point("greedy", 1_000, 84),))
FIGURE_5 = _over_churn(
    measure=_figure_5,
    stated=tuple(Point(f"coverage {at}", 1_000, most) for at, most in degrees.COVERAGES.items()),
)
FIGURE_6 = _over_churn(measure=_figure_6, stated=(Point("shadow", 1, 13), Point("shadow", 1_000, 22)))
