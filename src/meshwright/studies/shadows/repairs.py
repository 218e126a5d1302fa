"""Claims of [3], VI-C, on repairs: how many links change, how many nodes are looked at, how long it takes."""

from collections.abc import Callable, Iterator
from functools import partial
from math import comb
from typing import Any

import numpy as np

from meshwright.runtime.arrays import Floats
from meshwright.studies.claims import Claim, about, at_most
from meshwright.studies.shadows.degrees import how
from meshwright.studies.shadows.runs import ChurnSetting, Run, Way, base, rebuilds, run
from meshwright.studies.tolerances import OWN_TIMES, RANDOM, ROUGH, TIMES

_SHADOW, _NAIVE = Way(), Way(policy="naive")

Rounds = Callable[[int], Run]


def claims(setting: ChurnSetting) -> Iterator[Claim]:
    """What the paper states on repairs."""
    yield from _changes(setting)
    yield from _shadow_sets(setting)
    yield from _times(setting)


def _of(setting: ChurnSetting, way: Way) -> Rounds:
    return lambda seed: run(setting, way, seed)


def _mean(rounds: Rounds, measure: str, joins: bool | None = None) -> Callable[[int], float]:
    """The mean of what is noted of all rounds, or of those in which a node joins, or leaves."""

    def value(seed: int) -> float:
        found = rounds(seed)
        own = found.joins == joins if joins is not None else np.ones(len(found.joins), np.bool_)
        return float(getattr(found, measure)[own].mean())

    return value


_section_6c_claim = partial(Claim, source="[3], VI-C")
_figure_7_claim = partial(Claim, source="[3], VI-C and Fig. 7")
_LESS_RHO = "An edge may raise the maximum degree for 1.5 times the contribution, not 3 times (rho = 1.5)."


def _changes(setting: ChurnSetting) -> Iterator[Claim]:
    shadow = _of(setting, _SHADOW)

    def rebuilt(seed: int) -> Run:
        return rebuilds(setting, seed)

    def rebuilt_by_less(seed: int) -> Run:
        return rebuilds(setting, seed, 1.5)

    sampled = f"{how(setting)}; {setting.rebuilt} of every {setting.span} rounds"
    of_low = f"{sampled}; ties by a hash of the names, so that nodes keep their order"
    for name, rounds, measure, joins, expected, words, tolerance in (
        ("join", shadow, "changes", True, 4.83, "Shadow changes 4.83 links at a join", RANDOM),
        ("leave", shadow, "changes", False, 12.24, "Shadow changes 12.24 links at a leave", RANDOM),
        ("rebuild", rebuilt, "changes", None, 610.0, "Low-ODA changes 610 links at a round", ROUGH),
        ("join-ratio", shadow, "ratios", True, 0.00068, "At a join that is 0.068% of all links", RANDOM),
        ("leave-ratio", shadow, "ratios", False, 0.0017, "At a leave that is 0.17%", RANDOM),
        ("rebuild-ratio", rebuilt, "ratios", None, 0.094, "Of Low-ODA it is 9.4%", ROUGH),
        ("rebuild-join-ratio", rebuilt, "ratios", True, 0.113, "At a join, of Low-ODA, 11.3%", ROUGH),
        ("rebuild-leave-ratio", rebuilt, "ratios", False, 0.075, "At a leave, of Low-ODA, 7.5%", ROUGH),
    ):
        claim = Claim(
            name=f"shadows-figure-8-{name}",
            source="[3], VI-C and Fig. 8",
            statement=f"{words}, on average.",
            expected=about(expected, tolerance),
            how=of_low if name.startswith("rebuild") else how(setting),
            measure=_mean(rounds, measure, joins),
        )
        yield claim
        if name.startswith("rebuild"):
            yield claim.variant("rho-1.5", _LESS_RHO, _mean(rebuilt_by_less, measure, joins))


