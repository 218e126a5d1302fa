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
_EVENTS = 40
_ROUNDED = 0.005
"""Values that are nearer to each other than this are alike: the faster algorithm is suggested."""

SQUARE = frozenset(("gm", "dg", "low-oda", "gr-maw", "pd-maw", "pdrd-maw", "dg-maw", "tr-maw"))
"""Algorithms that look at all pairs of nodes."""

_MOST_FOR_SQUARE = 20_000
_NEVER = frozenset(("exact",))
"""Algorithms that are for small interests alone."""


class _Objective(NamedTuple):
    """What is wanted, in words, without and with costs, and how an overlay is measured; less is better."""

    words: str
    words_with_costs: str
    value: Callable[[Overlay, int], float]


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


OBJECTIVES: Mapping[str, _Objective] = {
    "links": _Objective("links per node", "cost of the links per node", _links),
    "latency": _Objective(
        "longest path, mean over topics", "cost of the longest path, mean over topics", _latency
    ),
    "load": _Objective("messages of the busiest node per publication", "", _load),
    "repairs": _Objective("links changed per event", "", _repairs),
}


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """An algorithm that was tried, or why it was not.

    Attributes:
        algorithm: its name.
        value: what it came to on the sample, by the objective; less is better.
        seconds: what the build took on the sample.
        estimated_seconds: what it would take on all nodes, by how its time grows.
        reason: why it was not tried, or failed.
    """

    algorithm: str
    value: float | None = None
    seconds: float | None = None
    estimated_seconds: float | None = None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """Which algorithm to take, and why.

    Attributes:
        algorithm: the one to take.
        objective: what was wanted.
        measure: in words, what `value` counts.
        sampled_nodes: how many nodes were tried.
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
    look at all pairs of nodes are left out beyond 20,000 nodes.

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
    scale = interests.node_count / max(part.node_count, 1)
    tried: list[Candidate] = []
    left_out: list[Candidate] = []
    possible = [
        (name, own)
        for name, own in registry.algorithms().items()
        if own.kind == "build" and own.topic_connected
    ]
    with stage(progress, "trying algorithms", len(possible)) as advance:
        for at, (name, algorithm) in enumerate(possible, 1):
            reason = _left_out(name, algorithm.needs_costs, costs is not None, interests.node_count)
            found = Candidate(algorithm=name, reason=reason)
            if not reason:
                found = _try(name, part, costs, wanted, seed, scale)
            (tried if found.value is not None else left_out).append(found)
            advance(at)
    if not tried:
        raise InputError(f"no algorithm could be tried; {left_out[0].algorithm}: {left_out[0].reason}")
    best = _best(tried)
    ordered = sorted(tried, key=lambda own: (own is not best, own.value))
    return Suggestion(
        algorithm=best.algorithm,
        objective=objective,
        measure=wanted.words_with_costs if costs is not None and wanted.words_with_costs else wanted.words,
        sampled_nodes=part.node_count,
        nodes=interests.node_count,
        reasons=tuple(_reasons(best, ordered[1:])),
        candidates=(*ordered, *left_out),
    )


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
    name: str, part: Interests, costs: Costs | None, wanted: _Objective, seed: int, scale: float
) -> Candidate:
    """Build on the sample and measure; a small build goes before, so that compiling is not counted."""
    try:
        build(_sampled(part, _FEW, seed), name, costs=costs, seed=seed)
        overlay, usage = measured(lambda: build(part, name, costs=costs, seed=seed))
        value = wanted.value(overlay, seed)
    except MeshwrightError as error:
        return Candidate(algorithm=name, reason=str(error))
    grown = usage.seconds * scale ** (2 if name in SQUARE else 1)
    return Candidate(algorithm=name, value=value, seconds=usage.seconds, estimated_seconds=grown)


def _best(tried: Iterable[Candidate]) -> Candidate:
    """The least value; of those alike, the fastest."""
    least = min(own.value for own in tried if own.value is not None)
    alike = [own for own in tried if own.value is not None and own.value <= least * (1 + _ROUNDED)]
    return min(alike, key=lambda own: (own.seconds, own.algorithm))


def _reasons(best: Candidate, others: list[Candidate]) -> Iterable[str]:
    yield f"{best.algorithm} has the least on the sample, {best.value:.3g}."
    for other in others[:1]:
        assert other.value is not None
        assert best.value is not None
        more = f"{100 * (other.value / best.value - 1):.1f}% more" if best.value else f"{other.value:.3g}"
        yield f"The next is {other.algorithm}, with {more}."
    faster = [own for own in others if (own.estimated_seconds or 0) * 5 < (best.estimated_seconds or 0)]
    for own in faster[:1]:
        assert own.value is not None
        yield f"{own.algorithm} takes under a fifth of its time, and comes to {own.value:.3g}."


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
