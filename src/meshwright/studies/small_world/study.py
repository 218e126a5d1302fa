"""The claims of [4], small worlds, from its sections 5.2 and 5.3.

Every claim is measured twice: to the letter, and in the setting that comes nearest to the paper's numbers,
which was chosen after seeing what the settings give (`studies/small_world/statements.py`).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from meshwright.studies.claims import Claim
from meshwright.studies.small_world.statements import (
    FITTED,
    STATEMENTS,
    TO_THE_LETTER,
    Statement,
    SweepSetting,
    measure_point,
)

PUBLICATIONS = 10_000
_LETTER = "-letter"


class Reading(NamedTuple):
    """A setting to measure all claims in, what it is called, and why claims differ there, by name."""

    suffix: str
    setting: SweepSetting
    how: str
    reasons: Mapping[str, str]


_NEVER_UNDER_CHORD = (
    "Subscribers are 100 identifiers apart on average. Over such gaps RandomSW forwards 2.4% more than Chord "
    "by its definition, worked out exactly; [4] has 2.3% less."
)
_FEW_TOPICS = (
    "It falls from 75% at 1,000 topics to 43% at 10,000 and is within 5% of 44% from 5,000 on; the text says "
    "'up to' and 'on average' at once."
)
_TIES = "With the farthest of equals instead of any, GrSwico forwards some 3% more; see the same claim there."
_ENDS = (
    "Where a link serves both of its ends, paths are shorter, and GrSwico gains most, the more so the more "
    "topics there are; see the same claim there."
)
_CUT_SHORT = (
    "The finger in the phase that the ring cuts short is one in 10 to 14, and support is as the number of "
    "fingers; see the same claim without it."
)

READINGS = (
    Reading(
        "",
        FITTED,
        "fingers in whole phases, which serve both of their ends, the farthest of equals and the first where "
        "none contributes: as fits [4] best",
        {"2a-RandomSW": _NEVER_UNDER_CHORD, "3c-GrSwico": _FEW_TOPICS},
    ),
    Reading(
        _LETTER,
        TO_THE_LETTER,
        "a finger in every phase, which serves its owner alone, any of equals: to the letter",
        {
            "2a-Chord": _TIES,
            "2a-RandomSW": _NEVER_UNDER_CHORD,
            **dict.fromkeys(
                ("3a-Chord", "3a-most-Chord", "3a-most-RandomSW", "3a-rise", "2b-RandomSW"), _ENDS
            ),
            **dict.fromkeys(("2c-others", "3c-others"), _CUT_SHORT),
            "3c-GrSwico": _FEW_TOPICS,
        },
    ),
)


def _measure(statement: Statement, setting: SweepSetting) -> Callable[[int], float]:
    return lambda seed: statement.value(
        [measure_point(*point, setting, seed, PUBLICATIONS) for point in statement.sweep.points]
    )


def _claims() -> Iterator[Claim]:
    for reading in READINGS:
        for stated in STATEMENTS:
            name = f"small-world-figure-{stated.name.lower()}"
            yield Claim(
                name=f"{name}{reading.suffix}",
                source=stated.source,
                statement=stated.statement,
                expected=stated.expected,
                how=f"{stated.measured}; unif, 20 topics per node, {stated.sweep.where}, "
                f"{PUBLICATIONS:,} publications; {reading.how}.",
                measure=_measure(stated, reading.setting),
                reason=reading.reasons.get(stated.name, ""),
                variant_of="" if reading.suffix else f"{name}{_LETTER}",
            )


CLAIMS = tuple(_claims())


def claims_at(scale: str) -> tuple[Claim, ...]:
    """The claims, which are measured at the paper's sizes at every scale."""
    del scale
    return CLAIMS
