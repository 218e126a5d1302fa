"""What a manifest states, taken out by its type: the manifest is whole, and may still be wrong."""

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from meshwright.errors import DatasetError

Stated = TypeVar("Stated", bound=str | int | float | dict[str, Any] | list[Any])
MOST = 2**62
"""Of what a manifest counts: sums and products of a few such numbers are legal in Python, and absurd."""

_WORDS = {str: "text", int: "a whole number", float: "a number", dict: "an object", list: "a list"}


def stated(held: Mapping[str, Any], key: str, kind: type[Stated], where: object) -> Stated:
    """What a manifest, or a part of it, states under a key; DatasetError where it is of another type."""
    value = held.get(key)
    if type(value) is not kind:
        came = f"has no {key!r}" if key not in held else f"states {key!r} as {value!r:.60}"
        raise DatasetError(f"{where} {came}; {_WORDS[kind]} is legal: write the dataset again")
    return value


def counted(manifest: Mapping[str, Any], names: Collection[str], where: object) -> dict[str, int]:
    """What a manifest counts: whole numbers from 0 on, under all of these names."""
    counts = stated(manifest, "counts", dict, where)
    found = {name: stated(counts, name, int, f"{where}, counts") for name in names}
    for name, count in found.items():
        if not 0 <= count <= MOST:
            raise DatasetError(
                f"{where} counts {count:,} {name}; 0 to 2^62 are legal: write the dataset again"
            )
    return found
