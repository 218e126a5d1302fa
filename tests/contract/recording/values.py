"""What is recorded of a value: JSON that is the same on every machine.

Seconds, versions and paths are masked, and so is prose, which may be reworded. Long values become digests.
"""

import json
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa

import meshwright as mw

MASK = "varies"
_MASKED = {"seconds", "steps", "versions", "master", "checksum", "modified", "bytes", "estimated_bytes"}
_MASKED_ENDINGS = ("_seconds", "_milliseconds")
_PROSE = {"summary", "rejected_reasons", "alternatives", "chosen", "reason"}
_LONGEST = 12


def digest(data: bytes | str) -> str:
    """A short fingerprint."""
    return blake2b(data.encode() if isinstance(data, str) else data, digest_size=8).hexdigest()


def array_digest(values: Any) -> str | None:
    """A fingerprint of an array's shape, type and content; None stays None."""
    if values is None:
        return None
    array = np.ascontiguousarray(values)
    return digest(f"{array.dtype.str} {array.shape} ".encode() + array.tobytes())


def table(value: pa.Table, folder: str = "", *, ordered: bool = True) -> dict[str, Any]:
    """The columns of a table, and a fingerprint of its rows without what is masked."""
    kept = value.drop_columns([name for name in value.column_names if _is_masked(name)])
    rows = [json.dumps(row, sort_keys=True, ensure_ascii=False) for row in kept.to_pylist()]
    rows = [row.replace(folder, "DIR") for row in rows] if folder else rows
    return {
        "columns": {field.name: str(field.type) for field in value.schema},
        "rows": value.num_rows,
        "digest": digest("\n".join(rows if ordered else sorted(rows))),
    }


def overlay(value: mw.Overlay) -> dict[str, Any]:
    """The links of an overlay, what they cost, its tables and the facts."""
    return {
        "links": len(value),
        "edges": array_digest(value.edges),
        "costs": array_digest(value.costs),
        "tables": {name: table(own) for name, own in value.tables.items()},
        "facts": plain(value.facts),
    }


def interests(value: mw.Interests) -> str:
    """A fingerprint of who is interested in what, names included."""
    names = json.dumps([value.nodes.to_pylist(), value.topics.to_pylist()])
    return digest(f"{names} {array_digest(value.indptr)} {array_digest(value.topic_ids)}")


def plain(value: Any, folder: str = "") -> Any:
    """A value as JSON keeps it, masked, without the path of `folder`, and with long parts as digests."""
    return _short(json.loads(json.dumps(value, default=_known)), folder)


def rounded(value: Any) -> Any:
    """JSON with nine digits of every number: the last ones of a fitted number are the machine's."""
    return json.loads(json.dumps(value), parse_float=lambda text: float(f"{float(text):.9g}"))


def _known(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else str(value)


def _short(value: Any, folder: str) -> Any:
    if isinstance(value, dict):
        kept = {key: MASK if _is_masked(key) else _short(own, folder) for key, own in value.items()}
        return kept if len(kept) <= 4 * _LONGEST else _fingerprint(kept)
    if isinstance(value, list):
        kept_items = [_short(own, folder) for own in value]
        return kept_items if len(kept_items) <= _LONGEST else _fingerprint(kept_items)
    if isinstance(value, str) and folder:
        return value.replace(folder, "DIR")
    return value


def _is_masked(key: str) -> bool:
    return key in _MASKED or key in _PROSE or key.endswith(_MASKED_ENDINGS)


def _fingerprint(value: Any) -> dict[str, Any]:
    return {"length": len(value), "digest": digest(json.dumps(value, sort_keys=True))}
