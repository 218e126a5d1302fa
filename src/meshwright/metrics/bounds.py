"""Lower bounds on the edges, and on the link cost, of every topic-connected overlay of given interests."""

from dataclasses import dataclass, replace

import numpy as np

from meshwright.construct.dual.bound import LineCertificate, find_certificate
from meshwright.construct.dual.bound_by_cost import CostCertificate, find_cost_certificate
from meshwright.construct.overlaps import most_shared, overlaps_pay
from meshwright.construct.weighted.by_price import least_cost
from meshwright.kernels.core.cost_arrays import CostArrays
from meshwright.kernels.core.subgraphs import TopicLists
from meshwright.kernels.metrics import bounds as kernel
from meshwright.kernels.metrics.bounds import Counts, Subscribers
from meshwright.model.costs.costs import Costs
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Floats, Ids, Offsets
from meshwright.runtime.errors import OptionError
from meshwright.runtime.progress import Progress

_MOST_PAIRS = 12_500_000
"""Pairs of nodes: a byte each, and 40 to 104 ns of a core in `benchmarks/bounds.py`."""

_MOST_DUAL_STEPS = 100_000_000
"""Sum over topics of half the square of their subscribers, which are looked at where topics are large."""


def dual_pays(sizes: Offsets, node_count: int) -> bool:
    """Whether the dual value takes few enough seconds, with topics of these sizes.

    It is asked of counts alone, so that the answer is the same on every machine and engine.
    """
    steps = np.sum(sizes.astype(np.float64) ** 2) / 2
    return bool(node_count**2 / 2 <= _MOST_PAIRS and steps <= _MOST_DUAL_STEPS)


# Above the relative error of the sums, which is their number of terms times 2^-53.
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class LowerBound:
    """No topic-connected overlay has fewer than `edges`; `method` says by which argument.

    Nor do the links of any cost less than `cost`, by `cost_method`; None where that is not known.
    `certificate` proves as many edges, or fewer where another method finds more, and `cost_certificate` as
    great a cost, or less; None where none was asked for, or links have no cost.
    """

    edges: int
    method: str
    cost: float | None = None
    cost_method: str = "dual"
    certificate: LineCertificate | None = None
    cost_certificate: CostCertificate | None = None


_TIGHT_STEPS, _MORE_TIGHT_STEPS, _FEW_INTERESTS = 300, 600, 50_000
"""More steps where there are few interests: at 1,000 nodes some seconds, and at 10,000 half a minute
(`benchmarks/dual_guided.py`). The last 300 raise the bound by up to 2% (unif 1,000 x 200), often by nothing.
"""

_LAGRANGIAN = "lagrangian"

_MOST_TIGHT_PAIRS = 20_000_000_000
"""Pairs of subscribers, summed over topics: a look at all of them takes about a minute."""


def tight_pays(interests: Interests) -> bool:
    """Whether the pairs of subscribers are few enough for the tight bound."""
    return _subscriber_pairs(interests) <= _MOST_TIGHT_PAIRS


def _subscriber_pairs(interests: Interests) -> float:
    return float(np.sum(np.diff(interests.topic_indptr).astype(np.float64) ** 2) / 2)


def tightened(
    bound: LowerBound, interests: Interests, costs: Costs | None = None, progress: Progress | None = None
) -> LowerBound:
    """The bound, or the Lagrangian one (`construct/dual/bound.py`) if it is as great, with a certificate.

    `method` is then "lagrangian". The same of the cost (`bound_by_cost.py`), where links have one.
    """
    if not tight_pays(interests):
        raise OptionError(
            f"the tight bound would look at {_subscriber_pairs(interests):.2g} pairs of subscribers again "
            f"and again, at most {_MOST_TIGHT_PAIRS:.2g} are allowed; use the quick one",
            option="bound",
        )
    steps = _MORE_TIGHT_STEPS if len(interests) <= _FEW_INTERESTS else _TIGHT_STEPS
    certificate = find_certificate(interests, steps=steps, progress=progress)
    found = replace(bound, certificate=certificate)
    if certificate.edges >= bound.edges:
        found = replace(found, edges=certificate.edges, method=_LAGRANGIAN)
    if costs is None:
        return found
    by_cost = find_cost_certificate(interests, costs, steps=steps, progress=progress)
    found = replace(found, cost_certificate=by_cost)
    if bound.cost is None or by_cost.cost >= bound.cost:
        found = replace(found, cost=by_cost.cost, cost_method=_LAGRANGIAN)
    return found


