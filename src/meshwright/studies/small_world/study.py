"""The claims of [4], small worlds, from its sections 5.2 and 5.3.

They are measured to the letter. Variants change one choice that [4] leaves open after another, where it
matters, and then all of them: the last comes nearest to the paper's numbers, and was chosen after seeing what
each choice gives.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from math import nan

from meshwright.studies.catalogue import Curves, Related
from meshwright.studies.catalogue import Point as CurvePoint
from meshwright.studies.claims import Claim, Scope
from meshwright.studies.small_world.statements import (
    OVERLAYS,
    READINGS,
    SIZES,
    STATEMENTS,
    TO_THE_LETTER,
    Found,
    Sizes,
    Sweep,
    SweepSetting,
    Value,
    measure_point,
)

_NEVER_UNDER_CHORD = (
    "It can't be under Chord's, as [4] has it (29% to 32%): subscribers are 2,000 / 20 = 100 identifiers "
    "apart on average, and over such gaps RandomSW forwards 2.4% more than Chord by its definition."
)
_UP_TO = "The text says 'up to 44%' and 'on average' at once."
_REASONS = {"2a-RandomSW": _NEVER_UNDER_CHORD, "3c-GrSwico": _UP_TO}


def _measure(sweep: Sweep, value: Value, sizes: Sizes, setting: SweepSetting, seed: int) -> float:
    points = sweep.points(sizes)
    return value([measure_point(*point, setting, seed, sizes.publications) for point in points])


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
            measure=partial(_measure, stated.sweep, stated.value, sizes, TO_THE_LETTER),
            reason=_REASONS.get(stated.name, ""),
        )
        yield claim
        for suffix in stated.readings:
            words, setting = READINGS[suffix]
            measure = partial(_measure, stated.sweep, stated.value, sizes, setting)
            yield claim.variant(suffix, words, measure)
        for other in stated.otherwise:
            measure = partial(_measure, stated.sweep, other.value, sizes, TO_THE_LETTER)
            yield claim.variant(other.suffix, other.words, measure)


def _curves(
    grows: str,
    y: str,
    value: Callable[[Mapping[str, Found], str], float],
    stated: Iterable[CurvePoint] = (),
    related: Iterable[Related] = (),
) -> Curves:
    def points(seed: int, scope: Scope) -> Iterator[CurvePoint]:
        sizes = SIZES[scope.scale]
        for nodes, topics in Sweep(grows).points(sizes):
            found = measure_point(nodes, topics, TO_THE_LETTER, seed, sizes.publications)
            for name in OVERLAYS:
                yield CurvePoint(name, nodes if grows == "nodes" else topics, value(found, name))

    return Curves(measure=points, x=grows, y=y, stated=tuple(stated), related=tuple(related))


def _stated(x: float, **values: float) -> list[CurvePoint]:
    return [CurvePoint(name, x, value) for name, value in values.items()]


def _more_forwards(found: Mapping[str, Found], name: str) -> float:
    return found[name].forwards / found["GrSwico"].forwards


def _path(found: Mapping[str, Found], name: str) -> float:
    return found[name].path


def _support(found: Mapping[str, Found], name: str) -> float:
    return found[name].support


_FORWARDS, _PATH, _SUPPORT = "pure forwards over GrSwico's", "average path length", "TCO support ratio"
FIGURE_2 = (
    _curves("nodes", _FORWARDS, _more_forwards, _stated(nan, Chord=1.32, RandomSW=1.29)),
    _curves(
        "nodes",
        _PATH,
        _path,
        _stated(10_000, GrSwico=24.7, Chord=112, RandomSW=107),
        [Related(name, "GrSwico", 3.3, relation="at least") for name in ("Chord", "RandomSW")],
    ),
    _curves("nodes", _SUPPORT, _support, _stated(nan, GrSwico=0.753, Chord=0.116, RandomSW=0.116)),
)
FIGURE_3 = (
    _curves(
        "topics",
        _FORWARDS,
        _more_forwards,
        [*_stated(nan, Chord=1.371, RandomSW=1.335), *_stated(10_000, Chord=1.445, RandomSW=1.393)],
    ),
    _curves("topics", _PATH, _path, _stated(nan, GrSwico=7.8, Chord=13, RandomSW=13)),
    _curves("topics", _SUPPORT, _support, _stated(nan, GrSwico=0.44, Chord=0.06, RandomSW=0.06)),
)
