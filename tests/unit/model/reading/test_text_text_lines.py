"""Lines cut out of blocks: the same lines wherever blocks end, in bounded memory however long one is."""

import tracemalloc
from itertools import repeat

from hypothesis import given
from hypothesis import strategies as st

from meshwright.model.reading.text import cut_lines, whole_lines

TEXTS = st.lists(st.sampled_from([b"", b"a", b"bc", b"\r", b"x" * 9]), max_size=12).map(b"\n".join)


def in_blocks(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@given(TEXTS, st.integers(1, 7))
def test_lines_are_the_same_wherever_blocks_end(data: bytes, size: int) -> None:
    *ended, last = data.split(b"\n")
    expected = [(number, line, True, False) for number, line in enumerate(ended, 1)]
    expected += [(len(ended) + 1, last, False, False)] if last else []
    assert list(cut_lines(in_blocks(data, size), 100)) == expected


@given(TEXTS, st.integers(1, 7))
def test_a_long_line_is_told_by_its_beginning_and_costs_no_other_line(data: bytes, size: int) -> None:
    found = list(cut_lines(in_blocks(data, size), 4))
    lines = [line for line in data.split(b"\n")]
    lines = lines if lines[-1] else lines[:-1]
    assert [(number, long) for number, _, _, long in found] == [
        (number, len(line) > 4) for number, line in enumerate(lines, 1)
    ]
    assert all(line.startswith(text) for line, (_, text, _, _) in zip(lines, found, strict=True))


def test_of_a_line_without_end_little_is_held() -> None:
    block = b"x" * (1 << 20)
    tracemalloc.start()
    try:
        (piece,) = whole_lines(repeat(block, 600), 1 << 22)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert piece.long
    assert len(piece.data) <= 1_000
    assert peak < 1 << 24
