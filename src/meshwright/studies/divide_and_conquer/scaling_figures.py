"""What [1] states of Fig. 9, 10 and 11, as claims; `scaling.py` says how they are measured."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import nan
from statistics import fmean
from typing import NamedTuple

import numpy as np

from meshwright.studies.catalogue import Curves, Point, Related
from meshwright.studies.claims import FALLS, RISES, Claim, Expected, Scope, about, at_least, at_most, trend
from meshwright.studies.divide_and_conquer.scaling import ALGORITHMS, READINGS, Reading, Row, System
from meshwright.studies.tolerances import GAP, NUMBER, STEADY, TIMES


class Statement(NamedTuple):
    """What is stated of a figure: its name, the words, the number, how it is measured, and contradictions."""

    name: str
    words: str
    expected: Expected
    how: str
    value: Callable[[Row], float]
    reason: str = ""

    @property
    def kind(self) -> str:
        """What it is about."""
        return next((kind for kind in ("diameter", "work") if kind in self.name), "degree")


_TWO_NUMBERS = (
    "The paper's own numbers hardly go together: at 10,000 nodes d_DC - d_DCBC is 10.0 - 4.60 = 5.40, and it "
    "grows with the nodes, but on average it is 0.99. A gap that grew evenly from 0 to 5.40 would be 2.70 on "
    "average; and where d_DC stays at 10.0 while d_DCBC falls to 4.60, they are not similar."
)
_BETWEEN = (
    "The paper contradicts itself: of Fig. 10(c) it says that T_DCBC lies between T_DC and T_GM, 'similarly "
    "to Fig. 10(a) and (b)'; but in Fig. 10(b) DCBC has 'a higher speedup as compared to DC', with at most "
    "5.7% of T_GM where DC has 10.5%."
)


def _trend_of(name: str, what: str) -> Callable[[Row], float]:
    return lambda row: trend(row.of(name, what))


def _gap_trend(more: str, less: str) -> Callable[[Row], float]:
    return lambda row: trend(row.gap(more, less))


def _work_trend(name: str) -> Callable[[Row], float]:
    return lambda row: trend(row.ratios("work", name, "gm"))


def _last_degree(name: str) -> Callable[[Row], float]:
    return lambda row: row.of(name, "degree")[-1]


def _mean_diameter(name: str) -> Callable[[Row], float]:
    return lambda row: fmean(row.of(name, "diameter"))


_FIGURE_9 = (
    Statement(
        "ring-degree",
        "The degree of Ring-per-Topic roughly equals twice the subscription size.",
        about(1.0, NUMBER),
        "Degree over twice the size, mean over sizes",
        lambda row: fmean(
            ring / (2 * system.size) for ring, system in zip(row.rings(), row.systems, strict=True)
        ),
    ),
    Statement(
        "ring-over-dcbc",
        "The degree of Ring-per-Topic is over 10 times that of DCBC on average.",
        at_least(10.0),
        "Mean over sizes of the ratio of degrees",
        lambda row: fmean(
            ring / own for ring, own in zip(row.rings(), row.of("dcbc", "degree"), strict=True)
        ),
    ),
    Statement(
        "ring-over-dc",
        "The degree of Ring-per-Topic is over 10 times that of DC on average.",
        at_least(10.0),
        "Mean over sizes of the ratio of degrees",
        lambda row: fmean(ring / own for ring, own in zip(row.rings(), row.of("dc", "degree"), strict=True)),
    ),
    Statement(
        "dcbc-minus-gm",
        "The average difference between GM and DCBC is 2.45.",
        about(2.45, GAP),
        "Mean over sizes of the difference of degrees",
        lambda row: fmean(row.gap("dcbc", "gm")),
    ),
    Statement(
        "dc-minus-dcbc",
        "DCBC is better than DC by 1.35 on average.",
        about(1.35, GAP),
        "Mean over sizes of the difference of degrees",
        lambda row: fmean(row.gap("dc", "dcbc")),
    ),
    *(
        Statement(
            f"{name}-falls",
            f"As the subscription size increases, the degree of {name.upper()} decreases.",
            FALLS,
            "Trend (Kendall's tau-a) of the degree over the sizes",
            _trend_of(name, "degree"),
        )
        for name in ALGORITHMS
    ),
    Statement(
        "dcbc-gap-shrinks",
        "As the subscription size increases, d_DCBC - d_GM shrinks.",
        FALLS,
        "Trend of the difference over the sizes",
        _gap_trend("dcbc", "gm"),
    ),
    Statement(
        "dc-gap-shrinks",
        "As the subscription size increases, d_DC - d_GM shrinks.",
        FALLS,
        "Trend of the difference over the sizes",
        _gap_trend("dc", "gm"),
    ),
)

_FIGURE_10A = (
    *(
        Statement(
            f"{name}-degree",
            f"At 10,000 nodes the average degree of {name.upper()} is {number}.",
            about(number, NUMBER),
            "Degree at 10,000 nodes",
            _last_degree(name),
            _TWO_NUMBERS if name == "dc" else "",
        )
        for name, number in (("gm", 4.18), ("dcbc", 4.60), ("dc", 10.0))
    ),
    Statement(
        "dc-minus-dcbc",
        "DCBC has a lower degree than DC, by 0.99 on average.",
        about(0.99, GAP),
        "Mean over the systems of the difference",
        lambda row: fmean(row.gap("dc", "dcbc")),
    ),
    Statement(
        "gm-falls",
        "As the nodes grow, the degree of GM decreases.",
        FALLS,
        "Trend over the nodes",
        _trend_of("gm", "degree"),
    ),
    Statement(
        "dcbc-falls",
        "As the nodes grow, the degree of DCBC decreases.",
        FALLS,
        "Trend over the nodes",
        _trend_of("dcbc", "degree"),
    ),
    Statement(
        "dc-stable",
        "As the nodes grow, the degree of DC stays relatively stable.",
        at_most(STEADY),
        "The greatest degree over the least, less 1",
        lambda row: max(row.of("dc", "degree")) / min(row.of("dc", "degree")) - 1,
    ),
    Statement(
        "gap-grows",
        "As the nodes grow, d_DC - d_DCBC increases.",
        RISES,
        "Trend over the nodes",
        _gap_trend("dc", "dcbc"),
    ),
    Statement(
        "dcbc-nears-gm",
        "As the nodes grow, d_DCBC gets closer to d_GM.",
        FALLS,
        "Trend of the difference",
        _gap_trend("dcbc", "gm"),
    ),
    Statement(
        "work-dc",
        "DCBC takes 164% of the time of DC on average.",
        about(1.64, TIMES),
        "Pairs examined, mean over the systems of the ratio",
        lambda row: fmean(row.ratios("work", "dcbc", "dc")),
    ),
    Statement(
        "work-gm",
        "DCBC takes 2.6% of the time of GM on average.",
        about(0.026, TIMES),
        "Pairs examined, mean over the systems of the ratio",
        lambda row: fmean(row.ratios("work", "dcbc", "gm")),
    ),
    Statement(
        "diameter-of-gm",
        "DCBC outperforms GM in terms of topic diameters.",
        at_most(1.0),
        "Greatest topic diameter of dcbc over that of gm, mean over the systems",
        lambda row: fmean(row.ratios("diameter", "dcbc", "gm")),
    ),
    Statement(
        "diameter-under-dc",
        "DCBC outperforms DC in terms of topic diameters.",
        at_most(1.0),
        "Greatest topic diameter of dcbc over that of dc, mean over the systems",
        lambda row: fmean(row.ratios("diameter", "dcbc", "dc")),
    ),
    Statement(
        "diameter-of-dc",
        "At 10,000 nodes the topic diameter of DC is more than three times that of DCBC.",
        at_least(3.0),
        "Greatest topic diameter of dc over that of dcbc",
        lambda row: row.of("dc", "diameter")[-1] / row.of("dcbc", "diameter")[-1],
    ),
    Statement(
        "dcbc-diameter-falls",
        "As the nodes grow, the topic diameter of DCBC decreases.",
        FALLS,
        "Trend over the nodes",
        _trend_of("dcbc", "diameter"),
    ),
    Statement(
        "dc-diameter-rises",
        "As the nodes grow, the topic diameter of DC increases.",
        RISES,
        "Trend over the nodes",
        _trend_of("dc", "diameter"),
    ),
)

_FIGURE_10B = (
    *(
        Statement(
            f"{name}-rises",
            f"The degree of {name.upper()} increases with the number of topics.",
            RISES,
            "Trend over the topics",
            _trend_of(name, "degree"),
        )
        for name in ALGORITHMS
    ),
    Statement(
        "dc-minus-gm",
        "At 2,000 topics d_DC - d_GM is 14.74.",
        about(14.74, NUMBER),
        "Difference at 2,000 topics",
        lambda row: row.gap("dc", "gm")[-1],
    ),
    Statement(
        "dc-over-gm",
        "At 2,000 topics d_DC is over 69.0% above d_GM.",
        at_least(1.69),
        "Ratio at 2,000 topics",
        lambda row: row.ratios("degree", "dc", "gm")[-1],
    ),
    Statement(
        "dc-gap-grows",
        "The gap d_DC - d_GM becomes more noticeable as the number of topics increases.",
        RISES,
        "Trend of the difference over the topics",
        _gap_trend("dc", "gm"),
    ),
    Statement(
        "dcbc-minus-gm",
        "At 2,000 topics d_DCBC - d_GM is 1.94.",
        about(1.94, NUMBER),
        "Difference at 2,000 topics",
        lambda row: row.gap("dcbc", "gm")[-1],
    ),
    Statement(
        "dcbc-under-dc",
        "DCBC has a lower average degree than DC.",
        at_least(0.0),
        "The least difference over the topics",
        lambda row: min(row.gap("dc", "dcbc")),
    ),
    *(
        Statement(
            f"{name}-diameter",
            f"The topic diameter of {name.upper()} is {number} on average.",
            about(number, NUMBER),
            "Greatest topic diameter, mean over the systems",
            _mean_diameter(name),
        )
        for name, number in (("dcbc", 15.9), ("gm", 18.5), ("dc", 22.3))
    ),
    Statement(
        "diameter-least",
        "DCBC outputs the lowest topic diameters among all algorithms, on average.",
        at_most(1.0),
        "Mean over the systems of the greatest topic diameter of dcbc, over the lesser of the others' means",
        lambda row: _mean_diameter("dcbc")(row) / min(_mean_diameter(name)(row) for name in ("gm", "dc")),
    ),
    Statement(
        "diameters-fall",
        "Topic diameters decrease as the number of topics increases.",
        FALLS,
        "Trend over the topics of the mean of the three algorithms",
        lambda row: trend(np.mean([row.of(name, "diameter") for name in ALGORITHMS], axis=0).tolist()),
    ),
    Statement(
        "work-dcbc",
        "DCBC takes at most 5.7% of the time of GM.",
        at_most(0.057),
        "Pairs examined, greatest ratio over the topics",
        lambda row: max(row.ratios("work", "dcbc", "gm")),
    ),
    Statement(
        "work-dc",
        "DC takes at most 10.5% of the time of GM.",
        at_most(0.105),
        "Pairs examined, greatest ratio over the topics",
        lambda row: max(row.ratios("work", "dc", "gm")),
    ),
    *(
        Statement(
            f"work-{name}-rises",
            f"The time of {name.upper()} over that of GM increases with the number of topics.",
            RISES,
            "Pairs examined, trend of the ratio over the topics",
            _work_trend(name),
        )
        for name in ("dcbc", "dc")
    ),
    Statement(
        "work-dcbc-under-dc",
        "DCBC exhibits a higher speedup as compared to DC when the number of topics increases.",
        at_most(1.0),
        "Pairs examined by dcbc over those by dc at 2,000 topics",
        lambda row: row.ratios("work", "dcbc", "dc")[-1],
        _BETWEEN,
    ),
)

_FIGURE_10C = (
    *(
        Statement(
            f"{name}-falls",
            f"As the subscription size increases, the degree of {name.upper()} decreases.",
            FALLS,
            "Trend over the sizes",
            _trend_of(name, "degree"),
        )
        for name in ("dc", "dcbc")
    ),
    *(
        Statement(
            f"{name}-gap-shrinks",
            f"As the size increases, d_{name.upper()} - d_GM shrinks.",
            FALLS,
            "Trend over the sizes",
            _gap_trend(name, "gm"),
        )
        for name in ("dc", "dcbc")
    ),
    Statement(
        "diameters-rise",
        "Topic diameters increase as the subscription size increases.",
        RISES,
        "Trend over the sizes of the mean of the three algorithms",
        lambda row: trend(np.mean([row.of(name, "diameter") for name in ALGORITHMS], axis=0).tolist()),
        "The paper contradicts itself: it has them rise 'since the number of edges increases', but in the "
        "same figure the degrees of DC and DCBC fall, so there are fewer edges; and of Fig. 10(b) it says "
        "that they fall 'since the overlays have more edges'.",
    ),
    Statement(
        "diameter-under-gm",
        "The topic diameter of DCBC is always lower than that of GM.",
        at_most(1.0),
        "Greatest ratio over the sizes",
        lambda row: max(row.ratios("diameter", "dcbc", "gm")),
    ),
    Statement(
        "diameter-under-dc",
        "The topic diameter of DCBC is always lower than that of DC.",
        at_most(1.0),
        "Greatest ratio over the sizes",
        lambda row: max(row.ratios("diameter", "dcbc", "dc")),
    ),
    Statement(
        "diameter-of-dc",
        "The topic diameter of DCBC is about 0.64 of that of DC on average.",
        about(0.64, NUMBER),
        "Mean over the sizes",
        lambda row: fmean(row.ratios("diameter", "dcbc", "dc")),
    ),
    Statement(
        "dc-minus-dcbc",
        "The difference d_DC - d_DCBC is 0.97 on average.",
        about(0.97, GAP),
        "Mean over the sizes",
        lambda row: fmean(row.gap("dc", "dcbc")),
    ),
    Statement(
        "dcbc-between",
        "d_DCBC lies between d_GM and d_DC.",
        at_most(0.0),
        "By how much a difference has the wrong sign, the greatest over the sizes",
        lambda row: max(row.gap("gm", "dcbc") + row.gap("dcbc", "dc")),
    ),
    Statement(
        "work-between",
        "The time of DCBC lies between those of DC and GM.",
        at_most(1.0),
        "Pairs examined, the greatest ratio over the sizes, of dc to dcbc or of dcbc to gm",
        lambda row: max(row.ratios("work", "dc", "dcbc") + row.ratios("work", "dcbc", "gm")),
        _BETWEEN,
    ),
    *(
        Statement(
            f"work-{name}-falls",
            f"As the size increases, the time of {name.upper()} over that of GM falls.",
            FALLS,
            "Pairs examined, trend of the ratio over the sizes",
            _work_trend(name),
        )
        for name in ("dc", "dcbc")
    ),
    Statement(
        "work",
        "DCBC takes 4.4% more time than DC.",
        about(1.044, NUMBER),
        "Pairs examined, mean over the sizes",
        lambda row: fmean(row.ratios("work", "dcbc", "dc")),
    ),
)

_FIGURE_11 = (
    Statement(
        "gap",
        "At 10,000 topics d_DC - d_DCBC is about 25.",
        about(25.0, NUMBER),
        "Difference at 10,000 topics",
        lambda row: row.gap("dc", "dcbc")[-1],
    ),
    Statement(
        "gap-grows",
        "As the topics grow, the advantage of DCBC over DC grows.",
        RISES,
        "Trend of the difference over the topics",
        _gap_trend("dc", "dcbc"),
    ),
)


class _Figure(NamedTuple):
    """A figure: its statements, and the systems that they are about."""

    source: str
    statements: Sequence[Statement]
    where: str
    x: str
    systems: Sequence[System]
    quick: Sequence[int]
    """The places of the systems at the scale "quick"."""


_FIGURES: Mapping[str, _Figure] = {
    "figure-9": _Figure(
        "[1], Fig. 9 and VIII-D.2",
        _FIGURE_9,
        "4,000 nodes, 1,000 topics, 50 to 150 topics per node",
        "topics per node",
        [System(nodes=4_000, topics=1_000, size=size) for size in (50, 75, 100, 125, 150)],
        (0, 2, 4),
    ),
    "figure-10a": _Figure(
        "[1], Fig. 10(a) and VIII-D.3",
        _FIGURE_10A,
        "1,000 to 10,000 nodes, 400 topics, 100 topics per node",
        "nodes",
        [System(nodes=nodes) for nodes in (1_000, 2_000, 4_000, 7_000, 10_000)],
        (0, 2, 4),
    ),
    "figure-10b": _Figure(
        "[1], Fig. 10(b) and VIII-D.4",
        _FIGURE_10B,
        "1,000 nodes, 200 to 2,000 topics, 100 topics per node",
        "topics",
        [System(topics=topics) for topics in (200, 400, 800, 1_200, 1_600, 2_000)],
        range(6),
    ),
    "figure-10c": _Figure(
        "[1], Fig. 10(c) and VIII-D.5",
        _FIGURE_10C,
        "1,000 nodes, 400 topics, 50 to 150 topics per node",
        "topics per node",
        [System(size=size) for size in (50, 75, 100, 125, 150)],
        range(5),
    ),
    "figure-11": _Figure(
        "[1], Fig. 11 and VIII-D.5",
        _FIGURE_11,
        "1,000 nodes, 1,000 to 10,000 topics, 100 topics per node",
        "topics",
        [System(topics=topics) for topics in (1_000, 2_500, 5_000, 10_000)],
        range(4),
    ),
}
_SMOKE = {
    "nodes": [System(60, 40, 8), System(90, 40, 8)],
    "topics": [System(60, 40, 8), System(60, 60, 8)],
    "topics per node": [System(60, 40, 8), System(60, 40, 12)],
}
"""The smallest systems, by what grows."""


def _systems(figure: str, scale: str) -> Sequence[System]:
    own = _FIGURES[figure]
    if scale == "quick":
        return [own.systems[at] for at in own.quick]
    return _SMOKE[own.x] if scale == "smoke" else own.systems


def claims(scale: str) -> Iterator[Claim]:
    """Fig. 9 to 11; the variants read otherwise what [1] leaves open."""
    counted, *others = READINGS
    for figure, own in _FIGURES.items():
        systems = _systems(figure, scale)
        for stated in own.statements:
            claim = Claim(
                name=f"{figure}-{stated.name}",
                source=own.source,
                statement=stated.words,
                expected=stated.expected,
                how=(
                    f"{stated.how}; unif, {own.where}, each topic taken independently, with the same chance; "
                    f"p by Alg. 5, 20% bulk nodes."
                ),
                measure=partial(_measure, stated, systems, counted),
                quick_runs=3 if max(system.nodes * system.size for system in systems) > 200_000 else 5,
                reason=stated.reason,
            )
            yield claim
            for reading in others:
                if reading.is_about(figure, stated.name, stated.kind):
                    measure = partial(_measure, stated, systems, reading)
                    yield claim.variant(reading.suffix, reading.hypothesis, measure)


def _measure(stated: Statement, systems: Sequence[System], reading: Reading, seed: int) -> float:
    return float(stated.value(Row(systems, reading, seed)))


_FIELDS = {"nodes": "nodes", "topics": "topics", "topics per node": "size"}
"""What grows, as a field of a system."""

Values = Callable[[Row], Mapping[str, Sequence[float]]]
"""By series, a number for each system."""


def _degrees(row: Row) -> Mapping[str, Sequence[float]]:
    return {name: row.of(name, "degree") for name in ALGORITHMS}


def _with_rings(row: Row) -> Mapping[str, Sequence[float]]:
    return {**_degrees(row), "ring": row.rings()}


def _diameters(row: Row) -> Mapping[str, Sequence[float]]:
    return {name: row.of(name, "diameter") for name in ALGORITHMS}


def _work(row: Row) -> Mapping[str, Sequence[float]]:
    return {name: row.ratios("work", name, "gm") for name in ("dc", "dcbc")}


def _curves(
    figure: str,
    values: Values,
    y: str,
    stated: tuple[Point, ...] = (),
    related: tuple[Related, ...] = (),
    wide: bool = False,
) -> Curves:
    own = _FIGURES[figure]

    def points(seed: int, scope: Scope) -> Iterator[Point]:
        systems = _systems(figure, scope.scale)
        for name, numbers in values(Row(systems, READINGS[0], seed)).items():
            for system, number in zip(systems, numbers, strict=True):
                yield Point(name, getattr(system, _FIELDS[own.x]), number)

    return Curves(measure=points, x=own.x, y=y, stated=stated, related=related, wide=wide)


class _Marks(NamedTuple):
    """What the paper states in a panel."""

    stated: tuple[Point, ...] = ()
    related: tuple[Related, ...] = ()


def _panels(figure: str, degrees: _Marks, diameters: _Marks, work: _Marks) -> tuple[Curves, ...]:
    """Degrees, diameters and work, as in Fig. 10."""
    return (
        _curves(figure, _degrees, "average degree", *degrees),
        _curves(figure, _diameters, "greatest topic diameter", *diameters),
        _curves(figure, _work, "pairs examined over those of gm", *work),
    )


FIGURE_9 = _curves(
    "figure-9",
    _with_rings,
    "average degree",
    tuple(Point("ring", size, 2 * size) for size in (50, 100, 150)),
    (Related("dcbc", "gm", more=2.45), Related("dc", "dcbc", more=1.35)),
    wide=True,
)
FIGURE_10A = _panels(
    "figure-10a",
    _Marks(
        (Point("gm", 10_000, 4.18), Point("dcbc", 10_000, 4.60), Point("dc", 10_000, 10.0)),
        (Related("dc", "dcbc", more=0.99),),
    ),
    _Marks(related=(Related("dc", "dcbc", 3.0, relation="at least", at=10_000),)),
    _Marks((Point("dcbc", nan, 0.026),), (Related("dcbc", "dc", 1.64),)),
)
FIGURE_10B = _panels(
    "figure-10b",
    _Marks(related=(Related("dc", "gm", more=14.74, at=2_000), Related("dcbc", "gm", more=1.94, at=2_000))),
    _Marks((Point("dcbc", nan, 15.9), Point("gm", nan, 18.5), Point("dc", nan, 22.3))),
    _Marks((Point("dcbc", 2_000, 0.057), Point("dc", 2_000, 0.105))),
)
FIGURE_10C = _panels(
    "figure-10c",
    _Marks(related=(Related("dc", "dcbc", more=0.97),)),
    _Marks(related=(Related("dcbc", "dc", 0.64),)),
    _Marks(related=(Related("dcbc", "dc", 1.044),)),
)
FIGURE_11 = _curves(
    "figure-11", _degrees, "average degree", related=(Related("dc", "dcbc", more=25.0, at=10_000),)
)
