"""The classes of filters of any form: the sets of them that some name has, from their automaton."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from functools import reduce
from itertools import chain
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.filters.automata import Automaton, Found, Matched, TooMuchWorkError, Words
from meshwright.filters.class_rows import FILTER, INTERSECTION, NAME, ClassRows, too_many
from meshwright.filters.dialects import Dialect
from meshwright.filters.filter import Filter, rules_of
from meshwright.filters.parsing import Patterns, check_faults, parse_names, text_of
from meshwright.filters.patterns import Pattern, Rules, has_simple_form, is_plain, simple_intersection
from meshwright.runtime.progress import Progress, stage

_MOST_STEPS = 20_000_000
"""The steps of an automaton that take about ten seconds."""


def classes_by_automaton(patterns: Patterns, dialect: Dialect, progress: Progress | None) -> ClassRows:
    """The sets of filters that some name has; names are left out of the automaton, and looked up in it."""
    wild = np.flatnonzero(~patterns.plain()).tolist()
    own = (patterns.pattern(number) for number in wild)
    automaton = Automaton(own, rules_of(dialect), patterns.words)
    try:
        with stage(progress, "following the words of filters") as tell:
            sets = automaton.sets(_MOST_STEPS, no_words=dialect.no_words, tell=tell)
    except TooMuchWorkError as error:
        worst = [wild[number] for number in error.patterns]
        raise too_many(patterns, worst, "more ways than can be followed in a few seconds", dialect) from None
    sets.pop(frozenset(), None)
    names = _names_among(patterns)
    label = _Labels(patterns, dialect, _covers_by_sets(sets, wild))
    rows = [
        _row(label, [wild[one] for one in matched], _example(found, names, dialect))
        for matched, found in sets.items()
        if not _all_among(found, names)
    ]
    for words, number in names.items():
        matched = [wild[one] for one in automaton.match(words)]
        text = patterns.texts[number].as_py()
        rows.append(_Row(text, NAME, text, sorted([*matched, number])))
    return _joined(rows)


def _names_among(patterns: Patterns) -> dict[Words, int]:
    """The filters that are names, by their words."""
    numbers = np.flatnonzero(patterns.plain()).tolist()
    return {tuple(map(str, patterns.pattern(number))): number for number in numbers}


def _all_among(found: Found, names: Container[Words]) -> bool:
    return found.names is not None and all(words in names for words in found.names)


def _example(found: Found, names: Container[Words], dialect: Dialect) -> str:
    words = found.example
    if found.names is not None:
        words = next(one for one in found.names if one not in names)
    return dialect.separator.join(words)


class _Row(NamedTuple):
    name: str
    kind: int
    example: str
    filters: list[int]


def _row(label: _Labels, matched: Iterable[int], example: str) -> _Row:
    filters = sorted(matched)
    name, kind = label(filters)
    return _Row(name, kind, example, filters)


def _joined(rows: list[_Row]) -> ClassRows:
    """All rows; a name that only looks like another class's is made different."""
    ordered = sorted(rows, key=lambda row: row.kind)
    names: dict[str, None] = {}
    for row in ordered:
        name = row.name
        while name in names:
            name += " &"
        names[name] = None
    return ClassRows(
        pa.array(list(names), pa.string()),
        np.array([row.kind for row in ordered], np.int64),
        pa.array([row.example for row in ordered], pa.string()),
        np.concatenate([[0], np.cumsum([len(row.filters) for row in ordered], dtype=np.int64)]).astype(
            np.int64
        ),
        np.fromiter(chain.from_iterable(row.filters for row in ordered), np.int32),
    )


def _covers_by_sets(sets: Iterable[Matched], wild: list[int]) -> dict[int, set[int]]:
    """By filter, those that cover it: they are in all sets that it is in."""
    found: dict[int, set[int]] = {}
    for matched in sets:
        for one in matched:
            own = found.get(one)
            found[one] = set(matched) if own is None else own & matched
    return {wild[one]: {wild[other] for other in others} for one, others in found.items()}


class _Labels:
    """Names for sets of filters: the least filter, or the smallest filters of the set, joined.

    `covers` says by filter which ones cover it; where it is not known, filters are compared.
    """

    def __init__(self, patterns: Patterns, dialect: Dialect, covers: dict[int, set[int]] | None) -> None:
        self._patterns, self._dialect, self._covers = patterns, dialect, covers
        self._rules: Rules = rules_of(dialect)
        self._given = frozenset(patterns.texts.to_pylist())
        self._compared: dict[tuple[int, int], bool] = {}

    def __call__(self, filters: Sequence[int]) -> tuple[str, int]:
        """The name and the kind of the class of these filters."""
        simple: list[Pattern] = []
        others: list[Pattern] = []
        for number in self._smallest(filters):
            pattern = self._patterns.pattern(number)
            (simple if has_simple_form(pattern) else others).append(pattern)
        if simple:
            both = reduce(lambda one, other: _met(one, other, self._rules), simple)
            others.append(both)
        texts = sorted(text_of(pattern, self._dialect) for pattern in others)
        name = " & ".join(texts)
        return name, self._kind(name, others)

    def _kind(self, name: str, parts: Sequence[Pattern]) -> int:
        if len(parts) == 1 and is_plain(parts[0]):
            return NAME
        return FILTER if len(parts) == 1 and name in self._given else INTERSECTION

    def _smallest(self, filters: Sequence[int]) -> list[int]:
        """The filters that cover no other of the set."""
        if not self._patterns.others:
            return list(filters)
        if self._covers is not None:
            larger = set().union(*(self._covers[one] - {one} for one in filters))
            return [one for one in filters if one not in larger]
        return [
            one
            for one in filters
            if not any(other != one and self._is_covered(other, one) for other in filters)
        ]

    def _is_covered(self, small: int, large: int) -> bool:
        key = (small, large)
        if key not in self._compared:
            one, other = (Filter(self._patterns.texts[at].as_py(), self._dialect.name) for at in key)
            self._compared[key] = other.covers(one)
        return self._compared[key]


def _met(one: Pattern, other: Pattern, rules: Rules) -> Pattern:
    both = simple_intersection(one, other, rules)
    assert both is not None
    return both


def classes_of_names(patterns: Patterns, names: pa.StringArray, dialect: Dialect) -> ClassRows:
    """The classes of names that exist; those that no filter matches are left out."""
    given = pc.unique(names)
    words, faults = parse_names(given, dialect)
    check_faults(faults, "name", dialect)
    wild = np.flatnonzero(~patterns.plain()).tolist()
    automaton = Automaton((patterns.pattern(number) for number in wild), rules_of(dialect))
    own = pc.fill_null(pc.index_in(given, patterns.texts), -1).to_pylist()
    found: dict[Matched, int] = {}
    for at, (one, number) in enumerate(zip(words.to_pylist(), own, strict=True)):
        matched = {wild[place] for place in automaton.match(tuple(one))}
        found.setdefault(frozenset(matched if number < 0 else matched | {number}), at)
    found.pop(frozenset(), None)
    label = _Labels(patterns, dialect, None)
    return _joined([_row(label, matched, given[at].as_py()) for matched, at in found.items()])
