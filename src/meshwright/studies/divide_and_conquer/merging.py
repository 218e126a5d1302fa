"""Claims of [1] on merging: Fig. 4 and 5, where overlays of 100 nodes each become one.

[1] states 100 nodes per part and 100 topics, but neither the sizes of subscriptions nor which numbers of
parts it tried, up to 80. We take 20 topics per node, as in its Table I, each independently, as VIII-A says.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from math import comb, nan
from statistics import fmean
from typing import NamedTuple

from meshwright.building import build, merge
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.studies.catalogue import Curves, Point, Related
from meshwright.studies.claims import FALLS, Claim, Expected, Scope, about, at_most, trend
from meshwright.studies.laws import LAWS
from meshwright.studies.timing import timed
from meshwright.studies.tolerances import STEADY, TIMES


class MergeSetting(NamedTuple):
    """How many parts of how many nodes are merged, the topics, and those of a node.

    Systems of [1] have 1,000 nodes at least (VIII-A); its largest here has 8,000.
    """

    parts: tuple[int, ...] = (10, 20, 40, 80)
    part_size: int = 100
    topics: int = 100
    topics_each: int = 20
    independent: bool = True
    """Whether a node takes each topic by itself, with the chance min(1, topics_each q); else it has exactly
    so many."""
    most: int = 80
    """Parts of the claim on the most nodes."""


SETTINGS = {
    "smoke": MergeSetting((2, 3, 4), 20, 20, 5, most=4),
    "quick": MergeSetting((10, 20, 40)),
    "paper": MergeSetting(),
}
"""By scale."""


def region(interests: Interests, part: int, size: int) -> Interests:
    """The nodes of one part, which have their numbers in a row."""
    bounds = interests.indptr[part * size : (part + 1) * size + 1]
    topic_ids = interests.topic_ids[bounds[0] : bounds[-1]]
    nodes = interests.nodes.slice(part * size, size)
    return Interests.from_arrays(bounds - bounds[0], topic_ids, nodes, interests.topics)


class Merged(NamedTuple):
    """What GM builds from scratch, and what NM and SM make of the parts, with the processor time of each."""

    parts: int
    part_size: int
    overlays: Mapping[str, Overlay]
    seconds: Mapping[str, float]

    @property
    def nodes(self) -> int:
        """How many there are."""
        return self.parts * self.part_size

    def degree(self, algorithm: str) -> float:
        """The average degree."""
        return 2 * len(self.overlays[algorithm]) / self.nodes

    def examined(self, algorithm: str) -> float:
        """The pairs that an algorithm examined, as a share of those that GM did."""
        found = {name: overlay.facts["pairs_examined"] for name, overlay in self.overlays.items()}
        return float(found[algorithm] / found["gm"])

    def kept(self, algorithm: str) -> float:
        """The pairs that an algorithm may link, as a share of all."""
        inside = comb(self.part_size, 2) * self.parts
        if algorithm == "sm":
            stars = self.overlays["sm"].facts["star_set_sizes"]
            return (comb(sum(stars), 2) - sum(comb(size, 2) for size in stars)) / comb(self.nodes, 2)
        return 1 - inside / comb(self.nodes, 2)

    def time(self, algorithm: str) -> float:
        """The processor time of an algorithm over that of GM."""
        return self.seconds[algorithm] / max(self.seconds["gm"], 1e-9)


@cache
def merged(
    law: str, parts: int, part_size: int, topics: int, topics_each: int, independent: bool, seed: int
) -> Merged:
    """One system, from scratch and from its parts."""
    interests = LAWS[law](
        parts * part_size, topics, subscriptions=topics_each, independent=independent, seed=seed
    )
    regions = [build(region(interests, part, part_size), "gm", seed=seed) for part in range(parts)]
    work: Mapping[str, Callable[[], Overlay]] = {
        "gm": lambda: build(interests, "gm", seed=seed),
        "nm": lambda: merge(regions, "nm", seed=seed),
        "sm": lambda: merge(regions, "sm", seed=seed),
    }
    overlays, seconds = {}, {}
    for name, make in work.items():
        overlays[name], seconds[name] = timed(make)
    return Merged(parts, part_size, overlays, seconds)


def _sweep(setting: MergeSetting, seed: int, law: str = "unif") -> list[Merged]:
    return [merged(law, parts, *setting[1:5], seed) for parts in setting.parts]


def _most_above(more: str, than: str, setting: MergeSetting, seed: int) -> float:
    """The greatest difference of degrees over all laws and numbers of parts."""
    return max(
        found.degree(more) - found.degree(than) for law in LAWS for found in _sweep(setting, seed, law)
    )


def _spread_of_degrees(setting: MergeSetting, seed: int) -> float:
    degrees = [found.degree("sm") for found in _sweep(setting, seed)]
    return max(degrees) / min(degrees) - 1


_EQUAL = "equal", "Every node has exactly 20 topics."


def _other_sizes(setting: MergeSetting) -> Iterator[tuple[str, str, MergeSetting]]:
    """Other readings of the sizes, which [1] does not state: suffix, words and setting."""
    yield *_EQUAL, setting._replace(independent=False)
    for size in (10, 40):
        other = setting._replace(topics_each=min(size, setting.topics))
        yield f"{size}-topics", f"A topic is taken with the chance min(1, {size} q).", other


_figure_4_claim = partial(Claim, source="[1], Fig. 4 and VIII-B", runs=10)
_figure_5_claim = partial(Claim, source="[1], Fig. 5 and VIII-B", runs=10)


def claims(scale: str) -> Iterator[Claim]:
    """What the paper states of Naive Merge and Star Merge."""
    setting = SETTINGS[scale]
    how = _how(setting, setting.parts)
    yield from _degrees(setting, how)
    yield from _work(setting, how)
    yield from _neighbours(setting, how)


def _how(setting: MergeSetting, parts: Iterable[int]) -> str:
    numbers = ", ".join(map(str, parts))
    return (
        f"{numbers} parts of {setting.part_size} nodes built by gm, {setting.topics} topics, "
        f"each taken independently with the chance min(1, {setting.topics_each} q), as VIII-A says, so "
        f"{setting.topics_each} a node under unif; [1] is silent on the numbers of parts and on the sizes."
    )


def _degrees(setting: MergeSetting, how: str) -> Iterator[Claim]:
    stated = (
        ("sm-over-nm", "Star Merge is at most 0.15 above that of Naive Merge", 0.15),
        ("nm-over-gm", "Naive Merge is at most 2.5 above that of Greedy Merge", 2.5),
        ("sm-over-gm", "Star Merge is at most 2.5 above that of Greedy Merge", 2.5),
    )
    for name, what, most in stated:
        more, than = name.split("-over-")
        claim = _figure_4_claim(
            name=f"figure-4-{name}",
            statement=f"The average degree of {what}.",
            expected=at_most(most),
            how=f"The greatest difference over unif, zipf and expo; {how}",
            measure=partial(_most_above, more, than, setting),
        )
        yield claim
        for suffix, words, other in _other_sizes(setting):
            yield claim.variant(suffix, words, partial(_most_above, more, than, other))
    steady = _figure_4_claim(
        name="figure-4-steady",
        statement="As the number of parts increases, the average degree of Star Merge remains steady.",
        expected=at_most(STEADY),
        how=f"The greatest degree over the least, less 1; unif; {how}",
        measure=partial(_spread_of_degrees, setting),
    )
    yield steady
    for suffix, words, other in _other_sizes(setting):
        yield steady.variant(suffix, words, partial(_spread_of_degrees, other))


Work = Callable[[Merged, str], float]
_OTHERWISE: Mapping[str, tuple[str, Work]] = {
    "all-pairs": (
        "The time is as the pairs that may be linked, all of which an eager greedy keeps.",
        Merged.kept,
    ),
    "seconds": ("The time is the processor time of our implementations.", Merged.time),
}
"""Ways to measure work other than by the pairs that are examined."""


class _Worked(NamedTuple):
    """What is stated of the work of an algorithm: name, words, number, and how it is measured."""

    name: str
    statement: str
    expected: Expected
    algorithm: str
    how: str
    over: Callable[[Sequence[float]], float] | None
    """The parts; without it, only the most are looked at."""

    def measure(self, setting: MergeSetting, work: Work, seed: int) -> float:
        """Its number for a seed."""
        if self.over is None:
            return work(merged("unif", setting.most, *setting[1:5], seed), self.algorithm)
        return self.over([work(found, self.algorithm) for found in _sweep(setting, seed)])


_WORKED = (
    _Worked(
        "sm-work",
        "Star Merge takes less than 1% of the time of Greedy Merge on average",
        at_most(0.01),
        "sm",
        "mean over the numbers of parts",
        fmean,
    ),
    _Worked(
        "nm-work",
        "Naive Merge takes as much as 75% of the time of Greedy Merge",
        about(0.75, TIMES),
        "nm",
        "the greatest over the numbers of parts",
        max,
    ),
    _Worked(
        "sm-work-8000",
        "With 8,000 nodes Star Merge takes 0.28% of that time",
        about(0.0028, TIMES),
        "sm",
        "at the most parts",
        None,
    ),
    _Worked(
        "sm-work-falls",
        "The time of Star Merge over that of Greedy Merge falls with the parts",
        FALLS,
        "sm",
        "trend over the numbers of parts",
        trend,
    ),
)


def _work(setting: MergeSetting, how: str) -> Iterator[Claim]:
    for stated in _WORKED:
        systems = how if stated.over else _how(setting, [setting.most])
        claim = _figure_5_claim(
            name=f"figure-5-{stated.name}",
            statement=f"{stated.statement} (unif).",
            expected=stated.expected,
            how=(
                f"Pairs examined, {stated.how}, since times of an eager greedy say little about a lazy one; "
                f"{systems}"
            ),
            measure=partial(stated.measure, setting, Merged.examined),
        )
        yield claim
        equal = setting._replace(independent=False)
        yield claim.variant(*_EQUAL, partial(stated.measure, equal, Merged.examined))
        for suffix, (words, work) in _OTHERWISE.items():
            yield claim.variant(suffix, words, partial(stated.measure, setting, work))


_NEIGHBOURS = (
    ("", "Star Merge considers at most 18.6% of all nodes as neighbours of any node", at_most(0.186)),
    ("-falls", "The share of nodes that Star Merge considers declines with the parts", FALLS),
)


def _over_parts(
    over: Callable[[list[float]], float], setting: MergeSetting, ratio: Callable[[Merged], float], seed: int
) -> float:
    return over([ratio(found) for found in _sweep(setting, seed)])


def _neighbours(setting: MergeSetting, how: str) -> Iterator[Claim]:
    for suffix, statement, expected in _NEIGHBOURS:
        over_parts: Callable[[list[float]], float] = trend if suffix else max

        measure = partial(_over_parts, over_parts)
        claim = _figure_5_claim(
            name=f"figure-5-sm-pn-ratio{suffix}",
            statement=f"{statement} (unif).",
            expected=expected,
            how=f"The stars of all parts but the one with the fewest, over all nodes; {how}",
            measure=partial(measure, setting, _pn_ratio),
        )
        yield claim
        yield claim.variant(
            "own-part",
            "The nodes of a node's own part count among those considered, as in Divide and Conquer.",
            partial(measure, setting, lambda found: _pn_ratio(found) + (found.part_size - 1) / found.nodes),
        )
        for size, words, other in _other_sizes(setting):
            yield claim.variant(size, words, partial(measure, other, _pn_ratio))


def _pn_ratio(found: Merged) -> float:
    return float(found.overlays["sm"].facts["pn_ratio"])


def _figure_4(law: str, seed: int, scope: Scope) -> Iterator[Point]:
    for found in _sweep(SETTINGS[scope.scale], seed, law):
        for name in ("gm", "nm", "sm"):
            yield Point(name, found.nodes, found.degree(name))


def _to_the_most(scope: Scope, seed: int) -> list[Merged]:
    """The systems of a scale, and the largest of all, of which a claim is."""
    setting = SETTINGS[scope.scale]
    return _sweep(setting._replace(parts=tuple(dict.fromkeys((*setting.parts, setting.most)))), seed)


def _figure_5(seed: int, scope: Scope) -> Iterator[Point]:
    for found in _to_the_most(scope, seed):
        yield Point("nm", found.nodes, found.examined("nm"))
        yield Point("sm", found.nodes, found.examined("sm"))


def _figure_5_neighbours(seed: int, scope: Scope) -> Iterator[Point]:
    for found in _to_the_most(scope, seed):
        yield Point("nm", found.nodes, 1.0)
        yield Point("sm", found.nodes, _pn_ratio(found))


_over_nodes = partial(Curves, x="nodes, in parts of 100")
FIGURE_4 = tuple(
    _over_nodes(
        measure=partial(_figure_4, law),
        y=f"average degree ({law})",
        related=tuple(Related(name, "gm", more=2.5, relation="at most") for name in ("nm", "sm")),
    )
    for law in LAWS
)
FIGURE_5 = (
    _over_nodes(
        measure=_figure_5,
        y="pairs examined over those of gm",
        stated=(Point("sm", 8_000, 0.0028), Point("sm", nan, 0.01), Point("nm", nan, 0.75)),
    ),
    _over_nodes(measure=_figure_5_neighbours, y="pn-ratio", stated=(Point("sm", nan, 0.186),)),
)
