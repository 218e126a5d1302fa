"""Claims: what a paper states, how it is measured again, and the verdict; with tests on paired runs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from meshwright.runtime.errors import OptionError
from meshwright.runtime.progress import Progress, stage
from meshwright.runtime.wording import choose
from meshwright.studies.tolerances import EXACT, TREND, Tolerance

if TYPE_CHECKING:
    import pandas as pd


class Scope(NamedTuple):
    """How large the systems are that claims are measured on, and a folder with data that can't be shipped."""

    scale: str = "quick"
    data: str | None = None


class Verdict(Enum):
    """What a measurement says about a claim."""

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    NOT_COMPARABLE = "not comparable"
    TOO_FEW_RUNS = "needs two runs"


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """What a number came out as, over several runs.

    The mean lies between `low` and `high` with a confidence of 95%, by Student's t; with a single run, both
    are the number itself.
    """

    mean: float
    low: float
    high: float
    variance: float
    minimum: float
    maximum: float
    runs: int


def over_runs(value: Callable[[int], float], label: str, runs: int, progress: Progress | None) -> Statistics:
    """The statistics of `value(run)`."""
    values = []
    with stage(progress, label, runs) as advance:
        for run in range(runs):
            values.append(value(run))
            advance(run + 1)
    return statistics_of(values)


def statistics_of(values: Sequence[float]) -> Statistics:
    """The statistics of the values of all runs, at least one."""
    found = np.array(values, np.float64)
    # Of equal values, rounding may put the mean outside.
    mean = float(np.clip(found.mean(), found.min(), found.max()))
    margin = 0.0
    if len(found) > 1:
        from scipy.stats import t

        margin = float(t.ppf(0.975, len(found) - 1) * found.std(ddof=1) / np.sqrt(len(found)))
    return Statistics(
        mean=mean,
        low=mean - margin,
        high=mean + margin,
        variance=float(found.var()),
        minimum=float(found.min()),
        maximum=float(found.max()),
        runs=len(found),
    )


_MISSED_BY: Mapping[str, Callable[[float, float], float]] = {
    "about": lambda ours, theirs: abs(ours - theirs),
    "at least": lambda ours, theirs: theirs - ours,
    "at most": lambda ours, theirs: ours - theirs,
}


class Expected(NamedTuple):
    """A number that a paper states, or an order put as a number (a ratio, a difference).

    Attributes:
        relation: whether ours should be "about" that, "at least" or "at most".
        number: the paper's number.
        within: how far ours may miss that and still count as reproduced, and why so far.
    """

    relation: str
    number: float
    within: Tolerance = EXACT

    @property
    def tolerance(self) -> float:
        """How far, as a share of the number."""
        return self.within.share


about = partial(Expected, "about")
at_least = partial(Expected, "at least")
at_most = partial(Expected, "at most")
RISES, FALLS = at_least(TREND), at_most(-TREND)
"""What is expected of a `trend`."""


def trend(values: Sequence[float]) -> float:
    """From -1, always falling, to 1, always rising: Kendall's tau-a with the order of two values or more."""
    pairs = [(later > one) - (later < one) for at, one in enumerate(values) for later in values[at + 1 :]]
    return fmean(pairs)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a paper states, and how it is measured again.

    Attributes:
        name: a short name, unique among all claims.
        source: where the paper states it.
        statement: what it states, in a sentence with a verb.
        expected: the number.
        how: how we measure it, with every parameter that the paper leaves open.
        measure: what comes out of a run with a seed.
        pooled: instead: one number for the seeds of all runs. Without either nothing can be compared.
        quantity: what that number is, such as a p-value.
        runs: how many runs the paper averages over.
        quick_runs: how many runs the scale "quick" takes; fewer where one takes long and differs little.
        reason: why it can't be compared, or where the paper contradicts itself, with its own numbers.
        variant_of: the claim of which this one is a variant: see `variant`.
        hypothesis: of a variant, what would explain that the other one differs.
    """

    name: str
    source: str
    statement: str
    expected: Expected
    how: str
    measure: Callable[[int], float] | None = None
    pooled: Callable[[Sequence[int]], float] | None = None
    quantity: str = "number"
    runs: int = 1
    quick_runs: int = 5
    reason: str = ""
    variant_of: str = ""
    hypothesis: str = ""

    def __post_init__(self) -> None:
        if self.expected.tolerance < 0:
            raise OptionError(
                f"the claim {self.name!r} has tolerance {self.expected.tolerance}; "
                f"give a fraction of at least 0"
            )
        if self.expected.relation not in _MISSED_BY:
            raise OptionError(
                f"the claim {self.name!r} has relation {self.expected.relation!r}; "
                f"{choose(self.expected.relation, _MISSED_BY)}"
            )
        if self.measure is None and self.pooled is None and not self.reason:
            raise OptionError(
                f"the claim {self.name!r} has neither a measure nor a reason for having none; "
                f"give one of them"
            )

    def variant(
        self,
        suffix: str,
        hypothesis: str,
        measure: Callable[[int], float] | None = None,
        *,
        pooled: Callable[[Sequence[int]], float] | None = None,
    ) -> "Claim":
        """The same statement, number and tolerance, measured otherwise to test why ours differs.

        Variants are never counted: their settings were chosen after seeing what others give.
        """
        return replace(
            self,
            name=f"{self.name}-{suffix}",
            how=f"{hypothesis} Otherwise as {self.name}.",
            measure=measure,
            pooled=pooled,
            reason="",
            variant_of=self.name,
            hypothesis=hypothesis,
        )


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A claim, what was measured, and the verdict."""

    claim: Claim
    measured: Statistics | None
    verdict: Verdict

    @property
    def is_undecided(self) -> bool:
        """Whether the mean is within the tolerance, and only its interval is not: more runs may decide."""
        return (
            self.verdict is Verdict.DIFFERS
            and self.measured is not None
            and _is_near(self.claim.expected, self.measured.mean)
        )

    def to_json(self) -> dict[str, Any]:
        """All of it in JSON's types, under flat names; what was not measured is None."""
        claim, ours = self.claim, self.measured
        return {
            "name": claim.name,
            "source": claim.source,
            "statement": claim.statement,
            **{name: getattr(claim.expected, name) for name in _EXPECTED},
            "how": claim.how,
            **{
                each.name: None if claim.pooled and each.name in _OF_RUNS else getattr(ours, each.name, None)
                for each in fields(Statistics)
            },
            "verdict": self.verdict.value,
            "reason": claim.reason,
            "variant_of": claim.variant_of,
            "hypothesis": claim.hypothesis,
        }


