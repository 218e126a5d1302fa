"""HTML made of small pieces, and numbers as people read them. What is not known to be HTML is escaped."""

import html
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from meshwright.runtime import wording
from meshwright.runtime.errors import visible

count = wording.count

_WORDS = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))
_SIGNS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def spoken(number: float) -> str:
    """A large number in words: "3.31 billion"; a smaller one as it is."""
    for size, word in _WORDS:
        if number >= size:
            return f"{f'{number / size:,.2f}'.rstrip('0').rstrip('.')} {word}"
    return f"{number:,.0f}"


def decimal(number: float) -> str:
    """Three or more digits: "0.0123", "5.27", "1,234"."""
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


def amount(cost: float, unit: str) -> str:
    """A cost, and what it is counted in where that is known, on the same line: "5.27", "1,234 ms"."""
    return f"{decimal(cost)}\N{NO-BREAK SPACE}{legible(unit, _LONGEST_UNIT)}" if unit else decimal(cost)


def times(number: float) -> str:
    """A ratio: "1.21", "2.9", "1,300"."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.2f}"


def of_the_least(ratio: float, subject: str) -> str:
    """How far something is from the least possible, by a ratio to its lower bound, as a sentence.

    `subject` has the verb: "this one costs".
    """
    if ratio < 1 + _ROUNDING:
        return f"{subject} the least possible. "
    return f"{subject} at most {times(max(ratio, 1.01))} times the least possible. "


def percent(share: float) -> str:
    """A share of 1; what is under one in ten thousand is not called nothing."""
    if 0 < share < 1e-4:
        return "under 0.01%"
    return f"{100 * share:.3g}%" if share < 1 else f"{100 * share:,.0f}%"


def tick(number: float, _: float = 0) -> str:
    """A number on an axis: 100, 1k, 20M."""
    for size, sign in _SIGNS:
        if number >= size:
            return f"{number / size:g}{sign}"
    return f"{number:g}"


def seconds(number: float) -> str:
    """A length of time: "0.42 s", "12 s", "3 min 20 s", "1 h 02 min"."""
    if number < 9.95:
        return f"{number:.2g} s" if number < 1 else f"{number:.1f} s"
    whole = round(number)
    if whole < 60:
        return f"{whole} s"
    if whole < 3_600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3_600} h {whole % 3_600 // 60:02d} min"


def median(values: Sequence[int], counts: Sequence[int]) -> int:
    """The value that half of all things have at most; `counts` says how many have each, values rising."""
    middle = (sum(counts) + 1) // 2
    return next(value for value, seen in zip(values, accumulate(counts), strict=True) if seen >= middle)


_ROUNDING = 1e-6
_LONGEST = 80
_LONGEST_UNIT = 20
_MOST_VALUES = 8
_BLANK = "␣"
_FITS_A_TILE = 14


AT_MOST = "at most "
"""What the number of a tile may begin with; it is written smaller."""


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, *children: str, **attributes: str | None) -> Html:
    """An element; text among its children is escaped. `class_` is `class`, `aria_label` is `aria-label`.

    An attribute that is None is left out.
    """
    written = "".join(
        f' {key.strip("_").replace("_", "-")}="{html.escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{written}>{joined(children)}</{name}>")


def joined(children: Iterable[str]) -> Html:
    """Pieces one after the other, escaped where they are text."""
    return Html("".join(child if isinstance(child, Html) else html.escape(child) for child in children))


def legible(text: str, longest: int = _LONGEST) -> str:
    """A name from the data, cut to a length, with what can't be seen (or turns text around) made visible.

    A blank at the beginning or the end is shown as ␣.
    """
    shown = visible(text if len(text) <= longest else f"{text[: longest - 1]}…")
    inner = shown.strip(" ")
    begin = len(shown) - len(shown.lstrip(" ")) if inner else len(shown)
    return f"{_BLANK * begin}{inner}{_BLANK * (len(shown) - begin - len(inner))}"


def name(text: str, longest: int = _LONGEST) -> Html:
    """A name from the data, apart from the direction of the text around it."""
    return tag("bdi", legible(text, longest), class_="name")


def as_text(value: Any) -> str:
    """A value of a table for people; not yet escaped, and of any length."""
    if value is None or value in ({}, []):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return count(value)
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        value = [f"{key}: {as_text(one)}" for key, one in value.items()]
    if isinstance(value, list | tuple):
        more = f", … ({count(len(value))} in all)" if len(value) > _MOST_VALUES else ""
        return ", ".join(as_text(one) for one in value[:_MOST_VALUES]) + more
    return str(value)


def section(anchor: str, heading: str, *children: str) -> Html:
    """A part of the page that the list of contents can lead to."""
    return tag("section", tag("h2", heading), *children, id=anchor)


def table(
    label: str, headings: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[int] = ()
) -> Html:
    """A table in a box of its own, which scrolls if it must; `numbers` are the columns that hold numbers.

    The first column is the heading of its row.
    """
    head = tag("tr", *(_cell("th", text, at in numbers, "col") for at, text in enumerate(headings)))
    body = [
        tag(
            "tr",
            *(
                _cell("td" if at else "th", text, at in numbers, None if at else "row")
                for at, text in enumerate(row)
            ),
        )
        for row in rows
    ]
    whole = tag("table", tag("thead", head), tag("tbody", *body))
    return tag("div", whole, class_="box", role="region", aria_label=label, tabindex="0")


def _cell(kind: str, text: str, number: bool, scope: str | None) -> Html:
    return tag(kind, text, scope=scope, class_="number" if number else None)


def figure(picture: Html, *caption: str, class_: str | None = None) -> Html:
    """A picture with what it shows in words."""
    return tag("figure", picture, tag("figcaption", *caption), class_=class_)


def tiles(pairs: Iterable[tuple[str, str]]) -> Html:
    """A few numbers that matter, each above its words."""
    return tag(
        "dl", *(tag("div", tag("dt", words), _number(number)) for number, words in pairs), class_="tiles"
    )


def _number(text: str) -> Html:
    """The number of a tile; one that does not fit may break between number and unit, and nowhere else."""
    number = text.removeprefix(AT_MOST)
    if len(number) > _FITS_A_TILE:
        number = number.replace("\N{NO-BREAK SPACE}", " ")
    return tag("dd", *([tag("small", AT_MOST)] if number != text else []), number)
