"""Messages as bytes and back, and what is no message."""

import json
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import meshwright as mw
from meshwright.net.live.codec import Between, Codec
from meshwright.routing.protocols import Message, Publication, RangedMessage
from meshwright.stan import messages as gossip


class Place(NamedTuple):
    x: float
    name: str | None


@dataclass(frozen=True, slots=True)
class Everything:
    flag: bool
    nodes: frozenset[int]
    row: tuple[int, str]
    places: tuple[Place, ...]
    content: bytes
    either: int | str


@dataclass(frozen=True)
class Positive:
    number: int

    def __post_init__(self):
        if self.number <= 0:
            raise mw.OptionError(f"number is {self.number}; give one above 0")


numbers = st.integers(-(2**63), 2**64 - 1)
reals = st.floats(allow_nan=False, allow_infinity=False)
places = st.builds(Place, reals, st.none() | st.text(max_size=5))
everything = st.builds(
    Everything,
    st.booleans(),
    st.frozensets(numbers, max_size=5),
    st.tuples(numbers, st.text(max_size=5)),
    st.lists(places, max_size=3).map(tuple),
    st.binary(max_size=9),
    numbers | st.text(max_size=5),
)


def legal(annotation):
    """All values of a field of the gossip messages that a socket may bring."""
    arguments = get_args(annotation)
    if get_origin(annotation) is tuple:
        return st.lists(legal(arguments[0]), max_size=4).map(tuple)
    if get_origin(annotation) is Annotated:
        return st.integers(*arguments[1])
    return st.binary(max_size=9) if annotation is bytes else numbers


def legal_messages(kind):
    fields = get_type_hints(kind, include_extras=True)
    return st.builds(kind, **{name: legal(annotation) for name, annotation in fields.items()})


said = st.one_of(legal_messages(kind) for kind in get_args(gossip.Message))
carried = st.builds(Message, st.builds(Publication, numbers, numbers, st.none() | st.text()), numbers)

codec = Codec([Everything, Place, Positive, Message, RangedMessage, *get_args(gossip.Message)])


@given(everything | places | said | carried)
def test_a_message_is_read_as_it_was_written(message):
    read = codec.read(codec.written(message))
    assert read == message
    assert type(read) is type(message)


@given(
    st.binary(max_size=60)
    | st.recursive(
        st.none()
        | st.booleans()
        | reals
        | st.text(max_size=5)
        | st.sampled_from(["Everything", "Join", "Place"]),
        lambda inner: st.lists(inner, max_size=4),
        max_leaves=12,
    ).map(lambda value: json.dumps(value).encode())
)
@example(b"[" * 100_000)
@example(b'["Join",[1,' + b"9" * 5_000 + b"]]")
@example(b'["Place",[1e999,null]]')
@example(b'["Place",[NaN,null]]')
@example(b'["Leave",[true]]')
@example(b'["Leave",[1.5]]')
@example(b'["Leave",[1],2]')
@example(b'["Codec",[1]]')
@example(b'["Positive",[0]]')
@example(b'["Event",[1,[2],"no base64",0]]')
@example(b'["Event",[1,[[2]],"",0]]')
@example(b'["Pong",{"topics":1}]')
def test_other_bytes_make_no_message_but_an_error_of_ours(body):
    try:
        message = codec.read(body)
    except mw.InputError:
        return
    assert codec.read(codec.written(message)) == message


@pytest.mark.parametrize("body", [b'["Place",[NaN,null]]', b'["Place",[1e999,null]]', b'["Leave",[true]]'])
def test_values_of_another_type_are_refused(body):
    with pytest.raises(mw.InputError):
        codec.read(body)


def test_what_a_class_refuses_is_no_message():
    with pytest.raises(mw.InputError, match="a Positive is not valid: number is 0; give one above 0"):
        codec.read(b'["Positive",[0]]')


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'["CollectWalk",[1,2,1000000000,[]]]', "a field is 1000000000; it must be from 0 to 1000000"),
        (b'["CollectWalk",[1,2,-1,[]]]', "a field is -1; it must be from 0 to 1000000"),
        (
            b'["CollectWalk",[1,2,3,[4,2147483648]]]',
            "a field is 2147483648; it must be from -1 to 2147483647",
        ),
        (b'["Forward",[1,2,-1000000000]]', "a field is -1000000000; it must be from 0 to 1000"),
        (b'["Renewal",[1,2,1001]]', "a field is 1001; it must be from 0 to 1000"),
        (b'["Places",[1,-2,[]]]', "a field is -2; it must be from 0 to 2147483647"),
        (
            b'["Event",[18446744073709551616,[1],"",0]]',
            "a field is 18446744073709551616; it must be from -9223372036854775808",
        ),
        (b'["Event",[1,[1],"",-1]]', "a field is -1; it must be from 0 to 2147483647"),
    ],
)
def test_numbers_out_of_bounds_make_no_message(body, words):
    with pytest.raises(mw.InputError, match=words):
        codec.read(body)


def test_every_number_of_a_gossip_message_has_bounds_but_the_number_of_an_event():
    free = {
        f"{kind.__name__}.{name}"
        for kind in get_args(gossip.Message)
        for name, annotation in get_type_hints(kind, include_extras=True).items()
        if annotation in (int, tuple[int, ...])
    }
    assert free == {"Event.number"}


def test_other_notes_of_an_annotation_change_nothing():
    @dataclass(frozen=True)
    class Noted:
        number: Annotated[int, "a note"]
        digit: Annotated[int, "a note", Between(0, 9)]

    noted = Codec([Noted])
    assert noted.read(b'["Noted",[10,9]]') == Noted(10, 9)
    with pytest.raises(mw.InputError, match="a field is 10; it must be from 0 to 9"):
        noted.read(b'["Noted",[10,10]]')


def test_numbers_of_numpy_are_written_as_python_has_them():
    walk = gossip.CollectWalk(np.int32(3), np.int64(4), 5, tuple(np.arange(3)))
    read = codec.read(codec.written(walk))
    assert read == gossip.CollectWalk(3, 4, 5, (0, 1, 2))
    assert {type(node) for node in read.nodes} == {int}


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("text", "a str was sent; the codec knows AskPlaces, CollectReply, .*Subscribe"),
        (Place(float("nan"), None), "can't be sent"),
        (Place(frozenset([1j]), None), "can't be sent: a complex has no form in JSON"),
    ],
)
def test_what_has_no_form_can_not_be_sent(message, words):
    with pytest.raises(mw.OptionError, match=words):
        codec.written(message)


def test_classes_that_can_not_be_read_back_are_refused():
    @dataclass(frozen=True)
    class Odd:
        field: list[Any]

    for classes, words in (
        ([Odd], r"a field of type list\[.*\] can't cross a socket"),
        ([int], "int can't cross a socket; make it a dataclass or a named tuple"),
        ([Place, NamedTuple("Place", [("x", int)])], "have the same name"),
    ):
        with pytest.raises(mw.OptionError, match=words):
            Codec(classes)
