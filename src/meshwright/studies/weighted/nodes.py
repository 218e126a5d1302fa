"""Claims of [2] over the number of nodes: Fig. 4 (trees, greedy and primal-dual), 7 (reverse delete) and 8
(against Greedy Merge).
"""  # noqa: D205

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import comb
from operator import sub, truediv
from statistics import fmean

import numpy as np

from meshwright.studies.catalogue import Point, Related
from meshwright.studies.claims import FALLS, RISES, Claim, about, at_least, at_most, trend
from meshwright.studies.laws import LAWS
from meshwright.studies.tolerances import GAP, OTHER_DATA, TIMES
from meshwright.studies.weighted.cases import (
    ABSOLUTE,
    HOW_DRAWN,
    OTHER_TIMES,
    Axis,
    Case,
    CostSetting,
    built,
    by_law,
    cost,
    curves,
    degree,
    diameters,
    examined,
    floors,
    seconds,
    time_ratio,
    times,
)

_TOPICS = 200
_LEAST, _MOST = 20, 100
_SHARES = {"unif": 0.157, "zipf": 0.266, "expo": 0.282}
"""The mean share of the time of PdMAW that GrMAW takes, by law."""


def _cases(setting: CostSetting, seed: int, *laws: str) -> list[Case]:
    """The systems of a figure, by law and rising number of nodes."""
    return [
        Case(setting.underlay, law, nodes, _TOPICS, _LEAST, _MOST, seed, setting.size_exponent)
        for law in laws
        for nodes in setting.nodes
    ]


def _ends(setting: CostSetting, seed: int, law: str) -> tuple[Case, Case]:
    """The systems of the fewest and of the most nodes."""
    cases = _cases(setting, seed, law)
    return cases[0], cases[-1]


def _ratio(case: Case, algorithm: str, to: str) -> float:
    return cost(case, algorithm) / cost(case, to)


def _ratios(cases: Iterable[Case], algorithm: str, to: str) -> list[float]:
    return [_ratio(case, algorithm, to) for case in cases]


def _tree_cost(case: Case) -> float:
    """The cost of all trees, each counted by itself."""
    return float(2 * built(case, "tr-maw").facts["tree_cost"] / case.nodes)


def _by_topic_over_gr(case: Case) -> float:
    return _tree_cost(case) / cost(case, "gr-maw")


def _trend_over_nodes(setting: CostSetting, law: str, value: Callable[[Case], float], seed: int) -> float:
    return trend([value(case) for case in _cases(setting, seed, law)])


def _cost_of(algorithm: str) -> Callable[[Case], float]:
    return lambda case: cost(case, algorithm)


def _more_degree(cases: Iterable[Case], algorithm: str, than: str) -> float:
    return fmean(degree(case, algorithm) - degree(case, than) for case in cases)


def _longer(cases: Iterable[Case]) -> float:
    """By how many links the mean topic diameter of GrMAW exceeds that of GM."""
    return fmean(diameters(case, "gr-maw")[0] - diameters(case, "gm")[0] for case in cases)


def _shorter_in_costs(cases: Iterable[Case]) -> float:
    """The greatest ratio of the mean weighted topic diameter of GrMAW to that of GM."""
    return max(diameters(case, "gr-maw")[1] / diameters(case, "gm")[1] for case in cases)


def claims(setting: CostSetting) -> tuple[Claim, ...]:
    """The claims, to be measured on the systems of a setting."""
    figures = (
        _figure_4_trees,
        _figure_4_order,
        _figure_4_primal_dual,
        _figure_7,
        _figure_8_cost,
        _figure_8_shape,
    )
    return tuple(claim for figure in figures for claim in figure(setting))


def _how(setting: CostSetting) -> str:
    sizes = f"{setting.nodes[0]:,} to {setting.nodes[-1]:,} nodes"
    return f"{sizes}, {_TOPICS} topics, {_LEAST} to {_MOST} a node; {HOW_DRAWN}."


def _how_all(setting: CostSetting) -> str:
    return f"Mean over unif, zipf and expo; {_how(setting)}"


def _mean(setting: CostSetting, value: Callable[[Case], float]) -> Callable[[int], float]:
    return lambda seed: fmean(map(value, _cases(setting, seed, *LAWS)))


