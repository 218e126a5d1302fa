"""Claims: what a paper states, how it is measured again, and the verdict; with tests on paired runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from meshwright.runtime.errors import OptionError
from meshwright.runtime.progress import Progress, stage


class Verdict(Enum):
    """What a measurement says about a claim."""

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """What a number came out as, over several runs."""

    mean: float
    variance: float
    minimum: float
    maximum: float
    runs: int


Measure = Callable[[int, int, Progress | None], Statistics]
"""(runs, seed, progress) -> what came out."""


def over_runs(value: Callable[[int], float], label: str, runs: int, progress: Progress | None) -> Statistics:
    """The statistics of `value(run)`."""
    values = []
    with stage(progress, label, runs) as advance:
        for run in range(runs):
            values.append(value(run))
            advance(run + 1)
    found = np.array(values)
    return Statistics(
        # Of equal values, rounding may put the mean outside.
        mean=float(np.clip(found.mean(), found.min(), found.max())),
        variance=float(found.var()),
        minimum=float(found.min()),
        maximum=float(found.max()),
        runs=runs,
    )


def by_seed(label: str, value: Callable[[int], float]) -> Measure:
    """The statistics of a value that depends on a seed, over the seeds of as many runs."""

    def measure(runs: int, seed: int, progress: Progress | None) -> Statistics:
        return over_runs(lambda run: value(seed + run), label, runs, progress)

    return measure


_MISSED_BY: Mapping[str, Callable[[float, float], float]] = {
    "about": lambda ours, theirs: abs(ours - theirs),
    "at least": lambda ours, theirs: theirs - ours,
    "at most": lambda ours, theirs: ours - theirs,
}


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A number that a paper states, or an order put as a number (a ratio, a difference).

    Attributes:
        name: a short name, unique among all claims.
        source: where the paper states it.
        statement: what it states, in a sentence with a verb.
        expected: the paper's number.
        relation: whether ours should be "about" that, "at least" or "at most".
        tolerance: how far, as a fraction of `expected`, ours may miss that and still count as reproduced.
        how: how we measure it, with every parameter that the paper leaves open.
        measure: the measurement; None where nothing can be compared.
        runs: how many runs the paper averages over; more runs than that say no more.
        reason: why ours differs or can't be compared; a test shows that the reason holds.
    """

    name: str
    source: str
    statement: str
    expected: float
    how: str
    measure: Measure | None
    relation: str = "about"
    tolerance: float = 0.0
    runs: int = 1
    reason: str = ""

    def __post_init__(self) -> None:
        if self.tolerance < 0:
            raise OptionError(
                f"the claim {self.name!r} has tolerance {self.tolerance}; give a fraction of at least 0"
            )
        if self.relation not in _MISSED_BY:
            raise OptionError(
                f"the claim {self.name!r} has relation {self.relation!r}; "
                f"choose among {', '.join(_MISSED_BY)}"
            )
        if self.measure is None and not self.reason:
            raise OptionError(f"the claim {self.name!r} has neither a measure nor a reason why; give one")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A claim, what was measured, and the verdict."""

    claim: Claim
    measured: Statistics | None
    verdict: Verdict


def check(
    claim: Claim, *, runs: int | None = None, seed: int = 0, progress: Progress | None = None
) -> Finding:
    """Measure a claim, over `runs` runs (those of the paper, unless given), and judge it."""
    if claim.measure is None:
        return Finding(claim=claim, measured=None, verdict=Verdict.NOT_COMPARABLE)
    measured = claim.measure(claim.runs if runs is None else runs, seed, progress)
    missed_by = _MISSED_BY[claim.relation](measured.mean, claim.expected)
    near = missed_by <= claim.tolerance * abs(claim.expected)
    return Finding(claim=claim, measured=measured, verdict=Verdict.REPRODUCED if near else Verdict.DIFFERS)


def equivalence_p(differences: Sequence[float], margin: float) -> float:
    """The p-value of two one-sided t-tests (TOST): small where the mean surely lies within ±margin.

    Schuirmann, 1987. The null hypothesis is that the mean is at least `margin` away from 0; under 0.05 the
    two are equivalent at the 5% level. Differences that are all the same are beyond doubt.
    """
    from scipy.stats import t

    found = np.asarray(differences, np.float64)
    if len(found) < 2:
        return 1.0
    mean, error = float(found.mean()), float(found.std(ddof=1) / np.sqrt(len(found)))
    if error == 0:
        return 0.0 if abs(mean) < margin else 1.0
    below = float(t.sf((mean + margin) / error, len(found) - 1))
    above = float(t.cdf((mean - margin) / error, len(found) - 1))
    return max(below, above)


def rise_p(before: int, after: int) -> float:
    """The p-value of a rise: how likely so many would be after, if before and after were equally likely."""
    from scipy.stats import binom

    return float(binom.sf(after - 1, before + after, 0.5)) if before + after else 1.0
