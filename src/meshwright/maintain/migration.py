"""The way from one overlay to another: which links to open and close, in which order, a few at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from meshwright.construct.greedy import linked_components
from meshwright.kernels.core.subgraphs import links_of
from meshwright.kernels.repair.migrating import Log, NewLinks, OldLinks, close_with, open_where_cut
from meshwright.maintain.state import MaintainedOverlay, state_of
from meshwright.metrics.evaluation import unit_of
from meshwright.model.interests import first_difference
from meshwright.model.overlay import Overlay, costs_of, priced, shared_links
from meshwright.runtime.arrays import Floats, Ids, Ticks
from meshwright.runtime.checks import check_whole
from meshwright.runtime.columns import arrow_of, numpy_of
from meshwright.runtime.errors import InputError
from meshwright.runtime.progress import CANCEL, Progress, run_with_ticks
from meshwright.runtime.wording import type_of

STEPS_OF = 20


@dataclass(frozen=True, kw_only=True)
class Migration:
    """The steps from `today` to `target`.

    Guarantee: taken in order, no step cuts a topic that is connected. In a step, first open its links, in any
    order or all at once; then close its links, in any order. `cut_topics` are those that today's overlay
    leaves in pieces; the first links to open connect them.

    Attributes:
        today: the overlay at the beginning, with costs where they are known.
        target: the overlay at the end.
        changes: a row for each link, in order: `step`, `action` (`open` or `close`), `source`, `target`, and
            `cost` where links cost.
        steps: a row for each step, from 0 for the beginning: `step`, `opened`, `closed`, `saves` (cost, or
            links where they cost nothing); afterwards `links`, `average_degree`, `maximum_degree`,
            `cut_topics`; and where links cost `cost_opened`, `cost_closed` and `cost`.
        repriced: the links of both overlays that today's gives another cost; the target's counts.
        unit: what costs are counted in; None where that is not known.
    """

    today: Overlay
    target: Overlay
    changes: pa.Table
    steps: pa.Table
    repriced: int = 0
    unit: str | None = None

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.steps) - 1

    @property
    def opened(self) -> int:
        """The number of links to open."""
        return sum(self.steps["opened"].to_pylist())

    @property
    def closed(self) -> int:
        """The number of links to close."""
        return sum(self.steps["closed"].to_pylist())

    @property
    def most_links(self) -> int:
        """The most links at any moment, those included that a step opens before it closes others."""
        links, closed = (numpy_of(self.steps[name]) for name in ("links", "closed"))
        return int((links + closed).max())

    @property
    def has_costs(self) -> bool:
        """Whether the cost of every link is known."""
        return "cost" in self.changes.column_names


def migrate(
    today: Overlay, target: Overlay, steps_of: int = STEPS_OF, progress: Progress | None = None
) -> Migration:
    """Plan how to turn an overlay that is in use into another one of the same interests.

    Guarantee: as `Migration` says; `steps_of` is the most links that a step opens and closes. Deterministic.
    Links that no topic needs go first, those that cost most or belong to the busiest nodes before the others,
    in turns with links that connect what is cut. Then each link waits until the few links of the target that
    replace it are open, so the overlay hardly ever has more links than the larger of the two.

    The target must connect every topic; today's overlay need not. Where the target has costs for all pairs
    of nodes and today's overlay has none, they price its links as well.

    Cost: for each link to close, the lesser of the sides into which it divides each of its topics, a few
    times over. The first call on a machine compiles kernels, for up to a minute.

    `meshwright.Migration` has the steps as Arrow tables. The command `migrate` writes them as files, with a
    page.

    Example:
        >>> import meshwright as mw
        >>> pairs = [("b1", "news"), ("b2", "news"), ("b3", "news"), ("b2", "sport"), ("b3", "sport")]
        >>> interests = mw.Interests.from_pairs(pairs)
        >>> today = mw.Overlay.from_edges(interests, [("b1", "b2"), ("b1", "b3"), ("b2", "b3")])
        >>> way = mw.migrate(today, mw.build(interests, "gm"))
        >>> way.changes.to_pandas().action.tolist()
        ['close']
    """
    for given in (today, target):
        if not isinstance(given, Overlay):
            raise InputError(f"migrate got {type_of(given)}; give two Overlays")
    check_whole("steps_of", steps_of, 1, required=True)
    _check_same(today, target)
    _check_connected(target, progress)
    today, target, repriced = _priced_alike(today, target)
    exchange = _Exchange(_apart(today, target, falling=True), _apart(target, today, falling=False))
    planned = _plan(today, exchange, progress)
    steps = _steps(planned.changes, steps_of)
    return Migration(
        today=today,
        target=target,
        changes=_changes(today, exchange, steps),
        steps=_numbers(today, exchange, planned.cut, steps),
        repriced=repriced,
        unit=unit_of(target.facts) or unit_of(today.facts),
    )


def _check_same(today: Overlay, target: Overlay) -> None:
    """Refuse overlays of other interests; the attributes of nodes and topics may differ."""
    found = first_difference(today.interests, target.interests, ("today", "the target"))
    if found is not None:
        raise InputError(
            f"the overlays have different interests: {found}; import or build both from the same interests"
        )


def _check_connected(target: Overlay, progress: Progress | None) -> None:
    cut = np.flatnonzero(linked_components(target.interests, target.edges, progress).counts > 1)
    if len(cut):
        more = f" and {len(cut) - 1:,} more" if len(cut) > 1 else ""
        raise InputError(
            f"the target does not connect the topic {target.interests.topics[int(cut[0])].as_py()!r}{more}; "
            f"give a target that connects every topic, as build does"
        )


def _priced_alike(today: Overlay, target: Overlay) -> tuple[Overlay, Overlay, int]:
    """Both with costs or both without, and how many links of both today's overlay gave another cost."""
    if today.costs is None and target.costs is not None and (costs := costs_of(target)) is not None:
        return priced(today, costs), target, 0
    if today.costs is None or target.costs is None:
        return replace(today, costs=None), replace(target, costs=None), 0
    here, there = shared_links(today, target)
    prices = today.costs.copy()
    prices[here] = target.costs[there]
    return replace(today, costs=prices), target, int(np.count_nonzero(prices != today.costs))


