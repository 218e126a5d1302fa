"""Filters as sequences of elements, whatever the dialect: words, any word, any number of words."""

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple


class Wild(Enum):
    """The wildcards."""

    ANY = "one word"
    MANY = "any number of words"

    def __repr__(self) -> str:
        return self.name


ANY, MANY = Wild.ANY, Wild.MANY


class Partial(NamedTuple):
    """A word with wildcards inside: characters, and MANY for any number of them."""

    letters: tuple[str | Wild, ...]


Element = str | Wild | Partial
Pattern = tuple[Element, ...]


class Rules(NamedTuple):
    """Which words a wildcard does not match: those that begin with `hides`, everywhere or at the start."""

    hides: str = ""
    everywhere: bool = False

    def hide(self, word: str, *, first: bool) -> bool:
        """Whether a wildcard in this place passes over a word."""
        return bool(self.hides) and (first or self.everywhere) and word.startswith(self.hides)


NOTHING_HIDDEN = Rules()


def normal(elements: Iterable[Element]) -> Pattern:
    """The elements with each run of wildcards in one order: all ANY, then MANY if there is one."""
    return tuple(_normal(elements))


def _normal(elements: Iterable[Element]) -> Iterator[Element]:
    many = False
    for element in elements:
        if element is MANY:
            many = True
            continue
        if many and element is not ANY:
            yield MANY
            many = False
        yield element
    if many:
        yield MANY


def partial_of(word: str, mark: str) -> Element:
    """A word with `mark` for any number of letters, as an element."""
    pieces = word.split(mark)
    letters: list[Element] = list(pieces[0])
    for piece in pieces[1:]:
        letters += [MANY, *piece]
    found = normal(letters)
    return ANY if found == (MANY,) else Partial(found)  # type: ignore[arg-type]


def partial_text(partial: Partial, mark: str) -> str:
    """The word that `partial_of` reads."""
    return "".join(mark if letter is MANY else str(letter) for letter in partial.letters)


def is_plain(pattern: Pattern) -> bool:
    """Whether a pattern is a name: without wildcards."""
    return all(isinstance(element, str) for element in pattern)


def has_simple_form(pattern: Pattern) -> bool:
    """Whether MANY is at the end at most, and no word is partial."""
    return MANY not in pattern[:-1] and not any(isinstance(element, Partial) for element in pattern)


def simple_intersection(one: Pattern, other: Pattern, rules: Rules) -> Pattern | None:
    """The names that two patterns of the simple form both match: one pattern of that form, or None."""
    if len(one) - (MANY in one) < len(other) - (MANY in other):
        one, other = other, one
    longer, shorter = one, other
    if MANY not in shorter and len(longer) - (MANY in longer) > len(shorter):
        return None
    open_end = MANY in longer and MANY in shorter
    found: list[Element] = []
    for at in range(len(longer) - (MANY in longer)):
        theirs = shorter[at] if at < len(shorter) - (MANY in shorter) else ANY
        both = _one_word(longer[at], theirs, rules, first=at == 0)
        if both is None:
            return None
        found.append(both)
    return (*found, MANY) if open_end else tuple(found)


def _one_word(one: Element, other: Element, rules: Rules, *, first: bool) -> Element | None:
    if one == other:
        return one
    if one is not ANY and other is not ANY:
        return None
    word = other if one is ANY else one
    return None if isinstance(word, str) and rules.hide(word, first=first) else word


def intersections(one: Pattern, other: Pattern, rules: Rules, *, first: bool = True) -> set[Pattern]:
    """Patterns that together match just the names that both patterns match.

    Exponential in the number of MANY, which is small in practice: the two orders of each pair of them.
    """
    if not one or not other:
        rest = one or other
        return {()} if all(element is MANY for element in rest) else set()
    found: set[Pattern] = set()
    if one[0] is MANY or other[0] is MANY:
        if other[0] is MANY and one[0] is not MANY:
            one, other = other, one
        found |= _with_many(one, other, rules, first=first)
        return {normal(pattern) for pattern in found}
    for word in _words_of_both(one[0], other[0], rules, first=first):
        found |= {(word, *rest) for rest in intersections(one[1:], other[1:], rules, first=False)}
    return {normal(pattern) for pattern in found}


def _with_many(one: Pattern, other: Pattern, rules: Rules, *, first: bool) -> set[Pattern]:
    """As above, where `one` begins with MANY: it takes nothing, or what `other` begins with."""
    found = intersections(one[1:], other, rules, first=first)
    if other[0] is MANY:
        found |= intersections(one, other[1:], rules, first=first)
        return {(MANY, *rest) for rest in found}
    if not (isinstance(other[0], str) and rules.hide(other[0], first=first)):
        found |= {(other[0], *rest) for rest in intersections(one, other[1:], rules, first=False)}
    return found


def _words_of_both(one: Element, other: Element, rules: Rules, *, first: bool) -> set[Element]:
    if not isinstance(one, Partial) and not isinstance(other, Partial):
        both = _one_word(one, other, rules, first=first)
        return set() if both is None else {both}
    if isinstance(one, Partial) and other is ANY:
        return {one}
    if isinstance(other, Partial) and one is ANY:
        return {other}
    if any(isinstance(word, str) and rules.hide(word, first=first) for word in (one, other)):
        return set()
    found = intersections(_letters(one), _letters(other), NOTHING_HIDDEN)
    return {_word(letters) for letters in found if letters}


def _word(letters: Pattern) -> Element:
    if is_plain(letters):
        return "".join(map(str, letters))
    return Partial(tuple(letter for letter in letters if not isinstance(letter, Partial)))


def _letters(element: Element) -> Pattern:
    if isinstance(element, Partial):
        return element.letters
    assert isinstance(element, str)
    return tuple(element)
