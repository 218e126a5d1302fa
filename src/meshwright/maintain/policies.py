"""The three policies by which an overlay is repaired, and the backups of nodes, which one of them needs.

`shadow` (ShadowDynAlg) links a few nodes, the neighbours and backups of those that changed. `naive`
(NaiveDynAlg) may link any nodes. `rebuild` builds the overlay again each time, to compare the others with.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import NamedTuple

import numpy as np

from meshwright.construct.greedy import GreedyProblem, check_fits
from meshwright.construct.weighted.by_price import estimated_bytes, run_by_price
from meshwright.kernels.greedy.prices import RATIO
from meshwright.kernels.repair import backups as kernel
from meshwright.kernels.repair.mutable_overlay import Live, uproot
from meshwright.kernels.repair.repairing import OF_OVERLAY, OF_SHADOWS, plan_repair, plan_repair_by_cost
from meshwright.kernels.repair.similar import similar_nodes
from meshwright.maintain.event_batches import Move, Topics
from meshwright.maintain.low_oda_target import fresh_problem
from meshwright.maintain.options import MaintainOptions, RepairSettings
from meshwright.maintain.prices import Prices
from meshwright.maintain.state import Change, MaintainedOverlay, longer, row
from meshwright.model.costs.forms import taken
from meshwright.runtime.arrays import Ids, Offsets
from meshwright.runtime.machine import cores
from meshwright.runtime.memory import check_memory, needed
from meshwright.runtime.packing import first_of, pack
from meshwright.runtime.progress import Progress, stage


class Mending(NamedTuple):
    """The links added and removed, pairs of places, and the number of nodes that were considered for them."""

    added: Ids
    removed: Ids
    shadows: int


class Uprooted(NamedTuple):
    """The result of `kernels.repair.mutable_overlay.uproot`."""

    seeds: Offsets
    shadows: Ids
    removed: Ids


def uproot_losers(state: MaintainedOverlay, change: Change) -> Uprooted:
    """Remove the links that no topic uses after the losses."""
    if not change.has_losses:
        return Uprooted(np.empty(0, np.int64), np.empty(0, np.int32), np.empty((0, 2), np.int32))
    lost = change.movers, change.leaving, change.lost_indptr, change.lost
    return Uprooted(*uproot(state.live, state.room, *lost))


def connect(
    state: MaintainedOverlay,
    change: Change,
    uprooted: Uprooted,
    shadows: Ids,
    everybody: bool,
    settings: RepairSettings,
    most: int | None = None,
) -> Mending:
    """Add the links that Low-ODA's rule chooses among the shadows, or among all nodes if `everybody`.

    With `most`, a node of so many links gets another one only if no other link would do. Where links cost,
    the rule is by contribution per cost.
    """
    options = settings.options
    task = (
        state.live,
        state.room,
        uprooted.seeds,
        change.gained,
        shadows,
        everybody,
        _DEGREES[options.degree_of] if most is None else most,
        float(options.rho) if most is None else _ANY,
        int(settings.rng.integers(1, 2**62)) if options.ties == "shuffled" else 0,
    )
    if settings.prices is None:
        edges, looked_at = plan_repair(*task)
    else:
        edges, looked_at = plan_repair_by_cost(*task, *settings.prices.arrays())
    state.link(edges)
    return Mending(edges, uprooted.removed, looked_at)


_DEGREES = {"overlay": OF_OVERLAY, "shadows": OF_SHADOWS}
_ANY = 1e9
"""So many times the contribution of the best other link that any other link is taken first."""

_METHODS = {"primal-dual": kernel.PRIMAL_DUAL, "greedy": kernel.GREEDY, "greedy-cover": kernel.COVER}
_AT_ONCE = 256


def build_backups(state: MaintainedOverlay, nodes: Ids, settings: RepairSettings) -> None:
    """Build the backups of some nodes, anew where they have some.

    Guarantee: a node's backups share a topic with it; they are `coverage` disjoint covers of its topics, as
    far as others have them; and they know the node as one of their primaries.

    Cost: O(candidates) for each backup by primal-dual; greedy looks at all who share a topic.

    Source: [3], Alg. 11 (greedy) and 12 (primal-dual). A node is first taken out of the primaries of its old
    backups. In Alg. 12 the node and its present backups are no candidates; where all candidates have weight
    0, the first of them is taken; a topic that nobody else has is dropped.
    """
    options = settings.options
    method, coverage = _METHODS[options.backups], int(options.coverage)
    candidates = int(options.candidates)

    def work(start: int) -> int:
        how = nodes, start, method, coverage, candidates, options.weigh_primaries, settings.rng
        return int(kernel.build_backups(state.live, state.room, *how))

    def with_longer_rows(live: Live, spare: int) -> Live:
        return live._replace(backups=longer(live.backups, spare), primaries=longer(live.primaries, spare))

    state.until_done(work, len(nodes), with_longer_rows)


def build_all(state: MaintainedOverlay, settings: RepairSettings, progress: Progress | None) -> None:
    """Step I ([3], Alg. 6): build the backups of all nodes, in portions so that Ctrl-C is noticed."""
    nodes = np.array(sorted(state.nodes.of.values()), np.int32)
    with stage(progress, "choosing backups", len(nodes)) as advance:
        for start in range(0, len(nodes), _AT_ONCE):
            build_backups(state, nodes[start : start + _AT_ONCE], settings)
            advance(start)


def update(state: MaintainedOverlay, change: Change, settings: RepairSettings) -> None:
    """Step III ([3], Alg. 8): forget the nodes that left, and rebuild the backups that no longer cover.

    For a node that left, these are the backups of its primaries. For a node that lost a topic, they are its
    own and those of its primaries that have the topic.
    """
    if change.has_losses:
        lost = change.movers, change.leaving, change.lost_indptr, change.lost
        affected = kernel.find_affected(state.live, state.room, *lost, change.gainers)
        kernel.forget(state.live, change.movers[change.leaving])
        build_backups(state, affected, settings)


def repair_naively(state: MaintainedOverlay, change: Change, settings: RepairSettings) -> Mending:
    """Reconnect the topics that a change has disconnected, by links among all of their subscribers.

    Source: [3], Alg. 3 and 4. A link between others contributes nothing, so leaving these out changes nothing
    but the time, which is that of Low-ODA on the topics that fell apart.
    """
    uprooted = uproot_losers(state, change)
    return connect(state, change, uprooted, np.empty(0, np.int32), True, settings)


def repair_by_shadows(state: MaintainedOverlay, change: Change, settings: RepairSettings) -> Mending:
    """Reconnect the topics that a change has disconnected, by links among the shadow set.

    Guarantee: every component of every topic has a node in the shadow set, so the overlay is topic-connected
    again. For one that leaves, the shadow set is its neighbours and its backups; for one that joins, itself
    and its backups, which are built first; for one that subscribes, the same; for one that unsubscribes, its
    neighbours in the topics that it gives up, and its backups. A batch has the union of these.

    Cost: O(|S|² |topics|) at most, and the searches; nothing that grows with the overlay but, for those who
    gain topics, the number of subscribers of a topic.

    Source: [3], Alg. 7, 9 and 10, for a leave and a join; the paper leaves the other events as extensions.
    """
    uprooted = uproot_losers(state, change)
    if settings.options.reoptimise:
        similar = _similar_to(state, change, settings)
        shadows = np.concatenate([uprooted.shadows, change.gainers, *similar])
        return connect(state, change, uprooted, shadows, False, settings, busy_degree(state, BUSY))
    choose = _kept_backups if settings.options.keep_backups else _backups_for
    shadows = np.concatenate([uprooted.shadows, change.gainers, choose(state, change, settings)])
    return connect(state, change, uprooted, shadows, False, settings)


BUSY = 1.75
"""A node with so many times the average degree gets a link in a repair only if no other link would do, and
none in an exchange."""

PARTNERS = 64
"""How many nodes that share most topics with a node a repair may link. Measured with re-optimisation at 2,000
nodes: with 160, degrees are the same after 1,500 events."""


def busy_degree(state: MaintainedOverlay, times: float) -> int:
    """So many times the average degree, rounded up."""
    return int(times * 2 * state.link_count / max(1, len(state.nodes))) + 1


def partners_of(
    state: MaintainedOverlay, node: int, topics: Ids, settings: RepairSettings, most: int, busy: int
) -> Ids:
    """Up to `most` nodes that share most of these topics with a node, and have fewer than `busy` links."""
    return similar_nodes(state.live, state.room, node, topics, settings.rng.random(), most, busy)


def _similar_to(state: MaintainedOverlay, change: Change, settings: RepairSettings) -> list[Ids]:
    """For each mover, the nodes that share most of the topics that it lost, or gained."""
    gained = first_of(change.gained).astype(np.int32)
    parts = (change.movers, change.lost_indptr, change.lost), (change.gainers, change.gained_indptr, gained)
    busy = busy_degree(state, BUSY)
    return [
        partners_of(state, node, topics[indptr[k] : indptr[k + 1]], settings, PARTNERS, busy)
        for nodes, indptr, topics in parts
        for k, node in enumerate(nodes.tolist())
        if indptr[k + 1] > indptr[k]
    ]


def _kept_backups(state: MaintainedOverlay, change: Change, settings: RepairSettings) -> Ids:
    """The backups of nodes that gained topics, built anew; those of losers are among the uprooted."""
    if not len(change.gainers):
        return change.gainers
    build_backups(state, change.gainers, settings)
    return np.concatenate([row(state.live.backups, at) for at in change.gainers.tolist()])


def backups_now(state: MaintainedOverlay, node: int, settings: RepairSettings) -> Ids:
    """The backups of a node, kept or else chosen as a repair would choose them; nothing is changed."""
    if settings.options.keep_backups:
        return row(state.live.backups, node)
    topics = row(state.live.topics, node)
    nodes, indptr = np.array([node], np.int32), np.array([0, len(topics)], np.int64)
    how = _how_to_choose(settings._replace(rng=deepcopy(settings.rng)))
    chosen: Ids = kernel.choose_backups(state.live, state.room, nodes, indptr, topics, *how)
    return chosen


def _how_to_choose(settings: RepairSettings) -> tuple[int, int, int, np.random.Generator]:
    options = settings.options
    return _METHODS[options.backups], int(options.coverage), int(options.candidates), settings.rng


def _backups_for(state: MaintainedOverlay, change: Change, settings: RepairSettings) -> Ids:
    """Backups for the topics that nodes lost and for those that they gained, chosen now and not kept."""
    how = _how_to_choose(settings)
    indptr, topics = change.gained_indptr, first_of(change.gained).astype(np.int32)
    lost = kernel.choose_backups(state.live, state.room, change.movers, change.lost_indptr, change.lost, *how)
    gained = kernel.choose_backups(state.live, state.room, change.gainers, indptr, topics, *how)
    return np.concatenate([lost, gained])


def rebuild(state: MaintainedOverlay, change: Change, settings: RepairSettings) -> Mending:
    """Replace the links by those of a fresh overlay for the present interests; links in both stay.

    Low-ODA builds it or, where links cost, GrMAW (`gr-maw`), which considers costs but no degrees.
    """
    gone = uproot_losers(state, change).removed
    fresh = fresh_problem(state, settings.options.rho, settings.seed)
    new = fresh.solve() if settings.prices is None else _cheap_links(fresh.problem, settings.prices)
    old = state.edges()
    old_keys, new_keys = _edge_keys(old), _edge_keys(new)
    removed, added = old[~np.isin(old_keys, new_keys)], new[~np.isin(new_keys, old_keys)]
    state.link(added)
    state.unlink(removed)
    return Mending(added, np.concatenate([gone, removed]), len(state.nodes) - int(change.leaving.sum()))


def _cheap_links(problem: GreedyProblem, prices: Prices) -> Ids:
    """The links that GrMAW takes, pairs of places, the smaller first."""
    costs, cost_ids = prices.arrays()
    check_fits(problem, "use the policy shadow", estimate=estimated_bytes(problem, RATIO))
    by_place = taken(costs, cost_ids)
    return np.sort(run_by_price(problem, by_place, RATIO, np.zeros(2, np.int64), cores()).edges, axis=1)


def _edge_keys(edges: Ids) -> Offsets:
    return pack(edges[:, 0], edges[:, 1])


_MOST_SHADOWS = 16_384
"""The most nodes that one repair of a batch may link, since its memory grows with their square: 134 MB.

