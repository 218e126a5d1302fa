"""Claims of [2] about Divide and Conquer: Fig. 9, clusters of 100 nodes where links cost 1 inside and 10
between.
"""  # noqa: D205

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import comb
from statistics import fmean
from typing import NamedTuple

from meshwright.studies.catalogue import Related
from meshwright.studies.claims import Claim, Expected, about, at_most
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
        if name == "time":
            yield claim.variant(
                "pairs",
                "The time is as the pairs that may be linked, all of which an eager greedy keeps.",
                partial(measure, lambda cases: fmean(map(_candidates, cases)), Sizes()),
            )
            yield claim.variant(
                "seconds",
                "The time is the processor time of our implementations.",
                partial(
                    measure,
                    lambda cases: fmean(
                        seconds(case, "dc-maw", 1) / seconds(case, "gr-maw", 1) for case in cases
                    ),
                    Sizes(),
                ),
            )


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
        at_most(1.0),
        "The gap at the most nodes over that at the fewest",
        lambda cases: _more_cost(cases[-1]) / _more_cost(cases[0]),
    ),
    (
        "degree-gap",
        "The gap in degrees shrinks as the nodes grow.",
        at_most(1.0),
        "The gap at the most nodes over that at the fewest",
        lambda cases: _more_degree(cases[-1]) / _more_degree(cases[0]),
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
        lambda cases: fmean(map(_examined_ratio, cases)),
    ),
    (
        "time-falls",
        "The ratio of times decreases as the nodes grow.",
        at_most(1.0),
        "Pairs examined in place of time, the ratio at the most nodes over that at the fewest",
        lambda cases: _examined_ratio(cases[-1]) / _examined_ratio(cases[0]),
    ),
)


def _examined_ratio(case: Case) -> float:
    return examined(case, "dc-maw") / examined(case, "gr-maw")


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
