"""Claims of [1] about Divide and Conquer: Table I, and Fig. 6 to 8 over the ways to divide."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import pairwise
from math import comb
from typing import Any, NamedTuple

from meshwright import workloads
from meshwright.building import build
from meshwright.model.interests import Interests
from meshwright.studies.catalogue import Curves, Point
from meshwright.studies.claims import Claim, Expected, about, at_least, at_most

_NODES = 1_000
_PARTS = (1, 2, 4, 6, 8, 10, 12, 16, 24, 32, 64, 125, 250, 500, _NODES)
_SIZES = {"": 50, "-100": 100, "-30": 30}
"""Subscriptions of a node in Fig. 7 and 8, which [1] leaves open, by how names of claims end.

50, the least mean size that VIII-A names, is a quarter of the topics, near the fifth of Table I. It counts.
100 is the middle of the sizes that VIII-A names. 30 was found by trying: of seven sizes, the one at which the
peak, the fastest p and the degree there are all within what VIII-C says.
"""
_HOW_TABLE_1 = "Each node takes each topic with probability 0.2, which gives d_GM = 5.09; p by Alg. 5."
_HOW_CLUSTERS = (
    "zipf, 1,000 nodes, 1,000 topics; a power law of 10 to 150 subscriptions, so that there are bulk nodes; "
    "p by Alg. 5 and by the elbow method."
)
_HOW_OVER_P = (
    f"unif, 200 topics, 1,000 nodes; p in {', '.join(map(str, _PARTS))}; pairs that the lazy greedy examines "
    f"in place of time; subscriptions each: "
)


class _Divided(NamedTuple):
    """What a build by dc came to."""

    partitions: int
    degree: float
    star_set_size: float
    inner_edges: int
    outer_edges: int
    pn_size: int
    pairs: int


def _divide(interests: Interests, seed: int, **options: Any) -> _Divided:
    overlay = build(interests, "dc", seed=seed, **options)
    facts = overlay.facts
    return _Divided(
        facts["partitions"],
        2 * len(overlay) / interests.node_count,
        facts["average_star_set_size"],
        facts["inner_edges"],
        facts["outer_edges"],
        facts["pn_size"],
        facts["pairs_examined"],
    )


@cache
def _table_1(seed: int, *, independent: bool = True, partitions: int | None = None) -> _Divided:
    interests = workloads.unif(_NODES, 100, subscriptions=20, independent=independent, seed=seed)
    return _divide(interests, seed, partitions=partitions)


def _share_of_pairs(seed: int) -> float:
    """The pairs that may be linked inside parts and between star sets, over all pairs of nodes."""
    divided = _table_1(seed)
    parts = divided.partitions
    inside = parts * comb(_NODES // parts, 2)
    between = comb(parts, 2) * divided.star_set_size**2
    return (inside + between) / comb(_NODES, 2)


@cache
def _over_p(seed: int, size: int) -> Sequence[_Divided]:
    interests = workloads.unif(_NODES, 200, subscriptions=size, seed=seed)
    return [_divide(interests, seed, partitions=partitions) for partitions in _PARTS]


def _peak(seed: int, size: int) -> float:
    """The greatest degree over that of Greedy Merge, which is dc with one part."""
    return max(divided.degree for divided in _over_p(seed, size)) - _over_p(seed, size)[0].degree


def _fastest(seed: int, size: int) -> _Divided:
    return min(_over_p(seed, size), key=lambda divided: divided.pairs)


def _excess_of_fastest(seed: int, size: int) -> float:
    return _fastest(seed, size).degree - _over_p(seed, size)[0].degree


def _last_over_first(seed: int, size: int) -> float:
    return _over_p(seed, size)[-1].degree / _over_p(seed, size)[0].degree


def _fastest_p(seed: int, size: int) -> float:
    return float(_fastest(seed, size).partitions)


def _apart(seed: int, size: int) -> float:
    """How many times one p is the other: that of the fewest pairs, and that of the least pn-size."""
    narrowest = min(_over_p(seed, size), key=lambda divided: divided.pn_size)
    both = sorted((_fastest(seed, size).partitions, narrowest.partitions))
    return both[1] / both[0]


def _share_of_rises(seed: int, size: int) -> float:
    """How many of the steps from one p to the next raise the number of outer edges."""
    rises = [before.outer_edges < after.outer_edges for before, after in pairwise(_over_p(seed, size))]
    return sum(rises) / len(rises)


def _inner_share(seed: int, size: int) -> float:
    """Inner edges as a share of all, at the p of Algorithm 5."""
    chosen = _divide(workloads.unif(_NODES, 200, subscriptions=size, seed=seed), seed)
    return chosen.inner_edges / (chosen.inner_edges + chosen.outer_edges)


class _Stated(NamedTuple):
    """What VIII-C says of Fig. 7 and 8: name, words, number, how, and the measure by seed and size."""

    name: str
    words: str
    expected: Expected
    how: str
    measure: Callable[[int, int], float]


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
        _excess_of_fastest,
    ),
    _Stated(
        "figure-7-last-p",
        "With a part for each node, the degree of DC is that of GM again.",
        about(1.0, tolerance=0.02),
        "Ratio of the degrees",
        _last_over_first,
    ),
    _Stated(
        "figure-7-fastest-p",
        "DC is fastest when p is around 10.",
        about(10.0, tolerance=0.25),
        "The p of the fewest pairs",
        _fastest_p,
    ),
    _Stated(
        "figure-7-pn-ratio",
        "The p of least pn-ratio is close to the p at which DC is fastest.",
        at_most(2.0),
        "How many times the one is the other",
        _apart,
    ),
    _Stated(
        "figure-8-outer-edges",
        "The number of outer edges rises with p.",
        about(1.0),
        "Share of the steps from one p to the next that raise it",
        _share_of_rises,
    ),
    _Stated(
        "figure-8-inner-edges",
        "At the p of Algorithm 5, inner edges dominate.",
        at_least(0.5),
        "Inner edges as a share of all",
        _inner_share,
    ),
)
_REASONS = {
    "figure-7-fastest-p": (
        "The more subscriptions, which [1] does not state, the smaller the star sets and the larger the best "
        "p: see the variants."
    ),
}


def _at_size(measure: Callable[[int, int], float], size: int) -> Callable[[int], float]:
    return lambda seed: measure(seed, size)


def _claims_over_p() -> Iterator[Claim]:
    for suffix, size in _SIZES.items():
        for stated in _OVER_P:
            yield Claim(
                name=f"{stated.name}{suffix}",
                source=f"[1], Fig. {stated.name[7]} and VIII-C",
                runs=3,
                statement=stated.words,
                expected=stated.expected,
                how=f"{stated.how}; {_HOW_OVER_P}{size}.",
                measure=_at_size(stated.measure, size),
                reason=_REASONS.get(stated.name, ""),
                variant_of=stated.name if suffix else "",
            )


@cache
def _clusters_over_random(seed: int) -> tuple[float, float]:
    """Degree and pairs examined of k-means clusters over those of random parts."""
    interests = workloads.zipf(_NODES, 1_000, min_subscriptions=10, max_subscriptions=150, seed=seed)
    clusters = _divide(interests, seed, partition_by="k-means")
    random = _divide(interests, seed)
    return clusters.degree / random.degree, clusters.pairs / random.pairs


def independent_zipf(seed: int) -> Interests:
    """What `figure-6-degree-independent` divides."""
    return workloads.zipf(_NODES, 1_000, subscriptions=50, independent=True, seed=seed)


def _clusters_of_independent_over_random(seed: int) -> float:
    interests = independent_zipf(seed)
    clusters = _divide(interests, seed, partition_by="k-means")
    return clusters.degree / _divide(interests, seed).degree


def _clusters_of_equals_over_random(seed: int) -> float:
    """The ratio of degrees where no node is bulk and there are as many clusters as parts."""
    interests = workloads.zipf(_NODES, 1_000, subscriptions=50, seed=seed)
    random = _divide(interests, seed)
    clusters = _divide(interests, seed, partition_by="k-means", partitions=random.partitions)
    return clusters.degree / random.degree


_table_1_claim = partial(Claim, source="[1], Table I", runs=400)
_figure_6_claim = partial(Claim, source="[1], Fig. 6 and VIII-C", runs=3)


CLAIMS = (
    _table_1_claim(
        name="table-1-dc-degree",
        statement="DC has an average degree of 6.50 (unif, 1,000 nodes, 100 topics, 20 each).",
        expected=about(6.50, tolerance=0.01),
        how=_HOW_TABLE_1,
        measure=lambda seed: _table_1(seed).degree,
        reason=(
            "The degree depends on p, which [1] does not state. With 8 parts it fits (see the variant), but "
            "Alg. 5 chooses more. Equal sizes don't explain it."
        ),
    ),
    _table_1_claim(
        name="table-1-dc-degree-fixed",
        statement="The same, with exactly 20 topics for each node, and p by Alg. 5.",
        expected=about(6.50, tolerance=0.01),
        how="20 distinct topics for every node; p by Alg. 5.",
        measure=lambda seed: _table_1(seed, independent=False).degree,
        reason="Equal sizes alone do not explain it: the degree is further away.",
    ),
    _table_1_claim(
        name="table-1-time-ratio",
        statement="DC takes 0.0634 of the time of Greedy Merge.",
        expected=about(0.0634, tolerance=0.25),
        how=f"Pairs examined, since times of an eager greedy say little about a lazy one. {_HOW_TABLE_1}",
        measure=lambda seed: _table_1(seed).pairs / _table_1(seed, partitions=1).pairs,
        reason="Our Greedy Merge is lazy as well: see the ratio of all pairs.",
    ),
    _table_1_claim(
        name="table-1-time-ratio-all-pairs",
        statement="The same, by the pairs that an eager greedy keeps in its buckets.",
        expected=about(0.0634, tolerance=0.25),
        how=f"Pairs inside the parts and between star sets, over all pairs. {_HOW_TABLE_1}",
        measure=_share_of_pairs,
        reason="Fewer parts of a lazy greedy, or times that grow with more than the pairs, would explain it.",
    ),
    _table_1_claim(
        name="table-1-dc-degree-8-parts",
        statement="The same, with 8 parts: so near that the paper may have had so many.",
        expected=about(6.50, tolerance=0.01),
        how="As table-1-dc-degree, with p = 8.",
        measure=lambda seed: _table_1(seed, partitions=8).degree,
    ),
    _table_1_claim(
        name="table-1-star-set",
        statement="A star set has 9.54 nodes on average.",
        expected=about(9.54, tolerance=0.05),
        how=_HOW_TABLE_1,
        measure=lambda seed: _table_1(seed).star_set_size,
        reason="Independent sizes vary, and the largest nodes cover more: see table-1-star-set-fixed.",
    ),
    _table_1_claim(
        name="table-1-star-set-fixed",
        statement="The same, with exactly 20 topics for each node: this row fits these, the degrees don't.",
        expected=about(9.54, tolerance=0.05),
        how="20 distinct topics for every node; p by Alg. 5.",
        measure=lambda seed: _table_1(seed, independent=False).star_set_size,
    ),
    _figure_6_claim(
        name="figure-6-degree",
        statement="With many topics, k-means clusters give a higher degree than random parts.",
        expected=at_least(1.0),
        how=f"Ratio of degrees. {_HOW_CLUSTERS}",
        measure=lambda seed: _clusters_over_random(seed)[0],
    ),
    _figure_6_claim(
        name="figure-6-time",
        statement="Random parts take less time than k-means clusters.",
        expected=at_least(1.0),
        how=f"Ratio of pairs examined, the clustering itself not counted. {_HOW_CLUSTERS}",
        measure=lambda seed: _clusters_over_random(seed)[1],
    ),
    _figure_6_claim(
        name="figure-6-degree-independent",
        statement="The same, with each topic taken independently.",
        expected=at_least(1.0),
        how="Ratio of degrees; zipf, 1,000 nodes, 1,000 topics, each with probability min(1, 50 q).",
        measure=_clusters_of_independent_over_random,
        reason="So drawn, no node has over twice the mean number of topics: there are no bulk nodes.",
    ),
    _figure_6_claim(
        name="figure-6-no-bulk-nodes",
        statement="What k-means loses by is the isolation of bulk nodes; without, its degree is no higher.",
        expected=at_most(1.0, tolerance=0.01),
        how="Ratio of degrees; zipf, 1,000 nodes, 1,000 topics, 50 subscriptions each, the same p for both.",
        measure=_clusters_of_equals_over_random,
    ),
    *_claims_over_p(),
)
"""What the paper states of random parts and of the number of parts."""


def _figure_7(seed: int, scale: str) -> Iterator[Point]:
    del scale
    for divided in _over_p(seed, _SIZES[""]):
        yield Point("dc", divided.partitions, divided.degree)


def _figure_8(seed: int, scale: str) -> Iterator[Point]:
    del scale
    for divided in _over_p(seed, _SIZES[""]):
        yield Point("inner links", divided.partitions, divided.inner_edges)
        yield Point("outer links", divided.partitions, divided.outer_edges)


FIGURE_7 = Curves(measure=_figure_7, x="parts", y="average degree")
FIGURE_8 = Curves(measure=_figure_8, x="parts", y="links")
