"""DcMAW: the greedy by cost on parts of nodes near each other, then between their representatives."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from meshwright.construct.greedy import GreedyProblem, check_fits
from meshwright.construct.options import DcMawOptions
from meshwright.construct.parts.conquer import TOO_LARGE, Greedy, PartsPlan, build_in_parts, facts_of
from meshwright.construct.parts.interest_queries import InProcess, Source
from meshwright.construct.parts.partitioning import k_means
from meshwright.construct.weighted.by_price import estimated_bytes, run_by_price
from meshwright.kernels.core.cost_arrays import CostArrays
from meshwright.kernels.greedy.prices import RATIO
from meshwright.model.costs.costs import Costs
from meshwright.model.costs.forms import taken
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Floats, Ids, Ticks
from meshwright.runtime.errors import OptionError
from meshwright.runtime.progress import Progress
from meshwright.runtime.seeds import generator

_MOST_COLUMNS = 512
_PART_SIZE = 100


def divide(costs: Costs, options: DcMawOptions, seed: int) -> Ids:
    """By node, its part: from 0 on, none empty."""
    if not costs.node_count:
        return np.empty(0, np.int32)
    found = _DIVISIONS[options.divide_by](costs, options, seed)
    return np.unique(found, return_inverse=True)[1].astype(np.int32)


def _by_sites(costs: Costs, options: DcMawOptions, seed: int) -> Ids:
    """Each site or cluster is a part."""
    site_of = costs.site_of
    if site_of is None:
        raise OptionError(
            "nodes with coordinates have no sites to be divided by; "
            "set divide_by (--set divide_by=…) to k-means or landmarks"
        )
    if costs.node_count > 1 and len(np.unique(site_of)) == costs.node_count:
        raise OptionError(
            "every node is alone on its site, so sites can't divide the nodes; "
            "set divide_by (--set divide_by=…) to k-means or landmarks"
        )
    return site_of


def _by_k_means(costs: Costs, options: DcMawOptions, seed: int) -> Ids:
    """Clusters of nodes with like rows of the cost matrix.

    Rows of more than 512 nodes are compared in 512 columns drawn by the seed. Nodes of one site have one row,
    so they stay together; where there are no more rows than parts wanted, each row is a part.

    Cost: O(rows * columns * parts) a round, at most 100 rounds.

    Source: [2], IX-G, "classic k-means clustering based on edge weights". The first centres are drawn one by
    one with a probability that grows with the square of the distance to those before (k-means++): with
    centres drawn blindly, two may fall into one data centre and none into another.
    """
    nodes = costs.node_count
    partitions = options.partitions or -(-nodes // (options.part_size or _PART_SIZE))
    rows, row_of = _distinct_rows(costs)
    if len(rows) <= partitions:
        return row_of
    random = generator(seed, "k-means on costs", partitions)
    columns = np.sort(random.choice(nodes, min(nodes, _MOST_COLUMNS), replace=False)).astype(np.int32)
    weights = np.bincount(row_of, minlength=len(rows)).astype(np.float64)
    table = _table(costs.arrays(), rows, columns)
    found, _ = k_means(table, weights, _spread_centres(table, weights, partitions, random), _squares)
    return found[row_of]


def _distinct_rows(costs: Costs) -> tuple[Ids, Ids]:
    """A node of each site, and by node the place of its site; all nodes, where there are no sites."""
    if costs.site_of is None:
        every = np.arange(costs.node_count, dtype=np.int32)
        return every, every
    _, first, row_of = np.unique(costs.site_of, return_index=True, return_inverse=True)
    return first.astype(np.int32), row_of.astype(np.int32)


def _table(costs: CostArrays, rows: Ids, columns: Ids) -> Floats:
    """Costs by row and column; 0 from a node to itself."""
    from meshwright.kernels.core.costs import fill_costs

    sources, targets = np.repeat(rows, len(columns)), np.tile(columns, len(rows))
    out = np.empty(len(sources))
    fill_costs(costs, sources, targets, out)
    out[sources == targets] = 0.0
    return out.reshape(len(rows), len(columns))


def _spread_centres(table: Floats, weights: Floats, count: int, random: np.random.Generator) -> Floats:
    """The first centres of k-means++, each another row while there are any."""
    chosen = [int(random.choice(len(table), p=weights / weights.sum()))]
    least = _squares(table, table[chosen])[:, 0]
    while len(chosen) < count:
        chances = weights * least
        chances[chosen] = 0.0
        if not chances.sum() > 0:
            break
        chosen.append(int(random.choice(len(table), p=chances / chances.sum())))
        least = np.minimum(least, _squares(table, table[chosen[-1:]])[:, 0])
    return table[chosen]


def _squares(table: Floats, centres: Floats) -> Floats:
    """Squared distances by row and centre."""
    found: Floats = (table**2).sum(axis=1)[:, None] - 2 * (table @ centres.T) + (centres**2).sum(axis=1)
    return found.clip(min=0.0)


def _by_landmarks(costs: Costs, options: DcMawOptions, seed: int) -> Ids:
    """Bins of nodes that see the landmarks in the same order and on the same levels of cost.

    Nodes of bins smaller than `DcMawOptions.least_bin` go to the one of the other bins whose mean costs to
    the landmarks are nearest to theirs; where all bins are smaller, there is one part.

    Cost: O(nodes * landmarks), so it serves where k-means would be too much.

    Source: [2], VIII, which names the binning scheme of Ratnasamy et al., Topologically-Aware Overlay
    Construction and Server Selection, INFOCOM 2002. There landmarks are well-known machines and the levels
    end at 100 and 200 ms. Ours are nodes, the first drawn by the seed and each next the farthest from those
    before, and levels have equally many costs.
    """
    seen = _seen_landmarks(costs, options.landmarks, seed)
    edges = np.quantile(seen, np.arange(1, options.cost_levels) / options.cost_levels)
    view = np.concatenate([np.argsort(seen, axis=1, kind="stable"), np.searchsorted(edges, seen)], axis=1)
    bins = np.unique(view, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32)
    return _without_small(bins, seen, options.least_bin)


def _seen_landmarks(costs: Costs, count: int, seed: int) -> Floats:
    """By node and landmark, the cost between them."""
    nodes = costs.node_count
    every = np.arange(nodes, dtype=np.int32)
    landmark = int(generator(seed, "landmarks").integers(nodes))
    seen = [_table(costs.arrays(), every, every[landmark : landmark + 1])[:, 0]]
    while len(seen) < min(count, nodes):
        landmark = int(np.min(seen, axis=0).argmax())
        seen.append(_table(costs.arrays(), every, every[landmark : landmark + 1])[:, 0])
    return np.stack(seen, axis=1)


def _without_small(bins: Ids, seen: Floats, least: int) -> Ids:
    sizes = np.bincount(bins)
    large = np.flatnonzero(sizes >= least)
    if not len(large):
        return np.zeros_like(bins)
    centres = np.stack([seen[bins == each].mean(axis=0) for each in large])
    homeless = sizes[bins] < least
    result = bins.copy()
    result[homeless] = large[_squares(seen[homeless], centres).argmin(axis=1)]
    return result


_DIVISIONS: Mapping[str, Callable[[Costs, DcMawOptions, int], Ids]] = {
    "k-means": _by_k_means,
    "landmarks": _by_landmarks,
    "sites": _by_sites,
}


def weighted_divide_and_conquer(
    interests: Interests, costs: Costs, options: DcMawOptions, seed: int, progress: Progress | None
) -> Built:
    """Divide and Conquer for links that cost (DcMAW).

    Guarantee: topic-connected. With one part it is `gr-maw`, edge for edge. The same seed gives the same
    overlay on any number of cores.

    Cost: that of `gr-maw` on each part and on the representatives of all, and that of dividing
    (`construct/weighted/dc_maw.py`). Parts run in threads; each core needs the memory of one.

    Source: [2], Alg. 6, as IX-G runs it: k-means by costs, GrMAW in each part, representative sets, and GrMAW
    between them. What the paper leaves open: representatives are star sets ([1], Alg. 3) of the topics that
    other parts have too; edges between parts go between representatives alone, and a part counts as one
    component of each of its topics there. The number of parts is |V|/100 as in IX-G, unless given. Parts are
    combined in a tree where they have more than `DcMawOptions.most_stars` representatives.
    """
    costs = costs.of(interests)
    planned = plan(InProcess(interests), costs, options, seed)
    whole, levels = build_in_parts(interests, planned, greedy(costs, options), options, seed, progress)
    return Built(edges=whole.edges, facts=facts_of(whole.facts, levels, interests.node_count))


def plan(source: Source, costs: Costs, options: DcMawOptions, seed: int) -> PartsPlan:
    """Divide the nodes by `costs`, which speak of them in the order of their ids ([2], Alg. 6, line 1)."""
    part_of = divide(costs, options, seed)
    partitions = int(part_of.max(initial=0)) + 1
    return PartsPlan(part_of=part_of, partitions=partitions, shared=source.shared(part_of))


def greedy(costs: Costs, options: DcMawOptions) -> Greedy:
    """The greedy by cost per contribution ([2], Alg. 6, lines 3 and 5), with the memory that options allow.

    `costs` speak of all nodes in the order of their ids.
    """
    return Greedy(partial(_by_cost, costs=costs, memory_limit=options.memory_limit))


def _by_cost(
    problem: GreedyProblem, nodes: Ids, ticks: Ticks, threads: int, *, costs: Costs, memory_limit: int | None
) -> tuple[Ids, int]:
    check_fits(problem, TOO_LARGE, memory_limit, threads, estimated_bytes(problem, RATIO))
    result = run_by_price(problem, taken(costs.arrays(), nodes), RATIO, ticks, threads)
    return result.edges, result.pairs_examined
