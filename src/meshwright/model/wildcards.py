"""Topics that look like filters of MQTT: kept as plain names, counted, and reported in the same words.

A filter is a topic with a level `#` or `+`. As a plain name it matches nothing but itself.
"""

import warnings
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from meshwright.filters.dialects import DIALECTS
from meshwright.runtime.errors import MeshwrightWarning

_MQTT = DIALECTS["mqtt"]
IS_WILDCARD = _MQTT.has_wildcard
_WAY = "to read topics as filters, use Interests.from_filters"


class Wildcards(NamedTuple):
    """How many topics have a wildcard, and the first of them in the order of names."""

    topics: int
    example: str | None


def has_wildcard(topics: pa.StringArray) -> pa.BooleanArray:
    """Whether each topic has a wildcard.

    A search for two characters first: the pattern alone takes five times as long.
    """
    maybe = pc.or_(*(pc.match_substring(topics, word) for word in (_MQTT.single, _MQTT.many)))
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
            f"the topic {found.example!r} has an MQTT wildcard (a level # or +); it is kept as a plain name, "
            f"which matches only itself"
        )
    return (
        f"{found.topics:,} topics have an MQTT wildcard (a level # or +), such as {found.example!r}; they "
        f"are kept as plain names, each of which matches only itself"
    )


def warn_of_wildcards(topics: pa.StringArray) -> None:
    """Warn the caller of the caller if topics have wildcards."""
    found = find_wildcards(topics)
    if found.topics:
        warnings.warn(f"{words(found)}; {_WAY}", MeshwrightWarning, stacklevel=4)