_OF_RUNS = ("low", "high", "variance", "minimum", "maximum")
"""What one number for all runs together does not have."""
_STATED = ("name", "source", "statement")
_EXPECTED = ("relation", "number", "tolerance")
_JUDGED = ("verdict", "reason", "variant_of", "hypothesis")


def as_frame(findings: Iterable[Finding]) -> "pd.DataFrame":
    """A row for each finding, with the columns of `Finding.to_json`, whatever was found.

    `meshwright.records` gives the rows of the frame in JSON's types.

    Example:
        >>> from meshwright.studies.claims import Claim, about, as_frame, check
        >>> from meshwright.studies.tolerances import NUMBER
        >>> stated = {"name": "pi", "source": "a book", "statement": "Pi is 3.", "how": "measured"}
        >>> claim = Claim(**stated, expected=about(3, NUMBER), measure=lambda seed: 3.14)
        >>> as_frame([check(claim)])[["name", "number", "mean", "verdict"]].to_dict("records")
        [{'name': 'pi', 'number': 3, 'mean': 3.14, 'verdict': 'reproduced'}]
    """
    import pandas as pd

    columns = [*_STATED, *_EXPECTED, "how", *(each.name for each in fields(Statistics)), *_JUDGED]
    frame = pd.DataFrame([finding.to_json() for finding in findings], columns=columns)
    return frame.astype({"runs": pd.Int64Dtype()})


def check(
    claim: Claim, *, runs: int | None = None, seed: int = 0, progress: Progress | None = None
) -> Finding:
    """Measure a claim, over `runs` runs (unless given those of the paper, at least two), and judge it."""
    measure, pooled, count = claim.measure, claim.pooled, max(claim.runs, 2) if runs is None else runs
    if measure is not None:
        return judge(claim, over_runs(lambda run: measure(seed + run), claim.name, count, progress))
    if pooled is not None:
        seeds = range(seed, seed + count)
        return judge(claim, replace(over_runs(lambda _: pooled(seeds), claim.name, 1, progress), runs=count))
    return judge(claim, None)


def judge(claim: Claim, measured: Statistics | None) -> Finding:
    """The verdict: reproduced only if the whole interval of the mean is within the tolerance.

    One run has no interval, so it says neither, unless all runs give one number together.
    """
    if measured is None:
        return Finding(claim=claim, measured=None, verdict=Verdict.NOT_COMPARABLE)
    if measured.runs < 2 and claim.pooled is None:
        return Finding(claim=claim, measured=measured, verdict=Verdict.TOO_FEW_RUNS)
    near = all(_is_near(claim.expected, end) for end in (measured.low, measured.high))
    return Finding(claim=claim, measured=measured, verdict=Verdict.REPRODUCED if near else Verdict.DIFFERS)


def _missed(expected: Expected, ours: float) -> float:
    """By how much ours misses the paper's number; 0 or less where it does not."""
    return _MISSED_BY[expected.relation](ours, expected.number)


def _is_near(expected: Expected, ours: float) -> bool:
    return _missed(expected, ours) <= expected.tolerance * abs(expected.number)


def explained(claim: Finding, variant: Finding) -> str:
    """What a variant says about its hypothesis, by how much of the difference is left in it.

    It explains the difference if it is reproduced, and a part of it if its mean misses the paper's number by
    at most half as much.
    """
    if variant.verdict is Verdict.REPRODUCED:
        return "explains it"
    if variant.is_undecided:
        return "may explain it: the mean fits, its interval is too wide"
    if claim.measured is None or variant.measured is None:
        return "could not be measured"
    before, after = (_missed(claim.claim.expected, each.mean) for each in (claim.measured, variant.measured))
    if after <= before / 2:
        return "explains a part of it"
    return "does not explain it" if after <= before else "does not explain it: the difference is larger"


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
