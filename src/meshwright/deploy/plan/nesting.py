"""Which topics a line for another topic carries as well: classes of filters are nested in each other."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from meshwright.filters.automata import Automaton
from meshwright.filters.dialects import Dialect, dialect_of
from meshwright.filters.filter import rules_of, words_of
from meshwright.filters.parsing import check_faults, parse_filters, parse_names
from meshwright.model.filtered import FILTERS, dialect_of_topics
from meshwright.model.interests import Interests
from meshwright.runtime.errors import InputError, quoted


class Nesting(NamedTuple):
    """By topic, the topics around it: a line for one of those carries it, too."""

    around: list[tuple[int, ...]]
    inside: list[tuple[int, ...]]
    """The other way round: what a line for this topic carries beside it."""
    examples: list[str]
    """A name of each topic that is in no topic inside it."""


def nesting_of(interests: Interests, dialect: str) -> Nesting:
    """How the topics are nested; those that are plain names are not.

    A class lies inside another just if all filters that match the names of the other match its own as well.

    Cost: linear in the examples, and in the pairs of classes that share their rarest filter.

    Raises:
        InputError: a topic is no name of the dialect, or the filters are of another one.
    """
    if not interests.topic_count:
        return Nesting([], [], [])
    given = dialect_of_topics(interests)
    if given is None:
        names = interests.topics.to_pylist()
        _check_names(interests.topics, dialect_of(dialect))
        return Nesting([()] * len(names), [()] * len(names), names)
    if given != dialect:
        raise InputError(
            f"the topics are filters of {given}, but the driver's brokers speak {dialect}; ingest the "
            f"subscriptions with --filters {dialect}, or choose another driver"
        )
    assert interests.topic_attributes is not None
    examples = interests.topic_attributes["example"].to_pylist()
    matched = _matched(interests, examples, dialect_of(dialect))
    around = _supersets(matched)
    inside: list[list[int]] = [[] for _ in around]
    for topic, outer in enumerate(around):
        for other in outer:
            inside[other].append(topic)
    return Nesting(around, [tuple(own) for own in inside], examples)


def _check_names(topics: pa.StringArray, dialect: Dialect) -> None:
    """Refuse topics that are no names: filters among them would carry other topics unseen."""
    faults = parse_names(topics, dialect)[1]
    if faults:
        first = faults[0]
        raise InputError(
            f"the topic {quoted(first.text)} is no name of {dialect.name}: {first.reason}; rename it, or, if "
            f"it is a filter, ingest the subscriptions with --filters {dialect.name}"
        )


def _matched(interests: Interests, examples: Iterable[str], dialect: Dialect) -> list[frozenset[int]]:
    """By class, the filters that match its names."""
    assert interests.node_attributes is not None
    given = pc.unique(pc.list_flatten(interests.node_attributes[FILTERS]))
    parsed = parse_filters(given, dialect)
    check_faults(parsed.faults, "filter", dialect)
    patterns = [parsed.patterns.pattern(number) for number in range(len(parsed.patterns))]
    automaton = Automaton(patterns, rules_of(dialect))
    return [frozenset(automaton.match(words_of(example, dialect))) for example in examples]


def _supersets(sets: list[frozenset[int]]) -> list[tuple[int, ...]]:
    """By set, those others that are contained in it."""
    popularity: defaultdict[int, int] = defaultdict(int)
    for own in sets:
        for each in own:
            popularity[each] += 1
    by_rarest: defaultdict[int, list[int]] = defaultdict(list)
    for number, own in enumerate(sets):
        by_rarest[min(own, key=lambda each: (popularity[each], each))].append(number)
    return [
        tuple(sorted(other for each in own for other in by_rarest.get(each, ()) if sets[other] < own))
        for own in sets
    ]
