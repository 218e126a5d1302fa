"""Filters as configurations write them, checked before anything is made of them."""

from functools import lru_cache

from meshwright.deploy.configs.source import Findings
from meshwright.deploy.configs.tree import Node
from meshwright.filters.filter import Filter
from meshwright.runtime.errors import MeshwrightError, quoted


@lru_cache(maxsize=100_000)
def filter_of(text: str, dialect: str) -> Filter | str:
    """A text as a filter, or what is wrong with it."""
    try:
        return Filter(text, dialect)
    except (MeshwrightError, UnicodeEncodeError) as error:
        return str(error)


def checked(node: Node, dialect: str, findings: Findings) -> tuple[str, ...]:
    """The filters of a list of texts; those that are none are reported and left out."""
    good: list[str] = []
    for each in node.elements:
        text = each.text
        found = filter_of(text, dialect) if text is not None else None
        if isinstance(found, Filter):
            good.append(found.text)
        elif found is not None:
            what = found.partition("', is no ")[2]
            findings.say("useless-line", "error", f"{quoted(text)} is no {what}", each.place)
    return tuple(good)


def covers(one: str, other: str, dialect: str) -> bool:
    """Whether the first of two texts is a filter that matches all that the second matches."""
    first, second = filter_of(one, dialect), filter_of(other, dialect)
    return isinstance(first, Filter) and isinstance(second, Filter) and first.covers(second)