class _Part(NamedTuple):
    """Links that only one of the overlays has, in the order to open or close them; costs are 0 if unknown."""

    edges: Ids
    costs: Floats


class _Exchange(NamedTuple):
    """What one overlay has and the other has not."""

    old: _Part
    new: _Part


def _apart(one: Overlay, other: Overlay, *, falling: bool) -> _Part:
    """The links that only `one` has, by cost; without costs, by the links of the busier end of each."""
    own = np.ones(len(one), np.bool_)
    own[shared_links(one, other)[0]] = False
    edges = one.edges[own]
    costs = np.zeros(len(edges)) if one.costs is None else one.costs[own]
    weights = one.degrees()[edges].max(axis=1, initial=0) if one.costs is None else costs
    order = np.argsort(-weights if falling else weights, kind="stable")
    return _Part(np.ascontiguousarray(edges[order]), costs[order])


class _Plan(NamedTuple):
    """The changes, as `Log` has them, and how many topics are cut before the first and after each."""

    changes: Ids
    cut: Ids


def _plan(today: Overlay, exchange: _Exchange, progress: Progress | None) -> _Plan:
    state, links = state_of(today), exchange.new.edges
    state.link(links)  # makes room in all rows
    state.unlink(links)
    nodes = today.interests.node_count
    new = NewLinks(links, links_of(links, nodes), np.zeros(len(links), np.bool_))
    old = OldLinks(exchange.old.edges, np.zeros(len(exchange.old.edges), np.bool_))
    log = Log(np.empty(len(old.edges) + len(new.edges), np.int32), np.zeros(1, np.int32))
    components = linked_components(today.interests, today.edges, progress)
    cut = np.zeros(len(new.edges) + 1, np.int32)
    cut[0] = np.count_nonzero(components.counts > 1)
    _close_unneeded(state, old, new, log, progress)
    closed = int(log.used[0])
    open_where_cut(components, new, state.live, log, cut[1:])
    begun = int(log.used[0])
    _close_all(state, old, new, log, progress)
    left = np.flatnonzero(~new.opened).astype(np.int32)
    first = _in_turns(log.changes[closed:begun], log.changes[:closed])
    changes = np.concatenate([first, log.changes[begun : log.used[0]], left])
    return _Plan(changes, _cut_after(changes, cut, begun - closed))


def _in_turns(one: Ids, other: Ids) -> Ids:
    """Changes of two lists in turns, each list in its order, so that the overlay grows little."""
    turns = np.concatenate([2 * np.arange(len(one)), 2 * np.arange(len(other)) + 1])
    return np.concatenate([one, other])[np.argsort(turns)]


def _cut_after(changes: Ids, cut: Ids, reconnecting: int) -> Ids:
    """How many topics are cut before the first change and after each; the first links to open reconnect."""
    opened = np.concatenate([[0], np.cumsum(changes >= 0)])
    found: Ids = cut[np.minimum(opened, reconnecting)]
    return found


