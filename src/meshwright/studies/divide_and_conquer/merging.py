"""Claims of [1] on merging: Fig. 4 and 5, where overlays of 100 nodes each become one.

[1] states 100 nodes per part and 100 topics, but neither the number of parts nor the size of subscriptions.
We take 1,000 nodes with 20 topics each, as in its Table I. What it states as bounds depends on these:
`benchmarks/merging.py` shows where they hold and where not.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

from meshwright import workloads
from meshwright.building import build, merge
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.studies.claims import Claim, at_most

_PARTS = 10
_PART_SIZE = 100
_WORKLOADS: Mapping[str, Callable[..., Interests]] = {
    "unif": workloads.unif,
    "zipf": workloads.zipf,
    "expo": workloads.expo,
}
_TOPICS_EACH = 20
_HOW = "10 parts of 100 nodes built by gm, 100 topics, 20 a node, where [1] is silent on the 10 and the 20."


def region(interests: Interests, part: int) -> Interests:
    """The nodes of one part, which have their numbers in a row."""
    start = part * _PART_SIZE
    bounds = interests.indptr[start : start + _PART_SIZE + 1]
    topic_ids = interests.topic_ids[bounds[0] : bounds[-1]]
    nodes = interests.nodes.slice(start, _PART_SIZE)
    return Interests.from_arrays(bounds - bounds[0], topic_ids, nodes, interests.topics)


@cache
def _overlays(distribution: str, topics_each: int, seed: int) -> dict[str, Overlay]:
    """What GM builds from scratch, and what NM and SM make of the parts."""
    nodes = _PARTS * _PART_SIZE
    interests = _WORKLOADS[distribution](nodes=nodes, topics=100, subscriptions=topics_each, seed=seed)
    parts = [build(region(interests, part), "gm", seed=seed) for part in range(_PARTS)]
    merged = {name: merge(parts, name, seed=seed) for name in ("nm", "sm")}
    return {"gm": build(interests, "gm", seed=seed), **merged}


def _measure(
    value: Callable[[Mapping[str, Overlay]], float], *distributions: str, topics_each: int = _TOPICS_EACH
) -> Callable[[int], float]:
    """The greatest `value` among the distributions, by seed."""
    return lambda seed: max(value(_overlays(name, topics_each, seed)) for name in distributions)


def _more_degree(found: Mapping[str, Overlay], algorithm: str, than: str) -> float:
    """How much greater the average degree of one overlay is than that of another."""
    return 2 * (len(found[algorithm]) - len(found[than])) / (_PARTS * _PART_SIZE)


def _fact(found: Mapping[str, Overlay], algorithm: str, fact: str) -> Any:
    return found[algorithm].facts[fact]


def _pairs_of_sm_over_gm(found: Mapping[str, Overlay]) -> float:
    return float(_fact(found, "sm", "pairs_examined") / _fact(found, "gm", "pairs_examined"))


_figure_4_claim = partial(Claim, source="[1], Fig. 4 and VIII-B", runs=10)


CLAIMS = (
    _figure_4_claim(
        name="figure-4-sm-over-nm",
        statement="The average degree of Star Merge is at most 0.15 above that of Naive Merge.",
        expected=at_most(0.15),
        how=f"The greatest difference among unif, zipf and expo; {_HOW}",
        measure=_measure(partial(_more_degree, algorithm="sm", than="nm"), *_WORKLOADS),
    ),
    _figure_4_claim(
        name="figure-4-sm-over-nm-10-topics",
        statement="The same, with 10 topics for every node.",
        expected=at_most(0.15),
        how="As above, but unif alone, and with 10 topics per node.",
        measure=_measure(partial(_more_degree, algorithm="sm", than="nm"), "unif", topics_each=10),
        reason="No bound of the algorithm: the fewer topics a node has, the more Star Merge adds.",
    ),
    _figure_4_claim(
        name="figure-4-nm-over-gm",
        statement="The average degree of Naive Merge is at most 2.5 above that of Greedy Merge.",
        expected=at_most(2.5),
        how=f"The greatest difference among unif, zipf and expo; {_HOW}",
        measure=_measure(partial(_more_degree, algorithm="nm", than="gm"), *_WORKLOADS),
    ),
    _figure_4_claim(
        name="figure-4-sm-over-gm",
        statement="The average degree of Star Merge is at most 2.5 above that of Greedy Merge.",
        expected=at_most(2.5),
        how=f"The greatest difference among unif, zipf and expo; {_HOW}",
        measure=_measure(partial(_more_degree, algorithm="sm", than="gm"), *_WORKLOADS),
    ),
    Claim(
        name="figure-5-sm-pn-ratio",
        source="[1], VIII-B",
        statement="Star Merge considers at most 18.6% of all nodes as neighbours of any node (unif).",
        expected=at_most(0.186),
        how=f"The stars of all parts but the one with the fewest, over all nodes; {_HOW}",
        measure=_measure(partial(_fact, algorithm="sm", fact="pn_ratio"), "unif"),
        runs=10,
    ),
    Claim(
        name="figure-5-sm-work",
        source="[1], Fig. 5 and VIII-B",
        statement="Star Merge takes less than 1% of the time of Greedy Merge (unif).",
        expected=at_most(0.01),
        how=f"Pairs examined, since times of an eager greedy say little about a lazy one; {_HOW}",
        measure=_measure(_pairs_of_sm_over_gm, "unif"),
        runs=10,
        reason="Our Greedy Merge is lazy as well; of the pairs that an eager one keeps, SM has under 1%.",
    ),
)
"""What the paper states of Naive Merge and Star Merge."""
