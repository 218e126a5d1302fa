"""Texts as filters or names of a dialect: checked, in canonical form, as arrays of word ids.

All texts are cut at once by Arrow; Python sees each different word that needs a look once, and each filter
that is not written canonically.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.filters.dialects import Dialect
from meshwright.filters.patterns import ANY, MANY, Element, Pattern, normal, partial_of, partial_text
from meshwright.filters.patterns import Partial as PartialWord
from meshwright.runtime.arrays import Flags, Ids, Longs, Offsets
from meshwright.runtime.columns import arrow_of, numpy_of
from meshwright.runtime.errors import InputError, visible

ANY_ID = 0
"""The id of the wildcard for one word; ids of words count from 1."""

_MANY_ID = -1
_SHOWN = 80


class Fault(NamedTuple):
    """A text that is no filter or name of its dialect."""

    row: int
    text: str
    reason: str


@dataclass(frozen=True)
class Patterns:
    """Filters in canonical form, each once.

    Attributes:
        texts: the filters.
        words: by id, from 1 on; the first is that of ANY.
        indptr: where each filter begins in `word_ids`.
        word_ids: ANY_ID or words of the filters of the simple form, without a wildcard for many at the end;
            nothing for other filters.
        open: whether the simple form has a wildcard for many at the end.
        others: by number, the filters that have no simple form.
    """

    texts: pa.StringArray
    words: list[str]
    indptr: Offsets
    word_ids: Ids
    open: Flags
    others: dict[int, Pattern]

    def __len__(self) -> int:
        return len(self.texts)

    def pattern(self, number: int) -> Pattern:
        """A filter as elements."""
        if number in self.others:
            return self.others[number]
        ids = self.word_ids[self.indptr[number] : self.indptr[number + 1]].tolist()
        return self.elements(ids, bool(self.open[number]))

    def elements(self, ids: list[int], is_open: bool) -> Pattern:
        """The simple form as elements."""
        found: list[Element] = [ANY if word == ANY_ID else self.words[word] for word in ids]
        return (*found, MANY) if is_open else tuple(found)

    def plain(self) -> Flags:
        """Which filters are names."""
        wild = np.concatenate([[0], np.cumsum(self.word_ids == ANY_ID)])
        found: Flags = (wild[self.indptr[1:]] == wild[self.indptr[:-1]]) & ~self.open
        found[list(self.others)] = False
        return found


class Parsed(NamedTuple):
    """Distinct filters, which of them each text is (-1: none), and the texts that are none."""

    patterns: Patterns
    number_of: Ids
    faults: list[Fault]


def text_of(pattern: Pattern, dialect: Dialect) -> str:
    """A pattern as its dialect writes it, canonically."""
    takes_one = dialect.many_takes_one and pattern[-1:] == (MANY,)
    if takes_one or pattern in _takes_a_word(dialect):
        pattern = (*pattern[:-2], MANY)
    wild = {ANY: dialect.single, MANY: dialect.many}
    words = (
        partial_text(element, dialect.partial)
        if isinstance(element, PartialWord)
        else element
        if isinstance(element, str)
        else wild[element]
        for element in pattern
    )
    return dialect.separator.join(words)


def parse_filters(texts: pa.StringArray, dialect: Dialect) -> Parsed:
    """Read texts as filters. Linear."""
    return _Reader(dialect).filters(texts)


def parse_names(texts: pa.StringArray, dialect: Dialect) -> tuple[pa.ListArray, list[Fault]]:
    """The words of each name; a text with a wildcard is no name, and has no words."""
    return _Reader(dialect).names(texts)


def check_faults(faults: list[Fault], what: str, dialect: Dialect) -> None:
    """Refuse texts of which some are none of the dialect."""
    if faults:
        first = faults[0]
        more = f" (and {len(faults) - 1:,} more like it)" if len(faults) > 1 else ""
        raise InputError(f"{described(first, what, dialect)}{more}", row=first.row + 1)


def described(fault: Fault, what: str, dialect: Dialect) -> str:
    """A fault as a sentence."""
    shown = visible(fault.text)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
    kind = dialect.filter_word if what == "filter" else what
    return f"{what} {fault.row + 1}, '{shown}', is no {dialect.name} {kind}: {fault.reason}"


class _Cut(NamedTuple):
    """Texts cut into words: `codes` are places in `words`, those of text i from `indptr[i]` on."""

    indptr: Offsets
    codes: Longs
    words: pa.StringArray

    def rows_with(self, codes: Longs) -> Longs:
        """The texts that have one of these words, sorted."""
        chosen = np.zeros(len(self.words), np.bool_)
        chosen[codes] = True
        places = np.flatnonzero(chosen[self.codes])
        return np.unique(np.searchsorted(self.indptr, places, side="right") - 1)


class _Reader:
    """Reads texts of one dialect, and collects what is wrong with them."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._faults: dict[int, str] = {}

    def filters(self, texts: pa.StringArray) -> Parsed:
        alone = self._without_groups(texts)
        cut = self._cut(alone)
        kinds, partials = self._kinds(cut)
        self._check_many(cut, kinds)
        listed = [Fault(row, texts[row].as_py(), self._faults[row]) for row in sorted(self._faults)]
        good = np.ones(len(texts), np.bool_)
        good[list(self._faults)] = False
        form = _simple_form(cut, kinds, good, self._dialect)
        others = self._others(cut, kinds, partials, np.flatnonzero(good & ~form.simple))
        return _distinct(alone, cut, form, others, listed, self._dialect)

    def names(self, texts: pa.StringArray) -> tuple[pa.ListArray, list[Fault]]:
        cut = self._cut(texts)
        kinds, partials = self._kinds(cut)
        wild = np.flatnonzero(kinds <= ANY_ID)
        marked = np.concatenate([wild, np.array(sorted(partials), np.int64)])
        for row in [] if self._dialect.wild_names else cut.rows_with(marked).tolist():
            self._faults.setdefault(row, "a name has no wildcards; name what is published in full")
        listed = [Fault(row, texts[row].as_py(), self._faults[row]) for row in sorted(self._faults)]
        offsets = arrow_of(cut.indptr.astype(np.int32))
        return pa.ListArray.from_arrays(offsets, cut.words.take(arrow_of(cut.codes))), listed

    def _without_groups(self, texts: pa.StringArray) -> pa.StringArray:
        """The filters without the names of groups that share them."""
        mark = {"mqtt": "$share", "nats": " "}.get(self._dialect.name)
        if mark is None:
            return texts
        rows = np.flatnonzero(numpy_of(pc.match_substring(texts, mark)))
        changed = {}
        for row in rows.tolist():
            try:
                changed[row] = self._dialect.without_group(texts[row].as_py())
            except ValueError as error:
                self._faults[row] = str(error)
        return _replaced(texts, changed)

    def _cut(self, texts: pa.StringArray) -> _Cut:
        lengths = numpy_of(pc.binary_length(texts))
        most = self._dialect.most_bytes
        for row in np.flatnonzero(lengths > most).tolist():
            self._faults.setdefault(row, f"it has more than {most:,} bytes; use a shorter one")
        for row in np.flatnonzero(lengths == 0).tolist():
            self._faults.setdefault(row, "it is empty; give at least one character")
        cut = pc.split_pattern(texts, self._dialect.separator)
        coded = pc.dictionary_encode(cut.flatten())
        indptr = np.concatenate([[0], np.cumsum(numpy_of(pc.list_value_length(cut)), dtype=np.int64)])
        return _Cut(indptr, numpy_of(coded.indices).astype(np.int64), coded.dictionary)

    def _kinds(self, cut: _Cut) -> tuple[Longs, dict[int, Element]]:
        """By code: MANY, ANY or an id, and what words with wildcards inside are."""
        dialect = self._dialect
        kinds = np.arange(1, len(cut.words) + 1)
        partials: dict[int, Element] = {}
        bad: dict[int, str] = {}
        odd = np.flatnonzero(numpy_of(pc.match_substring_regex(cut.words, dialect.special)))
        for code, word in zip(odd.tolist(), cut.words.take(arrow_of(odd)).to_pylist(), strict=True):
            if word in (dialect.single, dialect.many):
                kinds[code] = ANY_ID if word == dialect.single else _MANY_ID
            elif fault := dialect.fault_of(word):
                bad[code] = fault
            elif dialect.partial and dialect.partial in word:
                found = partial_of(word, dialect.partial)
                if found is ANY:
                    kinds[code] = ANY_ID
                partials[code] = found
        empty = pc.index(cut.words, pa.scalar("")).as_py()
        if not dialect.empty_words and empty >= 0:
            bad[empty] = f"a word is empty; leave out the {dialect.separator} too many"
        for code, fault in bad.items():
            for row in cut.rows_with(np.array([code])).tolist():
                self._faults.setdefault(row, fault)
        return kinds, partials

    def _check_many(self, cut: _Cut, kinds: Longs) -> None:
        if not self._dialect.many_is_last:
            return
        many = self._dialect.many
        places = np.flatnonzero(kinds[cut.codes] == _MANY_ID)
        rows = np.searchsorted(cut.indptr, places, side="right") - 1
        for row in rows[places != cut.indptr[rows + 1] - 1].tolist():
            self._faults.setdefault(
                row, f"{many} may only be the last word; end the filter there, or name the word"
            )

    def _others(
        self, cut: _Cut, kinds: Longs, partials: dict[int, Element], rows: Longs
    ) -> dict[int, Pattern]:
        """By row, the patterns of filters that are not written in the simple form."""
        found: dict[int, Pattern] = {}
        wild: dict[int, Element] = {ANY_ID: ANY, _MANY_ID: MANY}
        for row in rows.tolist():
            codes = cut.codes[cut.indptr[row] : cut.indptr[row + 1]].tolist()
            elements = (
                partials.get(code) or wild.get(int(kinds[code])) or cut.words[code].as_py() for code in codes
            )
            found[row] = _canonical(normal(elements), self._dialect)
        return found


