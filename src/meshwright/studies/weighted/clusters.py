"""Claims of [2] about Divide and Conquer: Fig. 9, clusters of 100 nodes where links cost 1 inside and 10
between.
"""  # noqa: D205

from collections.abc import Iterator
from functools import partial
from math import comb
from statistics import fmean

from meshwright.studies.claims import Claim, about, at_most
from meshwright.studies.weighted.cases import (
    HOW_DRAWN,
    Case,
    CostSetting,
    built,
    clusters,
    cost,
    degree,
    diameters,
    examined,
)

_SIZE = 100
_UNDERLAY = clusters(_SIZE, inner=1.0, outer=10.0)


def _cases(setting: CostSetting, seed: int) -> list[Case]:
    return [Case(_UNDERLAY, "unif", nodes, 200, 20, 100, seed) for nodes in setting.clustered_nodes]


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


_BETTER = "Ours is nearer to GrMAW than that of [2], whose numbers of nodes and topics are not stated."
_figure_9_claim = partial(Claim, source="[2], Fig. 9 and IX-G")


def claims(setting: CostSetting) -> tuple[Claim, ...]:
    """The claims, to be measured on the systems of a setting."""
    sizes = f"{setting.clustered_nodes[0]:,} to {setting.clustered_nodes[-1]:,} nodes"
    how = f"Mean for unif, {sizes}, 200 topics, 20 to 100 a node, all of them our choice; {HOW_DRAWN}."
    return (*_quality(setting, how), *_work(setting, how))


def _quality(setting: CostSetting, how: str) -> Iterator[Claim]:
    yield _figure_9_claim(
        name="weighted-figure-9-cost",
        statement="DcMAW costs 0.88 more than GrMAW.",
        expected=about(0.88, tolerance=0.1),
        how=how,
        measure=lambda seed: fmean(map(_more_cost, _cases(setting, seed))),
        reason=_BETTER,
    )
    yield _figure_9_claim(
        name="weighted-figure-9-degree",
        statement="The average degree of DcMAW is 0.097 above that of GrMAW.",
        expected=about(0.097, tolerance=0.1),
        how=how,
        measure=lambda seed: fmean(map(_more_degree, _cases(setting, seed))),
        reason=_BETTER,
    )
    yield _figure_9_claim(
        name="weighted-figure-9-gap",
        statement="These gaps shrink as the nodes grow.",
        expected=at_most(1.0),
        how=f"The gap in costs at the most nodes over that at the fewest; {how}",
        measure=lambda seed: _more_cost(_cases(setting, seed)[-1]) / _more_cost(_cases(setting, seed)[0]),
    )
    yield _figure_9_claim(
        name="weighted-figure-9-diameters",
        statement="DcMAW has smaller topic diameters than GrMAW, in links and in costs.",
        expected=at_most(1.0),
        how=f"The greatest ratio of means over topics, over all systems; {how}",
        measure=lambda seed: max(map(_longer, _cases(setting, seed))),
    )


def _work(setting: CostSetting, how: str) -> Iterator[Claim]:
    yield _figure_9_claim(
        name="weighted-figure-9-time",
        statement="DcMAW takes 5.7% of the time of GrMAW.",
        expected=about(0.057, tolerance=0.25),
        how=f"Pairs examined in place of time; {how}",
        measure=lambda seed: fmean(
            examined(case, "dc-maw") / examined(case, "gr-maw") for case in _cases(setting, seed)
        ),
        reason="Our GrMAW is lazy as well; of all pairs that may be linked see weighted-figure-9-pairs.",
    )
    yield _figure_9_claim(
        name="weighted-figure-9-pairs",
        statement="The same, of all pairs that either may link.",
        expected=at_most(0.057),
        how=f"Pairs in parts and of representatives as a share of all, at the most nodes; {how}",
        measure=lambda seed: _candidates(_cases(setting, seed)[-1]),
    )
