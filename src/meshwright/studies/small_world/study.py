"""The claims of [4], small worlds, from its sections 5.2 and 5.3.

They are measured to the letter. Variants change one choice that [4] leaves open after another, and then all
of them: the last comes nearest to the paper's numbers, and was chosen after seeing what each choice gives.
"""

from collections.abc import Iterator, Mapping
from functools import partial

from meshwright.studies.catalogue import Curves
from meshwright.studies.catalogue import Point as CurvePoint
from meshwright.studies.claims import Claim, Scope
from meshwright.studies.small_world.statements import (
    FITTED,
    OVERLAYS,
    SIZES,
    STATEMENTS,
    TO_THE_LETTER,
    Sizes,
    Statement,
    Sweep,
    SweepSetting,
    measure_point,
)

_READINGS: Mapping[str, tuple[str, SweepSetting]] = {
    "whole-phases": (
        "There is no finger in the phase that the ring cuts short.",
        TO_THE_LETTER._replace(whole_phases=True),
    ),
    "both-ways": (
        "A finger serves both of its ends, as links of an undirected graph do.",
        TO_THE_LETTER._replace(both_ways=True),
    ),
    "farthest": (
        "Of equals, GrSwico takes the farthest, and the first where none contributes.",
        TO_THE_LETTER._replace(ties="farthest", fill="first"),
    ),
    "fitted": ("All three at once, which comes nearest to the numbers of [4].", FITTED),
}
_NEVER_UNDER_CHORD = (
    "It can't be under Chord's, as [4] has it (29% to 32%): subscribers are 2,000 / 20 = 100 identifiers "
    "apart on average, and over such gaps RandomSW forwards 2.4% more than Chord by its definition."
)
_UP_TO = "The text says 'up to 44%' and 'on average' at once."
_REASONS = {"2a-RandomSW": _NEVER_UNDER_CHORD, "3c-GrSwico": _UP_TO}


def _measure(statement: Statement, sizes: Sizes, setting: SweepSetting, seed: int) -> float:
    points = statement.sweep.points(sizes)
    return statement.value([measure_point(*point, setting, seed, sizes.publications) for point in points])


def claims_at(scope: Scope) -> Iterator[Claim]:
    """The claims at a scale."""
    sizes = SIZES[scope.scale]
    for stated in STATEMENTS:
        claim = Claim(
            name=f"small-world-figure-{stated.name.lower()}",
            source=stated.source,
            statement=stated.statement,
            expected=stated.expected,
            how=(
                f"{stated.measured}; unif, 20 topics per node, {stated.sweep.where(sizes)}, "
                f"{sizes.publications:,} publications; a finger in every phase, which serves its owner "
                f"alone, any of equals: to the letter."
            ),
            measure=partial(_measure, stated, sizes, TO_THE_LETTER),
            reason=_REASONS.get(stated.name, ""),
        )
        yield claim
        for suffix, (words, setting) in _READINGS.items():
            yield claim.variant(suffix, words, partial(_measure, stated, sizes, setting))


def _curves(grows: str, what: str, y: str, stated: tuple[CurvePoint, ...] = ()) -> Curves:
    def points(seed: int, scale: str) -> Iterator[CurvePoint]:
        sizes = SIZES[scale]
        for nodes, topics in Sweep(grows).points(sizes):
            found = measure_point(nodes, topics, TO_THE_LETTER, seed, sizes.publications)
            for name in OVERLAYS:
                yield CurvePoint(name, nodes if grows == "nodes" else topics, getattr(found[name], what))

    return Curves(measure=points, x=grows, y=y, stated=stated)


FIGURE_2 = _curves(
    "nodes",
    "path",
    "average path length",
    tuple(
        CurvePoint(name, 10_000, hops)
        for name, hops in {"GrSwico": 24.7, "Chord": 112, "RandomSW": 107}.items()
    ),
)
FIGURE_3 = _curves("topics", "forwards", "pure forwards per publication")
