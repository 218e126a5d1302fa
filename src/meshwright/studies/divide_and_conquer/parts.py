"""Claims of [1] about Divide and Conquer: Table I, and Fig. 6 to 8 over the ways to divide."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import pairwise
from math import comb, nan
from typing import Any, NamedTuple

from meshwright import workloads
from meshwright.building import build
from meshwright.model.interests import Interests
from meshwright.studies.catalogue import Curves, Point, Related
from meshwright.studies.claims import RISES, Claim, Expected, Scope, about, at_least, at_most, trend
from meshwright.studies.timing import timed
from meshwright.studies.tolerances import (
    BY_CONSTRUCTION,
    CLOSE,
    MAJORITY,
    NARROW,
    ROUGH,
    STATED_WORKLOAD,
    TIMES,
)


class PartsSetting(NamedTuple):
    """The sizes of a study: those of [1], unless given.

    Attributes:
        nodes: of all systems.
        topics: of Table I, where a node has a fifth of them on average.
        partitions: numbers of parts of Fig. 7 and 8.
        zipf: numbers of topics of Fig. 6, which [1] does not state.
        sizes: mean subscriptions of a node in Fig. 7 and 8, which [1] does not state: one that counts, and
            two of variants. 50 is the least mean size that VIII-A names, and 100 the middle of them. 30 was
            found by trying: of seven sizes, the one at which all of VIII-C holds.
    """

    nodes: int = 1_000
    topics: int = 100
    partitions: tuple[int, ...] = (1, 2, 4, 6, 8, 10, 12, 16, 24, 32, 64, 125, 250, 500, 1_000)
    zipf: tuple[int, ...] = (100, 200, 400, 700, 1_000)
    sizes: tuple[int, int, int] = (50, 100, 30)


SETTINGS = {
    "smoke": PartsSetting(60, 20, (1, 2, 4, 60), (20, 40), (10, 15, 5)),
    "quick": PartsSetting(),
    "paper": PartsSetting(),
}
"""By scale."""

_HOW_TABLE_1 = "Each node takes each topic with probability 0.2, as VIII-A says; p by Alg. 5."


class _Divided(NamedTuple):
    """What a build by dc came to."""

    nodes: int
    partitions: int
    degree: float
    star_set_size: float
    inner_edges: int
    outer_edges: int
    pn_size: int
    pairs: int
    seconds: float

    @property
    def inner_pairs(self) -> float:
        """The pairs that may be linked inside parts."""
        return self.partitions * comb(self.nodes // self.partitions, 2)

    @property
    def outer_pairs(self) -> float:
        """The pairs that may be linked between star sets."""
        return comb(self.partitions, 2) * self.star_set_size**2


def _divide(interests: Interests, seed: int, **options: Any) -> _Divided:
    overlay, seconds = timed(lambda: build(interests, "dc", seed=seed, **options))
    facts = overlay.facts
    return _Divided(
        interests.node_count,
        facts["partitions"],
        2 * len(overlay) / interests.node_count,
        facts["average_star_set_size"],
        facts["inner_edges"],
        facts["outer_edges"],
        facts["pn_size"],
        facts["pairs_examined"],
        seconds,
    )


def claims(scale: str) -> Iterator[Claim]:
    """What the paper states of random parts and of the number of parts."""
    setting = SETTINGS[scale]
    yield from _claims_on_table_1(setting)
    yield from _claims_on_clusters(setting)
    yield from _claims_over_p(setting)


@cache
def _table_1(
    setting: PartsSetting,
    seed: int,
    *,
    independent: bool = True,
    partitions: int | None = None,
    ties: str = "shuffled",
) -> _Divided:
    nodes, topics = setting.nodes, setting.topics
    interests = workloads.unif(nodes, topics, subscriptions=topics // 5, independent=independent, seed=seed)
    return _divide(interests, seed, partitions=partitions, ties=ties)


def _share_of_pairs(setting: PartsSetting, seed: int) -> float:
    divided = _table_1(setting, seed)
    return (divided.inner_pairs + divided.outer_pairs) / comb(setting.nodes, 2)


_table_1_claim = partial(Claim, source="[1], Table I", runs=400)
_FIXED = "Every node has exactly 20 topics."
_EIGHT = "There are 8 parts, which Alg. 5 does not choose."


def _claims_on_table_1(setting: PartsSetting) -> Iterator[Claim]:
    fixed, eight = (
        partial(_table_1, setting, independent=False),
        partial(_table_1, setting, partitions=min(8, setting.nodes)),
    )
    of_gm = _table_1_claim(
        name="table-1-gm-degree",
        statement="Greedy Merge has an average degree of 5.09 (unif, 1,000 nodes, 100 topics, 20 each).",
        expected=about(5.09, STATED_WORKLOAD),
        how="Each node takes each topic with probability 0.2, as VIII-A says; a new workload for every run.",
        measure=lambda seed: _table_1(setting, seed, partitions=1).degree,
    )
    yield of_gm
    yield of_gm.variant("fixed", _FIXED, lambda seed: fixed(seed, partitions=1).degree)
    yield of_gm.variant(
        "small-first",
        "Of equal links, those of nodes with few topics come first.",
        lambda seed: _table_1(setting, seed, partitions=1, ties="small-first").degree,
    )
    of_dc = _table_1_claim(
        name="table-1-dc-degree",
        statement="DC has an average degree of 6.50 (unif, 1,000 nodes, 100 topics, 20 each).",
        expected=about(6.50, STATED_WORKLOAD),
        how=_HOW_TABLE_1,
        measure=lambda seed: _table_1(setting, seed).degree,
    )
    yield of_dc
    yield of_dc.variant("fixed", _FIXED, lambda seed: fixed(seed).degree)
    yield of_dc.variant("8-parts", _EIGHT, lambda seed: eight(seed).degree)
    time = _table_1_claim(
        name="table-1-time-ratio",
        statement="DC takes 0.0634 of the time of Greedy Merge.",
        expected=about(0.0634, TIMES),
        how=f"Pairs examined, since times of an eager greedy say little about a lazy one. {_HOW_TABLE_1}",
        measure=lambda seed: _table_1(setting, seed).pairs / _table_1(setting, seed, partitions=1).pairs,
    )
    yield time
    yield time.variant(
        "all-pairs",
        "The time is as the pairs that may be linked, all of which an eager greedy keeps.",
        partial(_share_of_pairs, setting),
    )
    yield time.variant(
        "seconds",
        "The time is the processor time of our implementations.",
        lambda seed: _table_1(setting, seed).seconds / _table_1(setting, seed, partitions=1).seconds,
    )
    yield time.variant(
        "8-parts",
        _EIGHT,
        lambda seed: eight(seed).pairs / _table_1(setting, seed, partitions=1).pairs,
    )
    stars = _table_1_claim(
        name="table-1-star-set",
        statement="A star set has 9.54 nodes on average.",
        expected=about(9.54, NARROW),
        how=_HOW_TABLE_1,
        measure=lambda seed: _table_1(setting, seed).star_set_size,
        reason=(
            "No law of subscriptions that was tried fits all rows of Table I: d_GM = 5.09 fits sizes that "
            "vary and not equal ones, and star sets of 9.54 fit equal sizes and not those that vary."
        ),
    )
    yield stars
    yield stars.variant("fixed", _FIXED, lambda seed: fixed(seed).star_set_size)
    yield stars.variant("8-parts", _EIGHT, lambda seed: eight(seed).star_set_size)


_LAWS: Mapping[str, tuple[str, Callable[[int, int, int], Interests]]] = {
    "": (
        "",
        lambda nodes, topics, seed: workloads.zipf(
            nodes,
            topics,
            min_subscriptions=min(10, topics),
            max_subscriptions=min(150, topics),
            seed=seed,
        ),
    ),
    "independent": (
        "Each topic is taken independently, with probability min(1, 50 q), so that no node is bulk.",
        lambda nodes, topics, seed: workloads.zipf(
            nodes, topics, subscriptions=min(50, topics // 2), independent=True, seed=seed
        ),
    ),
    "equal": (
        "Every node has exactly 50 topics, so that no node is bulk.",
        lambda nodes, topics, seed: workloads.zipf(
            nodes, topics, subscriptions=min(50, topics // 2), seed=seed
        ),
    ),
}
"""How the workloads of Fig. 6 are drawn; the first counts."""


class _Compared(NamedTuple):
    """Degree and pairs examined of k-means clusters over those of random parts."""

    topics: int
    degree: float
    pairs: float


@cache
def _clusters_over_random(setting: PartsSetting, law: str, seed: int) -> Sequence[_Compared]:
    found = []
    for topics in setting.zipf:
        interests = _LAWS[law][1](setting.nodes, topics, seed)
        clusters, random = _divide(interests, seed, partition_by="k-means"), _divide(interests, seed)
        found.append(_Compared(topics, clusters.degree / random.degree, clusters.pairs / random.pairs))
    return found


_FIGURE_6: Sequence[tuple[str, str, Expected, str, Callable[[Sequence[_Compared]], float]]] = (
    (
        "degree",
        "With many topics, k-means clusters give a higher degree than random parts.",
        at_least(1.0),
        "Ratio of degrees at the most topics",
        lambda found: found[-1].degree,
    ),
    (
        "some-smaller",
        "Under some inputs, k-means clusters give a slightly smaller degree.",
        at_most(1.0),
        "The least ratio of degrees over the topics",
        lambda found: min(each.degree for each in found),
    ),
    (
        "gap-grows",
        "As the number of topics increases, random parts get ahead in degree.",
        RISES,
        "Trend (Kendall's tau-a) of the ratio of degrees over the topics",
        lambda found: trend([each.degree for each in found]),
    ),
    (
        "time",
        "Random parts take less time than k-means clusters in all experiments.",
        at_least(1.0),
        "The least ratio of pairs examined, the clustering itself not counted",
        lambda found: min(each.pairs for each in found),
    ),
)


def _claims_on_clusters(setting: PartsSetting) -> Iterator[Claim]:
    def measure(value: Callable[[Sequence[_Compared]], float], law: str, seed: int) -> float:
        return value(_clusters_over_random(setting, law, seed))

    for name, statement, expected, how, value in _FIGURE_6:
        claim = Claim(
            name=f"figure-6-{name}",
            source="[1], Fig. 6 and VIII-C",
            runs=3,
            statement=statement,
            expected=expected,
            how=(
                f"{how}; zipf, {setting.nodes:,} nodes, {setting.zipf[0]} to {setting.zipf[-1]:,} topics; a "
                f"power law of 10 to 150 subscriptions, so that there are bulk nodes; p by Alg. 5 and by the "
                f"elbow method."
            ),
            measure=partial(measure, value, ""),
        )
        yield claim
        for law, (words, _) in _LAWS.items():
            if law:
                yield claim.variant(law, words, partial(measure, value, law))


class _Subscriptions(NamedTuple):
    """How many topics a node has in Fig. 7 and 8, each taken independently; or exactly so many."""

    size: int
    independent: bool = True

    def draw(self, setting: PartsSetting, seed: int) -> Interests:
        """The interests of all nodes."""
        return workloads.unif(
            setting.nodes,
            2 * setting.topics,
            subscriptions=self.size,
            independent=self.independent,
            seed=seed,
        )


@cache
def _over_p(setting: PartsSetting, own: _Subscriptions, seed: int) -> Sequence[_Divided]:
    interests = own.draw(setting, seed)
    return [_divide(interests, seed, partitions=partitions) for partitions in setting.partitions]


@cache
def _chosen(setting: PartsSetting, own: _Subscriptions, seed: int) -> _Divided:
    """With as many parts as Algorithm 5 chooses."""
    return _divide(own.draw(setting, seed), seed)


def _peak(found: Sequence[_Divided]) -> float:
    """The greatest degree over that of Greedy Merge, which is dc with one part."""
    return max(divided.degree for divided in found) - found[0].degree


def _fastest(found: Sequence[_Divided]) -> _Divided:
    return min(found, key=lambda divided: divided.pairs)


def _apart(found: Sequence[_Divided]) -> float:
    """How many times one p is the other: that of the fewest pairs, and that of the least pn-size."""
    narrowest = min(found, key=lambda divided: divided.pn_size)
    both = sorted((_fastest(found).partitions, narrowest.partitions))
    return float(both[1] / both[0])


def _share_of_rises(found: Sequence[_Divided], what: str) -> float:
    """How many of the steps from one p to the next raise a number."""
    rises = [getattr(before, what) < getattr(after, what) for before, after in pairwise(found)]
    return float(sum(rises) / len(rises))


class _Stated(NamedTuple):
    """What VIII-C says of Fig. 7 and 8: name, words, number, how, and the measure over p."""

    name: str
    words: str
    expected: Expected
    how: str
    measure: Callable[[Sequence[_Divided]], float]


_OVER_P = (
    _Stated(
        "figure-7-peak",
        "Over all p, the degree of DC exceeds that of GM by less than 6.",
        at_most(6.0),
        "The greatest difference",
        _peak,
    ),
    _Stated(
        "figure-7-degree-at-least-time",
        "Where DC is fastest, its degree exceeds that of GM by less than 3.5.",
        at_most(3.5),
        "The difference where the fewest pairs are examined",
        lambda found: _fastest(found).degree - found[0].degree,
    ),
    _Stated(
        "figure-7-last-p",
        "With a part for each node, the degree of DC is that of GM again.",
        about(1.0, BY_CONSTRUCTION),
        "Ratio of the degrees",
        lambda found: found[-1].degree / found[0].degree,
    ),
    _Stated(
        "figure-7-fastest-p",
        "DC is fastest when p is around 10.",
        about(10.0, ROUGH),
        "The p of the fewest pairs",
        lambda found: float(_fastest(found).partitions),
    ),
    _Stated(
        "figure-7-pn-ratio",
        "The p of least pn-ratio is close to the p at which DC is fastest.",
        at_most(CLOSE),
        "How many times the one is the other",
        _apart,
    ),
    _Stated(
        "figure-8-outer-edges",
        "The number of outer edges rises with p.",
        about(1.0),
        "Share of the steps from one p to the next that raise it",
        partial(_share_of_rises, what="outer_edges"),
    ),
    _Stated(
        "figure-8-outer-time",
        "The time for outer edges rises with p.",
        about(1.0),
        "Pairs that may be linked between star sets: share of the steps that raise them",
        partial(_share_of_rises, what="outer_pairs"),
    ),
)
_AT_CHOSEN_P: Sequence[tuple[str, str, str, Callable[[_Divided], float]]] = (
    (
        "figure-8-inner-edges",
        "At the p of Algorithm 5, inner edges dominate.",
        "Inner edges as a share of all",
        lambda found: found.inner_edges / (found.inner_edges + found.outer_edges),
    ),
    (
        "figure-8-inner-time",
        "At the p of Algorithm 5, the time for inner edges dominates.",
        "Pairs that may be linked inside parts as a share of all that may be",
        lambda found: found.inner_pairs / (found.inner_pairs + found.outer_pairs),
    ),
)


def _claims_over_p(setting: PartsSetting) -> Iterator[Claim]:
    counted, *sizes = setting.sizes
    where = (
        f"unif, {2 * setting.topics} topics, {setting.nodes:,} nodes, {counted} subscriptions each on "
        f"average, each topic taken independently, as VIII-A says"
    )
    others = {
        "equal": (f"Every node has exactly {counted} topics.", _Subscriptions(counted, independent=False)),
        **{str(size): (f"A node has {size} topics on average.", _Subscriptions(size)) for size in sizes},
    }
    tried = f"p in {', '.join(map(str, setting.partitions))}"

    def over_p(stated: _Stated, own: _Subscriptions, seed: int) -> float:
        return stated.measure(_over_p(setting, own, seed))

    def at_chosen(value: Callable[[_Divided], float], own: _Subscriptions, seed: int) -> float:
        return value(_chosen(setting, own, seed))

    for stated in _OVER_P:
        claim = Claim(
            name=stated.name,
            source=f"[1], Fig. {stated.name[7]} and VIII-C",
            runs=3,
            statement=stated.words,
            expected=stated.expected,
            how=f"{stated.how}; {where}; {tried}; pairs that the lazy greedy examines in place of time.",
            measure=partial(over_p, stated, _Subscriptions(counted)),
        )
        yield claim
        for suffix, (words, own) in others.items():
            yield claim.variant(suffix, words, partial(over_p, stated, own))
    for name, words, how, value in _AT_CHOSEN_P:
        claim = Claim(
            name=name,
            source="[1], Fig. 8 and VIII-C",
            runs=3,
            statement=words,
            expected=at_least(MAJORITY),
            how=f"{how}; {where}.",
            measure=partial(at_chosen, value, _Subscriptions(counted)),
        )
        yield claim
        for suffix, (hypothesis, own) in others.items():
            yield claim.variant(suffix, hypothesis, partial(at_chosen, value, own))


def _figure_6(seed: int, scope: Scope) -> Iterator[Point]:
    for each in _clusters_over_random(SETTINGS[scope.scale], "", seed):
        yield Point("degree", each.topics, each.degree)
        yield Point("pairs examined", each.topics, each.pairs)


def _table_1_points(seed: int, scope: Scope) -> Iterator[Point]:
    setting = SETTINGS[scope.scale]
    whole, divided = _table_1(setting, seed, partitions=1), _table_1(setting, seed)
    values = (whole.degree, divided.degree, divided.pairs / whole.pairs, divided.star_set_size)
    for at, value in enumerate(values):
        yield Point("ours", at, value)


def _over_parts(seed: int, scope: Scope) -> Sequence[_Divided]:
    setting = SETTINGS[scope.scale]
    return _over_p(setting, _Subscriptions(setting.sizes[0]), seed)


def _figure_7(seed: int, scope: Scope) -> Iterator[Point]:
    found = _over_parts(seed, scope)
    for divided in found:
        yield Point("dc", divided.partitions, divided.degree)
        yield Point("gm", divided.partitions, found[0].degree)


def _figure_7_work(seed: int, scope: Scope) -> Iterator[Point]:
    found = _over_parts(seed, scope)
    for divided in found:
        yield Point("dc", divided.partitions, divided.pairs / found[0].pairs)


def _figure_7_neighbours(seed: int, scope: Scope) -> Iterator[Point]:
    for divided in _over_parts(seed, scope):
        yield Point("dc", divided.partitions, divided.pn_size / SETTINGS[scope.scale].nodes)


def _figure_8(seed: int, scope: Scope) -> Iterator[Point]:
    for divided in _over_parts(seed, scope):
        yield Point("inner", divided.partitions, divided.inner_edges)
        yield Point("outer", divided.partitions, divided.outer_edges)


def _figure_8_work(seed: int, scope: Scope) -> Iterator[Point]:
    for divided in _over_parts(seed, scope):
        yield Point("inner", divided.partitions, divided.inner_pairs)
        yield Point("outer", divided.partitions, divided.outer_pairs)


TABLE_1 = Curves(
    measure=_table_1_points,
    x="row of the table",
    y="value",
    ticks=("d_GM", "d_DC", "time of DC over GM", "star set"),
    stated=tuple(Point("ours", at, value) for at, value in enumerate((5.09, 6.50, 0.0634, 9.54))),
)
FIGURE_6 = Curves(measure=_figure_6, x="topics", y="k-means over random parts")
_over_the_parts = partial(Curves, x="parts")
FIGURE_7 = (
    _over_the_parts(
        measure=_figure_7, y="average degree", related=(Related("dc", "gm", more=6.0, relation="at most"),)
    ),
    _over_the_parts(
        measure=_figure_7_work, y="pairs examined over those of gm", stated=(Point("dc", 10, nan),)
    ),
    _over_the_parts(measure=_figure_7_neighbours, y="pn-ratio"),
)
FIGURE_8 = (
    _over_the_parts(measure=_figure_8, y="links"),
    _over_the_parts(measure=_figure_8_work, y="pairs that may be linked"),
)
