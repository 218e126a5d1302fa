"""Frames: whole ones from any pieces, and errors instead of anything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import meshwright as mw
from meshwright.net.live.link import LARGEST_BODY, TALK, Frame, FrameReader, Kind, framed

sizes = {Kind.HELLO: 32, Kind.CHALLENGE: 48, Kind.PROOF: 32, Kind.HOLD: 0, Kind.RELEASE: 0}
frames = st.lists(
    st.one_of(
        st.builds(Frame, st.just(Kind.MESSAGE), st.binary(max_size=50)),
        *(st.just(Frame(kind, bytes(size))) for kind, size in sizes.items()),
    ),
    max_size=6,
)


@given(frames, st.data())
def test_frames_come_out_as_they_went_in_however_the_bytes_are_cut(sent, data):
    stream = b"".join(framed(*frame) for frame in sent)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    reader, received = FrameReader(Kind), []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        received += reader.feed(stream[start:end])
    assert received == sent


@given(frames, st.binary(max_size=40))
def test_any_bytes_are_frames_or_an_error_and_never_more_frames_than_bytes_allow(sent, noise):
    reader, received = FrameReader(Kind), []
    try:
        for frame in reader.feed(b"".join(framed(*frame) for frame in sent) + noise):
            received.append(frame)
    except mw.InputError:
        pass
    assert received[: len(sent)] == sent
    assert len(received) <= len(sent) + len(noise) // 6


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"GET / HTTP/1.1\r\n", "a frame has version 71; it must be 2"),
        (b"\x00", "a frame has version 0; it must be 2"),
        (b"\x02\x09\x00\x00\x00\x00", "a frame has kind 9; it must be from 1 to 6"),
        (b"\x02\x02\xff\xff\xff\xff", "a MESSAGE has 4,294,967,295 bytes; it must have up to 1,048,576"),
        (b"\x02\x01\x00\x00\x00\x21", "a HELLO has 33 bytes; it must have 32"),
        (b"\x02\x03\x00\x00\x00\x01", "a HOLD has 1 bytes; it must have 0"),
    ],
)
def test_a_wrong_head_is_refused_before_the_body_comes(head, words):
    with pytest.raises(mw.InputError, match=words):
        list(FrameReader(Kind).feed(head))


def test_a_body_is_as_large_as_the_limit_and_no_larger():
    body = bytes(LARGEST_BODY)
    assert list(FrameReader(Kind).feed(framed(Kind.MESSAGE, body))) == [Frame(Kind.MESSAGE, body)]
    with pytest.raises(mw.InputError, match="a message takes 1,048,577 bytes"):
        framed(Kind.MESSAGE, body + b"x")


def test_a_frame_out_of_turn_is_refused_before_the_body_comes():
    reader = FrameReader({Kind.HELLO})
    with pytest.raises(mw.InputError, match="a MESSAGE came, but only HELLO can come here"):
        list(reader.feed(framed(Kind.MESSAGE, bytes(100))[:6]))


def test_what_is_legal_may_change_from_one_frame_to_the_next():
    reader = FrameReader({Kind.HELLO})
    taken = reader.feed(framed(Kind.HELLO, bytes(32)) + framed(Kind.HOLD) + framed(Kind.HELLO, bytes(32)))
    assert next(taken).kind is Kind.HELLO
    reader.expected = TALK
    assert next(taken).kind is Kind.HOLD
    with pytest.raises(
        mw.InputError, match="a HELLO came, but only MESSAGE or HOLD or RELEASE can come here"
    ):
        next(taken)