def bound_of(
    subscribers: Subscribers,
    lists: TopicLists,
    node_count: int,
    costs: CostArrays | None = None,
    progress: Progress | None = None,
) -> LowerBound:
    """A number of edges that every topic-connected overlay of these interests has, by proof.

    Let only topics of two or more nodes count, o(u, v) be the number of topics that u and v share, and
    o(v, t) the greatest o(u, v) over the other nodes u of t. Take any topic-connected overlay (V, E).

    *Trees.* Let each edge (u, v) pay 1 / o(u, v) to each topic that its ends share, at most 1 in all; so |E|
    is at least what all topics get. The edges that pay to t connect all nodes of t, so they contain a tree
    that spans them. Root it at any node: every other node v has an edge to its parent, an edge that is no
    other node's, and that paid at least 1 / o(v, t). Hence |E| is at least the sum over t of the sum over v
    in V(t) of 1 / o(v, t), without the least of these.

    *Covers.* For each of its topics v has a neighbour who shares it. Let neighbour u give 1 / o(u, v) to each
    topic that it shares with v, 1 in all: every topic t gets 1 / o(v, t) or more. So v has at least the sum
    of that over its topics as neighbours, rounded up, and |E| is at least half of the sum of these over all
    nodes. This is linear-programming duality on the set-cover problem of v.

    *Spanning.* Nodes that chains of shared topics connect, a component C of the interest hypergraph, are
    connected in the overlay too: |E| >= |C| - 1.

    All three hold for the edges inside each component, so the greatest of them, rounded up, is taken for each
    and added up. Overlaps take sum over t of |V(t)|^2 / 2 steps; where these are over 5e9, spanning alone
    is left, in O(interests): with the numbers of topics of u and v for want of o(u, v), trees can't give
    more than |C| - 1.

    *Dual.* Where nodes and topics are few enough (`dual_pays`), the dual value of the primal-dual algorithm
    at unit costs (`least_cost`) is taken if it is greater; and with `costs`, that for them.

    `method` is what decides: "spanning", "overlap-duality" or "dual".

    Measured (`benchmarks/bounds.py`) at 1,000 nodes, 100 topics and 20 topics per node, as average degree:
    4.51 by the dual, 4.39 by overlaps, 2.00 by spanning; Greedy Merge has 5.27. At 5,000 nodes, 1,000 topics
    and 10 to 150 per node: 7.09, 6.50 and 2.00; Greedy Merge has 9.54.
    """
    found, cost = bounds_by_method(subscribers, lists, node_count, costs, progress)
    method = max(found, key=lambda name: found[name])
    return LowerBound(edges=found[method], method=method, cost=cost)


def bounds_by_method(
    subscribers: Subscribers,
    lists: TopicLists,
    node_count: int,
    costs: CostArrays | None = None,
    progress: Progress | None = None,
) -> tuple[dict[str, int], float | None]:
    """The least edges by each argument that pays, and the least cost where that is known."""
    sizes = np.diff(subscribers.indptr)
    components = kernel.interest_components(subscribers, node_count)
    edges = np.maximum(np.bincount(components, minlength=node_count) - 1, 0)
    found = {"spanning": int(edges.sum())}
    if overlaps_pay(sizes):
        overlaps = most_shared(lists, subscribers, progress)
        found["overlap-duality"] = int(
            np.maximum(edges, _by_duality(subscribers, overlaps, components)).sum()
        )
    cost = None
    if dual_pays(sizes, node_count):
        arrays = lists.indptr, lists.topic_ids, len(sizes)
        found["dual"] = int(_rounded_up(np.array(least_cost(*arrays, progress=progress))))
        cost = None if costs is None else least_cost(*arrays, costs, progress)
    return found, cost


def _by_duality(subscribers: Subscribers, overlaps: Counts, components: Ids) -> Offsets:
    """The edges of each component, at its lowest node, by trees or covers."""
    node_count = len(components)
    by_topic, by_node = np.zeros(len(subscribers.indptr) - 1), np.zeros(node_count)
    kernel.add_shares(subscribers, overlaps, by_topic, by_node)
    shared = np.diff(subscribers.indptr) > 1
    at_topic = components[subscribers.node_ids[subscribers.indptr[:-1][shared]]]
    trees = np.bincount(at_topic, by_topic[shared], minlength=node_count)
    covers = np.bincount(components, _rounded_up(by_node), minlength=node_count)
    return _rounded_up(np.maximum(trees, covers / 2)).astype(np.int64)


def _rounded_up(sums: Floats) -> Floats:
    """The next whole number of each sum, or the one just below, should rounding have led over it."""
    return np.ceil(sums * (1 - _ROUNDING) - _ROUNDING)