def _canonical(pattern: Pattern, dialect: Dialect) -> Pattern:
    """The same, with a word that MANY takes in any case written as ANY."""
    longer = (*pattern[:-1], ANY, MANY)
    return longer if pattern[-1:] == (MANY,) and longer in _takes_a_word(dialect) else pattern


def _takes_a_word(dialect: Dialect) -> tuple[Pattern, ...]:
    """Filters in which MANY takes a word, since there is no name without it: no words, or one empty word."""
    alone: tuple[Pattern, ...] = () if dialect.no_words else ((ANY, MANY),)
    return (*alone, ("", ANY, MANY)) if dialect.empty_words else alone


def _replaced(texts: pa.StringArray, changed: dict[int, str]) -> pa.StringArray:
    if not changed:
        return texts
    mask = np.zeros(len(texts), np.bool_)
    mask[list(changed)] = True
    values = [changed[row] for row in sorted(changed)]
    return pc.replace_with_mask(texts, arrow_of(mask), pa.array(values, pa.string()))


class _Simple(NamedTuple):
    """The simple forms of texts, where they have one."""

    simple: Flags
    open: Flags
    changed: Flags  # whether the text is not canonical
    lengths: Longs
    word_ids: Ids


def _simple_form(cut: _Cut, kinds: Longs, good: Flags, dialect: Dialect) -> _Simple:
    """The simple form of each text that is written so: no wildcard for many, or one at the end."""
    ids = kinds[cut.codes].astype(np.int32)
    lengths = np.diff(cut.indptr)
    last = cut.indptr[1:] - 1
    is_open = ids[last] == _MANY_ID
    rows = np.repeat(np.arange(len(lengths)), lengths)
    awkward = np.zeros(len(lengths), np.bool_)
    inside = ids == _MANY_ID
    inside[last] = False
    awkward[rows[inside]] = True
    if dialect.partial:
        marked = numpy_of(pc.match_substring(cut.words, dialect.partial))
        awkward[rows[marked[cut.codes]]] = True
    awkward |= is_open & _begin_empty(cut, ids)
    simple = good & ~awkward
    alone = is_open & (lengths == 1)
    takes_one = is_open if dialect.many_takes_one else alone & (not dialect.no_words)
    ids[last[takes_one]] = ANY_ID
    kept = simple[rows]
    kept[last[is_open & ~takes_one]] = False
    sizes = np.bincount(rows[kept], minlength=len(lengths))
    folded = is_open & (sizes == 1) & (lengths == 2) & (ids[cut.indptr[:-1]] == ANY_ID)
    changed = folded & (not dialect.no_words) & (not dialect.many_takes_one)
    return _Simple(simple, is_open & simple, changed & simple, sizes, ids[kept])


