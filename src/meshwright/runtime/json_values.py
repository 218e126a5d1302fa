"""Values that JSON can hold."""

import dataclasses
import json
from pathlib import PurePath
from typing import Any

import numpy as np

from meshwright.runtime.errors import InputError


def plain(value: Any, what: str) -> Any:
    """A deep copy of `value` in JSON's types; numpy scalars, paths and dataclasses are translated.

    Half of a character (a lone surrogate, which JSON can spell) is refused: no file could hold it.
    """
    try:
        text = json.dumps(value, default=_translated, allow_nan=False, ensure_ascii=False)
        return json.loads(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"{what} can't be written as JSON: {error}; use numbers, strings, lists and dicts"
        ) from None


def _translated(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, PurePath):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    raise TypeError(f"a {type(value).__name__} has no JSON form")


def compact(value: Any) -> str:
    """A value of JSON's types as one line without blanks; letters of any script as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