A single node that changes may exceed this, if memory allows."""

_WORTH_A_LOOK = 1 << 28
"""Below this many bytes free memory is not checked, which takes as long as a small repair."""


def portions(state: MaintainedOverlay, moves: Sequence[Move], options: MaintainOptions) -> list[list[Move]]:
    """Split the moves of a batch into portions, one repair each; refused where one does not fit into memory.

    There is nearly always one portion. Otherwise nodes that leave go first, so that none of them gets new
    links. The split depends on the overlay and the moves, never on the machine.
    """
    if options.policy != "shadow":
        newcomers = sum(move.before is None for move in moves)
        _check(len(state.nodes) + newcomers, "use the policy shadow")
        return [list(moves)]
    sizes = [_shadows(state, move, options) for move in moves]
    _check(max(sizes, default=0), "lower the degrees by reoptimise() before")
    if sum(sizes) <= _MOST_SHADOWS:
        return [list(moves)]
    found: list[list[Move]] = []
    room = 0
    for size, move in sorted(zip(sizes, moves, strict=True), key=lambda pair: pair[1].after is not None):
        if size > room:
            found.append([])
            room = _MOST_SHADOWS
        found[-1].append(move)
        room -= size
    return found


def _shadows(state: MaintainedOverlay, move: Move, options: MaintainOptions) -> int:
    """The most nodes that a move brings into a repair: its links and backups, old and new."""
    new = _most_backups(state, move.after, options) + 1
    at = state.nodes.of.get(move.node)
    if at is None:
        return new
    if options.keep_backups:
        old = int(state.live.backups.counts[at])
    else:
        old = _most_backups(state, move.before, options)
    return int(state.live.links.counts[at]) + old + new * (move.after is not None)


def _most_backups(state: MaintainedOverlay, topics: Topics | None, options: MaintainOptions) -> int:
    most = PARTNERS if options.reoptimise else options.coverage * len(topics or ())
    return min(most, len(state.nodes))


def _check(nodes: int, instead: str) -> None:
    estimate = needed("repairing", pairs=nodes * nodes // 2)
    if estimate > _WORTH_A_LOOK:
        check_memory(f"a repair among {nodes:,} nodes", estimate, instead)
