"""Exchange links of an overlay for fewer, by a search over the trees of all topics."""

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from meshwright.construct.reverse_delete import reverse_delete
from meshwright.kernels.exchanges.searching import ENERGY_OF_LINK, make_room, search
from meshwright.kernels.exchanges.topic_trees import HEAVIEST, TopicTrees, links_in_use, make_trees
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Ids, Ticks
from meshwright.runtime.memory import check_memory, needed
from meshwright.runtime.progress import CANCEL, Progress, run_with_ticks
from meshwright.runtime.seeds import generator

_PHASES, _SWEEPS_A_PHASE = 3, 3
"""At most so many phases, of at least so many sweeps: between two of them, reverse delete removes what the
trees hold to be needed and is not."""

_SPARED = 0.3
"""How much less a link of load 1 counts than one of a great load."""

_WARMTH = 15.0
"""How much the energy may rise at first, on average; a link counts 1,000."""

_FREE = 64
"""Room for links that are open while an exchange is tried."""

_CHUNK = 256
"""Nodes between two looks at the clock."""


@dataclass(frozen=True)
class Effort:
    """How long to search: all nodes so many times, or until a time of `perf_counter`."""

    sweeps: float
    until: float | None = None


def exchanged(
    interests: Interests,
    edges: Ids,
    effort: Effort,
    seed: int,
    *,
    memory_limit: int | None = None,
    progress: Progress | None = None,
) -> Ids:
    """Links that connect every topic that `edges` connect, and at most as many.

    Guarantee: no link can be removed without dividing a topic. Deterministic for a seed where the effort is
    in sweeps.

    How: `kernels/exchanges/searching.py`. Each of some phases begins warm and ends cold, and reverse delete
    follows.

    Cost: a sweep looks at all pairs of subscribers of all topics; 40 bytes for each interest.
    """
    kept = reverse_delete(interests, edges, memory_limit=memory_limit, progress=progress)
    if not len(kept):
        return kept
    estimate = needed("exchanging", interests=len(interests), edges=len(kept))
    check_memory("exchanging links", estimate, "allow more memory", memory_limit)
    began, phases = perf_counter(), _PHASES
    if effort.until is None:
        phases = max(1, min(_PHASES, int(effort.sweeps / _SWEEPS_A_PHASE)))
    for phase in range(1, phases + 1):
        until = None if effort.until is None else began + (effort.until - began) * phase / phases
        part = Effort(effort.sweeps / phases, until)
        found = _phase(interests, kept, part, seed + phase, progress)
        found = reverse_delete(interests, found, memory_limit=memory_limit, progress=progress)
        kept = min(kept, found, key=len)
    return kept


def _phase(interests: Interests, edges: Ids, effort: Effort, seed: int, progress: Progress | None) -> Ids:
    """The links after one phase, those that carry most first."""
    random = generator(seed, "exchanging")
    nodes = np.flatnonzero(np.diff(interests.indptr)).astype(np.int32)
    total = max(1, round(effort.sweeps * len(nodes)))

    def work(ticks: Ticks) -> Ids:
        trees = trees_of(interests, edges)
        room, done = make_room(trees), 0
        began = perf_counter()
        while not ticks[CANCEL]:
            order = random.permutation(nodes)
            for first in range(0, len(order), _CHUNK):
                if effort.until is None:
                    spent = done / total
                else:
                    spent = (perf_counter() - began) / max(1e-9, effort.until - began)
                if spent >= 1 or ticks[CANCEL]:
                    return _heaviest_first(trees)
                chunk = order[first : first + _CHUNK].copy()
                search(trees, room, chunk, int(random.integers(2**62)), _WARMTH * (1 - spent), ticks)
                done += len(chunk)
        return edges

    # A budget in seconds announces no number of nodes.
    return run_with_ticks(work, "exchanging links", total if effort.until is None else 0, progress)


def trees_of(interests: Interests, edges: Ids) -> TopicTrees:
    """The trees of all topics over the links of an overlay."""
    loads = np.arange(HEAVIEST + 1)
    energies = np.where(loads, ENERGY_OF_LINK * (1 - _SPARED / np.maximum(loads, 1)), 0)
    shares = np.where(loads, 1 / np.maximum(loads, 1), 0).astype(np.float32)
    # Copies, since Numba would compile everything once more for read-only arrays.
    indptr, topic_ids = interests.indptr.copy(), interests.topic_ids.copy()
    edges = np.ascontiguousarray(edges, np.int32)
    return make_trees(
        indptr, topic_ids, interests.topic_count, edges, _FREE, energies.round().astype(np.int64), shares
    )


def _heaviest_first(trees: TopicTrees) -> Ids:
    edges, loads = links_in_use(trees)
    found: Ids = edges[np.argsort(-loads, kind="stable")]
    return found
