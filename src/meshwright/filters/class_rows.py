"""Classes as they are found, in any order, and the refusal of too many."""

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from meshwright.filters.dialects import Dialect
from meshwright.filters.parsing import Patterns
from meshwright.runtime.arrays import Ids, Longs, Offsets
from meshwright.runtime.errors import CapacityError

KINDS = ("name", "filter", "intersection")
"""What a class can be: a plain name, a filter that was given, or where several overlap."""

NAME, FILTER, INTERSECTION = range(3)


class ClassRows(NamedTuple):
    """Classes in any order."""

    names: pa.StringArray
    kinds: Longs  # NAME, FILTER or INTERSECTION
    examples: pa.StringArray
    indptr: Offsets
    filter_ids: Ids


def too_many(patterns: Patterns, worst: Sequence[int], what: str, dialect: Dialect) -> CapacityError:
    """The error for filters that overlap too much; it names the worst of them."""
    named = ", ".join(repr(patterns.texts[number].as_py()) for number in worst[:5]) or "the filters"
    return CapacityError(
        f"the {len(patterns):,} {dialect.name} filters overlap in {what}; most are due to {named}. "
        f"Give the names that exist (names=, --names), so that only these count; or write a first word "
        f"instead of a wildcard in these filters, so that filters split by prefix"
    )
