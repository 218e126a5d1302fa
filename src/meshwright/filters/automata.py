"""The automaton of a set of patterns: which of them match a name, and which sets of them some name has.

The patterns form a tree of elements. A state of the automaton is the set of places in that tree that the
words of a name lead to. To find all sets of patterns, every state is visited, with every word that makes a
difference there: the words of the tree, and one that stands for all others.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from meshwright.filters.patterns import ANY, MANY, NOTHING_HIDDEN, Element, Partial, Pattern, Rules

State = frozenset[int]
Matched = frozenset[int]
Words = tuple[str, ...]

_FRESH_LETTERS = "xyzuvwabcdefghijklmnopqrst0123456789"
_PRIVATE_USE = 0xE000

_TOLD = 1_000_000
"""After how many steps the progress is told: about every tenth of a second."""

_MOST_LETTER_STEPS = 5_000_000
"""Of the automaton of one word."""

_NO_NAME = ("",)
"""One empty word would be an empty name, which is none, or has no words."""


class TooMuchWorkError(Exception):
    """All states take more steps than allowed; holds the patterns that most of them have in common."""

    def __init__(self, patterns: list[int]) -> None:
        super().__init__(patterns)
        self.patterns = patterns


@dataclass(slots=True)
class _Place:
    """A place in the tree of patterns: what leads on from here, and the pattern that ends here."""

    pattern: int
    words: dict[str, int] = field(default_factory=dict)
    partials: dict[Partial, int] = field(default_factory=dict)
    any: int | None = None
    many: int | None = None
    stays: bool = False
    ends: int | None = None


class Letter(NamedTuple):
    """A word to go on with; `others` says that it stands for any number of words."""

    word: str
    others: bool


class Found(NamedTuple):
    """A name with a set of patterns; all such names, where they can be counted, otherwise None.

    An example of names that can't be counted has a word that stands for others.
    """

    example: Words
    names: tuple[Words, ...] | None


@dataclass
class _Visit:
    example: Words
    names: list[Words] | None


class Automaton:
    """The automaton of patterns that are numbered by their order, all different.

    Words that stand for others are none of `avoid`.
    """

    def __init__(
        self, patterns: Iterable[Pattern], rules: Rules = NOTHING_HIDDEN, avoid: Iterable[str] = ()
    ) -> None:
        self._rules = rules
        self._places = [_Place(pattern=-1)]
        for number, pattern in enumerate(patterns):
            self._add(number, pattern)
        self._known: set[str] = set()
        for place in self._places:
            self._known.update(place.words)
        avoided = {*avoid, *self._known}
        self.fresh = fresh_word(avoided)
        self._avoided_letters = frozenset("".join(avoided))
        self.start = self._closed([0])
        self._steps: dict[tuple[State, str], State] = {}
        self._has_partials = any(place.partials for place in self._places)

    def _add(self, number: int, pattern: Pattern) -> None:
        at = 0
        for element in pattern:
            at = self._child(at, element, number)
        self._places[at].ends = number

    def _child(self, at: int, element: Element, number: int) -> int:
        place = self._places[at]
        found = _child_of(place, element)
        if found is None:
            found = len(self._places)
            self._places.append(_Place(pattern=number, stays=element is MANY))
            if element is ANY:
                place.any = found
            elif element is MANY:
                place.many = found
            elif isinstance(element, Partial):
                place.partials[element] = found
            elif isinstance(element, str):
                place.words[element] = found
        return found

    def _closed(self, places: Iterable[int]) -> State:
        """The places, and those that MANY leads to without a word."""
        own = list(places)
        more = [many for at in own if (many := self._places[at].many) is not None]
        return frozenset(own + more)

    def step(self, state: State, word: str) -> State:
        """The state after another word. Remembered for words of the patterns, and for all others together."""
        if word not in self._known and not self._has_partials and not self._rules.hides:
            word = self.fresh
        key = (state, word)
        found = self._steps.get(key)
        if found is None:
            found = self._closed(self._after(state, word))
            if word in self._known or word == self.fresh:
                self._steps[key] = found
        return found

    def _after(self, state: State, word: str) -> list[int]:
        """The places that a word leads to; the inmost loop of all, so plain steps."""
        places = self._places
        found = [to for at in state if (to := places[at].words.get(word)) is not None]
        if self._rules.hide(word, first=0 in state):
            return found
        for at in state:
            place = places[at]
            if place.any is not None:
                found.append(place.any)
            if place.stays:
                found.append(at)
            if place.partials:
                found += [to for partial, to in place.partials.items() if matches_partial(partial, word)]
        return found

    def matched(self, state: State) -> Matched:
        """The patterns that match a name which ends in this state."""
        ends = (self._places[at].ends for at in state)
        return frozenset(number for number in ends if number is not None)

    def match(self, words: Words) -> Matched:
        """The patterns that match a name."""
        state = self.start
        for word in words:
            state = self.step(state, word)
        return self.matched(state)

    def letters(self, state: State) -> list[Letter]:
        """The words that make a difference in a state, one for each difference."""
        words = {word for at in state for word in self._places[at].words}
        partials = {partial for at in state for partial in self._places[at].partials}
        first = 0 in state
        hides = self._rules.hides
        hidden = {word for word in words if self._rules.hide(word, first=first)} if hides else set()
        plain = sorted(words - hidden)
        found = [Letter(word, False) for word in sorted(hidden)]
        if not partials:
            return [*found, *(Letter(word, False) for word in plain), Letter(self.fresh, True)]
        ordered = tuple(sorted(partials, key=repr))
        try:
            return found + _partial_letters(tuple(plain), ordered, hides or None, self._avoided_letters)
        except TooMuchWorkError:
            ends = (self._places[at].partials.values() for at in sorted(state))
            raise TooMuchWorkError([self._places[at].pattern for own in ends for at in own]) from None

    def sets(
        self,
        most: int,
        *,
        no_words: bool = False,
        not_first: str | None = None,
        tell: Callable[[int], None] | None = None,
    ) -> dict[Matched, Found]:
        """All sets of patterns that the names have, the empty one included, each with an example.

        `no_words` says that there is a name without words, `not_first` is a word that no name begins with.
        `tell` is told how many steps were taken: the places of a state that a letter was tried at, and the
        words of names. Raises TooMuchWorkError beyond `most` of them.
        """
        visits = self._visits(most, not_first, tell)
        if not no_words:
            del visits[self.start]
        found: dict[Matched, Found] = {}
        for state, visit in visits.items():
            matched = self.matched(state)
            names = None if visit.names is None else tuple(visit.names)
            one = Found(visit.example, names)
            found[matched] = _both(found[matched], one) if matched in found else one
        return found

    def _visits(
        self, most: int, not_first: str | None, tell: Callable[[int], None] | None
    ) -> dict[State, _Visit]:
        """Every state, with a name that leads there; all of them, where no other words do."""
        visits: dict[State, _Visit] = {}
        onward: dict[State, list[tuple[Letter, State]]] = {}
        ahead: list[tuple[State, Words, bool]] = [(self.start, (), False)]
        steps = told = 0
        for state, words, others in ahead:
            if words != _NO_NAME and not _is_news(visits, state, words, others):
                continue
            # Not only states are news: before other words lead to a state, all its names are followed.
            if state and state not in onward:
                letters = self.letters(state)
                steps += len(letters) * len(state)
                onward[state] = [(letter, self.step(state, letter.word)) for letter in letters]
            steps += (1 + len(words)) * len(onward.get(state, "."))
            if steps > most:
                raise TooMuchWorkError(self._common(visits))
            if tell is not None and steps > told + _TOLD:
                tell(told := steps)
            if not state:
                continue
            ahead += [
                (after, (*words, letter.word), others or letter.others)
                for letter, after in onward[state]
                if words or letter.word != not_first
            ]
        return visits

    def _common(self, states: Iterable[State]) -> list[int]:
        """The patterns of the wildcards that most states have passed, one for each such place."""
        wild = {at for place in self._places for at in (place.any, place.many) if at is not None}
        counts = Counter(at for state in states if len(state) > 1 for at in state if at in wild)
        return list(dict.fromkeys(self._places[at].pattern for at, _ in counts.most_common(20)))


def _both(one: Found, other: Found) -> Found:
    """The names of both; an example with words that stand for others is better than one without."""
    if one.names is not None and other.names is not None:
        return Found(one.example, (*one.names, *other.names))
    endless = [found.example for found in (one, other) if found.names is None]
    return Found(min(endless, key=_short), None)


def _is_news(visits: dict[State, _Visit], state: State, words: Words, others: bool) -> bool:
    """Note that a name leads to a state; whether this may matter for those after it."""
    visit = visits.get(state)
    if visit is None:
        visits[state] = _Visit(words, None if others else [words])
    elif visit.names is None:
        return False
    elif others:
        visit.example, visit.names = words, None
    else:
        visit.names.append(words)
    return True


def _child_of(place: _Place, element: Element) -> int | None:
    if element is ANY:
        return place.any
    if element is MANY:
        return place.many
    if isinstance(element, Partial):
        return place.partials.get(element)
    return place.words.get(str(element))


def _short(words: Words) -> tuple[int, Words]:
    return len(words), words


def fresh_word(known: set[str]) -> str:
    """A word of one letter that is none of those known."""
    for letter in _FRESH_LETTERS:
        if letter not in known:
            return letter
    code = _PRIVATE_USE
    while chr(code) in known:
        code += 1
    return chr(code)


@cache
def _partial_letters(
    words: Words, partials: tuple[Partial, ...], hides: str | None, avoid: frozenset[str]
) -> list[Letter]:
    """One word for each set of partials and words that a word can match together.

    Found as names are, with letters for words: a word that begins with what wildcards pass over is no word.
    """
    patterns: list[Pattern] = [tuple(word) for word in words]
    patterns += [partial.letters for partial in partials]
    found = Automaton(patterns, avoid=avoid).sets(_MOST_LETTER_STEPS, not_first=hides)
    letters = []
    for matched, one in sorted(found.items(), key=lambda item: _short(item[1].example)):
        is_word = any(number < len(words) for number in matched)
        letters.append(Letter("".join(one.example), not is_word))
    return letters


@cache
def _partial_automaton(partial: Partial) -> Automaton:
    return Automaton([partial.letters])


def matches_partial(partial: Partial, word: str) -> bool:
    """Whether a partial word matches a word, hidden words aside."""
    return bool(_partial_automaton(partial).match(tuple(word)))
