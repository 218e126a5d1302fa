"""Who gave which filters, while events on filters come in, and the classes that follow from them.

A filter that is new may split classes. When the last node gives a filter up, classes may join. In both cases
nodes move between classes, which are the topics of the overlay.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from meshwright.filters.classes import Classes, classes_of
from meshwright.filters.dialects import dialect_of
from meshwright.filters.parsing import check_faults, parse_filters
from meshwright.maintain.event_batches import Batch, Move, Refusal, Topics, TopicsOf
from meshwright.model.dense import dense
from meshwright.model.events import Event
from meshwright.model.filtered import (
    CLASS_COLUMNS,
    FILTERS,
    NODE_FILTER,
    class_attributes,
    dialect_of_topics,
    own_filters_of,
)
from meshwright.model.interests import Interests
from meshwright.model.names import NameSource, name_array
from meshwright.model.overlay import Overlay
from meshwright.model.pairs import collect, from_tuples
from meshwright.runtime.errors import CapacityError, InputError

_OTHER_NAMES = "it was begun with other names; give the same, or begin a new journal from the last overlay"


class SavedFilters(NamedTuple):
    """What a snapshot says about filters, in JSON's types."""

    dialect: str
    names: str | None  # a hash of the names that exist, which the snapshot does not hold
    filters: dict[str, list[str]]


@dataclass(frozen=True)
class FilterBook:
    """The filters of all nodes, and their classes; never changed in place.

    Attributes:
        dialect: of the filters.
        names: those that exist, if that is known.
        filters: by node.
        uses: by filter, how many nodes have it.
        classes: of the filters.
        by_filter: by filter as it was given, the names of its classes.
    """

    dialect: str
    names: pa.StringArray | None
    filters: Mapping[str, Topics]
    uses: Mapping[str, int]
    classes: Classes
    by_filter: Mapping[str, Topics]

    @classmethod
    def of(cls, dialect: str, names: pa.StringArray | None, filters: Mapping[str, Topics]) -> FilterBook:
        """The book of these filters."""
        uses = Counter(text for own in filters.values() for text in own)
        texts = sorted(uses)
        classes = classes_of(pa.array(texts, pa.string()), dialect, names)
        return cls(dialect, names, filters, uses, classes, _classes_by_filter(texts, classes))

    @classmethod
    def restored(cls, saved: SavedFilters, names: pa.StringArray | None) -> FilterBook:
        """The book of a snapshot; it needs the names that it was made with, and no others."""
        if saved.names is not None and names is None:
            raise InputError("only names that exist have classes in it; give them again (--names, or names=)")
        if saved.names != _digest(names):
            raise InputError(_OTHER_NAMES)
        return cls.of(saved.dialect, names, {node: frozenset(own) for node, own in saved.filters.items()})

    def saved(self) -> SavedFilters:
        """What `restored` needs beside the names."""
        own = {node: sorted(self.filters[node]) for node in sorted(self.filters)}
        return SavedFilters(self.dialect, _digest(self.names), own)

    def check(self, event: Event) -> None:
        """Refuse an event with a filter that the dialect forbids; one that is given up may be anything."""
        if event.event != "unsubscribe":
            rules = dialect_of(self.dialect)
            unknown = [text for text in event.topics if text not in self.uses]
            check_faults(parse_filters(pa.array(unknown, pa.string()), rules).faults, "filter", rules)

    def moved(self, moves: Sequence[Move]) -> FilterBook:
        """The book after nodes have changed their filters. Makes classes again if others are distinct."""
        filters, uses = dict(self.filters), Counter(self.uses)
        for node, before, after in moves:
            uses.subtract(before or ())
            uses.update(after or ())
            if after is None:
                del filters[node]
            else:
                filters[node] = after
        uses = +uses
        if uses.keys() == self.uses.keys():
            return replace(self, filters=filters, uses=uses)
        return FilterBook.of(self.dialect, self.names, filters)

    def classes_of(self, node: str) -> Topics | None:
        """The classes of a node; None for one that is not there."""
        if node not in self.filters:
            return None
        return frozenset[str]().union(*(self.by_filter[text] for text in self.filters[node]))

    def applied(self, overlay: Overlay) -> Overlay:
        """The overlay with what its tables say of filters and classes."""
        interests = overlay.interests
        own = [sorted(self.filters[node]) for node in interests.nodes.to_pylist()]
        nodes = pa.table({FILTERS: pa.array(own, pa.list_(pa.string()))})
        classes = class_attributes(self.classes).take(pc.index_in(interests.topics, self.classes.names))
        made = replace(
            interests,
            node_attributes=_beside(nodes, interests.node_attributes),
            topic_attributes=_beside(classes, interests.topic_attributes),
        )
        return replace(overlay, interests=made)


class FilteredStart(NamedTuple):
    """An overlay to maintain, and the book of its filters; None where its topics are plain."""

    overlay: Overlay
    book: FilterBook | None


