"""How dc and dcbc compare with gm and with rings as systems grow: what Fig. 9, 10 and 11 of [1] are run on.

Of the systems, [1] states only those of Fig. 10(c) in full. Elsewhere we take what it states nearest to the
figure: each node takes each topic independently, with the same chance (VIII-A); a node has 100 topics on
average, the middle of its range; unless nodes or topics grow, there are 1,000 nodes and 400 topics, as in
Fig. 10(c). Fig. 9 is not on those, since [1] has d_DC - d_DCBC at 1.35 there and at 0.97 in Fig. 10(c). It is
run on 4,000 nodes and 1,000 topics, near the geometric means of the ranges of VIII-A (3,162 and 1,000), and
as a variant on those of Fig. 10(c). In place of times there are the pairs that an algorithm examines, since
ours is lazy and that of [1] is not. Other readings are variants.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import comb
from typing import Any, NamedTuple

from meshwright import workloads
from meshwright.building import build
from meshwright.metrics.evaluation import evaluate
from meshwright.model.interests import Interests
from meshwright.studies.timing import timed

ALGORITHMS = ("gm", "dc", "dcbc")
_MIDDLE = 100


class System(NamedTuple):
    """The size of a system: its nodes and topics, and the topics of a node, on average."""

    nodes: int = 1_000
    topics: int = 400
    size: int = _MIDDLE


class Measured(NamedTuple):
    """What an algorithm came to.

    `pairs` were examined; `kept` is how many may be linked, all of which an eager greedy keeps.
    """

    degree: float
    diameter: float
    pairs: float
    kept: float
    seconds: float


def _independent(system: System, seed: int) -> Interests:
    return workloads.unif(system.nodes, system.topics, subscriptions=system.size, independent=True, seed=seed)


def _equal(system: System, seed: int) -> Interests:
    return workloads.unif(system.nodes, system.topics, subscriptions=system.size, seed=seed)


def _unequal(system: System, seed: int) -> Interests:
    """Sizes by a power law from a fifth to twice the size, so that there are bulk nodes; half on average."""
    most = min(2 * system.size, system.topics)
    return workloads.unif(
        system.nodes, system.topics, min_subscriptions=most // 10, max_subscriptions=most, seed=seed
    )


def _fitted(system: System, seed: int) -> Interests:
    """Of eleven laws that were tried, the one with the degrees of gm and dcbc of Fig. 10(a)."""
    return workloads.unif(
        system.nodes, 200, min_subscriptions=10, max_subscriptions=90, size_exponent=2.0, seed=seed
    )


def _more_nodes(system: System, seed: int) -> Interests:
    return _independent(system._replace(nodes=4 * system.nodes), seed)


def _as_figure_10c(system: System, seed: int) -> Interests:
    return _independent(system._replace(nodes=min(1_000, system.nodes), topics=min(400, system.topics)), seed)


def _larger(system: System, seed: int) -> Interests:
    return _independent(system._replace(size=system.size * 3 // 2), seed)


KINDS = ("degree", "diameter", "work")
"""What statements are about."""


class Reading(NamedTuple):
    """A way to read what [1] leaves open; the first is the one that counts, the others are variants of it."""

    suffix: str
    hypothesis: str = ""
    draw: Callable[[System, int], Interests] = _independent
    work: str = "pairs"
    options: Mapping[str, Mapping[str, Any]] = {}
    """By algorithm."""
    figures: tuple[str, ...] = ()
    """For which figures; all, if none is named."""
    kinds: tuple[str, ...] = KINDS
    but: tuple[str, ...] = ()
    """Not for these claims: they can't tell it apart from the reading that counts."""

    def is_about(self, figure: str, name: str, kind: str) -> bool:
        """Whether a claim of a figure has a variant of this reading."""
        return (
            figure in (self.figures or (figure,))
            and kind in self.kinds
            and f"{figure}-{name}" not in self.but
        )


_OF_OTHER_DIAMETERS = ("figure-10a-dc-diameter-rises", "figure-10b-gm-diameter", "figure-10b-dc-diameter")
"""Claims on diameters that DCBC has no part in."""

