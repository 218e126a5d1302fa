"""Topics that look like filters of MQTT: kept as plain names, counted, and reported in the same words.

A filter is a topic with a level `#` or `+`, or one that begins with `$share/`, as shared subscriptions do. As
a plain name it matches nothing but itself.
"""

import warnings
from functools import reduce
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from meshwright.filters.dialects import DIALECTS
from meshwright.runtime.errors import MeshwrightWarning

_MQTT = DIALECTS["mqtt"]
SIGNS = (_MQTT.single, _MQTT.many, "$share/")
"""One of these is in every topic that looks like a filter: a search for them is five times as fast."""
IS_WILDCARD = rf"{_MQTT.has_wildcard}|^\$share/"
_WAY = "to read topics as filters, use Interests.from_filters"


class Wildcards(NamedTuple):
    """How many topics have a wildcard, and the first of them in the order of names."""

    topics: int
    example: str | None


def has_wildcard(topics: pa.StringArray) -> pa.BooleanArray:
    """Whether each topic looks like a filter."""
    maybe = reduce(pc.or_, (pc.match_substring(topics, sign) for sign in SIGNS))
    if not pc.any(maybe).as_py():
        return maybe
    return pc.match_substring_regex(topics, IS_WILDCARD)


def find_wildcards(topics: pa.StringArray) -> Wildcards:
    """The topics with a wildcard, among distinct names in their order."""
    found = topics.filter(has_wildcard(topics))
    return Wildcards(len(found), found[0].as_py() if len(found) else None)


def words(found: Wildcards) -> str:
    """What to say of such topics, of which there must be one."""
    if found.topics == 1:
        return (
            f"the topic {found.example!r} has an MQTT wildcard (a level # or +, or $share/ in front); it is "
            f"kept as a plain name, which matches only itself"
        )
    return (
        f"{found.topics:,} topics have an MQTT wildcard (a level # or +, or $share/ in front), such as "
        f"{found.example!r}; they are kept as plain names, each of which matches only itself"
    )


def warn_of_wildcards(topics: pa.StringArray) -> None:
    """Warn the caller of the caller if topics have wildcards."""
    found = find_wildcards(topics)
    if found.topics:
        warnings.warn(f"{words(found)}; {_WAY}", MeshwrightWarning, stacklevel=4)