def _begin_empty(cut: _Cut, ids: Ids) -> Flags:
    """Which texts have two words, of which the first is empty, or three, and the second is ANY."""
    lengths, starts = np.diff(cut.indptr), cut.indptr[:-1]
    empty = numpy_of(pc.equal(cut.words, ""))[cut.codes[starts]]
    second = ids[np.minimum(starts + 1, len(ids) - 1)]
    found: Flags = empty & ((lengths == 2) | (lengths == 3) & (second == ANY_ID))
    return found


def _distinct(
    alone: pa.StringArray,
    cut: _Cut,
    form: _Simple,
    others: dict[int, Pattern],
    faults: list[Fault],
    dialect: Dialect,
) -> Parsed:
    """Each filter once, in the order of its canonical text."""
    canonical = {row: text_of(pattern, dialect) for row, pattern in others.items()}
    canonical |= dict.fromkeys(np.flatnonzero(form.changed).tolist(), dialect.many)
    texts = _replaced(alone, canonical)
    usable = form.simple.copy()
    usable[list(others)] = True
    rows = np.flatnonzero(usable)
    coded = pc.dictionary_encode(texts.take(arrow_of(rows)))
    distinct = coded.dictionary
    order = numpy_of(pc.sort_indices(distinct)).astype(np.int64)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    number_of = np.full(len(alone), -1, np.int32)
    number_of[rows] = rank[numpy_of(coded.indices)]
    source = np.zeros(len(order), np.int64)
    source[number_of[rows]] = rows
    words = ["", *cut.words.to_pylist()]
    patterns = _gathered(distinct.take(arrow_of(order)), words, form, source, others)
    return Parsed(patterns, number_of, faults)