_figure_4_claim = partial(Claim, source="[2], Fig. 4 and IX-B")
_figure_7_claim = partial(Claim, source="[2], Fig. 7 and IX-E")
_figure_8_claim = partial(Claim, source="[2], Fig. 8 and IX-F")


def _figure_4_trees(setting: CostSetting) -> Iterator[Claim]:
    trees = _figure_4_claim(
        name="weighted-figure-4-trees",
        statement="TrMAW costs 7.28 times what GrMAW does, on average.",
        expected=about(7.28, OTHER_DATA),
        how=_how_all(setting),
        measure=_mean(setting, lambda case: _ratio(case, "tr-maw", "gr-maw")),
    )
    yield trees
    yield trees.variant("by-topic", _BY_TOPIC, _mean(setting, _by_topic_over_gr))
    most = _figure_4_claim(
        name="weighted-figure-4-trees-1000",
        statement="At 1,000 nodes under unif TrMAW costs 224 and GrMAW 18.76.",
        expected=about(224 / 18.76, OTHER_DATA),
        how=f"The ratio; {_how(setting)}",
        measure=lambda seed: _ratio(_ends(setting, seed, "unif")[1], "tr-maw", "gr-maw"),
    )
    yield most
    yield most.variant("by-topic", _BY_TOPIC, lambda seed: _by_topic_over_gr(_ends(setting, seed, "unif")[1]))
    rise = _figure_4_claim(
        name="weighted-figure-4-trees-rise",
        statement="The cost of TrMAW tends to rise with the nodes.",
        expected=RISES,
        how=f"Trend (Kendall's tau-a) of the cost over the nodes, unif; {_how(setting)}",
        measure=partial(_trend_over_nodes, setting, "unif", _cost_of("tr-maw")),
    )
    yield rise
    yield rise.variant("by-topic", _BY_TOPIC, partial(_trend_over_nodes, setting, "unif", _tree_cost))
    yield rise.variant(
        "links",
        "What rises is the number of links per node; a link costs less among more nodes.",
        partial(_trend_over_nodes, setting, "unif", lambda case: degree(case, "tr-maw")),
    )
    yield rise.variant(
        "floors",
        "No link costs less than half of what all cost on average, so that more nodes bring no cheaper links "
        "(one of three floors that were tried).",
        partial(_trend_over_nodes, replace(setting, underlay=floors), "unif", _cost_of("tr-maw")),
    )


_BY_TOPIC = "The links of every tree are counted, as lemma 1 adds them up, also those that trees share."


def _figure_4_order(setting: CostSetting) -> tuple[Claim, ...]:
    how = _how_all(setting)
    return (
        _figure_4_claim(
            name="weighted-figure-4-gr-falls",
            statement="The costs of GrMAW and of PdMAW fall with the nodes.",
            expected=FALLS,
            how=f"The greatest trend of a cost over the nodes, of both and of all laws; {_how(setting)}",
            measure=lambda seed: max(
                _trend_over_nodes(setting, law, _cost_of(name), seed)
                for law in LAWS
                for name in ("gr-maw", "pd-maw")
            ),
        ),
        _figure_4_claim(
            name="weighted-figure-4-gr-is-least",
            statement="GrMAW is consistently the cheapest of the three.",
            expected=at_least(1.0),
            how=f"The least ratio of what another costs to what GrMAW does; {how}",
            measure=lambda seed: min(
                ratio
                for name in ("pd-maw", "tr-maw")
                for ratio in _ratios(_cases(setting, seed, *LAWS), name, "gr-maw")
            ),
        ),
    )