def _shadow_sets(setting: ChurnSetting) -> Iterator[Claim]:
    shadow = _of(setting, _SHADOW)
    yield _section_6c_claim(
        name="shadows-figure-7-shadow-set",
        statement="The shadow set has 1.59% of the nodes on average.",
        expected=about(0.0159, ROUGH),
        how=how(setting),
        measure=_mean(shadow, "shadows"),
    )
    yield _section_6c_claim(
        name="shadows-figure-7-greatest-shadow-set",
        statement="It has at most 4.97% of the nodes in the worst case.",
        expected=at_most(0.0497),
        how=how(setting),
        measure=lambda seed: float(shadow(seed).shadows.max()),
    )


_MEDIANS = "Medians over the rounds are meant, which the longest repairs do not raise."
_ALL_PAIRS = "Algorithm 2 looks at all pairs for every edge: the time is as the pairs that are looked at."


def _times(setting: ChurnSetting) -> Iterator[Claim]:
    for kind, joins, against_naive, against_low in (
        ("join", True, 7.93 / 2.69, 0.00014),
        ("leave", False, 2575 / 333, 0.0178),
    ):
        against = _figure_7_claim(
            name=f"shadows-figure-7-naive-over-shadow-{kind}",
            statement=f"Naive takes {against_naive:.2f} times as long as Shadow at a {kind}, on average.",
            expected=about(against_naive, OWN_TIMES),
            how=f"Means of Step II over the rounds; {how(setting)}",
            measure=_ratio_of_times(setting, _NAIVE, joins, np.mean),
        )
        yield against
        yield against.variant("median", _MEDIANS, _ratio_of_times(setting, _NAIVE, joins, np.median))
        share = _figure_7_claim(
            name=f"shadows-figure-7-shadow-over-low-oda-{kind}",
            statement=f"Shadow takes {against_low:.3%} of the time of Low-ODA at a {kind}, on average.",
            expected=about(against_low, TIMES),
            how=f"Mean of Step II, over the mean of rebuilds by our lazy low-oda; {how(setting)}",
            measure=_share_of_low_oda(setting, joins, np.mean),
        )
        yield share
        yield share.variant("median", _MEDIANS, _share_of_low_oda(setting, joins, np.median))
        yield share.variant("all-pairs", _ALL_PAIRS, _share_of_all_pairs(setting, joins))
    yield _figure_7_claim(
        name="shadows-figure-7-naive-most",
        statement="Naive takes as much as 61.6% of the time of Low-ODA.",
        expected=about(0.616, TIMES),
        how=f"The longest repair, over the mean of rebuilds by our lazy low-oda; {how(setting)}",
        measure=lambda seed: float(
            run(setting, _NAIVE, seed).seconds.max() / rebuilds(setting, seed).seconds.mean()
        ),
    )


OverRounds = Callable[[Floats], Any]


def _time(setting: ChurnSetting, way: Way, joins: bool, over_rounds: OverRounds, seed: int) -> float:
    """The seconds of Step II over the rounds in which a node joins, or leaves."""
    found = run(setting, way, seed)
    return float(over_rounds(found.seconds[found.joins == joins]))


def _ratio_of_times(
    setting: ChurnSetting, way: Way, joins: bool, over_rounds: OverRounds
) -> Callable[[int], float]:
    """The time of another way over that of Shadow."""

    def value(seed: int) -> float:
        one, other = (_time(setting, own, joins, over_rounds, seed) for own in (way, _SHADOW))
        return one / other

    return value


def _share_of_low_oda(setting: ChurnSetting, joins: bool, over_rounds: OverRounds) -> Callable[[int], float]:
    """The time of Shadow over that of Low-ODA."""

    def value(seed: int) -> float:
        low = float(over_rounds(rebuilds(setting, seed).seconds))
        return _time(setting, _SHADOW, joins, over_rounds, seed) / low

    return value


def _share_of_all_pairs(setting: ChurnSetting, joins: bool) -> Callable[[int], float]:
    """The pairs that a repair looks at, for each link that it opens, over those of Low-ODA.

    At a join it looks at the pairs of the new node with its backups; at a leave at those of the shadow set.
    """

    def value(seed: int) -> float:
        found = run(setting, _SHADOW, seed)
        own = found.joins == joins
        shadows = found.shadows[own] * setting.nodes
        pairs = shadows if joins else shadows * (shadows - 1) / 2
        links = len(base(setting, seed))
        return float((pairs * found.changes[own]).mean() / (links * comb(setting.nodes, 2)))

    return value
