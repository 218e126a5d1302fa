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
        ("join", shadow, "changes", True, 4.83, "Shadow changes 4.83 links at a join", 0.15),
        ("leave", shadow, "changes", False, 12.24, "Shadow changes 12.24 links at a leave", 0.15),
        ("rebuild", rebuilt, "changes", None, 610.0, "Low-ODA changes 610 links at a round", 0.25),
        ("join-ratio", shadow, "ratios", True, 0.00068, "At a join that is 0.068% of all links", 0.15),
        ("leave-ratio", shadow, "ratios", False, 0.0017, "At a leave that is 0.17%", 0.15),
        ("rebuild-ratio", rebuilt, "ratios", None, 0.094, "Of Low-ODA it is 9.4%", 0.25),
        ("rebuild-join-ratio", rebuilt, "ratios", True, 0.113, "At a join, of Low-ODA, 11.3%", 0.25),
        ("rebuild-leave-ratio", rebuilt, "ratios", False, 0.075, "At a leave, of Low-ODA, 7.5%", 0.25),
    ):
        claim = Claim(
            name=f"shadows-figure-8-{name}",
            source="[3], VI-C and Fig. 8",
            statement=f"{words}, on average.",
            expected=about(expected, tolerance=tolerance),
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
        expected=about(0.0159, tolerance=0.25),
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


_ALL_PAIRS = "Algorithm 2 looks at all pairs for every edge: the time is as the pairs that are looked at."


def _times(setting: ChurnSetting) -> Iterator[Claim]:
    for kind, joins, against_naive, against_low in (
        ("join", True, 7.93 / 2.69, 0.00014),
        ("leave", False, 2575 / 333, 0.0178),
    ):
        against = _figure_7_claim(
            name=f"shadows-figure-7-naive-over-shadow-{kind}",
            statement=f"Naive takes {against_naive:.2f} times as long as Shadow at a {kind}.",
            expected=about(against_naive, tolerance=0.2),
            how=f"Medians of Step II; {how(setting)}",
            measure=_ratio_of_times(_of(setting, _NAIVE), _of(setting, _SHADOW), joins),
        )
        yield against
        yield against.variant(
            "mean",
            "The mean over the rounds is meant, which the longest repairs raise.",
            _ratio_of_times(_of(setting, _NAIVE), _of(setting, _SHADOW), joins, np.mean),
        )
        share = _figure_7_claim(
            name=f"shadows-figure-7-shadow-over-low-oda-{kind}",
            statement=f"Shadow takes {against_low:.3%} of the time of Low-ODA at a {kind}.",
            expected=about(against_low, tolerance=0.25),
            how=f"Medians of Step II, over the median of rebuilds by our lazy low-oda; {how(setting)}",
            measure=_share_of_low_oda(setting, joins),
        )
        yield share
        yield share.variant("all-pairs", _ALL_PAIRS, _share_of_all_pairs(setting, joins))


def _ratio_of_times(
    above: Rounds, below: Rounds, joins: bool, over_rounds: Callable[[Floats], Any] = np.median
) -> Callable[[int], float]:
    def value(seed: int) -> float:
        one, other = (over_rounds(of(seed).seconds[of(seed).joins == joins]) for of in (above, below))
        return float(one / other)

    return value


def _share_of_low_oda(setting: ChurnSetting, joins: bool) -> Callable[[int], float]:
    def value(seed: int) -> float:
        low = float(np.median(rebuilds(setting, seed).seconds))
        return _median(run(setting, _SHADOW, seed), joins) / low

    return value


def _median(found: Run, joins: bool) -> float:
    return float(np.median(found.seconds[found.joins == joins]))


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
