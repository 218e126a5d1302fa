"""Names and their ids: an id is the rank of the name in UTF-8 byte order.

Names are compared byte by byte, as they came: no trimming, no folding of case, no Unicode normalisation. They
stay in Arrow arrays all the way, so that a million of them cost a few bytes each and no Python objects.
"""

from bisect import bisect_left
from collections.abc import Iterable
from itertools import takewhile
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.runtime.arrays import Ids, Offsets
from meshwright.runtime.columns import arrow_of, numpy_of
from meshwright.runtime.errors import CapacityError, InputError, one_line
from meshwright.runtime.wording import meant, type_of

NameSource: TypeAlias = Iterable[str] | pa.Array | pa.ChunkedArray

MAX_NAME_BYTES = 2**31 - 1
"""Arrow addresses the bytes of a string array with int32; so names run out before int32 ids do."""

_MOST_COMPARED = 10_000
"""Names that are compared with a wrong one letter by letter, at some 10 microseconds each."""

_WAIT_FOR_NAMES = 1 << 18
_WAIT_FOR_TIMES = 4


def name_array(names: NameSource, what: str) -> pa.StringArray:
    """`names` as one Arrow string array; `what` ("node", "topic") is for the error if one is no string."""
    if isinstance(names, pa.Array | pa.ChunkedArray):
        return _joined(names.chunks if isinstance(names, pa.ChunkedArray) else [names], what)
    if isinstance(names, str):
        raise InputError(f"the {what}s are the single string {names!r}; give a list of {what} names")
    values = list(names)
    check_all_strings(values, what)
    return encoded(values, what)


def check_all_strings(values: list[str], what: str, first: int = 1) -> None:
    """Refuse what is no string or is empty; `first` is the number of the first of `values`."""
    for number, value in enumerate(values, first):
        if not isinstance(value, str):
            raise InputError(
                f"{what} {number} is {value!r}, {type_of(value)}; names are strings: "
                f'use str(...), since 7 and "007" must not silently match'
            )
        if not value:
            raise InputError(f"{what} {number} is an empty string; every name needs at least one character")


def encoded(values: list[str], what: str) -> pa.StringArray:
    """Python strings as an Arrow array; a lone surrogate has no UTF-8 form and is refused."""
    try:
        array = pa.array(values, pa.string())
    except UnicodeEncodeError as error:
        raise InputError(
            f"{what} {error.object!r} holds a lone surrogate; names must be valid Unicode"
        ) from None
    if isinstance(array, pa.ChunkedArray):
        raise _too_many_bytes(what)
    return array


def _joined(chunks: list[pa.Array], what: str) -> pa.StringArray:
    """String arrays of any flavour as one `string` array."""
    for chunk in chunks:
        if not is_text(chunk.type):
            raise InputError(f"the names of the {what}s are of type {chunk.type}; cast them to string")
        if chunk.null_count:
            raise InputError(f"the names of the {what}s have {chunk.null_count} nulls; every id needs a name")
    if sum(_text_bytes(chunk) for chunk in chunks) > MAX_NAME_BYTES:
        raise _too_many_bytes(what)
    return pa.concat_arrays([chunk.cast(pa.string()) for chunk in chunks] or [pa.nulls(0, pa.string())])