def _figure_4_primal_dual(setting: CostSetting) -> Iterator[Claim]:
    yield _figure_4_claim(
        name="weighted-figure-4-pd-minus-gr",
        statement="GrMAW is 3.35 cheaper per node than PdMAW on average.",
        expected=about(3.35),
        how="An absolute number.",
        reason=ABSOLUTE,
    )
    most = _figure_4_claim(
        name="weighted-figure-4-time",
        statement="At 1,000 nodes under unif PdMAW takes 60.7 times as long as GrMAW.",
        expected=about(60.7, TIMES),
        how=f"Processor time; {_how(setting)}",
        measure=lambda seed: 1 / time_ratio(_ends(setting, seed, "unif")[1]),
        reason=(
            "The mean of T_Gr/T_Pd under unif is given as 15.7%: on average PdMAW takes some 6 times as "
            "long, and 60.7 times at the most nodes."
        ),
    )
    yield most
    for suffix, (words, work) in OTHER_TIMES.items():
        yield most.variant(suffix, words, partial(_inverse_at_the_most, setting, work))
    for law, share in _SHARES.items():
        yield from times(_figure_4_claim, "4", law, share, partial(_of_law, setting, law), _how(setting))
    yield _figure_4_claim(
        name="weighted-figure-4-time-trees",
        statement="TrMAW has slightly better time efficiency than GrMAW.",
        expected=at_most(1.0),
        how=f"Processor time, mean over the systems under unif; {_how(setting)}",
        measure=lambda seed: fmean(
            seconds(case, "tr-maw", 1) / seconds(case, "gr-maw", 1) for case in _of_law(setting, "unif", seed)
        ),
    )


def _of_law(setting: CostSetting, law: str, seed: int) -> list[Case]:
    return _cases(setting, seed, law)


def _inverse_at_the_most(setting: CostSetting, work: Callable[[Case], float], seed: int) -> float:
    return 1 / work(_ends(setting, seed, "unif")[1])


def _figure_7(setting: CostSetting) -> Iterator[Claim]:
    how = f"Mean under zipf; {_how(setting)}"
    yield _figure_7_claim(
        name="weighted-figure-7-cost",
        statement="Reverse delete takes 5.10 from the cost of PdMAW, on average.",
        expected=about(5.10),
        how="An absolute number.",
        reason=ABSOLUTE,
    )
    yield _figure_7_claim(
        name="weighted-figure-7-degree",
        statement="Reverse delete takes 3.87 from the average degree of PdMAW.",
        expected=about(3.87, GAP),
        how=how,
        measure=lambda seed: _more_degree(_cases(setting, seed, "zipf"), "pd-maw", "pdrd-maw"),
    )
    time = _figure_7_claim(
        name="weighted-figure-7-time",
        statement="PdrdMAW takes 50 times as long as PdMAW, on average.",
        expected=about(50.0, TIMES),
        how=f"Processor time. {how}",
        measure=lambda seed: fmean(map(_time_of_pdrd_over_pd, _cases(setting, seed, "zipf"))),
    )
    yield time
    yield time.variant(
        "most-nodes",
        "The time at the most nodes is meant.",
        lambda seed: _time_of_pdrd_over_pd(_ends(setting, seed, "zipf")[1]),
    )
    yield time.variant(
        "whole-searches",
        "Reverse delete searches the whole topic for each link and topic; PdMAW looks at each pair once.",
        lambda seed: 1 + fmean(map(_visits_of_reverse_delete, _cases(setting, seed, "zipf"))),
    )


def _visits_of_reverse_delete(case: Case) -> float:
    """Subscribers that are met if each link is checked in all its topics by a search, over all pairs."""
    overlay = built(case, "pd-maw")
    interests = overlay.interests
    subscribers = np.diff(interests.topic_indptr)
    topics = [set(interests.topic_ids[a:b].tolist()) for a, b in pairwise(interests.indptr.tolist())]
    visits = sum(int(subscribers[list(topics[u] & topics[v])].sum()) for u, v in overlay.edges.tolist())
    return visits / comb(case.nodes, 2)


def _time_of_pdrd_over_pd(case: Case) -> float:
    return seconds(case, "pdrd-maw") / seconds(case, "pd-maw")


def _figure_8_cost(setting: CostSetting) -> Iterator[Claim]:
    how = f"Mean under unif; {_how(setting)}"
    yield _figure_8_claim(
        name="weighted-figure-8-cost",
        statement="GrMAW costs 0.4 of what GM does, which ignores costs.",
        expected=about(0.4, OTHER_DATA),
        how=f"The ratio. {how}",
        measure=lambda seed: fmean(_ratios(_unif(setting, seed), "gr-maw", "gm")),
    )
    for suffix, words, value in (
        ("gap", "in costs", cost),
        ("diameter-gap", "in weighted topic diameters", _weighted_diameter),
    ):
        gap = _figure_8_claim(
            name=f"weighted-figure-8-{suffix}",
            statement=f"The gap between GrMAW and GM {words} grows with the nodes.",
            expected=RISES,
            how=f"Trend of GM less GrMAW over the nodes, unif; {_how(setting)}",
            measure=partial(_trend_over_nodes, setting, "unif", _gap(value, sub)),
        )
        yield gap
        yield gap.variant(
            "ratio",
            "The gap is the ratio of GM to GrMAW.",
            partial(_trend_over_nodes, setting, "unif", _gap(value, truediv)),
        )


