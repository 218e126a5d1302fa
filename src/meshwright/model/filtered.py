"""Interests of filters: the classes of names that filters tell apart become topics."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.filters.automata import Automaton
from meshwright.filters.class_rows import KINDS, NAME
from meshwright.filters.classes import MOST_CLASSES, Classes, classes_of
from meshwright.filters.dialects import Dialect, dialect_of
from meshwright.filters.filter import rules_of
from meshwright.filters.parsing import parse_filters, parse_names
from meshwright.model.dense import Dense, as_scipy, sealed
from meshwright.model.names import NameSource, name_array
from meshwright.model.pairs import Columns, Pairs, collect, from_tuples
from meshwright.runtime.arrays import Ids, Offsets
from meshwright.runtime.checks import check_whole
from meshwright.runtime.columns import arrow_of, numpy_of
from meshwright.runtime.errors import InputError
from meshwright.runtime.memory import check_memory, needed
from meshwright.runtime.progress import Progress

if TYPE_CHECKING:
    from meshwright.model.interests import Interests

NODE_FILTER = Columns("node", "filter")
FILTERS = "filters"
"""The attribute of nodes that lists their own filters."""
DIALECT = "dialect"
"""The attribute of topics that says of which dialect the filters are."""
CLASS_COLUMNS = (DIALECT, "kind", "example")
"""The attributes of topics that are classes."""


def dense_of_filters(
    pairs: Iterable[tuple[str, str]],
    dialect: str,
    names: NameSource | None,
    publishes: Iterable[tuple[str, str]],
    nodes: NameSource,
    most: int | None,
    progress: Progress | None,
) -> Dense:
    """The interests of (node, filter) pairs; see `Interests.from_filters`."""
    given = collect(from_tuples(chain(pairs, publishes), NODE_FILTER), NODE_FILTER, nodes, (), progress)
    catalogue = None if names is None else name_array(names, "name")
    check_whole("most", most, 0)
    limit = MOST_CLASSES if most is None else most
    found = classes_of(given.second_names, dialect, catalogue, most=limit, progress=progress)
    return dense_of_classes(given, found)


def dense_of_classes(given: Pairs, classes: Classes) -> Dense:
    """The interests of nodes in classes: a node wants each class that one of its filters matches."""
    indptr, ids = _classes_of_nodes(given, classes)
    return Dense(
        sealed(indptr),
        sealed(ids),
        given.first_names,
        classes.names,
        pa.table({FILTERS: own_filters(given)}),
        class_attributes(classes),
    )


def dialect_of_topics(interests: Interests) -> str | None:
    """The dialect of the filters that the topics are classes of; None where they are plain topics."""
    nodes, topics = interests.node_attributes, interests.topic_attributes
    if nodes is None or topics is None:
        return None
    if FILTERS not in nodes.column_names or DIALECT not in topics.column_names:
        return None
    found: list[str] = topics[DIALECT].unique().to_pylist()
    if len(found) != 1:
        raise InputError(
            f"the topics are classes of filters of {len(found)} dialects, but must be of one; make the "
            f"interests again by Interests.from_filters or ingest --filters"
        )
    return found[0]


def own_filters_of(interests: Interests) -> dict[str, frozenset[str]]:
    """By node the filters that it gave."""
    assert interests.node_attributes is not None
    own = interests.node_attributes[FILTERS].to_pylist()
    return {
        node: frozenset(texts or ()) for node, texts in zip(interests.nodes.to_pylist(), own, strict=True)
    }


def topics_of_names(interests: Interests, names: pa.StringArray) -> Ids:
    """The class of each name among the topics, or -1 where no filter matches it; a class may also be named.

    A name that is a class of its own has no other. The others are in the class whose example the same filters
    match. Cost: linear in the names and in the examples of classes with wildcards.
    """
    found: Ids = numpy_of(pc.index_in(names, interests.topics).fill_null(-1)).astype(np.int32)
    others = np.flatnonzero(found < 0)
    dialect = dialect_of_topics(interests) if interests.topic_count else None
    if dialect is None or not len(others):
        return found
    matched = _matcher(interests, dialect_of(dialect))
    assert interests.topic_attributes is not None
    wild = np.flatnonzero(numpy_of(pc.not_equal(interests.topic_attributes["kind"], KINDS[NAME])))
    examples = interests.topic_attributes["example"].take(arrow_of(wild)).combine_chunks()
    by_filters = dict(zip(matched(examples), wild.tolist(), strict=True))
    by_filters[None] = by_filters[frozenset()] = -1
    found[others] = [by_filters.get(one, -1) for one in matched(names.take(arrow_of(others)))]
    return found


def _matcher(
    interests: Interests, dialect: Dialect
) -> Callable[[pa.StringArray], list[frozenset[int] | None]]:
    """Finds the filters with wildcards that match each of some names; None for what is no name."""
    assert interests.node_attributes is not None
    given = pc.unique(pc.list_flatten(interests.node_attributes[FILTERS]))
    patterns = parse_filters(given, dialect).patterns
    wild = np.flatnonzero(~patterns.plain()).tolist()
    automaton = Automaton((patterns.pattern(number) for number in wild), rules_of(dialect))

    def matched(names: pa.StringArray) -> list[frozenset[int] | None]:
        words, faults = parse_names(names, dialect)
        none = {fault.row for fault in faults if fault.text or not dialect.no_words}
        return [
            None if row in none else automaton.match(tuple(one) if one != [""] else ())
            for row, one in enumerate(words.to_pylist())
        ]

    return matched


def class_attributes(classes: Classes) -> pa.Table:
    """What `topics/` says of classes."""
    dialect = pa.array([classes.dialect.name]).take(arrow_of(np.zeros(len(classes), np.int32)))
    columns = (dialect, classes.kinds, classes.examples)
    return pa.table(dict(zip(CLASS_COLUMNS, columns, strict=True)))


def own_filters(given: Pairs) -> pa.ListArray:
    """For each node the filters that it gave, sorted."""
    keys = np.unique(given.first_ids.astype(np.int64) << 32 | given.second_ids)
    bounds = np.searchsorted(keys, np.arange(len(given.first_names) + 1, dtype=np.int64) << 32)
    texts = given.second_names.take(arrow_of(keys & 0xFFFFFFFF))
    return pa.ListArray.from_arrays(arrow_of(bounds.astype(np.int32)), texts)


def _classes_of_nodes(given: Pairs, classes: Classes) -> tuple[Offsets, Ids]:
    """By node the sorted classes of its filters: a product of sparse matrices."""
    numbers = classes.number_of[given.second_ids]
    used = numbers >= 0
    node_count, filter_count = len(given.first_names), len(classes.filters)
    by_class = as_scipy(
        np.ones(len(classes.filter_ids), np.int32), classes.indptr, classes.filter_ids, filter_count
    )
    sizes = np.bincount(classes.filter_ids, minlength=filter_count)
    interests = int(sizes[numbers[used]].sum())
    check_memory(
        f"the interests of {node_count:,} nodes in {len(classes):,} classes, up to {interests:,} of them,",
        needed("reading", nodes=node_count, topics=len(classes), interests=interests),
        "give the names that exist (names=, --names), or filters that cover fewer others",
    )
    keys = np.unique(given.first_ids[used].astype(np.int64) * max(filter_count, 1) + numbers[used])
    bounds = np.searchsorted(keys, np.arange(node_count + 1, dtype=np.int64) * max(filter_count, 1))
    own = as_scipy(
        np.ones(len(keys), np.int32), bounds, (keys % max(filter_count, 1)).astype(np.int32), filter_count
    )
    wanted = own @ by_class.T.tocsr()
    wanted.sort_indices()
    return wanted.indptr.astype(np.int64), wanted.indices.astype(np.int32)
