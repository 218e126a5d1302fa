"""Numbers as people read them."""

from collections.abc import Sequence
from itertools import accumulate

_WORDS = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))
_SIGNS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def count(number: int, thing: str = "", things: str | None = None) -> str:
    """A whole number with commas: "1 link", "2,000 links"."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}" if thing else f"{number:,}"


def spoken(number: float) -> str:
    """A large number in words: "3.31 billion"; a smaller one as it is."""
    for size, word in _WORDS:
        if number >= size:
            return f"{f'{number / size:,.2f}'.rstrip('0').rstrip('.')} {word}"
    return f"{number:,.0f}"


def decimal(number: float) -> str:
    """Three or more digits: "0.0123", "5.27", "1,234"."""
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


def times(number: float) -> str:
    """A ratio: "1.21", "2.9", "1,300"."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.2f}"


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
