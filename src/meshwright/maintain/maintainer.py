"""The maintainer: an overlay and events in, repairs out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from time import perf_counter
from typing import Any, Self

import numpy as np

from meshwright.kernels.core.rows import Rows
from meshwright.maintain import background, policies, snapshots
from meshwright.maintain import low_oda_target as low_oda
from meshwright.maintain.event_batches import Batch, KnownIds, Move, Refusal, Topics
from meshwright.maintain.filters import FilterBook, Planned, filtered_start, plan_filters
from meshwright.maintain.options import ALL, MaintainOptions, RepairSettings
from meshwright.maintain.policies import Mending, portions
from meshwright.maintain.prices import Prices, start_with
from meshwright.maintain.reoptimise import Reoptimisation, link_places
from meshwright.maintain.repairs import Link, Relink, Repair, Step, merged, named
from meshwright.maintain.robust import Kept, Robustness, with_caps
from meshwright.maintain.state import Change, Known, MaintainedOverlay, overlay_of, row, state_of
from meshwright.model.costs.costs import Costs
from meshwright.model.events import Event
from meshwright.model.names import NameSource, name_array
from meshwright.model.overlay import Overlay
from meshwright.runtime.arrays import Ids
from meshwright.runtime.checks import make_options
from meshwright.runtime.errors import InputError, MeshwrightError, OptionError
from meshwright.runtime.json_values import plain
from meshwright.runtime.progress import Progress
from meshwright.runtime.seeds import generator
from meshwright.runtime.wording import count, type_of

_POLICIES: dict[str, Callable[[MaintainedOverlay, Change, RepairSettings], Mending]] = {
    "shadow": policies.repair_by_shadows,
    "naive": policies.repair_naively,
    "rebuild": policies.rebuild,
}
_STAGE = "maintain"


class Maintainer:
    """An overlay that stays topic-connected while nodes and interests come and go.

    Guarantee: the overlay is topic-connected after every call. It depends only on the overlay at the start,
    the options, the seed and the calls. A call that is refused changes nothing. Only one thread at a time may
    use a maintainer.

    Cost: with the policy `shadow`, the cost of an event depends on a topic's subscribers, not on the size of
    the overlay. The attributes of nodes and topics are kept, by name. Facts, extra tables and topics without
    subscribers are dropped.

    Costs: if links cost, a kept link keeps its cost, and repairs choose links by contribution per cost. A
    node without costs can't join. With equal costs, `shadow` and `naive` choose the same links as without.

    Filters: if the topics are classes of filters (`Interests.from_filters`, `ingest --filters`), events name
    filters, and the overlay is topic-connected for every name that may be published. A filter that nobody
    had, or has any more, costs the classes of all filters, once for each call.

    Args:
        overlay: where to start; it need not be topic-connected, see `disconnected`.
        policy: what a repair may link: a `shadow` set of a few nodes, or any nodes (`naive`); or the overlay
            is built again each time (`rebuild`), by Low-ODA or, if links cost, by `gr-maw`.
        backups: how the backups of a node are chosen, `primal-dual` or `greedy`; costs don't matter.
        coverage: how many times the backups of a node cover its topics when they are chosen.
        costs: what new links cost, by the names of nodes; nodes that join later need costs too. An overlay
            that was built with costs brings them itself, and `costs` replace them for new links. If its links
            have costs and nobody says what new ones cost, it is refused. With "drop", the overlay goes on
            without costs.
        names: for filters, all names that exist, if the interests were made with them. They need not be the
            same as then; the start connects the classes of new names.
        seed: for the random choices among backups.
        progress: shown while the backups of all nodes are chosen.
        others: candidates, keep_backups, rho, degree_of, ties, disconnected, weigh_primaries, reoptimise,
            reoptimise_a_minute and remember; see `MaintainOptions`.

    Example:
        >>> import meshwright as mw
        >>> pairs = [("b1", "news"), ("b2", "news"), ("b2", "sport"), ("b3", "sport")]
        >>> interests = mw.Interests.from_pairs(pairs)
        >>> overlay = mw.build(interests, "gm")
        >>> live = mw.Maintainer(overlay)
        >>> live.join("b4", ["news"]).removed
        ()
        >>> live.leave("b4").removed in ((("b1", "b4"),), (("b2", "b4"),))
        True

        Where links cost, repairs choose by cost:

        >>> sites = {"b1": "eu", "b2": "eu", "b3": "us", "b4": "us"}
        >>> costs = mw.Costs.clusters(sites, inner=1, outer=10)
        >>> live = mw.Maintainer(overlay, costs=costs)
        >>> repair = live.join("b4", ["sport"])
        >>> repair.added, repair.added_costs, repair.cost
        ((('b3', 'b4'),), (1.0,), 12.0)

        Where topics are classes of filters, events name filters:

        >>> interests = mw.Interests.from_filters([("b1", "plant/#"), ("b2", "plant/7/temp")])
        >>> live = mw.Maintainer(mw.build(interests, "gm"))
        >>> repair = live.join("b3", ["plant/+/temp"])
        >>> sorted(live.topics_of("b3"))
        ['plant/+/temp', 'plant/7/temp']
    """

    _reference: low_oda.Reference | None
    _book: FilterBook | None
    _way_out = "restore a Maintainer from a snapshot, or make a new one"

    def __init__(
        self,
        overlay: Overlay,
        policy: str = "shadow",
        backups: str = "primal-dual",
        coverage: int = 3,
        *,
        costs: Costs | str | None = None,
        names: NameSource | None = None,
        seed: int = 0,
        progress: Progress | None = None,
        **others: Any,
    ) -> None:
        if not isinstance(overlay, Overlay):
            raise InputError(f"Maintainer got {type_of(overlay)}; give an Overlay")
        overlay, book = filtered_start(overlay, names)
        given = {"policy": policy, "backups": backups, "coverage": coverage, **others}
        options = with_caps(make_options(MaintainOptions, given), overlay.interests)
        overlay, known = start_with(overlay, costs)
        prices = None if known is None else Prices.of(overlay, known)
        self._set(RepairSettings(options, int(seed), generator(seed, _STAGE), prices), state_of(overlay))
        self._book = book
        self._reference = low_oda.reference_of(overlay, self._state, self._settings)
        interests = overlay.interests
        self._nodes = Known(interests.nodes, interests.node_attributes)
        self._topics = Known(interests.topics, interests.topic_attributes)
        begin = perf_counter()
        missing = low_oda.missing_links(overlay, self._settings, progress)
        self._state.link(missing)
        kept = self._protect(missing)
        connected = perf_counter()
        if self._keeps_backups:
            policies.build_all(self._state, self._settings, progress)
        start = Repair(
            revision=0,
            added=named(kept.added, self._state.nodes.names),
            removed=named(kept.removed, self._state.nodes.names),
            shadows=len(self._state.nodes) if len(missing) else 0,
            repair_seconds=connected - begin,
            backup_seconds=perf_counter() - connected,
        )
        self.start = self._described(start)

    def _set(self, settings: RepairSettings, state: MaintainedOverlay) -> None:
        self._settings, self._state = settings, state
        self._robustness = Robustness(settings.options, settings.prices, settings.seed)
        self._seat(np.array(list(state.nodes.of.values()), np.int32))
        self._ids = KnownIds(settings.options.remember)
        self._reference = None
        self._book = None
        self._budget = background.Budget()
        self._whole = True
        self.revision = 0

    def _seat(self, places: Ids) -> None:
        """Note whose costs count at these places."""
        if self._settings.prices is not None:
            room = len(self._state.live.links.counts)
            self._settings.prices.seat(self._state.nodes.names, places, room)

    @property
    def _keeps_backups(self) -> bool:
        return self.options.policy == "shadow" and self.options.keep_backups

    @property
    def options(self) -> MaintainOptions:
        """The options, including the defaults."""
        return self._settings.options

    @property
    def seed(self) -> int:
        """The seed of the random choices."""
        return self._settings.seed

    @property
    def overlay(self) -> Overlay:
        """A copy of the present overlay. Linear in the overlay, plus sorting the names."""
        self._check_whole()
        facts = {"maintained": asdict(self.options), "seed": self._settings.seed, "revision": self.revision}
        found = overlay_of(self._state, self._nodes, self._topics, facts)
        found = found if self._book is None else self._book.applied(found)
        return found if self._settings.prices is None else self._settings.prices.applied(found)

    @property
    def cost(self) -> float | None:
        """The cost of all links, but for rounding; None where links have no costs."""
        return None if self._settings.prices is None else self._settings.prices.total

    @property
    def link_count(self) -> int:
        """The number of links."""
        return self._state.link_count

    @property
    def average_degree(self) -> float:
        """The average number of links of a node; 0 without nodes."""
        return 2 * self._state.link_count / max(1, len(self._state.nodes))

    @property
    def maximum_degree(self) -> int:
        """The most links that a node has."""
        return self._state.maximum_degree

    @property
    def unprotected(self) -> tuple[str, ...]:
        """With resilience 2, the topics of three or more that a failure of one node would cut, in order."""
        return tuple(sorted(map(self._state.topics.name, self._robustness.unprotected)))

    @property
    def over_max_links(self) -> tuple[str, ...]:
        """The nodes that have more links than max_links, in order."""
        return tuple(sorted(map(self._state.nodes.name, self._robustness.over)))

    @property
    def dialect(self) -> str | None:
        """The dialect of the filters that events name; None where topics are plain."""
        return None if self._book is None else self._book.dialect

    @property
    def known_ids(self) -> Iterable[str]:
        """The ids of applied events that are remembered, the oldest first."""
        return self._ids

    @property
    def nodes(self) -> Collection[str]:
        """The names of the nodes, in no order; they change with the maintainer."""
        return self._state.nodes.of.keys()

    @property
    def topics(self) -> Collection[str]:
        """The names of the topics that have subscribers, in no order; they change with the maintainer."""
        return self._state.topics.of.keys()

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self._state.nodes)

    def __contains__(self, node: object) -> bool:
        """Whether a node is present."""
        return node in self._state.nodes.of

    def __repr__(self) -> str:
        counts = f"{count(len(self), 'node')}, {count(self._state.link_count, 'edge')}"
        return f"Maintainer({counts}, {self.options.policy}, revision {self.revision:,})"

    def topics_of(self, node: str) -> Topics:
        """The topics of a node: where it has filters, their classes."""
        self._state.find(node)
        return self._state.topics_of(node) or frozenset()

    def subscribers_of(self, topic: str) -> frozenset[str]:
        """The nodes that have a topic."""
        at = self._state.topics.of.get(topic)
        if at is None:
            raise InputError(f"there is no topic {topic!r} among the {len(self.topics):,} topics")
        return frozenset(map(self._state.nodes.name, row(self._state.live.subscribers, at).tolist()))

    def filters_of(self, node: str) -> Topics:
        """The filters of a node, as it gave them; none where topics are plain."""
        self._state.find(node)
        return frozenset() if self._book is None else self._book.filters[node]

    def neighbours_of(self, node: str) -> frozenset[str]:
        """The nodes that a node has links to."""
        return self._names(self._state.live.links, node)

    def backups_of(self, node: str) -> frozenset[str]:
        """The nodes that replace a node when it leaves; none unless the policy `shadow` keeps backups."""
        return self._names(self._state.live.backups, node)

    def replacements_of(self, node: str) -> frozenset[str]:
        """The backups by which the policy `shadow` would replace a node if it left now, kept or not."""
        found = policies.backups_now(self._state, self._state.find(node), self._settings)
        return frozenset(map(self._state.nodes.name, found.tolist()))

    def primaries_of(self, node: str) -> frozenset[str]:
        """The nodes that a node is a backup of."""
        return self._names(self._state.live.primaries, node)

    def max_links_of(self, node: str) -> int | None:
        """How many links a node may have; None where there is no limit."""
        self._state.find(node)
        cap = self.options.max_links
        return cap.get(node) if isinstance(cap, Mapping) else None if cap is None else int(cap)

    def _names(self, rows: Rows, node: str) -> frozenset[str]:
        return frozenset(map(self._state.nodes.name, row(rows, self._state.find(node)).tolist()))

    def join(self, node: str, topics: Iterable[str] = ()) -> Repair:
        """Add a node with its topics; a node that is already present is refused."""
        return self.apply([Event(0, "join", node, topics)])  # type: ignore[arg-type]

    def leave(self, node: str) -> Repair:
        """Remove a node that leaves or has failed; one that is not present is refused."""
        return self.apply([Event(0, "leave", node)])

    def subscribe(self, node: str, topics: Iterable[str]) -> Repair:
        """Add topics to a node; those that it already has change nothing."""
        return self.apply([Event(0, "subscribe", node, topics)])  # type: ignore[arg-type]

    def unsubscribe(self, node: str, topics: Iterable[str]) -> Repair:
        """Remove topics from a node; those that it does not have change nothing.

        Its links that no topic uses any more are closed.
        """
        return self.apply([Event(0, "unsubscribe", node, topics)])  # type: ignore[arg-type]

    def apply(self, events: Iterable[Event], *, lenient: bool = False) -> Repair:
        """Apply events in the order given, with one repair for all of them; a huge batch takes several.

        If an event can't be applied (an absent node leaves, a present one joins, or one without costs joins
        where links cost), all are refused and nothing changes; or, if `lenient`, the event is left out and
        listed in `Repair.refused`. An event with a known id is passed over, even if the earlier one was left
        out. Only the final topics of each node count: a node that leaves and joins again in one batch keeps
        its links.
        """
        self._check_whole()
        given = list(events)
        new = self._ids.new(given)
        if not new:  # no step: nothing changes, the random state included
            return self._described(Repair(self.revision), repeated=len(given))
        planned = self._plan(new, lenient)
        refused, parts = planned.refused, portions(self._state, planned.moves, self.options)

        def repair() -> Repair:
            self._book = planned.book
            self.revision += len(new)
            self._ids.add(new)
            repairs = [self._repair(moves) for moves in parts]
            repairs += self._reoptimised(tuple(new), [link for own in repairs for link in own.added])
            done = merged(repairs)
            counts = {"events": len(new) - len(refused), "repeated": len(given) - len(new)}
            return self._described(done, refused=tuple(refused), **counts)

        return self._take(Step(tuple(new), lenient), repair)

    def _plan(self, events: Sequence[Event], lenient: bool) -> Planned:
        """What new events come to; changes nothing."""
        if self._book is not None:
            return plan_filters(self._book, events, self._check_event, lenient, self._state.topics_of)
        batch = Batch(self._state.topics_of, self._check_event)
        refused = batch.add_all(events, lenient)
        return Planned(batch.moves(), refused)

    def _take(self, step: Step, work: Callable[[], Repair]) -> Repair:
        """Do the work of a step that was checked; every change of the overlay goes through here."""
        del step
        self._whole = False
        repair = work()
        self._whole = True
        return repair

    def _repair(self, moves: Sequence[Move]) -> Repair:
        begin = perf_counter()
        change = self._state.move(moves)
        self._seat(change.movers)
        mending = _POLICIES[self.options.policy](self._state, change, self._settings)
        if self._robustness.is_asked_for:
            kept = self._robustness.follow(self._state, change, mending.added)
            gone = np.concatenate([mending.removed, kept.removed])
            mending = mending._replace(added=kept.added, removed=gone)
        mended = perf_counter()
        if self._keeps_backups:
            policies.update(self._state, change, self._settings)
        end = perf_counter()
        names = self._state.nodes.names
        added, removed = named(mending.added, names), named(mending.removed, names)
        self._state.release(change)
        return Repair(
            revision=self.revision,
            added=added,
            removed=removed,
            shadows=mending.shadows,
            repair_seconds=mended - begin,
            backup_seconds=end - mended,
        )

    def _protect(self, added: Ids) -> Kept:
        """Add spares to all topics, if any are asked for, after links that were `added`."""
        if not self._robustness.is_asked_for:
            return Kept(added, np.empty((0, 2), np.int32))
        return self._robustness.keep(self._state, self._state.all_topics(), added)

    def _reoptimised(self, events: tuple[Event, ...], linked: Sequence[Link]) -> list[Repair]:
        """What re-optimisation in the background does after events."""
        if not self.options.reoptimise or self.options.policy != "shadow":
            return []
        begin = perf_counter()
        self._budget, exchanges = background.tend(self._state, self._settings, self._budget, events, linked)
        done = [Repair(self.revision, added=a, removed=r, reoptimised=(*a, *r)) for a, r in exchanges]
        return [*done, Repair(self.revision, reoptimise_seconds=perf_counter() - begin)]

    def sort_out(self, events: Iterable[Event]) -> tuple[list[Event], list[Refusal]]:
        """Split events into those that `apply` would take, and those that it would refuse, with reasons.

        Events with known ids, which it would pass over, are in neither.
        """
        new = self._ids.new(events)
        refused = self._plan(new, lenient=True).refused
        bad = {id(refusal.event) for refusal in refused}
        return [event for event in new if id(event) not in bad], refused

    def _check_event(self, event: Event) -> None:
        """Refuse a node without costs that joins where links cost, and what is no filter where it should."""
        if self._settings.prices is not None and event.event == "join":
            why_not = self._settings.prices.why_unknown(event.node)
            if why_not is not None:
                raise InputError(f"{event.node!r} can't join: {why_not}")
        if self._book is not None:
            self._book.check(event)

    def _check_whole(self) -> None:
        if not self._whole:
            told = "an earlier call was interrupted in the middle of a repair"
            raise MeshwrightError(f"{told}; {self._way_out}")

    def relink(
        self, add: Iterable[Link] = (), remove: Iterable[Link] = (), *, most_removed: int | None = None
    ) -> Repair:
        """Add links, then remove those of `remove` that no topic needs, one by one: make before break.

        A link that some topic needs stays, with resilience 2 also one that it needs to survive the failure of
        a node; `Repair.removed` lists those that are gone. The overlay is topic-connected at every moment.
        Links to add must connect two nodes that share a topic, have no link, and may have more; links to
        remove must exist.

        Cost: for each link to remove, the smaller of the parts that a topic could fall into. With resilience
        2, all subscribers and links of the topics that the links are in.
        """
        self._check_whole()
        begin = perf_counter()
        links = Relink(tuple(add), tuple(remove), most_removed)
        added = link_places(self._state, links.add, linked=False)
        doubtful = link_places(self._state, links.remove, linked=True)
        self._robustness.check_room(self._state, added)
        most = len(doubtful) if most_removed is None else most_removed

        def repair() -> Repair:
            self._state.link(added)
            gone = self._robustness.relinked(self._state, added, doubtful, most)
            self.revision += 1
            names = self._state.nodes.names
            done = Repair(
                revision=self.revision,
                added=named(added, names),
                removed=named(doubtful[gone], names),
                repair_seconds=perf_counter() - begin,
            )
            return self._described(done)

        return self._take(Step(relink=links), repair)

    def _described(self, repair: Repair, **known: Any) -> Repair:
        """Add to a repair what its links cost, and the state of the overlay afterwards. Once for each."""
        state, prices = self._state, self._settings.prices
        if prices is not None:
            known |= prices.follow(repair.added, repair.removed)._asdict()
        known |= {"nodes": len(state.nodes), "links": state.link_count}
        if self._robustness.is_asked_for:
            known |= {"unprotected": self.unprotected, "over_max_links": self.over_max_links}
        return replace(repair, maximum_degree=state.maximum_degree, **known)

    def drift(self, *, measure: bool = False, progress: Progress | None = None) -> low_oda.Drift:
        """How much higher the degrees are than those of an overlay that Low-ODA would build now.

        Estimated in constant time from the last run of Low-ODA. It runs, which takes as long as building the
        overlay, if `measure` is set, and the first time unless Low-ODA built the overlay at the start.
        """
        self._check_whole()
        if measure or self._reference is None:
            self._reference = low_oda.measured(self._state, self._settings, self.revision, progress)
        return low_oda.drift_from(self._reference, self._state)

    def reoptimise(self, most_changes: int = 20, target: Overlay | None = None) -> Reoptimisation:
        """Move to another overlay in steps of at most `most_changes` links; every topic stays connected.

        The other overlay is `target`, of any algorithm, or else the one that Low-ODA builds from the present
        interests. Links of a target between nodes that are not present, or share no topic, are left out.
        Nothing changes before the first `step` of the result; events may come between steps.

        With resilience 2, every topic that survives the failure of any one node does so after each step. With
        max_links, no step gives a node more links than it may have; links of the target that would, until the
        end, are left out. Low-ODA knows neither, so both need a target.
        """
        self._check_whole()
        if target is None and self._robustness.is_asked_for:
            raise OptionError(
                "reoptimise needs a target if the maintainer has resilience or max_links; build one from its "
                "overlay's interests with the same options",
                option="target",
            )
        if target is None:
            fresh = low_oda.fresh_problem(self._state, self.options.rho, self._settings.seed)
            names = list(self._state.nodes.names)
            return Reoptimisation(self, self._state, lambda: named(fresh.solve(), names), most_changes)
        if not isinstance(target, Overlay):
            raise InputError(f"reoptimise got {type_of(target)} as target; give an Overlay")
        links = named(target.edges, target.interests.nodes.to_pylist())
        return Reoptimisation(self, self._state, lambda: links, most_changes)

    def snapshot(self) -> bytes:
        """The complete state, including options and random state. Linear in the overlay.

        The same calls give the same bytes, and `restore` makes a maintainer that continues exactly like this.
        Of costs, and of names that exist, only a checksum is in it: `restore` has to be given the same again.
        """
        self._check_whole()
        about = snapshots.About(
            options=plain(asdict(self.options), "the options"),
            seed=self._settings.seed,
            random=self._settings.rng.bit_generator.state,
            revision=self.revision,
            ids=list(self._ids),
            costs=None if self._settings.prices is None else self._settings.prices.saved(),
            filters=None if self._book is None else self._book.saved(),
            budget=self._budget if self.options.reoptimise else None,
        )
        return snapshots.to_bytes(snapshots.Saved(self._state, self._nodes, self._topics, about))

    @classmethod
    def restore(cls, snapshot: bytes, costs: Costs | None = None, names: NameSource | None = None) -> Self:
        """Make a maintainer from a snapshot, with the same costs and names if any; others are refused."""
        saved = snapshots.from_bytes(snapshot)
        about = saved.about
        rng = generator(about.seed, _STAGE)
        rng.bit_generator.state = about.random
        live = cls.__new__(cls)
        # Before there was a limit, all were candidates; before there was a choice, backups were kept.
        options = make_options(MaintainOptions, {"candidates": ALL, "keep_backups": True, **about.options})
        live._set(RepairSettings(options, about.seed, rng, _restored_prices(about, costs)), saved.state)
        live._book = _restored_book(about, names)
        live._nodes, live._topics = saved.nodes, saved.topics
        live._budget = about.budget or background.Budget()
        live._ids = KnownIds(live.options.remember, about.ids)
        live.revision = about.revision
        live._robustness.look(saved.state, saved.state.all_topics())
        live.start = live._described(Repair(revision=live.revision))
        return live


def _restored_book(about: snapshots.About, names: NameSource | None) -> FilterBook | None:
    if about.filters is not None:
        return FilterBook.restored(about.filters, None if names is None else name_array(names, "name"))
    if names is not None:
        raise InputError("its topics are plain, without filters; leave the names out (--names, or names=)")
    return None


def _restored_prices(about: snapshots.About, costs: Costs | None) -> Prices | None:
    if about.costs is not None:
        return Prices.restored(about.costs, costs)
    if costs is not None:
        raise InputError("it was begun without costs; leave the costs out (--no-costs, or costs='drop')")
    return None
