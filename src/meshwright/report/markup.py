"""HTML made of small pieces: whatever is not known to be HTML is escaped."""

import html
from collections.abc import Iterable

_LONGEST = 80
_JOINERS = "\u200c\u200d"  # not printable by themselves, and part of words in Persian and of emoji
_ALONE = frozenset(("meta", "img", "br", "col"))


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Child = str | Html


def tag(name: str, *children: Child, **attributes: str | None) -> Html:
    """An element; text among its children is escaped. `class_` is `class`, `aria_label` is `aria-label`.

    An attribute that is None is left out.
    """
    written = "".join(
        f' {key.strip("_").replace("_", "-")}="{html.escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _ALONE:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{joined(children)}</{name}>")


def joined(children: Iterable[Child]) -> Html:
    """Pieces one after the other, escaped where they are text."""
    return Html("".join(child if isinstance(child, Html) else html.escape(child) for child in children))


def legible(text: str, longest: int = _LONGEST) -> str:
    """A name from the data, cut to a length, with what can't be seen (or turns text around) made visible."""
    cut = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return "".join(
        letter
        if letter.isprintable() or letter in _JOINERS
        else letter.encode("unicode_escape", "surrogatepass").decode("ascii")
        for letter in cut
    )


def name(text: str, longest: int = _LONGEST) -> Html:
    """A name from the data, apart from the direction of the text around it."""
    return tag("bdi", legible(text, longest), class_="name")