READINGS = (
    Reading(""),
    Reading(
        "equal",
        "Every node has exactly as many topics as others have on average.",
        _equal,
        but=("figure-11-gap-grows",),
    ),
    Reading(
        "unequal",
        "Sizes of subscriptions follow a power law from a fifth of the size to twice the size, so that there "
        "are bulk nodes; a node then has about half as many topics on average.",
        _unequal,
    ),
    Reading(
        "fitted",
        "There are 200 topics, of which a node has 10 to 90 by a power law of exponent 2 (of eleven laws "
        "that were tried, the one that fits the degrees of GM and DCBC).",
        _fitted,
        figures=("figure-10a",),
    ),
    Reading(
        "fewer-nodes",
        "There are 1,000 nodes and 400 topics, as in Fig. 10(c).",
        _as_figure_10c,
        figures=("figure-9",),
    ),
    Reading(
        "bulk-first",
        "Of equal links, DCBC takes those to bulk nodes first.",
        options={"dcbc": {"ties": "bulk-first"}},
        kinds=("diameter",),
        but=_OF_OTHER_DIAMETERS,
    ),
    Reading(
        "unequal-bulk-first",
        "Sizes follow a power law as above, and DCBC takes links to bulk nodes first.",
        _unequal,
        options={"dcbc": {"ties": "bulk-first"}},
        kinds=("diameter",),
        but=_OF_OTHER_DIAMETERS,
    ),
    Reading(
        "p-10",
        "There are 10 parts, as many as are fastest in Fig. 7, whatever Alg. 5 chooses.",
        options={"dc": {"partitions": 10}, "dcbc": {"partitions": 10}},
        figures=("figure-10b", "figure-11"),
        kinds=("degree",),
        but=("figure-11-gap-grows",),
    ),
    Reading(
        "unequal-p-10",
        "Sizes follow a power law as above, and there are 10 parts.",
        _unequal,
        options={"dc": {"partitions": 10}, "dcbc": {"partitions": 10}},
        figures=("figure-10b", "figure-11"),
        kinds=("degree",),
        but=("figure-11-gap-grows",),
    ),
    Reading(
        "more-nodes",
        "There are four times as many nodes, so that Alg. 5 does not run out of them with many topics.",
        _more_nodes,
        figures=("figure-11",),
        kinds=("degree",),
    ),
    Reading(
        "150-topics",
        "A node has half as many topics more, 150, the most that VIII-A names.",
        _larger,
        figures=("figure-11",),
        kinds=("degree",),
    ),
    Reading(
        "all-pairs",
        "The time is as the pairs that may be linked, all of which an eager greedy keeps.",
        work="kept",
        kinds=("work",),
    ),
    Reading(
        "seconds",
        "The time is the processor time of our implementations.",
        work="seconds",
        kinds=("work",),
    ),
)


def measured(system: System, reading: Reading, algorithm: str, seed: int) -> Measured:
    """An algorithm on a system, unless the reading says otherwise with p by Alg. 5 and 20% bulk nodes."""
    options = tuple(sorted(reading.options.get(algorithm, {}).items()))
    return _measured(system, reading.draw, algorithm, options, seed)


@cache
def _measured(
    system: System,
    draw: Callable[[System, int], Interests],
    algorithm: str,
    options: tuple[tuple[str, Any], ...],
    seed: int,
) -> Measured:
    interests = _drawn(system, draw, seed)
    overlay, seconds = timed(lambda: build(interests, algorithm, seed=seed, **dict(options)))
    found = evaluate(overlay, bound=False)
    return Measured(
        found.average_degree,
        found.maximum_topic_diameter or 0,
        overlay.facts["pairs_examined"],
        _kept(algorithm, interests.node_count, overlay.facts),
        seconds,
    )


def _kept(algorithm: str, nodes: int, facts: Mapping[str, Any]) -> float:
    """The pairs that may be linked."""
    if algorithm == "dc":
        parts = facts["partitions"]
        return float(parts * comb(nodes // parts, 2) + comb(parts, 2) * facts["average_star_set_size"] ** 2)
    if algorithm == "dcbc":
        bulk, parts = facts["bulk"], max(1, facts["partitions"])
        light = nodes - bulk
        return float(comb(bulk, 2) + light * bulk + parts * comb(light // parts, 2))
    return comb(nodes, 2)


@cache
def _drawn(system: System, draw: Callable[[System, int], Interests], seed: int) -> Interests:
    return draw(system, seed)


@cache
def _ring_degree(system: System, draw: Callable[[System, int], Interests], seed: int) -> float:
    interests = _drawn(system, draw, seed)
    return 2 * len(build(interests, "ring", seed=seed)) / interests.node_count


class Row(NamedTuple):
    """One seed of a figure: what each algorithm came to, system by system."""

    systems: Sequence[System]
    reading: Reading
    seed: int

    def of(self, algorithm: str, what: str) -> list[float]:
        """A number of an algorithm in all systems: its degree, diameter or work."""
        field = self.reading.work if what == "work" else what
        return [
            float(getattr(measured(system, self.reading, algorithm, self.seed), field))
            for system in self.systems
        ]

    def gap(self, more: str, less: str) -> list[float]:
        """By how much one degree is above the other, in all systems."""
        return [
            one - other for one, other in zip(self.of(more, "degree"), self.of(less, "degree"), strict=True)
        ]

    def ratios(self, what: str, one: str, other: str) -> list[float]:
        """A number of one algorithm over that of another, in all systems."""
        return [mine / theirs for mine, theirs in zip(self.of(one, what), self.of(other, what), strict=True)]

    def rings(self) -> list[float]:
        """The degrees of Ring-per-Topic, in all systems."""
        return [_ring_degree(system, self.reading.draw, self.seed) for system in self.systems]