def _gathered(
    texts: pa.StringArray, words: list[str], form: _Simple, source: Longs, others: dict[int, Pattern]
) -> Patterns:
    """The patterns of these rows; those whose canonical form is simple after all have it."""
    starts = np.cumsum(form.lengths) - form.lengths
    sizes = form.lengths[source]
    indptr = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    places = np.arange(indptr[-1]) + np.repeat(starts[source] - indptr[:-1], sizes)
    awkward = {at: others[row] for at, row in enumerate(source.tolist()) if row in others}
    found = Patterns(texts, words, indptr, form.word_ids[places], form.open[source], {})
    return found if not awkward else _with_others(found, awkward)


def _with_others(patterns: Patterns, others: dict[int, Pattern]) -> Patterns:
    ids = {word: number for number, word in enumerate(patterns.words) if number}
    lists = np.split(patterns.word_ids, patterns.indptr[1:-1])
    is_open = patterns.open.copy()
    left = {}
    for number, pattern in others.items():
        if MANY in pattern[:-1] or any(isinstance(element, PartialWord) for element in pattern):
            left[number] = pattern
            continue
        is_open[number] = MANY in pattern
        body = pattern[: len(pattern) - bool(is_open[number])]
        lists[number] = np.array([ANY_ID if word is ANY else ids[str(word)] for word in body], np.int32)
    indptr = np.concatenate([[0], np.cumsum([len(one) for one in lists], dtype=np.int64)])
    word_ids = np.concatenate([np.empty(0, np.int32), *lists])
    return replace(patterns, indptr=indptr, word_ids=word_ids, open=is_open, others=left)
