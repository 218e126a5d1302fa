"""`suggest`: which algorithm for these interests, by trying all that can be used on a sample of the nodes."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from meshwright import registry, workloads
from meshwright.building import build
from meshwright.maintain.maintainer import Maintainer
from meshwright.metrics.evaluation import Evaluation, evaluate
from meshwright.model.costs.costs import Costs
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.routing.api import route
from meshwright.runtime.checks import check_choice, check_whole
from meshwright.runtime.errors import InputError, MeshwrightError
from meshwright.runtime.progress import Progress, stage
from meshwright.runtime.seeds import generator
from meshwright.runtime.usage import measured
from meshwright.runtime.wording import type_of

_SAMPLE = 800
_FEW = 30
_PUBLICATIONS = 2_000
_EVENTS = 1_000
"""With 40 events, another seed changes what is counted by a tenth or more, which is more than algorithms
differ by."""
_ROUNDED = 0.005
"""Values that are nearer to each other than this are alike: then other things decide."""

_NEAR = 0.15
_MOST_INTERESTS = 1_000_000
"""Unless one that looks at all pairs is within `_NEAR` of the best on the sample, algorithms of linear time
are tried again, on all nodes or as many as have so many interests: the order changes as topics grow."""

SQUARE = frozenset(("gm", "dg", "low-oda", "gr-maw", "pd-maw", "pdrd-maw", "dg-maw", "tr-maw"))
"""Algorithms that look at all pairs of nodes."""

_MOST_FOR_SQUARE = 20_000
_NEVER = frozenset(("exact",))
"""Algorithms that are for small interests alone."""


class Objective(NamedTuple):
    """What is wanted, in words, without and with costs, and how an overlay is measured; less is better.

    `work` is how many times as long it takes to measure as it does to look at links.
    """

    words: str
    words_with_costs: str
    value: Callable[[Overlay, int], float]
    work: int = 1


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
    return route(overlay, "tree", _PUBLICATIONS, seed=seed).maximum_load / _PUBLICATIONS


def _repairs(overlay: Overlay, seed: int) -> float:
    # Nodes leave and come back: of new ones it is not known what their links cost.
    events = workloads.churn(overlay.interests, _EVENTS, among=overlay.interests.nodes.to_pylist(), seed=seed)
    live = Maintainer(overlay, seed=seed)
    repairs = [live.apply([event]) for event in events]
    return sum(len(repair.added) + len(repair.removed) for repair in repairs) / _EVENTS


def _evaluated(overlay: Overlay) -> Evaluation:
    return evaluate(overlay, bound=False)


OBJECTIVES: Mapping[str, Objective] = {
    "links": Objective("links per node", "cost of the links per node", _links),
    "latency": Objective(
        "longest path, mean over topics", "cost of the longest path, mean over topics", _latency
    ),
    "load": Objective("messages of the busiest node per publication", "", _load),
    "repairs": Objective("links changed per event", "", _repairs, work=20),
}


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """An algorithm that was tried, or why it was not.

    Attributes:
        algorithm: its name.
        nodes: how many nodes it was tried on.
        value: what it came to on these, by the objective; less is better. None if it was not tried.
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
    average_degree: float | None = None
    weighted_average_degree: float | None = None
    maximum_degree: int | None = None
    estimated_seconds: float | None = None
    estimated_memory_bytes: float | None = None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """Which algorithm to take, and why.

    Attributes:
        algorithm: the one to take.
        objective: what was wanted.
        measure: in words, what `value` counts.
        sampled_nodes: how many nodes the sample has.
        nodes: how many there are.
        reasons: sentences for people.
        candidates: what was tried, the best first, and what was not.
    """

    algorithm: str
    objective: str
    measure: str
    sampled_nodes: int
    nodes: int
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
    topics grow. So this takes seconds, whatever the size. The same seed gives the same answer.

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
    larger = _larger(interests, part, wanted, seed)
    again = _to_try_again(tried) if larger.node_count > part.node_count else []
    others = [own for own in tried if own not in again]
    with stage(progress, "trying the best on more nodes", len(again)) as advance:
        for at, own in enumerate(again):
            again[at] = attempt(own.algorithm, larger)
            advance(at + 1)
    best = _best(again or tried)
    ordered = [*sorted(again, key=_value), *others]
    ordered.remove(best)
    return Suggestion(
        algorithm=best.algorithm,
        objective=objective,
        measure=wanted.words_with_costs if costs is not None and wanted.words_with_costs else wanted.words,
        sampled_nodes=part.node_count,
        nodes=interests.node_count,
        reasons=tuple(_reasons(best, ordered, interests.node_count)),
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


def _larger(interests: Interests, part: Interests, wanted: Objective, seed: int) -> Interests:
    """All nodes, or so many that it takes seconds to measure them."""
    most = _MOST_INTERESTS // wanted.work
    nodes = interests.node_count * most // max(len(interests), most)
    return _sampled(interests, max(nodes, part.node_count), seed)


def _to_try_again(tried: list[Candidate]) -> list[Candidate]:
    """Those of linear time, unless one that looks at all pairs is about as good as the best."""
    near = [own for own in tried if _value(own) <= (1 + _NEAR) * _value(tried[0])]
    if any(own.algorithm in SQUARE for own in near):
        return []
    return [own for own in tried if own.algorithm not in SQUARE]


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
        value = wanted.value(overlay, seed)
    except MeshwrightError as error:
        return Candidate(algorithm=name, reason=str(error))
    degrees = overlay.degrees()
    nodes = max(len(degrees), 1)
    grown = (all_nodes / nodes) ** (2 if name in SQUARE else 1)
    return Candidate(
        algorithm=name,
        nodes=len(degrees),
        value=value,
        average_degree=float(degrees.sum()) / nodes,
        weighted_average_degree=None if overlay.costs is None else 2 * float(overlay.costs.sum()) / nodes,
        maximum_degree=int(degrees.max(initial=0)),
        estimated_seconds=(usage.processor_seconds or usage.seconds) * grown,
        estimated_memory_bytes=None if usage.memory_bytes is None else usage.memory_bytes * grown,
    )


def _best(tried: list[Candidate]) -> Candidate:
    """The least value; of those alike, one that need not look at all pairs, and then the fewest links."""
    least = min(map(_value, tried))
    alike = (own for own in tried if _value(own) <= least * (1 + _ROUNDED))
    return min(alike, key=lambda own: (own.algorithm in SQUARE, own.average_degree, own.algorithm))


def _value(own: Candidate) -> float:
    return math.inf if own.value is None else own.value


def _reasons(best: Candidate, others: list[Candidate], nodes: int) -> Iterable[str]:
    where = "all nodes" if best.nodes == nodes else f"a sample of {best.nodes:,} nodes"
    yield f"{best.algorithm} has the least on {where}, {best.value:.3g}."
    alike = [own for own in others if own.nodes == best.nodes]
    for other in alike[:1]:
        yield f"The next is {other.algorithm}, with {_above(other, best)}."
    yield f"Its price on all {nodes:,} nodes: {', '.join(_price(best, nodes))}."
    seconds = best.estimated_seconds or 0.0
    near = [own for own in alike if _value(own) <= 2 * _value(best)]
    faster = [own for own in near if (own.estimated_seconds or 0) * 5 < seconds]
    for own in faster[:1] if seconds > 1 else ():
        yield f"{own.algorithm} takes under a fifth of this time, with {_above(own, best)}."


def _price(own: Candidate, nodes: int) -> Iterable[str]:
    """What links, time and memory come to if all nodes are like those of the sample."""
    degree, cost = own.average_degree or 0.0, own.weighted_average_degree
    most = f"{own.maximum_degree:,} at the busiest"
    yield f"about {degree * nodes / 2:,.0f} links ({degree:.3g} per node, {most})"
    if cost is not None:
        yield f"a cost of about {cost * nodes / 2:,.0f}"
    yield f"{max(own.estimated_seconds or 0.0, 0.1):,.1f} processor seconds"
    if own.estimated_memory_bytes is not None:
        yield f"{max(own.estimated_memory_bytes / 1e6, 1):,.0f} MB of memory"


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