def _weighted_diameter(case: Case, algorithm: str) -> float:
    return diameters(case, algorithm)[1]


def _gap(
    value: Callable[[Case, str], float], between: Callable[[float, float], float]
) -> Callable[[Case], float]:
    return lambda case: between(value(case, "gm"), value(case, "gr-maw"))


def _unif(setting: CostSetting, seed: int) -> list[Case]:
    return _cases(setting, seed, "unif")


def _figure_8_shape(setting: CostSetting) -> Iterator[Claim]:
    unif, how = partial(_unif, setting), f"Mean under unif; {_how(setting)}"
    yield _figure_8_claim(
        name="weighted-figure-8-weighted-diameters",
        statement="In costs, topic diameters of GrMAW are smaller than those of GM.",
        expected=at_most(1.0),
        how=f"The greatest ratio of the means over topics, unif; {_how(setting)}",
        measure=lambda seed: _shorter_in_costs(unif(seed)),
    )
    yield _figure_8_claim(
        name="weighted-figure-8-weighted-diameters-1000",
        statement="At 1,000 nodes, weighted topic diameters of GM are 124 above those of GrMAW.",
        expected=about(124.0),
        how="An absolute number.",
        reason=ABSOLUTE,
    )
    yield _figure_8_claim(
        name="weighted-figure-8-degree",
        statement="The average degree of GrMAW is 4 above that of GM.",
        expected=about(4.0, GAP),
        how=how,
        measure=lambda seed: _more_degree(unif(seed), "gr-maw", "gm"),
    )
    yield _figure_8_claim(
        name="weighted-figure-8-diameters",
        statement="In links, topic diameters of GrMAW are 2.7 above those of GM.",
        expected=about(2.7, GAP),
        how=f"Means over topics. {how}",
        measure=lambda seed: _longer(unif(seed)),
    )
    time = _figure_8_claim(
        name="weighted-figure-8-time",
        statement="GrMAW takes 0.7 of the time of GM.",
        expected=about(0.7, TIMES),
        how=f"Processor time, mean under unif; {_how(setting)}",
        measure=lambda seed: fmean(
            seconds(case, "gr-maw", 1) / seconds(case, "gm", 1) for case in unif(seed)
        ),
        reason="The paper contradicts itself: GrMAW takes 0.7 of the time of GM, and is 'slightly slower'.",
    )
    yield time
    yield time.variant(
        "pairs",
        "The time is as the pairs that are examined.",
        lambda seed: fmean(examined(case, "gr-maw") / examined(case, "gm") for case in unif(seed)),
    )


def _axis(law: str) -> Axis:
    return Axis("nodes", lambda case: case.nodes, lambda setting, seed: _cases(setting, seed, law))


FIGURE_4 = by_law(
    _axis,
    _SHARES,
    related=(Related("tr-maw", "gr-maw", 7.28), Related("pd-maw", "gr-maw", more=3.35)),
    unif_stated=(Point("tr-maw", 1_000, 224.0), Point("gr-maw", 1_000, 18.76)),
)
FIGURE_7 = tuple(
    curves(_axis("zipf"), ("pd-maw", "pdrd-maw"), measure, related=related)
    for measure, related in (
        ("cost", ()),
        ("degree", (Related("pdrd-maw", "pd-maw", more=-3.87),)),
        ("time", (Related("pdrd-maw", "pd-maw", 50.0),)),
    )
)
FIGURE_8 = tuple(
    curves(_axis("unif"), ("gm", "gr-maw"), measure, related=related)
    for measure, related in (
        ("cost", (Related("gr-maw", "gm", 0.4),)),
        ("weighted diameter", (Related("gm", "gr-maw", more=124.0, at=1_000),)),
        ("degree", (Related("gr-maw", "gm", more=4.0),)),
        ("diameter", (Related("gr-maw", "gm", more=2.7),)),
        ("time", (Related("gr-maw", "gm", 0.7),)),
    )
)
