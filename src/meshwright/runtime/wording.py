"""Words that messages share: counts in singular and plural, and what a misspelt name may have meant."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from shlex import quote

_MOST_MEANT = 2


def count(number: int, thing: str = "", things: str | None = None) -> str:
    """A whole number with commas: "1 link", "2,000 links"."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}" if thing else f"{number:,}"


def counts(numbers: Mapping[str, int]) -> str:
    """Counts by what is counted, in the plural: "2 nodes, 1 topic"."""
    return ", ".join(count(number, things.removesuffix("s")) for things, number in numbers.items())


def type_of(value: object) -> str:
    """The type of a value with its article: "a list", "an Interests"."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'AEIOaeiou' else 'a'} {name}"


def as_word(path: object) -> str:
    """A path as one word of a command to copy; as seen from this folder, if it is below it."""
    word = str(path)
    with suppress(OSError, ValueError):
        word = str(Path(word).relative_to(Path.cwd()))
    return quote(word)


def near(given: object, known: Iterable[str]) -> list[str]:
    """At most two of the known names that are like what was given, first those that look the same.

    Upper and lower case look the same, and so do _ and -; blanks are not seen.
    """
    look = _look(str(given))
    names = [name for name in known if name != given]
    by_look = {_look(name): name for name in reversed(names)}
    alike = get_close_matches(look, by_look, n=_MOST_MEANT, cutoff=0.5 if len(look) <= 3 else 0.6)
    same = [name for name in names if _look(name) == look]
    return list(dict.fromkeys([*same, *(by_look[each] for each in alike)]))[:_MOST_MEANT]


def _look(name: str) -> str:
    return "".join(name.casefold().replace("_", "-").split())


def meant(given: object, known: Iterable[str], shown: Callable[[str], str] = str) -> str:
    """The question "did you mean ring? ", with those of `known` that are near what was given, or nothing."""
    names = near(given, known)
    return f"did you mean {' or '.join(map(shown, names))}? " if names else ""


def choose(given: object, known: Iterable[str]) -> str:
    """What to do about a name that is none of `known`: "did you mean gm? Otherwise choose among dc, gm"."""
    names = list(known)
    if not names:
        return "there is none to choose"
    near = meant(given, names)
    return f"{near}{'Otherwise choose' if near else 'choose'} among {', '.join(names)}"
