"""The greedy that minds the maximum degree and what links cost: findLowEdge of Low-ODA, by price.

The price of a pair is what its link costs for each component that it would remove. Of all pairs, e1 has the
least price; of the pairs that raise the maximum degree least, e2 has. The rule takes e1 where its
contribution per cost is more than rho times that of e2, and e2 otherwise: Low-ODA's rule, with contributions
per cost in place of contributions. So with equal costs it takes the same edges. Of equal prices the first
pair is taken, by its first and then its second node.

A pair is *free* while both its ends are under the maximum degree. Prices only rise as edges are taken, so the
least price that a row of pairs ever had stays a lower bound, and only rows whose bound is least are looked at
again. Unlike `kernels/greedy/low_degree.py`, nothing is stored by pair.
"""

from typing import NamedTuple

import numpy as np

from meshwright.kernels.compiling import inner, kernel
from meshwright.kernels.core.cost_arrays import CostArrays
from meshwright.kernels.core.costs import cost_between
from meshwright.kernels.core.topic_components import NONE, TopicComponents, take_edge
from meshwright.kernels.greedy.bounds import EXAMINED, TAKEN
from meshwright.kernels.greedy.prices import fill_contributions
from meshwright.runtime.arrays import Floats, Ids, Offsets, Ticks, int64
from meshwright.runtime.progress import CANCEL, DONE

_ROUNDING = 1 + 2.0**-40
"""More than what rounding changes in a price or in a product of two."""
_BLOCK = 64
"""Pairs whose contributions are computed at once, since a call takes as long as ten of them."""
_ANY = 2**31
"""All degrees are under this."""


class PricedRows(NamedTuple):
    """Row u is the pairs of u and the nodes from `firsts[u]` on."""

    firsts: Offsets
    every: Floats  # by row: no pair of the row has a lower price
    free: Floats  # by row: no free pair of the row has a lower price
    found: Ids  # room for a block of pairs of a row
    gains: Ids  # room for their contributions
    costs: Floats  # room for their costs
    edges: Ids  # that were taken
    counts: Offsets  # by TAKEN and EXAMINED


class Offer(NamedTuple):
    """The cheapest pair among some; u is NONE where there is none."""

    u: int
    v: int
    gain: int
    cost: float
    price: float


@kernel
def start_priced_rows(firsts: Offsets, to_unite: int) -> PricedRows:
    """Rows of which nothing is known."""
    nodes = len(firsts)
    return PricedRows(
        firsts,
        np.zeros(nodes),
        np.zeros(nodes),
        np.empty(_BLOCK, np.int32),
        np.empty(_BLOCK, np.int32),
        np.empty(_BLOCK),
        np.empty((to_unite, 2), np.int32),
        np.zeros(2, np.int64),
    )


@inner
def _cheapest_in_row(
    state: TopicComponents,
    rows: PricedRows,
    costs: CostArrays,
    ids: Ids,
    degrees: Ids,
    below: int,
    u: int,
) -> Offer:
    """The first pair of least price in a row whose other end has a degree under `below`.

    Contributions are computed only of pairs that would be cheaper than the best so far if they contributed
    in as many topics as they possibly can.
    """
    indptr, loose, first = state.indptr, state.loose, rows.firsts[u]
    own_size, own_loose = indptr[u + 1] - indptr[u], loose[u]
    best_v, best_gain, best_cost, least = int64(NONE), int64(0), 0.0, np.inf
    v = first
    while v < len(degrees):
        count = 0
        while v < len(degrees) and count < _BLOCK:
            most_gain = min(own_size, indptr[v + 1] - indptr[v], own_loose + loose[v])
            if most_gain and degrees[v] < below:
                cost = cost_between(costs, ids[u], ids[v])
                if cost / most_gain < least:
                    rows.found[count], rows.costs[count] = v - first, cost
                    count += 1
            v += 1
        fill_contributions(state, state.weights, int64(u), first, rows.found[:count], rows.gains)
        rows.counts[EXAMINED] += count
        for k in range(count):
            gain = rows.gains[k]
            if gain and rows.costs[k] / gain < least:
                best_v, best_gain = int64(first + rows.found[k]), int64(gain)
                best_cost, least = rows.costs[k], rows.costs[k] / gain
    return Offer(int64(NONE) if best_v == NONE else int64(u), best_v, best_gain, best_cost, least)


@inner
def _cheapest(
    state: TopicComponents,
    rows: PricedRows,
    bounds: Floats,
    costs: CostArrays,
    ids: Ids,
    degrees: Ids,
    below: int,
    limit: float,
) -> Offer:
    """The first pair of least price in rows with these bounds, if its price is under the limit.

    A row whose bound was too low gets a better one. The first row of least bound whose bound is its price has
    the cheapest pair, since no other row can have a cheaper one.
    """
    while True:
        u, least = int64(NONE), limit
        for row in range(len(bounds)):
            if bounds[row] < least:
                u, least = int64(row), bounds[row]
        if u == NONE:
            return Offer(int64(NONE), int64(NONE), int64(0), 0.0, np.inf)
        offer = _cheapest_in_row(state, rows, costs, ids, degrees, below, u)
        if offer.price <= least:
            return offer
        bounds[u] = offer.price


@inner
def _release(rows: PricedRows, degrees: Ids, most: int) -> None:
    """All that is known of a row's free pairs is what is known of all its pairs."""
    for u in range(len(degrees)):
        rows.free[u] = rows.every[u] if degrees[u] < most else np.inf


@inner
def _is_worth(e1: Offer, e2: Offer, rho: float) -> bool:
    """Whether e1 contributes more than rho times as much per cost; with equal costs exactly as without."""
    return e1.u != NONE and (e2.u == NONE or e1.gain * e2.cost > rho * e2.gain * e1.cost)


@kernel
def take_cheap_edges(
    state: TopicComponents,
    rows: PricedRows,
    degrees: Ids,
    most: int,
    rho: float,
    costs: CostArrays,
    ids: Ids,
    ticks: Ticks,
) -> None:
    """Take edges by the rule until none contributes; `ids` has by node where `costs` have it.

    `degrees` grow with the edges; `most` is the maximum among all nodes that the rule minds.
    """
    for u in range(len(degrees)):
        if ticks[CANCEL]:
            return
        rows.every[u] = _cheapest_in_row(state, rows, costs, ids, degrees, _ANY, u).price
    _release(rows, degrees, most)
    while not ticks[CANCEL]:
        e2 = _cheapest(state, rows, rows.free, costs, ids, degrees, most, np.inf)
        limit = e2.price / rho * _ROUNDING
        e1 = _cheapest(state, rows, rows.every, costs, ids, degrees, _ANY, limit)
        chosen = e1 if _is_worth(e1, e2, rho) else e2
        if chosen.u == NONE:
            return
        before = most
        rows.edges[rows.counts[TAKEN], 0], rows.edges[rows.counts[TAKEN], 1] = chosen.u, chosen.v
        rows.counts[TAKEN] += 1
        ticks[DONE] += take_edge(state, chosen.u, chosen.v)
        for end in (chosen.u, chosen.v):
            degrees[end] += 1
            most = max(most, int64(degrees[end]))
            if degrees[end] == before:
                rows.free[end] = np.inf
        if most > before:
            _release(rows, degrees, most)