def is_text(kind: pa.DataType) -> bool:
    """Whether `kind` is one of Arrow's string types."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _text_bytes(array: pa.Array) -> int:
    lengths = array.cast(pa.large_string()) if pa.types.is_string_view(array.type) else array
    return int(pc.sum(pc.binary_length(lengths)).as_py() or 0)


def _too_many_bytes(what: str) -> CapacityError:
    return CapacityError(
        f"the names of the {what}s take more than {MAX_NAME_BYTES:,} bytes together, the most that an Arrow "
        f"string array holds; use shorter names, for example numbers as strings"
    )


def check_names(names: pa.StringArray, what: str) -> None:
    """Refuse names that are empty, not valid UTF-8, or not strictly rising in byte order. Linear."""
    try:
        names.validate(full=True)
    except pa.ArrowInvalid as error:
        raise InputError(f"the names of the {what}s are not valid UTF-8: {one_line(error)}") from None
    if len(names) and not names[0].as_py():
        raise InputError(f"{what} 0 has an empty name; every name needs at least one character")
    rises = pc.less(names.slice(0, max(len(names) - 1, 0)), names.slice(1))
    if rises.false_count:
        at = pc.index(rises, False).as_py()
        first, second = names[at].as_py(), names[at + 1].as_py()
        rule = "names must be unique" if first == second else "names must be sorted in UTF-8 byte order"
        raise InputError(f"{what} {at} is {first!r} and {what} {at + 1} is {second!r}; {rule}")


def find(names: pa.StringArray, name: str, what: str) -> int:
    """The id of `name` among sorted names, by bisection."""
    if not isinstance(name, str):
        raise InputError(f"{what} {name!r} is {type_of(name)}; names are strings")
    wanted = name.encode("utf-8", "surrogatepass")
    at = bisect_left(range(len(names)), wanted, key=lambda i: names[i].as_py().encode())
    if at == len(names) or names[at].as_py() != name:
        question = meant_name(names, name).strip()
        raise InputError(
            f"there is no {what} {name!r} among the {len(names):,} {what}s{question and f'; {question}'}"
        )
    return at


def meant_name(names: pa.StringArray, name: str) -> str:
    """The question "did you mean 'Adelaide'? ", or nothing; of very many names only case and blanks count."""
    if len(names) > _MOST_COMPARED:
        looks = pc.utf8_lower(pc.utf8_trim_whitespace(names))
        names = names.filter(pc.equal(looks, name.strip().lower()))
    return meant(name, names.to_pylist(), repr)


def lookup(names: pa.StringArray, wanted: pa.StringArray) -> Ids:
    """The place of each wanted name among `names`, or -1. Linear."""
    found: Ids = pc.index_in(wanted, value_set=names).fill_null(-1).to_numpy()
    return found


def ranks(names: pa.StringArray) -> tuple[pa.StringArray, Ids]:
    """The sorted names, each once, and for each of the names given its rank. O(n log n)."""
    order = _sorting(names)
    ordered = names.take(arrow_of(order))
    first = np.ones(len(names), np.bool_)
    if len(names):
        first[1:] = numpy_of(pc.not_equal(ordered.slice(1), ordered.slice(0, len(names) - 1)))
    rank = np.empty(len(names), np.int32)
    rank[order] = np.cumsum(first) - 1
    return ordered.filter(arrow_of(first)), rank


_KEY_BYTES = 8
_MOST_KEYS = 3


def _sorting(names: pa.StringArray) -> Offsets:
    """The places of the names in their order.

    All names have the beginning that the least and the greatest share. Where little is left after it, what is
    left is sorted as a few numbers: 0.6 to 0.9 s of processor time for three million names
    instead of 1.5 to 1.8 s.
    """
    # As bytes: names that are no text are refused later, by those who know where they come from.
    ends = pc.min_max(names.view(pa.binary())).as_py()
    least, greatest = (ends[end] or b"" for end in ("min", "max"))
    alike = (one == other for one, other in zip(least, greatest, strict=False))
    shared = sum(takewhile(bool, alike))
    lengths = numpy_of(pc.binary_length(names)) - np.int32(shared)
    keys = -(-int(lengths.max(initial=0)) // _KEY_BYTES)
    if keys > _MOST_KEYS:
        return numpy_of(pc.sort_indices(names))
    columns = [_key(names, shared + at * _KEY_BYTES, lengths - at * _KEY_BYTES) for at in range(keys)]
    if keys == 1:
        order = np.argsort(columns[0])
        ordered = columns[0][order]
        if (ordered[1:] > ordered[:-1]).all():
            return order
    # A name that ends is filled up with zeros, and may differ from one that goes on with them.
    return np.lexsort([lengths.astype(np.uint64), *columns[::-1]])


def _key(names: pa.StringArray, skipped: int, left: npt.NDArray[np.int32]) -> npt.NDArray[np.uint64]:
    """The eight bytes of each name after those that are skipped, of which it has `left`, as a number."""
    _, offsets, data = names.buffers()
    starts = np.frombuffer(offsets, np.int32)[names.offset : names.offset + len(names)].astype(np.int64)
    text = np.concatenate([np.frombuffer(data or b"", np.uint8), np.zeros(_KEY_BYTES, np.uint8)])
    at_each_byte = np.ndarray((len(text) - _KEY_BYTES + 1,), ">u8", text, strides=(1,))
    found = at_each_byte[np.minimum(starts + skipped, len(text) - _KEY_BYTES)].astype(np.uint64)
    missing = (8 * (_KEY_BYTES - np.clip(left, 0, _KEY_BYTES))).astype(np.uint64)
    kept: npt.NDArray[np.uint64] = np.where(missing < 64, found >> missing << missing, np.uint64(0))
    return kept


def numbered(prefix: str, count: int) -> pa.StringArray:
    """`count` generated names: `prefix` and the number, zero-padded so that rank and number are the same."""
    width = len(prefix.encode()) + len(str(max(count - 1, 0)))
    if count * width > MAX_NAME_BYTES:
        raise CapacityError(
            f"{count:,} names of {width} bytes do not fit; at most {MAX_NAME_BYTES // width:,} do"
        )
    return numbered_within(prefix, count, 0, count)


def numbered_within(prefix: str, count: int, first: int, last: int) -> pa.StringArray:
    """Those of `count` generated names whose numbers are from `first` to below `last`."""
    head = prefix.encode()
    digits = len(str(max(count - 1, 0)))
    width = len(head) + digits
    number = np.arange(first, last)
    text = np.empty((len(number), width), np.uint8)
    text[:, : len(head)] = np.frombuffer(head, np.uint8)
    for place in range(digits):
        text[:, width - 1 - place] = ord("0") + number // 10**place % 10
    offsets = np.arange(0, (len(number) + 1) * width, width, dtype=np.int32)
    return pa.StringArray.from_buffers(len(number), pa.py_buffer(offsets), pa.py_buffer(text))


class NameEncoder:
    """Turns a stream of dictionary-encoded chunks of names into ids, holding each name once.

    Chunks wait until they bring some times as many names as are known already, so that the known names are
    hashed a logarithmic number of times, and those that wait weigh no more than a few times those known.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._known: pa.StringArray = pa.nulls(0, pa.string())
        self._waiting: list[pa.DictionaryArray] = []
        self._waiting_names = 0
        self._ids: list[Ids] = []

    def add(self, chunk: pa.DictionaryArray) -> None:
        """Take in a chunk of type dictionary<int32, string> without nulls."""
        self._waiting.append(chunk)
        self._waiting_names += len(chunk.dictionary)
        if self._waiting_names >= max(_WAIT_FOR_TIMES * len(self._known), _WAIT_FOR_NAMES):
            self._flush()

    def finish(self, kept: pa.StringArray) -> tuple[Ids, pa.StringArray]:
        """All chunks as ids, one after the other, and the sorted names: those in use, and those of `kept`."""
        self._flush()
        also = self._absorb([kept.dictionary_encode()])
        used = np.zeros(len(self._known), np.bool_)
        for ids in (*self._ids, *also):
            used[ids] = True
        names, rank_of_used = ranks(self._known.filter(arrow_of(used)))
        rank = np.full(len(used), -1, np.int32)
        rank[used] = rank_of_used
        result = np.concatenate([np.empty(0, np.int32), *self._ids])
        self._ids = []
        return np.take(rank, result, out=result, mode="clip"), names  # "raise" would copy to keep `out` whole

    def _flush(self) -> None:
        if self._waiting:
            self._ids += self._absorb(self._waiting)
            self._waiting, self._waiting_names = [], 0

    def _absorb(self, chunks: list[pa.DictionaryArray]) -> list[Ids]:
        """Make the names of `chunks` known, and turn the chunks into ids; known names keep their ids."""
        known = pa.DictionaryArray.from_arrays(pa.nulls(0, pa.int32()), self._known)
        try:
            merged = pa.chunked_array([known, *chunks]).unify_dictionaries().chunks
        except (pa.ArrowInvalid, pa.ArrowCapacityError) as error:
            raise _too_many_bytes(self._what) from error
        self._known = merged[0].dictionary
        if _text_bytes(self._known) > MAX_NAME_BYTES:
            raise _too_many_bytes(self._what)
        return [numpy_of(chunk.indices) for chunk in merged[1:]]
