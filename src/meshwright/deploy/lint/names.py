"""Sets of names on their way through a mesh: which names cross a link, and what they are called behind it.

Names are carried symbolically. A set is a pattern less some others; a link takes those of its filter and
puts one prefix in place of another. What is left at the end of a way tells which names go all the way, and
an example of them is its witness.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import takewhile
from typing import Generic, NamedTuple, TypeVar

from meshwright.filters.patterns import (
    ANY,
    MANY,
    Element,
    Partial,
    Pattern,
    Rules,
    has_simple_form,
    intersections,
    simple_intersection,
)

Words = tuple[str, ...]

_PUBLISHED: tuple[Words, ...] = (
    ("$SYS", "broker", "uptime"),
    ("$SYS", "broker", "clients", "connected"),
    ("$SYS", "broker", "messages", "sent"),
    ("$SYS", "broker", "load", "messages", "sent", "1min"),
)
"""Some of the names that Mosquitto publishes itself."""


class Names(NamedTuple):
    """The names that a pattern matches and none of the others does."""

    pattern: Pattern
    without: frozenset[Pattern] = frozenset()


class Renaming(NamedTuple):
    """The first words `old` of a name become `new`."""

    old: Words = ()
    new: Words = ()

    def of(self, pattern: Pattern) -> Pattern:
        """A pattern that begins with `old`, renamed."""
        return self.new + pattern[len(self.old) :]

    def back(self, pattern: Pattern) -> Pattern:
        """The pattern that `of` gave this for."""
        return self.old + pattern[len(self.new) :]

    def then(self, strip: Words, add: Words) -> "Renaming":
        """This, and behind it another one, of names that begin with `strip`."""
        more = strip[len(self.new) :]
        return _shortest(self.old + more, add + self.new[len(strip) :])


def _shortest(old: Words, new: Words) -> Renaming:
    """The same renaming, without the words that both end with."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old[::-1], new[::-1], strict=False)))
    return Renaming(old[: len(old) - same], new[: len(new) - same])


@lru_cache(maxsize=200_000)
def meet(one: Pattern, other: Pattern, rules: Rules) -> tuple[Pattern, ...]:
    """Patterns that together match what both match; none where nothing does."""
    if has_simple_form(one) and has_simple_form(other):
        both = simple_intersection(one, other, rules)
        return () if both is None else (both,)
    return tuple(sorted(intersections(one, other, rules), key=repr))


_Thing = TypeVar("_Thing")


class ByWords(Generic[_Thing]):
    """Things with patterns, to find those that may meet another pattern: no plain word tells them apart.

    Cost: of `add`, the words of a pattern; of `meeting`, what it finds.
    """

    def __init__(self) -> None:
        self._here: list[_Thing] = []
        self._below: dict[str, ByWords[_Thing]] = {}

    def add(self, pattern: Pattern, thing: _Thing) -> None:
        """Add a thing under the plain words that its pattern begins with."""
        at = self
        for word in plain_words(pattern):
            at = at._below.setdefault(word, ByWords())
        at._here.append(thing)

    def meeting(self, pattern: Pattern) -> Iterator[_Thing]:
        """The things whose patterns may meet this one, those with most words in common first."""
        path = [self]
        words = plain_words(pattern)
        for word in words:
            if word not in path[-1]._below:
                break
            path.append(path[-1]._below[word])
        if len(path) > len(words) < len(pattern):
            yield from path.pop()._all()
        for at in reversed(path):
            yield from at._here

    def _all(self) -> Iterator[_Thing]:
        waiting = [self]
        while waiting:
            at = waiting.pop()
            yield from at._here
            waiting.extend(at._below.values())


def plain_words(pattern: Pattern) -> Words:
    """The words that all names of a pattern begin with."""
    words: list[str] = []
    for element in pattern:
        if not isinstance(element, str):
            break
        words.append(element)
    return tuple(words)


def is_wild(pattern: Pattern) -> bool:
    """Whether a pattern has wildcards."""
    return len(plain_words(pattern)) < len(pattern)


def covers(one: Pattern, other: Pattern, rules: Rules) -> bool:
    """Whether a pattern matches all that another matches; for patterns without a simple form, perhaps no."""
    return meet(one, other, rules) == (other,)


def matches(pattern: Pattern, words: Words, rules: Rules) -> bool:
    """Whether a pattern matches a name."""
    return bool(meet(pattern, words, rules))


def example(names: Names, rules: Rules, fresh: str) -> Words | None:
    """A name of the set, with a fresh word for each wildcard; None where the set is empty.

    Where all names begin with $SYS, it is one that brokers publish, if there is one.

    Of names of one length, the one with fresh words is in the set if any is: what excludes it excludes all.
    """
    begins = names.pattern[:1] == _PUBLISHED[0][:1]
    published = [words for words in _PUBLISHED if begins and matches(names.pattern, words, rules)]
    for words in (*published, *_candidates(names, fresh)):
        if not any(matches(pattern, words, rules) for pattern in names.without):
            return words
    return None


def _candidates(names: Names, fresh: str) -> Iterator[Words]:
    own = tuple(_example_word(element, fresh) for element in names.pattern if element is not MANY)
    if MANY not in names.pattern:
        yield own
        return
    at = names.pattern.index(MANY)
    longest = max((len(pattern) for pattern in names.without), default=0)
    most = max(longest - len(own), 0) + 1
    first = 1 if at and names.pattern[at - 1] is not ANY else 0
    for more in sorted(range(most + 1), key=lambda count: (count != first, count)):
        if own or more:
            yield own[:at] + (fresh,) * more + own[at:]


def _example_word(element: Element, fresh: str) -> str:
    if isinstance(element, Partial):
        return "".join(str(letter) for letter in element.letters if letter is not MANY) or fresh
    return element if isinstance(element, str) else fresh


def less(names: Names, others: Iterable[Pattern], rules: Rules) -> Names:
    """The names that none of the other patterns matches."""
    met = {both for other in others for both in meet(names.pattern, other, rules)}
    return Names(names.pattern, names.without | met) if met else names
