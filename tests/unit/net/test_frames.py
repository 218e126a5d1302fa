"""Frames: whole ones from any pieces, and errors instead of anything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import meshwright as mw
from meshwright.net.frames import LARGEST_BODY, Frame, FrameReader, Hello, Kind, framed

frames = st.lists(st.builds(Frame, st.sampled_from(Kind), st.binary(max_size=50)), max_size=6)


@given(frames, st.data())
def test_frames_come_out_as_they_went_in_however_the_bytes_are_cut(sent, data):
    stream = b"".join(framed(*frame) for frame in sent)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    reader, received = FrameReader(), []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        received += reader.feed(stream[start:end])
    assert received == sent


@given(frames, st.binary(max_size=40))
def test_any_bytes_are_frames_or_an_error_and_never_more_frames_than_bytes_allow(sent, noise):
    reader, received = FrameReader(), []
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
        (b"GET / HTTP/1.1\r\n", "a frame has version 71; 1 is legal"),
        (b"\x00", "a frame has version 0; 1 is legal"),
        (b"\x01\x09\x00\x00\x00\x00", "a frame has kind 9; 1 to 4 are legal"),
        (b"\x01\x02\xff\xff\xff\xff", "a frame has 4,294,967,295 bytes; up to 1,048,576 are legal"),
    ],
)
def test_a_wrong_head_is_refused_before_the_body_comes(head, words):
    with pytest.raises(mw.InputError, match=words):
        list(FrameReader().feed(head))


def test_a_body_is_as_large_as_the_limit_and_no_larger():
    body = bytes(LARGEST_BODY)
    assert list(FrameReader().feed(framed(Kind.MESSAGE, body))) == [Frame(Kind.MESSAGE, body)]
    with pytest.raises(mw.InputError, match="a message takes 1,048,577 bytes"):
        framed(Kind.MESSAGE, body + b"x")


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.binary(min_size=16, max_size=16))
def test_a_hello_is_read_as_it_was_written(source, target, run):
    hello = Hello(source, target, run)
    assert Hello.read(hello.body()) == hello
    with pytest.raises(mw.InputError, match="a hello has 33 bytes; 32 are legal"):
        Hello.read(hello.body() + b"x")
