"""A maintainer of filters: events name filters, and the overlay has their classes as topics.

A filter that nobody had may split classes, and one that nobody has any more may join them. Both become events
on classes, which an ordinary maintainer takes: after every call, the overlay is topic-connected for every
name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from meshwright.filters.classes import MOST_CLASSES, Classes, classes_of
from meshwright.filters.filter import Filter
from meshwright.maintain.event_batches import Batch, KnownIds, Move, Refusal, Topics
from meshwright.maintain.journal.recording import Recording
from meshwright.maintain.maintainer import Maintainer
from meshwright.maintain.repairs import Repair, Step
from meshwright.model.events import Event
from meshwright.model.filtered import FILTERS, class_attributes
from meshwright.model.interests import Interests
from meshwright.model.names import NameSource, name_array
from meshwright.model.overlay import Overlay
from meshwright.runtime.errors import InputError
from meshwright.runtime.progress import Progress


def dialect_of_topics(interests: Interests) -> str | None:
    """The dialect of the filters that the topics are classes of; None where they are plain topics."""
    nodes, topics = interests.node_attributes, interests.topic_attributes
    if nodes is None or topics is None or FILTERS not in nodes.column_names:
        return None
    found = topics["dialect"].unique().to_pylist() if "dialect" in topics.column_names else []
    return found[0] if len(found) == 1 else None


class FilterMaintainer:
    """An overlay of filters' classes that stays topic-connected while nodes and filters come and go.

    Guarantee: after every call, the overlay is topic-connected for every name that may be published. A call
    that is refused changes nothing.

    Cost: an event on filters that some node has already costs what a `Maintainer` takes for its classes. With
    a filter that is new, or gone, the classes of all filters are made again, once for each call.

    Attributes:
        live: the maintainer of the classes.
        revision: how many events were applied or refused.

    Args:
        overlay: of interests that were made from filters (`Interests.from_filters`, `ingest --filters`).
        names: the names that exist, if the interests were made with them.
        most: how many classes may be added where filters overlap.
        progress: shown while the maintainer is made.
        options: those of `Maintainer`.

    Example:
        >>> import meshwright as mw
        >>> interests = mw.Interests.from_filters([("b1", "plant/#"), ("b2", "plant/7/temp")])
        >>> live = mw.FilterMaintainer(mw.build(interests, "gm"))
        >>> repair = live.join("b3", ["plant/+/temp"])
        >>> sorted(live.classes_of("b3"))
        ['plant/+/temp', 'plant/7/temp']
    """

    def __init__(
        self,
        overlay: Overlay,
        *,
        names: NameSource | None = None,
        most: int = MOST_CLASSES,
        progress: Progress | None = None,
        **options: Any,
    ) -> None:
        dialect = dialect_of_topics(overlay.interests)
        if dialect is None:
            raise InputError(
                "the topics of this overlay are no classes of filters; make its interests by "
                "Interests.from_filters or ingest --filters, or use Maintainer"
            )
        self._dialect, self._most = dialect, most
        self._names = None if names is None else name_array(names, "name")
        self._filters = _own_filters(overlay.interests)
        self._classes = self._made(self._filters)
        if self._classes.names.to_pylist() != overlay.interests.topics.to_pylist():
            raise InputError(
                "the topics of this overlay are not the classes of its nodes' filters; if only names that "
                "exist have classes, give them (names=), otherwise make the interests again"
            )
        self._by_filter = _classes_by_filter(_sorted(self._filters), self._classes)
        self.live = Maintainer(overlay, progress=progress, **options)
        self._ids = KnownIds(self.live.options.remember)
        self._recording: Recording | None = None
        self.revision = 0

    def record_in(self, recording: Recording) -> None:
        """Record the start, and every step from now on, as events on filters."""
        recording.follow(Step(), self.live.start)
        self._recording = recording

    @property
    def dialect(self) -> str:
        """The dialect of the filters."""
        return self._dialect

    @property
    def overlay(self) -> Overlay:
        """A copy of the present overlay; its interests are those that `Interests.from_filters` would make."""
        overlay = self.live.overlay
        interests = overlay.interests
        own = [sorted(self._filters[node], key=str.encode) for node in interests.nodes.to_pylist()]
        filters = pa.array(own, pa.list_(pa.string()))
        nodes = _with_column(interests.node_attributes, FILTERS, filters)
        kept = _rows_of(class_attributes(self._classes), self._classes.names, interests.topics)
        made = replace(interests, node_attributes=nodes, topic_attributes=kept)
        return replace(overlay, interests=made)

    def filters_of(self, node: str) -> Topics:
        """The filters of a node, as it gave them."""
        if node not in self._filters:
            raise InputError(f"{node!r} is not in the overlay; a node has to join first")
        return self._filters[node]

    def classes_of(self, node: str) -> Topics:
        """The classes of a node: the topics of the overlay that its filters match."""
        return self.live.topics_of(node)

    def join(self, node: str, filters: Iterable[str] = ()) -> Repair:
        """Add a node with its filters; a node that is already present is refused."""
        return self.apply([Event(0, "join", node, filters)])  # type: ignore[arg-type]

    def leave(self, node: str) -> Repair:
        """Remove a node; one that is not present is refused."""
        return self.apply([Event(0, "leave", node)])

    def subscribe(self, node: str, filters: Iterable[str]) -> Repair:
        """Add filters to a node; those that it already has change nothing."""
        return self.apply([Event(0, "subscribe", node, filters)])  # type: ignore[arg-type]

    def unsubscribe(self, node: str, filters: Iterable[str]) -> Repair:
        """Remove filters from a node; those that it did not give change nothing."""
        return self.apply([Event(0, "unsubscribe", node, filters)])  # type: ignore[arg-type]

    def apply(self, events: Iterable[Event], *, lenient: bool = False) -> Repair:
        """Apply events on filters in the order given, with one repair for all of them.

        What can't be applied, or has a filter that the dialect forbids, is refused as by `Maintainer.apply`.
        """
        given = list(events)
        new = self._ids.new(given)
        batch = Batch(self._filters.get)
        refused = self._add(batch, new, lenient)
        moves = batch.moves()
        after = _moved(self._filters, moves)
        classes, by_filter = self._classes, self._by_filter
        if _distinct(after) != _distinct(self._filters):
            classes = self._made(after)
            by_filter = _classes_by_filter(_sorted(after), classes)
        repair = self.live.apply(self._class_events(after, by_filter, _time(new)))
        self._filters, self._classes, self._by_filter = after, classes, by_filter
        self._ids.add(new)
        self.revision += len(new)
        repair = replace(
            repair,
            revision=self.revision,
            events=len(new) - len(refused),
            repeated=len(given) - len(new),
            refused=tuple(refused),
        )
        if new and self._recording is not None:
            self._recording.follow(Step(tuple(new), lenient), repair)
        return repair

    def _add(self, batch: Batch, events: Iterable[Event], lenient: bool) -> list[Refusal]:
        refused = []
        for event in events:
            try:
                for text in event.topics if event.event != "unsubscribe" else ():
                    Filter(text, self._dialect)
                batch.add(event)
            except InputError as error:
                if not lenient:
                    raise
                refused.append(Refusal(event, str(error)))
        return refused

    def _made(self, filters: Mapping[str, Topics]) -> Classes:
        texts = pa.array(_sorted(filters), pa.string())
        return classes_of(texts, self._dialect, self._names, most=self._most)

    def _class_events(
        self, after: Mapping[str, Topics], by_filter: Mapping[str, Topics], at: int
    ) -> list[Event]:
        """The events that bring every node from the classes that it has to those that it should have."""
        found = [Event(at, "leave", node) for node in self._filters if node not in after]
        for node, filters in after.items():
            wanted = frozenset[str]().union(*(by_filter[text] for text in filters))
            if node not in self._filters:
                found.append(Event(at, "join", node, tuple(sorted(wanted))))
                continue
            now = self.live.topics_of(node)
            if more := wanted - now:
                found.append(Event(at, "subscribe", node, tuple(sorted(more))))
            if less := now - wanted:
                found.append(Event(at, "unsubscribe", node, tuple(sorted(less))))
        return found


def _own_filters(interests: Interests) -> dict[str, Topics]:
    assert interests.node_attributes is not None
    own = interests.node_attributes[FILTERS].to_pylist()
    nodes = interests.nodes.to_pylist()
    return {node: frozenset(texts or ()) for node, texts in zip(nodes, own, strict=True)}


def _distinct(filters: Mapping[str, Topics]) -> Topics:
    return frozenset[str]().union(*filters.values())


def _sorted(filters: Mapping[str, Topics]) -> list[str]:
    """All filters, each once."""
    return sorted(_distinct(filters), key=str.encode)


def _moved(filters: Mapping[str, Topics], moves: Iterable[Move]) -> dict[str, Topics]:
    after = dict(filters)
    for move in moves:
        if move.after is None:
            del after[move.node]
        else:
            after[move.node] = move.after
    return after


def _classes_by_filter(texts: Iterable[str], classes: Classes) -> dict[str, Topics]:
    """By filter as it was given, the names of its classes."""
    names = classes.names.to_pylist()
    members: list[set[str]] = [set() for _ in range(len(classes.filters))]
    for number, name in enumerate(names):
        for filter_id in classes.filter_ids[classes.indptr[number] : classes.indptr[number + 1]].tolist():
            members[filter_id].add(name)
    kept = [frozenset(own) for own in members]
    return {text: kept[at] for text, at in zip(texts, classes.number_of.tolist(), strict=True)}


def _time(events: list[Event]) -> int:
    return events[-1].at if events else 0


def _with_column(table: pa.Table | None, name: str, column: pa.Array) -> pa.Table:
    if table is None:
        return pa.table({name: column})
    at = table.column_names.index(name) if name in table.column_names else None
    return table.append_column(name, column) if at is None else table.set_column(at, name, column)


def _rows_of(table: pa.Table, names: pa.StringArray, wanted: pa.StringArray) -> pa.Table:
    """The rows of a table by name, for some of the names."""
    return table.take(pc.index_in(wanted, names))
