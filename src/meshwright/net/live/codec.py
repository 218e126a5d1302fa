"""Messages as bytes and back: a table of classes, and their fields' annotations.

A body is JSON: the name of the class and a list of its fields. Only classes of the table are ever made, and
only from values of the annotated types, and numbers within bounds, so that bytes from a socket can do no more
than a caller of the class could. JSON because it needs no new dependency, keeps whole numbers exact, and can
be read in a trace.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from math import isfinite
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, NoReturn, Union, get_args, get_origin, get_type_hints

import numpy as np

from meshwright.runtime.errors import InputError, OptionError

Reader = Callable[[Any], Any]
"""A value as JSON has it -> the value as the class has it; raises InputError for any other."""


class Between(NamedTuple):
    """The bounds of a whole number, both legal: `Annotated[int, Between(0, 9)]` is a field for a digit."""

    least: int
    most: int


_SIXTY_FOUR_BITS = Between(-(2**63), 2**64 - 1)
"""The range of a whole number without its own bounds: what 64 bits hold, signed or not."""


class Codec:
    """Writes and reads messages of some classes: dataclasses and named tuples.

    Their fields may be bool, int, float, str, bytes, None, Any (then JSON's own types), tuples, frozen sets,
    other such classes, and unions of these. A whole number has 64 bits at most, or the bounds that its
    annotation gives (`Between`). `read(written(message)) == message` where all numbers are within; numpy's
    become Python's. O(size of the message).
    """

    def __init__(self, classes: Iterable[type]) -> None:
        self._names = {cls: cls.__name__ for cls in classes}
        self._readers = {name: _record(cls) for cls, name in self._names.items()}
        if len(self._readers) < len(self._names):
            raise OptionError(f"two of the message classes {sorted(self._names.values())} have the same name")

    def written(self, message: object) -> bytes:
        """The body of a frame."""
        name = self._names.get(type(message))
        if name is None:
            raise OptionError(f"a {type(message).__name__} was sent; the codec knows {self._known()}")
        try:
            return json.dumps(
                [name, _values(message)], default=_plain, separators=(",", ":"), allow_nan=False
            ).encode()
        except (TypeError, ValueError) as error:
            raise OptionError(f"{message!r:.200} can't be sent: {error}; send numbers and text") from None

    def read(self, body: bytes) -> Any:
        """The message in a frame's body; InputError where there is none."""
        try:
            match json.loads(body, parse_constant=_refused, parse_float=_finite):
                case [str(name), list(values)] if name in self._readers:
                    return self._readers[name](values)
                case [str(name), _]:
                    raise InputError(f"there is no message {name!r:.50}; the messages are: {self._known()}")
        except (ValueError, RecursionError) as error:
            raise InputError(f"a message is not JSON: {error!s:.100}") from None
        raise InputError("a message does not have the form [name, [field, …]]")

    def _known(self) -> str:
        return ", ".join(sorted(self._names.values()))


def _values(record: Any) -> list[Any]:
    if isinstance(record, tuple):
        return list(record)
    return [getattr(record, name) for name in _field_names(record.__class__)]


@cache
def _field_names(cls: type) -> tuple[str, ...]:
    if is_dataclass(cls):
        return tuple(field.name for field in fields(cls))
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return tuple(cls._fields)
    raise OptionError(f"{cls.__name__} can't cross a socket; make it a dataclass or a named tuple")


def _plain(value: Any) -> Any:
    """What JSON itself does not know, in its types."""
    if isinstance(value, frozenset):
        return list(value)
    if is_dataclass(value):
        return _values(value)
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a {type(value).__name__} has no form in JSON")


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    return number if isfinite(number) else _refused(text)


def _record(cls: type) -> Reader:
    """A reader of a dataclass or a named tuple, from the list of its fields."""
    names, hints = _field_names(cls), get_type_hints(cls, include_extras=True)
    readers = [_reader(hints[name]) for name in names]

    def read(value: Any) -> Any:
        if not isinstance(value, list) or len(value) != len(readers):
            raise InputError(f"a {cls.__name__} came without its {len(readers)} fields")
        made = [reader(item) for reader, item in zip(readers, value, strict=True)]
        try:
            return cls(*made)
        except Exception as error:  # the class checks itself, and says in its own way what is wrong
            raise InputError(f"a {cls.__name__} is not valid: {error!s:.100}") from error

    return read


def _reader(annotation: Any) -> Reader:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation in _SIMPLE:
        return _SIMPLE[annotation]
    if origin in _COMPOSED:
        return _COMPOSED[origin](*arguments)
    if isinstance(annotation, type):
        return _record(annotation)
    raise OptionError(f"a field of type {annotation} can't cross a socket; see Codec for those that can")


def _exactly(*types: type) -> Reader:
    def read(value: Any) -> Any:
        if type(value) not in types:  # not isinstance: True is an int
            raise InputError(f"a field is {value!r:.50}; it must be of type {types[0].__name__}")
        return value

    return read


def _whole(bounds: Between) -> Reader:
    exactly = _exactly(int)

    def read(value: Any) -> Any:
        if not bounds.least <= exactly(value) <= bounds.most:
            raise InputError(f"a field is {value!r:.50}; it must be from {bounds.least} to {bounds.most}")
        return value

    return read


def _annotated(annotation: Any, *notes: Any) -> Reader:
    bounds = next((note for note in notes if isinstance(note, Between)), None)
    return _reader(annotation) if bounds is None else _whole(bounds)


def _bytes(value: Any) -> bytes:
    try:
        return b64decode(value, validate=True)
    except (TypeError, ValueError):
        raise InputError(
            f"a field is {value!r:.50}, which is not valid base64; send bytes as base64"
        ) from None


def _either(*annotations: Any) -> Reader:
    readers = [_reader(annotation) for annotation in annotations]

    def read(value: Any) -> Any:
        for reader in readers:
            try:
                return reader(value)
            except InputError:
                continue
        raise InputError(f"a field is {value!r:.50}, which is of none of its {len(readers)} types")

    return read


def _many(collection: Callable[[Iterable[Any]], Any], annotation: Any) -> Reader:
    reader = _reader(annotation)

    def read(value: Any) -> Any:
        if not isinstance(value, list):
            raise InputError(f"a field is {value!r:.50}; it must be a list")
        try:
            return collection(map(reader, value))
        except TypeError:
            raise InputError(f"a field is {value!r:.50}; a set can't hold lists") from None

    return read


def _tuple(*annotations: Any) -> Reader:
    if annotations[1:] == (...,):
        return _many(tuple, annotations[0])
    readers = [_reader(annotation) for annotation in annotations]

    def read(value: Any) -> Any:
        if not isinstance(value, list) or len(value) != len(readers):
            raise InputError(f"a field is {value!r:.50}; it must be a list of {len(readers)}")
        return tuple(reader(item) for reader, item in zip(readers, value, strict=True))

    return read


_SIMPLE: Mapping[Any, Reader] = {
    Any: lambda value: value,
    bool: _exactly(bool),
    int: _whole(_SIXTY_FOUR_BITS),
    float: _exactly(float, int),
    str: _exactly(str),
    NoneType: _exactly(NoneType),
    bytes: _bytes,
}

_COMPOSED: Mapping[Any, Callable[..., Reader]] = {
    Union: _either,
    UnionType: _either,
    Annotated: _annotated,
    tuple: _tuple,
    frozenset: partial(_many, frozenset),
}
