"""Claims of [3], VI-A to VI-C, on degrees under churn: Fig. 4, 5 and 6."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from meshwright.studies.claims import Claim, about, at_most
from meshwright.studies.shadows.runs import (
    BY_LINKS,
    COVER,
    FEW_LINKS,
    MORE_COVERS,
    OF_SHADOWS,
    ChurnSetting,
    Way,
    base,
    rebuilds,
    run,
)
from meshwright.studies.tolerances import GAP, NUMBER, QUOTIENT, RANDOM

COVERAGES = {1: 31, 2: 25, 3: 24, 4: 24}
"""The paper's maximum degree after all rounds, by coverage factor."""

_TWO_VALUES = "The paper gives D after 1,000 rounds with three covers as 24 in Fig. 5 and as 22 in Fig. 6."


def claims(setting: ChurnSetting) -> Iterator[Claim]:
    """What the paper states on degrees."""
    yield from _against_low_oda(setting)
    yield from _as_it_goes_on(setting)
    yield from _by_coverage(setting)


def how(setting: ChurnSetting) -> str:
    """What is drawn, and what the paper leaves open."""
    return (
        f"unif, {setting.nodes:,} nodes, {setting.topics:,} topics, {setting.least} to {setting.most} by a "
        f"power law of exponent {setting.size_exponent:g}, {setting.rounds:,} rounds; ties shuffled"
    )


def excess(setting: ChurnSetting, way: Way, measure: str) -> Callable[[int], float]:
    """How much higher a degree is than Low-ODA's, on average over all rounds.

    Between the rounds in which Low-ODA is run anew its degree is interpolated; the first of them is the
    beginning.
    """

    def value(seed: int) -> float:
        low, ours = rebuilds(setting, seed), run(setting, way, seed)
        at = np.concatenate([[0.0], low.rounds])
        degrees = np.concatenate([[_at_the_beginning(setting, measure, seed)], getattr(low, measure)])
        return float((getattr(ours, measure) - np.interp(ours.rounds, at, degrees)).mean())

    return value


def _at_the_beginning(setting: ChurnSetting, measure: str, seed: int) -> float:
    """The maximum or average degree of the overlay that Low-ODA builds before any churn."""
    degrees = np.bincount(base(setting, seed).edges.ravel(), minlength=setting.nodes)
    return float(degrees.max() if measure == "maximum" else degrees.mean())


_figure_6_claim = partial(Claim, source="[3], VI-C and Fig. 6")
_figure_4_claim = partial(Claim, source="[3], VI-A and Fig. 4")
_figure_5_claim = partial(Claim, source="[3], VI-B and Fig. 5")


def _against_low_oda(setting: ChurnSetting) -> Iterator[Claim]:
    sampled = (
        f"Mean over all rounds; Low-ODA is run anew in {setting.rebuilt} of every {setting.span} rounds, and "
        f"its degree interpolated between; {how(setting)}"
    )
    for measure, most in (("maximum", 5.5), ("average", 0.798)):
        claim = _figure_6_claim(
            name=f"shadows-figure-6-{measure}-degree",
            statement=(
                f"The {measure} degree of Shadow is at most {most} above Low-ODA's, on average over the "
                f"entire sequence of churns."
            ),
            expected=at_most(most),
            how=sampled,
            measure=excess(setting, Way(), measure),
        )
        yield claim
        for other in (FEW_LINKS, MORE_COVERS):
            yield claim.variant(other.suffix, other.hypothesis, excess(setting, other.way, measure))
    for measure, suffix in (("maximum", ""), ("average", "-average")):
        yield _figure_6_claim(
            name=f"shadows-figure-6-naive-alike{suffix}",
            statement=f"Shadow and Naive output similar {measure} degrees: the ratio of the last ones.",
            expected=about(1.0, NUMBER),
            how=how(setting),
            measure=partial(_shadow_over_naive, setting, measure),
        )


