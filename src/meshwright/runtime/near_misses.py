"""Names that were probably meant in place of one that does not exist."""

from collections.abc import Iterable
from difflib import get_close_matches

_MOST = 2
_ALIKE = 0.6


def near(name: str, known: Iterable[str]) -> list[str]:
    """At most two of the known names that are like `name`: first those that differ by case or blanks."""
    names = [other for other in known if other != name]
    same = [other for other in names if _look(other) == _look(name)]
    by_look = {_look(other): other for other in reversed(names)}
    close = [by_look[look] for look in get_close_matches(_look(name), by_look, n=_MOST, cutoff=_ALIKE)]
    return list(dict.fromkeys([*same, *close]))[:_MOST]


def _look(name: str) -> str:
    return "".join(name.casefold().split())


def meant(name: str, known: Iterable[str]) -> str:
    """A question to put before the way out, such as "did you mean 'csv'? Otherwise "; "" without a guess."""
    guesses = near(name, known)
    return f"did you mean {' or '.join(map(repr, guesses))}? Otherwise " if guesses else ""