def _close_unneeded(
    state: MaintainedOverlay, old: OldLinks, new: NewLinks, log: Log, progress: Progress | None
) -> None:
    def work(ticks: Ticks) -> None:
        close_with(state.live, state.room, old, new, 0, log, ticks)

    run_with_ticks(work, "finding links that no topic needs", len(old.edges), progress)


def _close_all(
    state: MaintainedOverlay, old: OldLinks, new: NewLinks, log: Log, progress: Progress | None
) -> None:
    """Close every old link: first those that need no new one, then those that need one, two, four and so on.

    What an exchange has made superfluous goes before the next exchanges.
    """

    def work(ticks: Ticks) -> None:
        most = 1
        while not (old.closed.all() or ticks[CANCEL]):
            close_with(state.live, state.room, old, new, 0, log, ticks)
            close_with(state.live, state.room, old, new, most, log, ticks)
            most *= 2

    run_with_ticks(work, "ordering the changes", len(old.edges), progress)


def _steps(changes: Ids, most: int) -> list[Ids]:
    """Cut the changes into steps of at most `most`, if possible not between a link and those it waits for."""
    steps, waiting = [list[int]()], list[int]()
    for change in changes.tolist():
        waiting.append(change)
        if change < 0 or len(waiting) == most:
            if len(steps[-1]) + len(waiting) > most:
                steps.append([])
            steps[-1] += waiting
            waiting = []
    if len(steps[-1]) + len(waiting) > most:
        steps.append([])
    steps[-1] += waiting
    return [np.array(step, np.int32) for step in steps if step]


def _changes(today: Overlay, exchange: _Exchange, steps: list[Ids]) -> pa.Table:
    """All changes in order; in a step, what is opened comes first."""
    ordered = [np.concatenate([step[step >= 0], step[step < 0]]) for step in steps]
    changes = np.concatenate(ordered or [np.empty(0, np.int32)])
    links, nodes = _links(exchange, changes), today.interests.nodes
    columns = {
        "step": arrow_of(np.repeat(np.arange(1, len(steps) + 1), [len(step) for step in steps])),
        "action": pa.array(np.where(changes >= 0, "open", "close").tolist(), pa.string()),
        "source": nodes.take(arrow_of(links.edges[:, 0])),
        "target": nodes.take(arrow_of(links.edges[:, 1])),
        "cost": arrow_of(links.costs),
    }
    return pa.table(columns if today.costs is not None else _without_cost(columns))


def _links(exchange: _Exchange, changes: Ids) -> _Part:
    """The links that changes open (from 0 on) and close (below 0)."""
    old, new = exchange
    places = np.where(changes >= 0, changes, len(new.edges) - 1 - changes)
    edges = np.concatenate([new.edges, old.edges])[places]
    return _Part(edges, np.concatenate([new.costs, old.costs])[places])


def _without_cost(columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
    return {name: values for name, values in columns.items() if not name.startswith("cost")}


def _numbers(today: Overlay, exchange: _Exchange, cut: Ids, steps: list[Ids]) -> pa.Table:
    """What each step does, and how the overlay is afterwards; the first row is the overlay as it is."""
    degrees = today.degrees()
    rows = [(0, 0, 0.0, 0.0, int(degrees.max(initial=0)))]
    for step in steps:
        links, new = _links(exchange, step), step >= 0
        np.add.at(degrees, links.edges, np.where(new, 1, -1)[:, None])
        costs = float(links.costs[new].sum()), float(links.costs[~new].sum())
        rows.append((int(new.sum()), int((~new).sum()), *costs, int(degrees.max())))
    opened, closed, cost_opened, cost_closed, most = map(np.array, zip(*rows, strict=True))
    count = len(today) + np.cumsum(opened - closed)
    cost = 0.0 if today.costs is None else today.costs.sum()
    columns = {
        "step": arrow_of(np.arange(len(rows))),
        "opened": arrow_of(opened),
        "closed": arrow_of(closed),
        "saves": arrow_of(closed - opened if today.costs is None else cost_closed - cost_opened),
        "links": arrow_of(count),
        "average_degree": arrow_of(2 * count / max(1, len(degrees))),
        "maximum_degree": arrow_of(most),
        "cut_topics": arrow_of(cut[np.cumsum(opened + closed)].astype(np.int64)),
        "cost_opened": arrow_of(cost_opened),
        "cost_closed": arrow_of(cost_closed),
        "cost": arrow_of(cost + np.cumsum(cost_opened - cost_closed)),
    }
    return pa.table(columns if today.costs is not None else _without_cost(columns))
