"""Tolerances: how far from a paper's number ours may be and still count as reproduced, by kind of claim.

All claims take theirs from here, and so do the claims about words that a paper puts no number to.
"""

from collections.abc import Mapping
from typing import NamedTuple

SETTLED = (
    "The values were settled claim by claim before all studies were run for the first time, and none was "
    "widened from one published run to the next. Their kinds were named when the values were put together, "
    "later; that changed no value. Some were settled after a look at single runs of clustering and diameter: "
    'of [5], the 15% on the factor of Fig. 8 and the numbers for "very low" and "almost indistinguishable".'
)
"""When that was, and what had been seen."""


class Tolerance(NamedTuple):
    """How far off a number may be, as a share of the paper's, and why so far."""

    kind: str
    share: float
    rule: str


EXACT = Tolerance(
    "exact",
    0.0,
    "An order, a bound or a trend: what the paper says holds, or does not.",
)
STATED_WORKLOAD = Tolerance(
    "stated workload",
    0.01,
    "A degree that the paper averages over hundreds of runs, on a workload that it states in full.",
)
BY_CONSTRUCTION = Tolerance(
    "by construction",
    0.02,
    "Two numbers that an algorithm makes equal, but for ties.",
)
NARROW = Tolerance(
    "narrow",
    0.05,
    "The size of a chosen set on a workload that the paper states in full.",
)
NUMBER = Tolerance(
    "number",
    0.10,
    "A degree, diameter, length, cost or share, or a difference of two, that the text gives as a number, "
    "where the paper leaves the law of its workload open or averages over few runs. Of more time by 4.4%, "
    "too: 25% would leave nothing of it.",
)
RANDOM = Tolerance(
    "random choices",
    0.15,
    "What random choices decide: sizes of backup sets, links that a repair changes, slopes over a few "
    "systems; and a ratio of which 25% would take in 1.",
)
OWN_TIMES = Tolerance(
    "times of one program",
    0.20,
    "The times of two ways of repair that share their code, so that only the machine differs.",
)
TIMES = Tolerance(
    "times",
    0.25,
    "A time as a share or a multiple of another's: machine, language and implementation differ.",
)
GAP = Tolerance(
    "gap",
    0.25,
    "A mean difference of two degrees, diameters or rounds: the errors of both count, and it is small beside "
    "them.",
)
QUOTIENT = Tolerance(
    "quotient",
    0.25,
    "A quotient of two numbers of the paper that it does not state itself: the errors of both count.",
)
OTHER_DATA = Tolerance(
    "other data",
    0.25,
    "A number on data that is not public, measured on other data of its kind.",
)
ROUGH = Tolerance(
    "rough",
    0.25,
    'A number that the paper gives as "around", that contradicts others of the paper, or that is measured in '
    "a part of its rounds.",
)

TOLERANCES: tuple[Tolerance, ...] = (
    EXACT,
    STATED_WORKLOAD,
    BY_CONSTRUCTION,
    NARROW,
    NUMBER,
    RANDOM,
    OWN_TIMES,
    TIMES,
    GAP,
    QUOTIENT,
    OTHER_DATA,
    ROUGH,
)
"""All there are."""


class Bound(NamedTuple):
    """A number of ours for words of a paper that it puts no number to."""

    number: float
    rule: str


TREND = 0.6
STEADY = 0.25
CLOSE = 2.0
MAJORITY = 0.5
VERY_LOW = 0.5
FEW_ROUNDS = 3
NEARLY_ALL = 0.9
SIGNIFICANT = 0.05
UNCHANGED = 0.05

BOUNDS: Mapping[str, Bound] = {
    '"rises", "falls"': Bound(
        TREND,
        "Kendall's tau-a is at least that, or at most its negative: one pair in five may be against it.",
    ),
    '"steady", "stable"': Bound(STEADY, "The greatest value is above the least by at most that share."),
    '"close to"': Bound(CLOSE, "One is at most that many times the other."),
    '"the majority", "dominate"': Bound(MAJORITY, "More than that share."),
    '"very low"': Bound(VERY_LOW, "At most that share of the mean."),
    '"just a few rounds"': Bound(FEW_ROUNDS, "That many rounds."),
    '"is able to" in a few rounds': Bound(NEARLY_ALL, "At least that share of the change is done."),
    '"not a single", "indistinguishable"': Bound(SIGNIFICANT, "The level of the test, as a p-value."),
    '"almost indistinguishable"': Bound(UNCHANGED, "Means are within that share of what they were."),
}
"""By the words."""
