"""`suggest`: which algorithm for these interests, by trying all that can be used on a sample of the nodes."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from meshwright import registry
from meshwright.building import build
from meshwright.maintain.maintainer import Maintainer
from meshwright.metrics.evaluation import Evaluation, evaluate
from meshwright.model.costs.costs import Costs
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.model.rates import rates_of
from meshwright.routing.load import expected_load
from meshwright.runtime.arrays import Flags, Offsets
from meshwright.runtime.checks import check_choice, check_whole
from meshwright.runtime.errors import InputError, MeshwrightError
from meshwright.runtime.progress import Progress, stage
from meshwright.runtime.seeds import generator
from meshwright.runtime.usage import measured
from meshwright.runtime.wording import type_of

_SAMPLE = 800
_FEW = 30
_RESTARTS = 1_000
"""So many nodes leave and come back where repairs are counted. Of more nodes, the half with most links is
taken whole, since a hub that leaves changes hundreds of links: among a thousand random events, it makes a
difference of half of the mean whether it is one of them (grid of 2,000 nodes and 49 topics: 2.5 to 4.6)."""
_BY_ORDER = 0.05
"""How much the order in which nodes leave changes that; there, 1 to 7%."""
_ROUNDED = 0.005
"""Values that are nearer to each other than this are alike: then other things decide."""

_NEAR = 0.15
_MOST_INTERESTS = 1_000_000
"""Unless one that looks at all pairs is within `_NEAR` of the best on the sample, algorithms of linear time
are tried again, on all nodes or as many as have so many interests: the order changes as topics grow."""

_MOST_AGAIN = 2_000
"""If one is, and the order of these changes too, all within `_NEAR` are tried again on so many nodes."""

_MOST_SECONDS = 10.0
"""How long the build may take that tells the price of what is suggested, by the estimate."""

_APART = 1.5
"""How many times as many nodes the larger of two builds needs to tell how prices grow."""

SQUARE = frozenset(("gm", "dg", "low-oda", "gr-maw", "pd-maw", "pdrd-maw", "dg-maw", "tr-maw"))
"""Algorithms that look at all pairs of nodes."""

_MOST_FOR_SQUARE = 20_000
_NEVER = frozenset(("exact",))
"""Algorithms that are for small interests alone."""


class Objective(NamedTuple):
    """What is wanted, in words, without and with costs, and how an overlay is measured; less is better.

    `work` is how many times as long it takes to measure as it does to look at links. With `by_size`, the
    order of algorithms that look at all pairs changes as topics grow, too.
    """

    words: str
    words_with_costs: str
    counted: Callable[[Overlay, int], "float | Counted"]
    work: int = 1
    by_size: bool = False

    def value(self, overlay: Overlay, seed: int) -> float:
        """The number alone."""
        found = self.counted(overlay, seed)
        return found.mean if isinstance(found, Counted) else found


class Counted(NamedTuple):
    """A mean over events, and by how much of it that might differ if others leave, or in another order."""

    mean: float
    uncertainty: float


def _links(overlay: Overlay, seed: int) -> float:
    del seed
    found = _evaluated(overlay)
    return found.average_degree if overlay.costs is None else found.weighted_average_degree or math.inf


def _latency(overlay: Overlay, seed: int) -> float:
    del seed
    found = _evaluated(overlay)
    mean = found.mean_topic_diameter if overlay.costs is None else found.mean_weighted_topic_diameter
    return math.inf if mean is None else mean


def _load(overlay: Overlay, seed: int) -> float:
    del seed
    return expected_load(overlay).maximum / max(float(rates_of(overlay.interests).sum()), 1e-9)


def _repairs(overlay: Overlay, seed: int) -> Counted:
    # Nodes leave and come back: of new ones it is not known what their links cost.
    interests, live = overlay.interests, Maintainer(overlay, seed=seed)
    drawn, is_hub = _to_restart(overlay.degrees(), seed)
    changes = np.zeros(len(drawn))
    for at, name in enumerate(interests.nodes.take(drawn).to_pylist()):
        repairs = live.leave(name), live.join(name, interests.topics_of(name))
        changes[at] = sum(len(repair.added) + len(repair.removed) for repair in repairs)
    nodes, hubs = max(interests.node_count, 1), int(is_hub.sum())
    others = changes[~is_hub] if len(drawn) > hubs else np.zeros(1)
    share = (nodes - hubs) / nodes
    mean = float(changes[is_hub].sum()) / nodes + share * float(others.mean())
    error = share * float(others.std()) / math.sqrt(len(others))
    # Two events a node.
    return Counted(mean / 2, math.hypot(2 * error / mean, _BY_ORDER) if mean else 0.0)


def _to_restart(degrees: Offsets, seed: int) -> tuple[Offsets, Flags]:
    """The nodes that leave and come back, in random order, and which of them were taken for their links."""
    random, nodes = generator(seed, "suggest", 1), len(degrees)
    hubs = nodes if nodes <= _RESTARTS else _RESTARTS // 2
    order = np.argsort(-degrees, kind="stable")
    some = random.choice(order[hubs:], min(nodes, _RESTARTS) - hubs, replace=False)
    places = random.permutation(hubs + len(some))
    return np.concatenate([order[:hubs], some])[places], places < hubs


def _evaluated(overlay: Overlay) -> Evaluation:
    return evaluate(overlay, bound=False)


OBJECTIVES: Mapping[str, Objective] = {
    "links": Objective("links per node", "cost of the links per node", _links),
    "latency": Objective(
        "longest path, mean over topics", "cost of the longest path, mean over topics", _latency
    ),
    "load": Objective("messages that the busiest node sends per publication", "", _load),
    "repairs": Objective("links changed per event", "", _repairs, work=20, by_size=True),
}


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """An algorithm that was tried, or why it was not.

    Attributes:
        algorithm: its name.
        nodes: how many nodes it was tried on.
        value: what it came to on these, by the objective; less is better. None if it was not tried.
        uncertainty: by how much of it other events might change the value, where events are drawn.
        average_degree: links per node.
        weighted_average_degree: the cost of the links per node, where links cost.
        maximum_degree: the most links of a node.
        estimated_seconds: processor seconds that it would take on all nodes, by how its time grows.
        estimated_memory_bytes: the memory that it would take on all nodes, by how it grows.
        reason: why it was not tried, or failed.
    """

    algorithm: str
    nodes: int = 0
    value: float | None = None
    uncertainty: float | None = None
    average_degree: float | None = None
    weighted_average_degree: float | None = None
    maximum_degree: int | None = None
    estimated_seconds: float | None = None
    estimated_memory_bytes: float | None = None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Price:
    """What an overlay of all nodes takes.

    Attributes:
        measured_on: how many nodes were built for it: all, or two numbers, from which prices were estimated
            by how they grow.
        links: of all nodes.
        maximum_degree: the most links of a node.
        cost: of all links, where links cost.
        processor_seconds: of the build.
        memory_bytes: that the build adds; None where that can't be told.
    """

    measured_on: tuple[int, ...]
    links: float
    maximum_degree: float
    cost: float | None
    processor_seconds: float
    memory_bytes: float | None


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """Which algorithm to take, and why.

    Attributes:
        algorithm: the one to take.
        objective: what was wanted.
        measure: in words, what `value` counts, with its unit.
        unit: what costs are counted in, where that was said.
        sampled_nodes: how many nodes the sample has.
        nodes: how many there are.
        price: what the algorithm takes on all nodes.
        reasons: sentences for people.
        candidates: what was tried, the best first, and what was not.
    """

    algorithm: str
    objective: str
    measure: str
    unit: str | None
    sampled_nodes: int
    nodes: int
    price: Price
    reasons: tuple[str, ...]
    candidates: tuple[Candidate, ...]


def suggest(
    interests: Interests,
    *,
    objective: str = "links",
    costs: Costs | None = None,
    sample: int = _SAMPLE,
    seed: int = 0,
    progress: Progress | None = None,
) -> Suggestion:
    """Say which algorithm is best for these interests, by building with each on a sample of the nodes.

    Args:
        interests: who is interested in what.
        objective: `links`, as few (with costs, as cheap) as possible; `latency`, short paths inside topics;
            `load`, few messages at the busiest node; `repairs`, few links to change as nodes come and go.
        costs: what links cost, if they do.
        sample: how many nodes are tried, drawn at random; interests that have no more are tried whole.
        seed: draws the sample, and is that of the builds.
        progress: shows how far it is.

    Algorithms that promise to connect every topic are tried, those of other packages among them. Those that
    look at all pairs of nodes are left out beyond 20,000 nodes. If the best on the sample take linear time,
    all that do are tried again, on all nodes, or on as many as have a million interests: the order changes as
    topics grow. For repairs, the best are tried again whatever they are, on up to 2,000 nodes. What is
    suggested is built on all nodes, if that takes ten seconds, or else on more than the sample: that tells
    its price. So this takes seconds, whatever the size. The same seed gives the same algorithm.

    Example:
        >>> import meshwright as mw
        >>> interests = mw.workloads.unif(60, 12, subscriptions=4, seed=1)
        >>> mw.suggest(interests, objective="links").algorithm in mw.algorithms()
        True
    """
    if not isinstance(interests, Interests):
        raise InputError(f"suggest got {type_of(interests)}; give Interests")
    check_choice("objective", objective, tuple(OBJECTIVES))
    check_whole("sample", sample, 2, required=True)
    wanted = OBJECTIVES[objective]
    part = _sampled(interests, sample, seed)

    def attempt(name: str, on: Interests) -> Candidate:
        return _try(name, on, costs, wanted, seed, interests.node_count)

    tried, left_out = _on_sample(part, interests.node_count, costs is not None, attempt, progress)
    if not tried:
        raise InputError(f"no algorithm could be tried; {left_out[0].algorithm}: {left_out[0].reason}")
    again = _to_try_again(tried, wanted)
    larger = _larger(interests, part, wanted, any(own.algorithm in SQUARE for own in again), seed)
    if larger.node_count == part.node_count:
        again = []
    others = [own for own in tried if own not in again]
    with stage(progress, "trying the best on more nodes", len(again)) as advance:
        for at, own in enumerate(again):
            again[at] = attempt(own.algorithm, larger)
            advance(at + 1)
    best = _best(again or tried)
    ordered = [*sorted(again, key=_value), *others]
    ordered.remove(best)
    price = _priced(best, interests, costs, seed, progress)
    unit = None if costs is None else costs.unit
    in_costs = costs is not None and bool(wanted.words_with_costs)
    measure = wanted.words_with_costs if in_costs else wanted.words
    of_value = f" {unit}" if unit and in_costs else ""
    return Suggestion(
        algorithm=best.algorithm,
        objective=objective,
        measure=f"{measure}, in{of_value}" if of_value else measure,
        unit=unit,
        sampled_nodes=part.node_count,
        nodes=interests.node_count,
        price=price,
        reasons=tuple(_reasons(best, ordered, interests.node_count, price, of_value, unit)),
        candidates=(best, *ordered, *left_out),
    )


def _on_sample(
    part: Interests,
    nodes: int,
    has_costs: bool,
    attempt: Callable[[str, Interests], Candidate],
    progress: Progress | None,
) -> tuple[list[Candidate], list[Candidate]]:
    """What was tried, the best first, and what was not or failed."""
    found = []
    possible = {
        name: own
        for name, own in registry.algorithms().items()
        if own.kind == "build" and own.topic_connected
    }
    with stage(progress, "trying algorithms", len(possible)) as advance:
        for at, (name, algorithm) in enumerate(possible.items(), 1):
            reason = _left_out(name, algorithm.needs_costs, has_costs, nodes)
            found.append(Candidate(algorithm=name, reason=reason) if reason else attempt(name, part))
            advance(at)
    tried = sorted((own for own in found if not own.reason), key=_value)
    return tried, [own for own in found if own.reason]


def _larger(interests: Interests, part: Interests, wanted: Objective, square: bool, seed: int) -> Interests:
    """All nodes, or so many that it takes seconds to build on them and to measure them."""
    most = _MOST_INTERESTS // wanted.work
    nodes = interests.node_count * most // max(len(interests), most)
    if square:
        nodes = min(nodes, _MOST_AGAIN)
    return _sampled(interests, max(nodes, part.node_count), seed)


def _to_try_again(tried: list[Candidate], wanted: Objective) -> list[Candidate]:
    """Those of linear time; if one that looks at all pairs is about as good as the best, none, or those."""
    near = [own for own in tried if _value(own) <= (1 + _NEAR) * _value(tried[0])]
    if all(own.algorithm not in SQUARE for own in near):
        return [own for own in tried if own.algorithm not in SQUARE]
    return near if wanted.by_size else []


def _left_out(name: str, needs_costs: bool, has_costs: bool, nodes: int) -> str:
    """Why an algorithm is not tried; nothing if it is."""
    if name in _NEVER:
        return "it is for small interests alone"
    if needs_costs and not has_costs:
        return "it needs the costs of links"
    if name in SQUARE and nodes > _MOST_FOR_SQUARE:
        return f"its time grows with the square of the nodes, of which there are {nodes:,}"
    return ""


def _try(
    name: str, part: Interests, costs: Costs | None, wanted: Objective, seed: int, all_nodes: int
) -> Candidate:
    """Build on a part and measure; a small build goes before, so that compiling is not counted."""
    try:
        build(_sampled(part, _FEW, seed), name, costs=costs, seed=seed)
        overlay, usage = measured(lambda: build(part, name, costs=costs, seed=seed))
        found = wanted.counted(overlay, seed)
    except MeshwrightError as error:
        return Candidate(algorithm=name, reason=str(error))
    degrees = overlay.degrees()
    nodes = max(len(degrees), 1)
    grown = (all_nodes / nodes) ** _power(name)
    return Candidate(
        algorithm=name,
        nodes=len(degrees),
        value=found.mean if isinstance(found, Counted) else found,
        uncertainty=found.uncertainty if isinstance(found, Counted) else None,
        average_degree=float(degrees.sum()) / nodes,
        weighted_average_degree=None if overlay.costs is None else 2 * float(overlay.costs.sum()) / nodes,
        maximum_degree=int(degrees.max(initial=0)),
        estimated_seconds=(usage.processor_seconds or usage.seconds) * grown,
        estimated_memory_bytes=None if usage.memory_bytes is None else usage.memory_bytes * grown,
    )


def _power(name: str) -> int:
    """The power of the number of nodes that the time of an algorithm grows with."""
    return 2 if name in SQUARE else 1


def _priced(
    best: Candidate, interests: Interests, costs: Costs | None, seed: int, progress: Progress | None
) -> Price:
    """What the best takes on all nodes: measured if that is short, else estimated from two builds."""
    nodes = interests.node_count
    share = (_MOST_SECONDS / max(best.estimated_seconds or 0.0, 1e-9)) ** (1 / _power(best.algorithm))
    many = min(nodes, int(nodes * share))
    if many < _APART * best.nodes:
        many = best.nodes
    few = best.nodes if many > best.nodes else max(2, int(best.nodes / 2 / _APART))
    sizes = [many] if many == nodes else [few, many]
    found = []
    with stage(progress, "pricing the best", len(sizes)) as advance:
        for at, size in enumerate(sizes, 1):
            found.append(_price_of(best.algorithm, _sampled(interests, size, seed), costs, seed))
            advance(at)
    return found[0] if len(found) == 1 else _estimated(found[0], found[1], nodes)


def _price_of(name: str, interests: Interests, costs: Costs | None, seed: int) -> Price:
    overlay, usage = measured(lambda: build(interests, name, costs=costs, seed=seed))
    return Price(
        measured_on=(interests.node_count,),
        links=float(len(overlay)),
        maximum_degree=float(overlay.degrees().max(initial=0)),
        cost=None if overlay.costs is None else float(overlay.costs.sum()),
        processor_seconds=usage.processor_seconds or usage.seconds,
        memory_bytes=usage.memory_bytes or None,
    )


def _estimated(few: Price, many: Price, nodes: int) -> Price:
    """The price on all nodes, if each part of it grows on by the same power as between two builds."""
    sizes = few.measured_on[0], many.measured_on[0]

    def grown(small: float, large: float) -> float:
        power = math.log(large / small) / math.log(sizes[1] / sizes[0]) if small > 0 < large else 0.0
        return large * math.pow(nodes / sizes[1], min(max(power, 0.0), 2.0))

    both_cost = None if few.cost is None or many.cost is None else grown(few.cost, many.cost)
    memory = few.memory_bytes, many.memory_bytes
    return Price(
        measured_on=sizes,
        links=grown(few.links, many.links),
        maximum_degree=grown(few.maximum_degree, many.maximum_degree),
        cost=both_cost,
        processor_seconds=grown(few.processor_seconds, many.processor_seconds),
        memory_bytes=None if memory[0] is None or memory[1] is None else grown(memory[0], memory[1]),
    )


def _best(tried: list[Candidate]) -> Candidate:
    """The least value; of those alike, one that need not look at all pairs, and then the fewest links."""
    least = min(map(_value, tried))
    alike = (own for own in tried if _value(own) <= least * (1 + _ROUNDED))
    return min(alike, key=lambda own: (own.algorithm in SQUARE, own.average_degree, own.algorithm))


def _value(own: Candidate) -> float:
    return math.inf if own.value is None else own.value


def _reasons(
    best: Candidate, others: list[Candidate], nodes: int, price: Price, of_value: str, unit: str | None
) -> Iterable[str]:
    where = "all nodes" if best.nodes == nodes else f"a sample of {best.nodes:,} nodes"
    yield f"{best.algorithm} has the least on {where}, {best.value:.3g}{of_value}."
    alike = [own for own in others if own.nodes == best.nodes]
    for other in alike[:1]:
        yield f"The next is {other.algorithm}, with {_above(other, best)}."
    if best.uncertainty:
        yield f"If others leave first, such a number may differ by {100 * best.uncertainty:.0f}%."
    yield f"Its price on all {nodes:,} nodes, {_how(price)}: {', '.join(_parts(price, nodes, unit))}."
    seconds = best.estimated_seconds or 0.0
    near = [own for own in alike if _value(own) <= 2 * _value(best)]
    faster = [own for own in near if (own.estimated_seconds or 0) * 5 < seconds]
    for own in faster[:1] if seconds > 1 else ():
        yield f"{own.algorithm} takes under a fifth of this time, with {_above(own, best)}."


def _how(price: Price) -> str:
    if len(price.measured_on) == 1:
        return "measured"
    return f"estimated from {price.measured_on[0]:,} and {price.measured_on[1]:,} of them"


def _parts(price: Price, nodes: int, unit: str | None) -> Iterable[str]:
    """What links, time and memory come to."""
    about = "" if len(price.measured_on) == 1 else "about "
    most = f"{price.maximum_degree:,.0f} at the busiest"
    yield f"{about}{price.links:,.0f} links ({2 * price.links / max(nodes, 1):.3g} per node, {most})"
    if price.cost is not None:
        yield f"a cost of {about}{price.cost:,.0f}{f' {unit}' if unit else ''}"
    yield f"{max(price.processor_seconds, 0.1):,.1f} processor seconds"
    if price.memory_bytes is not None:
        yield f"{max(price.memory_bytes / 1e6, 1):,.0f} MB of memory"


def _above(other: Candidate, best: Candidate) -> str:
    """How much more one comes to than the best does."""
    return f"{100 * (_value(other) / best.value - 1):.1f}% more" if best.value else f"{other.value:.3g}"


def _sampled(interests: Interests, most: int, seed: int) -> Interests:
    """Some of the nodes, drawn at random, with all of their topics."""
    nodes = interests.node_count
    if nodes <= most:
        return interests
    drawn = np.sort(generator(seed, "suggest").choice(nodes, most, replace=False))
    sizes = np.diff(interests.indptr)[drawn]
    kept = np.zeros(nodes, bool)
    kept[drawn] = True
    topic_ids = interests.topic_ids[np.repeat(kept, np.diff(interests.indptr))]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    return Interests.from_arrays(indptr, topic_ids, interests.nodes.take(drawn), interests.topics)