def _shadow_over_naive(setting: ChurnSetting, measure: str, seed: int) -> float:
    shadow, naive = (getattr(run(setting, way, seed), measure)[-1] for way in (Way(), _NAIVE))
    return float(shadow / naive)


_NAIVE = Way(policy="naive")
_GREEDY = Way(backups="greedy")


def last(setting: ChurnSetting, way: Way, seed: int) -> float:
    """The maximum degree after all rounds."""
    return float(run(setting, way, seed).maximum[-1])


def first(setting: ChurnSetting, way: Way, seed: int) -> float:
    """The maximum degree after the first round."""
    return float(run(setting, way, seed).maximum[0])


def rise(setting: ChurnSetting, way: Way, seed: int) -> float:
    """By how much the maximum degree rises from the first round to the last."""
    return last(setting, way, seed) - first(setting, way, seed)


def _as_it_goes_on(setting: ChurnSetting) -> Iterator[Claim]:
    yield _figure_6_claim(
        name="shadows-figure-6-first-maximum",
        statement="After the first round the maximum degree of Shadow is 13.",
        expected=about(13, NUMBER),
        how=how(setting),
        measure=partial(first, setting, Way()),
    )
    rises = _figure_6_claim(
        name="shadows-figure-6-rise",
        statement="It increases from 13 to 22, by 9.",
        expected=about(9, GAP),
        how=how(setting),
        measure=partial(rise, setting, Way()),
        reason=_TWO_VALUES,
    )
    yield rises
    yield rises.variant(FEW_LINKS.suffix, FEW_LINKS.hypothesis, partial(rise, setting, FEW_LINKS.way))
    greedy = _figure_4_claim(
        name="shadows-figure-4-greedy",
        statement="With greedy backups the maximum degree becomes 84.",
        expected=about(84, NUMBER),
        how=how(setting),
        measure=partial(last, setting, _GREEDY),
    )
    yield greedy
    for other in (BY_LINKS, COVER):
        yield greedy.variant(other.suffix, other.hypothesis, partial(last, setting, other.way))
    yield _figure_4_claim(
        name="shadows-figure-4-greedy-over-primal-dual",
        statement="With greedy backups the maximum degree is higher than with primal-dual ones: 84 to 22.",
        expected=about(84 / 22, QUOTIENT),
        how=f"The ratio after all rounds; {how(setting)}",
        measure=lambda seed: last(setting, _GREEDY, seed) / last(setting, Way(), seed),
    )


def _by_coverage(setting: ChurnSetting) -> Iterator[Claim]:
    for coverage, most in COVERAGES.items():
        claim = _figure_5_claim(
            name=f"shadows-figure-5-coverage-{coverage}",
            statement=f"With a coverage factor of {coverage} the maximum degree becomes {most}.",
            expected=about(most, NUMBER),
            how=how(setting),
            measure=_last_with(setting, coverage),
            reason=_TWO_VALUES if coverage == 3 else "",
        )
        yield claim
        if coverage == Way().coverage:
            yield claim.variant(
                OF_SHADOWS.suffix, OF_SHADOWS.hypothesis, partial(last, setting, OF_SHADOWS.way)
            )
    yield _figure_5_claim(
        name="shadows-figure-5-one-cover-is-too-few",
        statement="The maximum degree falls as the coverage factor rises: by 31 to 24 from 1 to 3.",
        expected=about(31 / 24, RANDOM),
        how=how(setting),
        measure=lambda seed: _last_with(setting, 1)(seed) / _last_with(setting, 3)(seed),
    )
    yield _figure_5_claim(
        name="shadows-figure-5-three-covers-are-enough",
        statement="When it is at least 3 the difference is insignificant: 24 to 24 from 4 to 3.",
        expected=about(1.0, NUMBER),
        how=how(setting),
        measure=lambda seed: _last_with(setting, 4)(seed) / _last_with(setting, 3)(seed),
    )


def _last_with(setting: ChurnSetting, coverage: int) -> Callable[[int], float]:
    return partial(last, setting, Way(coverage=coverage))