def filtered_start(overlay: Overlay, names: NameSource | None) -> FilteredStart:
    """The overlay as it is maintained: with the classes of its filters as topics, if it has filters.

    If names that exist are given, the topics become their classes, whichever names the overlay was made with.
    """
    dialect = dialect_of_topics(overlay.interests)
    if dialect is None:
        if names is not None:
            raise InputError("the topics of this overlay are plain, without filters; leave the names out")
        return FilteredStart(overlay, None)
    known = None if names is None else name_array(names, "name")
    book = FilterBook.of(dialect, known, own_filters_of(overlay.interests))
    if names is None and not book.classes.names.equals(overlay.interests.topics):
        raise InputError(
            "the topics of this overlay are not the classes of its nodes' filters; if only names that exist "
            "have classes, give these names (--names, or names=), otherwise make the interests again"
        )
    return FilteredStart(replace(overlay, interests=_interests(overlay.interests, book)), book)


def _interests(old: Interests, book: FilterBook) -> Interests:
    """The interests of the same nodes in the classes of a book, without attributes that it knows."""
    made = old
    if not book.classes.names.equals(old.topics):
        made = Interests.from_filters(_pairs(book.filters), book.dialect, book.names, nodes=old.nodes)
    others = _without(made.topic_attributes, CLASS_COLUMNS)
    return replace(made, node_attributes=_without(old.node_attributes, [FILTERS]), topic_attributes=others)


def _without(table: pa.Table | None, columns: Sequence[str]) -> pa.Table | None:
    """The other columns of a table, if there are any."""
    kept = [] if table is None else [name for name in table.column_names if name not in columns]
    return table.select(kept) if table is not None and kept else None


def _beside(table: pa.Table, others: pa.Table | None) -> pa.Table:
    """Both tables as one."""
    if others is None:
        return table
    return pa.table([*table.columns, *others.columns], [*table.column_names, *others.column_names])


def filters_as_topics(interests: Interests) -> Interests:
    """The same nodes with their filters instead of the classes, as events name them."""
    given = from_tuples(_pairs(own_filters_of(interests)), NODE_FILTER)
    return Interests(*dense(collect(given, NODE_FILTER, interests.nodes, ())))


def _pairs(filters: Mapping[str, Topics]) -> Iterator[tuple[str, str]]:
    return ((node, text) for node, own in filters.items() for text in sorted(own))


class Planned(NamedTuple):
    """What events come to: the moves between topics, what is refused, and the book afterwards."""

    moves: list[Move]
    refused: list[Refusal]
    book: FilterBook | None = None


def plan_filters(
    book: FilterBook, events: Sequence[Event], check: Callable[[Event], None], lenient: bool, now: TopicsOf
) -> Planned:
    """The moves between classes that events on filters come to; `now` gives the present classes of a node.

    If filters would explode, all events are refused or, if `lenient`, those alone that make them explode.
    """
    batch = Batch(book.filters.get, check)
    refused = batch.add_all(events, lenient)
    moves = batch.moves()
    try:
        after = book.moved(moves)
    except CapacityError:
        if not lenient:
            raise
        kept, refused = _bearable(book, events, check)
        return plan_filters(book, kept, check, False, now)._replace(refused=refused)
    nodes = [move.node for move in moves]
    if after.classes is not book.classes:
        nodes = list(dict.fromkeys([*nodes, *sorted(after.filters)]))
    found = (Move(node, now(node), after.classes_of(node)) for node in nodes)
    return Planned([move for move in found if move.before != move.after], refused, after)


def _bearable(
    book: FilterBook, events: Iterable[Event], check: Callable[[Event], None]
) -> tuple[list[Event], list[Refusal]]:
    """The events that can be applied one after another, and those that can't. Makes classes for each."""
    kept: list[Event] = []
    refused = []
    for event in events:
        batch = Batch(book.filters.get, check)
        try:
            batch.add_all([*kept, event], lenient=False)
            book.moved(batch.moves())
        except (InputError, CapacityError) as error:
            refused.append(Refusal(event, str(error)))
        else:
            kept.append(event)
    return kept, refused


def _classes_by_filter(texts: Sequence[str], classes: Classes) -> dict[str, Topics]:
    """By filter as it was given, the names of its classes."""
    names = classes.names.to_pylist()
    members: list[set[str]] = [set() for _ in range(len(classes.filters))]
    for number, name in enumerate(names):
        for filter_id in classes.filter_ids[classes.indptr[number] : classes.indptr[number + 1]].tolist():
            members[filter_id].add(name)
    kept = [frozenset(own) for own in members]
    return {text: kept[at] for text, at in zip(texts, classes.number_of.tolist(), strict=True)}


def _digest(names: pa.StringArray | None) -> str | None:
    """A hash of names, each once, in any order."""
    if names is None:
        return None
    found = hashlib.sha256()
    for name in sorted(set(names.to_pylist())):
        data = name.encode()
        found.update(len(data).to_bytes(4, "little") + data)
    return found.hexdigest()
