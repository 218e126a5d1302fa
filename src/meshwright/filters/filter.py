"""One filter: what it matches, what it covers, and where it meets another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from meshwright.filters.automata import Automaton
from meshwright.filters.dialects import Dialect, dialect_of
from meshwright.filters.parsing import check_faults, parse_filters, parse_names, text_of
from meshwright.filters.patterns import Pattern, Rules, has_simple_form, intersections, simple_intersection
from meshwright.runtime.errors import InputError

_MOST_STEPS = 1 << 26


def rules_of(dialect: Dialect) -> Rules:
    """Which words wildcards of a dialect pass over."""
    return Rules(dialect.hides, dialect.hides_everywhere)


@dataclass(frozen=True)
class Filter:
    """A filter of a dialect (mqtt, nats, amqp or zenoh), checked and made canonical.

    Example:
        >>> import meshwright as mw
        >>> one, other = mw.Filter("plant/+/temp", "mqtt"), mw.Filter("plant/7/#", "mqtt")
        >>> one.matches("plant/7/temp"), one.covers(other)
        (True, False)
        >>> one.intersect(other)
        (Filter(text='plant/7/temp', dialect='mqtt'),)
    """

    text: str
    dialect: str = "mqtt"

    def __post_init__(self) -> None:
        rules = dialect_of(self.dialect)
        parsed = parse_filters(_one(self.text), rules)
        check_faults(parsed.faults, "filter", rules)
        object.__setattr__(self, "text", parsed.patterns.texts[0].as_py())
        object.__setattr__(self, "_pattern", parsed.patterns.pattern(0))

    @property
    def pattern(self) -> Pattern:
        """The filter as elements."""
        found: Pattern = self.__dict__["_pattern"]
        return found

    @cached_property
    def _automaton(self) -> Automaton:
        return Automaton([self.pattern], rules_of(dialect_of(self.dialect)))

    def matches(self, name: str) -> bool:
        """Whether the filter matches a name."""
        return bool(self._automaton.match(words_of(name, dialect_of(self.dialect))))

    def covers(self, other: Filter) -> bool:
        """Whether the filter matches every name that the other one matches."""
        return all(0 in matched for matched in self._sets(other) if 1 in matched)

    def meets(self, other: Filter) -> bool:
        """Whether some name is matched by both."""
        return any({0, 1} <= matched for matched in self._sets(other))

    def _sets(self, other: Filter) -> list[frozenset[int]]:
        self._check(other)
        if self.text == other.text:
            return [frozenset({0, 1})]
        dialect = dialect_of(self.dialect)
        both = Automaton([self.pattern, other.pattern], rules_of(dialect))
        return list(both.sets(_MOST_STEPS, no_words=dialect.no_words))

    def intersect(self, other: Filter) -> tuple[Filter, ...]:
        """Filters that together match just what both match: one or none in mqtt and nats, more in others."""
        self._check(other)
        dialect = dialect_of(self.dialect)
        if has_simple_form(self.pattern) and has_simple_form(other.pattern):
            both = simple_intersection(self.pattern, other.pattern, rules_of(dialect))
            found = {both} if both is not None else set()
        else:
            found = intersections(self.pattern, other.pattern, rules_of(dialect))
        texts = sorted(text_of(pattern, dialect) for pattern in found if pattern or dialect.no_words)
        return _largest([Filter(text, self.dialect) for text in texts if text])

    def _check(self, other: Filter) -> None:
        if self.dialect != other.dialect:
            raise InputError(
                f"{self.text!r} is a filter of {self.dialect} and {other.text!r} one of {other.dialect}; "
                f"compare filters of one dialect"
            )


def _largest(filters: list[Filter]) -> tuple[Filter, ...]:
    """The filters that no other of them covers."""
    return tuple(one for one in filters if not any(other != one and other.covers(one) for other in filters))


def words_of(name: str, dialect: Dialect) -> tuple[str, ...]:
    """The words of a name."""
    if name == "" and dialect.no_words:
        return ()
    words, faults = parse_names(_one(name), dialect)
    check_faults(faults, "name", dialect)
    return tuple(words[0].as_py())


def _one(text: str) -> pa.StringArray:
    if not isinstance(text, str):
        raise InputError(f"the filter or name is {text!r}, a {type(text).__name__}; give a string")
    try:
        return pa.array([text], pa.string())
    except UnicodeEncodeError:
        raise InputError(
            f"{text!r} holds a lone surrogate; filters and names must be valid Unicode"
        ) from None
