"""Claims of [1] on how dc and dcbc compare with gm and with rings as systems grow: Fig. 9, 10 and 11.

Of the systems, [1] states only those of Fig. 10(c) in full. Elsewhere we take what it states nearest to the
figure: each node takes each topic independently, with the same chance (VIII-A); a node has 100 topics on
average, the middle of its range; unless nodes or topics grow, there are 1,000 nodes and 400 topics, as in
Fig. 10(c). Two variants draw the sizes of subscriptions otherwise. In place of times there are the pairs that
an algorithm examines, since ours is lazy and that of [1] is not.
"""

from collections.abc import Callable, Sequence
from functools import cache
from statistics import fmean
from typing import NamedTuple

from meshwright import workloads
from meshwright.building import build
from meshwright.metrics.evaluation import evaluate
from meshwright.model.interests import Interests

ALGORITHMS = ("gm", "dc", "dcbc")
_MIDDLE = 100


class System(NamedTuple):
    """The size of a system: its nodes and topics, and the topics of a node, on average."""

    nodes: int = 1_000
    topics: int = 400
    size: int = _MIDDLE


class Measured(NamedTuple):
    """What an algorithm came to."""

    degree: float
    diameter: float
    pairs: float


def _independent(system: System, seed: int) -> Interests:
    return workloads.unif(system.nodes, system.topics, subscriptions=system.size, independent=True, seed=seed)


def _equal(system: System, seed: int) -> Interests:
    return workloads.unif(system.nodes, system.topics, subscriptions=system.size, seed=seed)


def _unequal(system: System, seed: int) -> Interests:
    """Sizes by a power law from a tenth to twice the size, so that there are bulk nodes; fewer on average."""
    most = min(2 * system.size, system.topics)
    return workloads.unif(
        system.nodes, system.topics, min_subscriptions=most // 10, max_subscriptions=most, seed=seed
    )


def _fitted(system: System, seed: int) -> Interests:
    """Of eleven laws that were tried, the one with the degrees of gm and dcbc of Fig. 10(a)."""
    return workloads.unif(
        system.nodes, 200, min_subscriptions=10, max_subscriptions=90, size_exponent=2.0, seed=seed
    )


class Reading(NamedTuple):
    """A way to draw subscriptions, and how the names of its claims end; the first is the one that counts."""

    suffix: str
    draw: Callable[[System, int], Interests]
    how: str
    figures: tuple[str, ...] = ()
    """For which figures; all, if none is named."""


READINGS = (
    Reading("", _independent, "each topic is taken independently, with the same chance"),
    Reading("-equal", _equal, "every node has exactly so many topics"),
    Reading("-unequal", _unequal, "sizes follow a power law from a fifth of so many to twice as many"),
    Reading(
        "-fitted",
        _fitted,
        "but with 200 topics, and 10 to 90 a node by a power law of exponent 2, fitted to the figure",
        ("figure-10a",),
    ),
)


@cache
def measured(system: System, reading: int, algorithm: str, seed: int) -> Measured:
    """An algorithm on a system, with p by Alg. 5 and at most 20% bulk nodes."""
    overlay = build(_interests(system, reading, seed), algorithm, seed=seed)
    found = evaluate(overlay, bound=False)
    pairs = overlay.facts.get("pairs_examined", 0)
    return Measured(found.average_degree, found.maximum_topic_diameter or 0, pairs)


@cache
def _interests(system: System, reading: int, seed: int) -> Interests:
    return READINGS[reading].draw(system, seed)


def _ring_degree(system: System, reading: int, seed: int) -> float:
    overlay = build(_interests(system, reading, seed), "ring", seed=seed)
    return 2 * len(overlay) / system.nodes


class Row(NamedTuple):
    """One seed of a figure: what each algorithm came to, system by system."""

    systems: Sequence[System]
    reading: int
    seed: int

    def of(self, algorithm: str, what: str) -> list[float]:
        """A number of an algorithm, in all systems."""
        return [
            float(getattr(measured(system, self.reading, algorithm, self.seed), what))
            for system in self.systems
        ]

    def gap(self, more: str, less: str) -> list[float]:
        """By how much one degree is above the other, in all systems."""
        return [
            one - other for one, other in zip(self.of(more, "degree"), self.of(less, "degree"), strict=True)
        ]

    def rings(self) -> list[float]:
        """The degrees of Ring-per-Topic, in all systems."""
        return [_ring_degree(system, self.reading, self.seed) for system in self.systems]


def trend(values: Sequence[float]) -> float:
    """From -1, always falling, to 1, always rising: Kendall's tau with the order of the systems."""
    pairs = [(later > one) - (later < one) for at, one in enumerate(values) for later in values[at + 1 :]]
    return fmean(pairs)


def ratio(row: Row, what: str, one: str, other: str) -> float:
    """The mean over the systems of a number of one algorithm over that of another."""
    return fmean(mine / theirs for mine, theirs in zip(row.of(one, what), row.of(other, what), strict=True))
