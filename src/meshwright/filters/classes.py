"""Classes: what a set of filters tells apart among all names that may ever be published.

Two names are in one class if the same filters match them. Where all filters have the simple form (always in
mqtt and nats), a class is the least filter of the closure under intersection that matches its names.
Otherwise it is found from the automaton of the filters, and is the set of filters that match.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.filters.automaton_classes import classes_by_automaton, classes_of_names
from meshwright.filters.class_rows import KINDS
from meshwright.filters.closure_classes import classes_by_closure
from meshwright.filters.dialects import Dialect, dialect_of
from meshwright.filters.parsing import Fault, check_faults, parse_filters
from meshwright.runtime.arrays import Ids, Offsets
from meshwright.runtime.columns import arrow_of, numpy_of
from meshwright.runtime.progress import Progress, stage

MOST_CLASSES = 1_000_000
"""How many classes may be added to those that the filters are by themselves, unless said otherwise."""


@dataclass(frozen=True)
class Classes:
    """The classes of some filters, in the byte order of their names.

    Attributes:
        dialect: of the filters.
        filters: the distinct filters in canonical form, in byte order.
        number_of: for each text given, the number of its filter; -1 where it is none.
        faults: the texts that are no filters, with reasons.
        names: of the classes: the least filter, or filters joined by ` & `.
        kinds: of each class: a plain name, a filter that was given, or an intersection of some.
        examples: a name in each class.
        indptr: where each class begins in `filter_ids`.
        filter_ids: the filters that match the names of a class.
    """

    dialect: Dialect
    filters: pa.StringArray
    number_of: Ids
    faults: list[Fault]
    names: pa.StringArray
    kinds: pa.StringArray
    examples: pa.StringArray
    indptr: Offsets
    filter_ids: Ids

    def __len__(self) -> int:
        return len(self.names)

    def filters_of(self, number: int) -> list[str]:
        """The filters that match the names of a class."""
        ids = self.filter_ids[self.indptr[number] : self.indptr[number + 1]]
        found: list[str] = self.filters.take(arrow_of(ids)).to_pylist()
        return found


def classes_of(
    filters: pa.StringArray,
    dialect: str,
    names: pa.StringArray | None = None,
    *,
    most: int = MOST_CLASSES,
    lenient: bool = False,
    progress: Progress | None = None,
) -> Classes:
    """The classes of filters: of all possible names, or of those given, for each of which there is one.

    Args:
        filters: texts; those that mean the same are one filter.
        dialect: mqtt, nats, amqp or zenoh.
        names: all names that exist, if that is known; then there are no other classes.
        most: how many classes may be added to the filters themselves.
        lenient: whether texts that are no filters are listed in `faults`, or refused.
        progress: shown while it takes long.
    """
    rules = dialect_of(dialect)
    with stage(progress, "reading filters"):
        parsed = parse_filters(filters, rules)
    if not lenient:
        check_faults(parsed.faults, "filter", rules)
    patterns = parsed.patterns
    if names is not None:
        rows = classes_of_names(patterns, names, rules)
    elif patterns.others:
        rows = classes_by_automaton(patterns, rules, progress)
    else:
        rows = classes_by_closure(patterns, rules, most, progress)
    order = numpy_of(pc.sort_indices(rows.names)).astype(np.int64)
    sizes = np.diff(rows.indptr)[order]
    indptr = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    places = np.arange(indptr[-1]) + np.repeat(rows.indptr[:-1][order] - indptr[:-1], sizes)
    return Classes(
        rules,
        patterns.texts,
        parsed.number_of,
        parsed.faults,
        rows.names.take(arrow_of(order)),
        pa.array(KINDS).take(arrow_of(rows.kinds[order])),
        rows.examples.take(arrow_of(order)),
        indptr,
        rows.filter_ids[places],
    )
