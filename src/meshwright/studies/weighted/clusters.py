"""Claims of [2] about Divide and Conquer: Fig. 9, clusters of 100 nodes where links cost 1 inside and 10
between.
"""  # noqa: D205

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import comb
from statistics import fmean
from typing import NamedTuple

from meshwright.studies.catalogue import Related
from meshwright.studies.claims import FALLS, Claim, Expected, about, at_most, trend
from meshwright.studies.tolerances import NUMBER, TIMES
from meshwright.studies.weighted.cases import (
    HOW_DRAWN,
    Axis,
    Case,
    CostSetting,
    built,
    clusters,
    cost,
    curves,
    degree,
    diameters,
    examined,
    seconds,
)

_SIZE = 100
_UNDERLAY = clusters(_SIZE, inner=1.0, outer=10.0)


def _cases(setting: CostSetting, sizes: "Sizes", seed: int) -> list[Case]:
    return [
        Case(_UNDERLAY, "unif", nodes, *sizes, seed, setting.size_exponent)
        for nodes in setting.clustered_nodes
    ]


def _more_cost(case: Case) -> float:
    return cost(case, "dc-maw") - cost(case, "gr-maw")


def _more_degree(case: Case) -> float:
    return degree(case, "dc-maw") - degree(case, "gr-maw")


def _longer(case: Case) -> float:
    """The greater of the ratios of mean topic diameters, in links and in costs."""
    ours, whole = diameters(case, "dc-maw"), diameters(case, "gr-maw")
    return max(ours[0] / whole[0], ours[1] / whole[1])


def _candidates(case: Case) -> float:
    """The pairs that DcMAW may link, in parts and between their representatives, as a share of all."""
    facts = built(case, "dc-maw").facts
    parts, stars = int(facts["partitions"]), float(facts["average_star_set_size"])
    return (parts * comb(_SIZE, 2) + comb(parts, 2) * stars**2) / comb(case.nodes, 2)


_figure_9_claim = partial(Claim, source="[2], Fig. 9 and IX-G")


class Sizes(NamedTuple):
    """What [2] leaves open in Fig. 9: topics, and how many a node has at least and at most."""

    topics: int = 200
    least: int = 20
    most: int = 100


_OTHER_SIZES = {
    "400-topics": ("There are 400 topics.", Sizes(topics=400)),
    "few-topics": ("A node has 10 to 30 topics.", Sizes(least=10, most=30)),
    "100-topics": ("There are 100 topics, of which a node has 10 to 50.", Sizes(100, 10, 50)),
}


def claims(setting: CostSetting) -> Iterator[Claim]:
    """The claims, to be measured on the systems of a setting."""
    nodes = f"{setting.clustered_nodes[0]:,} to {setting.clustered_nodes[-1]:,} nodes"
    how = f"unif, {nodes}, 200 topics, 20 to 100 a node, all of them our choice; {HOW_DRAWN}."

    def measure(value: Callable[[list[Case]], float], sizes: Sizes, seed: int) -> float:
        return value(_cases(setting, sizes, seed))

    for name, statement, expected, words, value in _STATED:
        claim = _figure_9_claim(
            name=f"weighted-figure-9-{name}",
            statement=statement,
            expected=expected,
            how=f"{words}; {how}",
            measure=partial(measure, value, Sizes()),
        )
        yield claim
        for suffix, (hypothesis, sizes) in _OTHER_SIZES.items():
            yield claim.variant(suffix, hypothesis, partial(measure, value, sizes))
        for suffix, (hypothesis, ratio) in _OTHER_TIMES.items() if name in _OVER_NODES else ():
            yield claim.variant(suffix, hypothesis, partial(measure, _over_nodes(name, ratio), Sizes()))


def _examined_ratio(case: Case) -> float:
    return examined(case, "dc-maw") / examined(case, "gr-maw")


def _seconds_ratio(case: Case) -> float:
    return seconds(case, "dc-maw", 1) / seconds(case, "gr-maw", 1)


_OVER_NODES: Mapping[str, Callable[[list[float]], float]] = {"time": fmean, "time-falls": trend}
"""By claim on times, what is made of the ratios."""

_OTHER_TIMES: Mapping[str, tuple[str, Callable[[Case], float]]] = {
    "pairs": (
        "The time is as the pairs that may be linked, all of which an eager greedy keeps.",
        _candidates,
    ),
    "seconds": ("The time is the processor time of our implementations.", _seconds_ratio),
}
"""Ways to measure work other than by the pairs that are examined."""


def _over_nodes(name: str, ratio: Callable[[Case], float]) -> Callable[[list[Case]], float]:
    return lambda cases: _OVER_NODES[name](list(map(ratio, cases)))


_STATED: Sequence[tuple[str, str, Expected, str, Callable[[list[Case]], float]]] = (
    (
        "cost",
        "DcMAW costs 0.88 more than GrMAW.",
        about(0.88, NUMBER),
        "Mean",
        lambda cases: fmean(map(_more_cost, cases)),
    ),
    (
        "degree",
        "The average degree of DcMAW is 0.097 above that of GrMAW.",
        about(0.097, NUMBER),
        "Mean",
        lambda cases: fmean(map(_more_degree, cases)),
    ),
    (
        "gap",
        "The gap in costs shrinks as the nodes grow.",
        FALLS,
        "Trend (Kendall's tau-a) of the gap over the nodes",
        lambda cases: trend(list(map(_more_cost, cases))),
    ),
    (
        "degree-gap",
        "The gap in degrees shrinks as the nodes grow.",
        FALLS,
        "Trend of the gap over the nodes",
        lambda cases: trend(list(map(_more_degree, cases))),
    ),
    (
        "diameters",
        "DcMAW has smaller topic diameters than GrMAW, in links and in costs.",
        at_most(1.0),
        "The greatest ratio of means over topics, over all systems",
        lambda cases: max(map(_longer, cases)),
    ),
    (
        "time",
        "DcMAW takes 5.7% of the time of GrMAW.",
        about(0.057, TIMES),
        "Pairs examined in place of time, mean",
        _over_nodes("time", _examined_ratio),
    ),
    (
        "time-falls",
        "The ratio of times decreases as the nodes grow.",
        FALLS,
        "Pairs examined in place of time, trend of the ratio over the nodes",
        _over_nodes("time-falls", _examined_ratio),
    ),
)


_NODES = Axis("nodes", lambda case: case.nodes, lambda setting, seed: _cases(setting, Sizes(), seed))
FIGURE_9 = tuple(
    curves(_NODES, ("gr-maw", "dc-maw"), measure, related=related)
    for measure, related in (
        ("cost", (Related("dc-maw", "gr-maw", more=0.88),)),
        ("degree", (Related("dc-maw", "gr-maw", more=0.097),)),
        ("diameter", ()),
        ("weighted diameter", ()),
        ("time", (Related("dc-maw", "gr-maw", 0.057),)),
    )
)
