"""Values that JSON can hold."""

import dataclasses
import json
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from meshwright.runtime.errors import InputError
from meshwright.runtime.wording import type_of

if TYPE_CHECKING:
    import pandas as pd


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
    raise TypeError(f"{type_of(value)} has no JSON form")


def compact(value: Any) -> str:
    """A value of JSON's types as one line without blanks; letters of any script as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def records(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """The rows of a frame in JSON's types, such as those of `compare`; what is missing is None.

    Whole numbers stay whole, and numbers keep all their digits.

    Example:
        >>> import json
        >>> import meshwright as mw
        >>> pairs = [("b1", "news"), ("b2", "news"), ("b2", "sport"), ("b3", "sport")]
        >>> frame = mw.compare(mw.Interests.from_pairs(pairs), ["gm", "ring"])
        >>> [(row["algorithm"], row["links"], row["cost"]) for row in mw.records(frame)]
        [('gm', 2, None), ('ring', 2, None)]
        >>> text = json.dumps(mw.records(frame))
    """
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"records got {type_of(frame)}; give a pandas frame, such as that of compare")
    rows = [
        {name: None if pd.isna(value) else value for name, value in row.items()}
        for row in frame.to_dict("records")
    ]
    return plain(rows, "the frame")  # type: ignore[no-any-return]
