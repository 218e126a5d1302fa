"""The classes of filters that all have the simple form: the members of their closure under intersection."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.filters.automata import fresh_word
from meshwright.filters.class_rows import FILTER, INTERSECTION, NAME, ClassRows, too_many
from meshwright.filters.closure import Closed, TooManyMembersError, close
from meshwright.filters.dialects import Dialect
from meshwright.filters.parsing import ANY_ID, Patterns, text_of
from meshwright.filters.patterns import ANY, MANY, Pattern
from meshwright.runtime.arrays import Flags, Ids, Longs, Offsets
from meshwright.runtime.columns import arrow_of
from meshwright.runtime.progress import Progress, stage


def classes_by_closure(
    patterns: Patterns, dialect: Dialect, most: int, progress: Progress | None
) -> ClassRows:
    """The members of the closure that some name falls into; at most `most` of them are new."""
    try:
        closed = close(patterns, dialect, most, progress)
    except TooManyMembersError as error:
        what = f"more than {most:,} classes of names, or in fewer that are very long"
        raise too_many(patterns, error.filters, what, dialect) from None
    with stage(progress, "naming classes"):
        kept = np.flatnonzero((closed.spare >= 0) & _have_short_names(closed, patterns, dialect))
        words = _WordsOf(closed, patterns, dialect)
        new = kept[kept >= len(patterns)]
        old = kept[kept < len(patterns)]
        texts = [words.text(member) for member in new.tolist()]
        names = pa.concat_arrays([patterns.texts.take(arrow_of(old)), pa.array(texts, pa.string())])
        plain = _plain_members(closed)[kept]
        kinds = np.where(plain, NAME, np.where(kept < len(patterns), FILTER, INTERSECTION))
        examples = names
        if not plain.all():
            wild = [words.example(member) for member in kept[~plain].tolist()]
            examples = pc.replace_with_mask(names, arrow_of(~plain), pa.array(wild, pa.string()))
        return ClassRows(names, kinds, examples, *_covers_with_names(closed, patterns, kept))


def _plain_members(closed: Closed) -> Flags:
    wild = np.concatenate([[0], np.cumsum(closed.word_ids == ANY_ID)])
    found: Flags = (wild[closed.indptr[1:]] == wild[closed.indptr[:-1]]) & ~closed.open
    return found


def _have_short_names(closed: Closed, patterns: Patterns, dialect: Dialect) -> Flags:
    """Whether the shortest name of a member is short enough to be published."""
    sizes = np.array([len(word.encode()) for word in patterns.words], np.int64)
    sizes[ANY_ID] = 0 if dialect.empty_words else 1
    total = np.concatenate([[0], np.cumsum(sizes[closed.word_ids] + 1)])
    found: Flags = total[closed.indptr[1:]] - total[closed.indptr[:-1]] - 1 <= dialect.most_bytes
    return found


def _covers_with_names(closed: Closed, patterns: Patterns, kept: Longs) -> tuple[Offsets, Ids]:
    """The filters that cover the kept members; a name that was given covers itself."""
    own = np.zeros(len(closed.open), np.bool_)
    own[: len(patterns)] = patterns.plain()
    sizes = np.diff(closed.cover_indptr)[kept]
    more = own[kept]
    indptr = np.concatenate([[0], np.cumsum(sizes + more, dtype=np.int64)])
    found = np.empty(indptr[-1], np.int32)
    found[indptr[1:][more] - 1] = kept[more]
    old = np.concatenate([[0], np.cumsum(sizes)])
    steps = np.arange(old[-1])
    places = steps + np.repeat(closed.cover_indptr[:-1][kept] - old[:-1], sizes)
    found[steps + np.repeat(indptr[:-1] - old[:-1], sizes)] = closed.covers[places]
    return indptr, found


class _WordsOf:
    """Texts of members of a closure."""

    def __init__(self, closed: Closed, patterns: Patterns, dialect: Dialect) -> None:
        self._closed, self._patterns, self._dialect = closed, patterns, dialect
        self._fresh = fresh_word(set(patterns.words))

    def _pattern(self, member: int) -> Pattern:
        ids = self._closed.word_ids[self._closed.indptr[member] : self._closed.indptr[member + 1]]
        return self._patterns.elements(ids.tolist(), bool(self._closed.open[member]))

    def text(self, member: int) -> str:
        """A member as a filter."""
        return text_of(self._pattern(member), self._dialect)

    def example(self, member: int) -> str:
        """A name that no smaller member matches."""
        own = (
            self._fresh if word is ANY else str(word) for word in self._pattern(member) if word is not MANY
        )
        more = [self._fresh] * int(self._closed.spare[member])
        return self._dialect.separator.join([*own, *more])
