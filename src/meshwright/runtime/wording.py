"""Words that messages share: counts in singular and plural, and what a misspelt name may have meant."""

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches

_MOST_MEANT = 2


def count(number: int, thing: str = "", things: str | None = None) -> str:
    """A whole number with commas: "1 link", "2,000 links"."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}" if thing else f"{number:,}"


def counts(numbers: Mapping[str, int]) -> str:
    """Counts by what is counted, in the plural: "2 nodes, 1 topic"."""
    return ", ".join(count(number, things.removesuffix("s")) for things, number in numbers.items())


def meant(given: object, known: Iterable[str], shown: Callable[[str], str] = str) -> str:
    """The question "did you mean ring? ", with those of `known` that are near what was given, or nothing.

    Upper and lower case are the same here, and so are _ and -.
    """
    by_key = {_key(name): name for name in known}
    key = _key(str(given))
    near = get_close_matches(key, by_key, n=_MOST_MEANT, cutoff=0.5 if len(key) <= 3 else 0.6)
    names = [by_key[key]] if key in by_key else [by_key[each] for each in near]
    return f"did you mean {' or '.join(map(shown, names))}? " if names else ""


def _key(name: str) -> str:
    return name.casefold().replace("_", "-").strip()


def choose(given: object, known: Iterable[str]) -> str:
    """What to do about a name that is none of `known`: "did you mean gm? Otherwise choose among dc, gm"."""
    names = list(known)
    if not names:
        return "there is none to choose"
    near = meant(given, names)
    return f"{near}{'Otherwise choose' if near else 'choose'} among {', '.join(names)}"
