import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshwright.model import names
from meshwright.model.names import NameEncoder, check_names, find, name_array, numbered, ranks
from meshwright.runtime.errors import CapacityError, InputError


def test_ranks_follow_the_bytes_and_not_the_letters() -> None:
    given = ["é", "z", "Z", "a b", "a", "007", "7", "𝄞", "\uffff"]
    ordered, rank = ranks(pa.array(given))
    assert ordered.to_pylist() == sorted(given, key=str.encode)
    assert [ordered[int(i)].as_py() for i in rank] == given


def test_a_repeated_name_has_one_rank() -> None:
    ordered, rank = ranks(pa.array(["b", "a", "b"]))
    assert ordered.to_pylist() == ["a", "b"]
    assert rank.tolist() == [1, 0, 1]


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 1000, 1001])
def test_numbered_names_sort_like_their_numbers(count: int) -> None:
    made = numbered("n", count)
    check_names(made, "node")
    assert [int(name[1:]) for name in made.to_pylist()] == list(range(count))
    assert len({len(name) for name in made.to_pylist()}) <= 1


def test_numbered_names_beyond_what_arrow_holds_are_refused() -> None:
    with pytest.raises(CapacityError, match="do not fit"):
        numbered("n", 2**31)


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        (["b", "a"], "sorted in UTF-8 byte order"),
        (["a", "a"], "unique"),
        (["", "a"], "empty"),
    ],
)
def test_names_that_are_not_ranks_are_refused(given: list[str], rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        check_names(pa.array(given), "node")


def test_names_that_are_not_utf8_are_refused() -> None:
    broken = pa.StringArray.from_buffers(1, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xff"))
    with pytest.raises(InputError, match="UTF-8"):
        check_names(broken, "node")


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ("abc", "single string"),
        ([7], r"use str\(\.\.\.\)"),
        ([b"a"], r"use str\(\.\.\.\)"),
        (["a", ""], "node 2 is an empty string"),
        (["\ud800"], "lone surrogate"),
        (pa.array([1]), "cast them to string"),
        (pa.array(["a", None]), "1 nulls"),
    ],
)
def test_what_is_no_list_of_names_is_refused(given: object, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        name_array(given, "node")


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_every_flavour_of_string_becomes_a_string(kind: pa.DataType) -> None:
    given = pa.chunked_array([pa.array(["a"], kind), pa.array(["b"], kind)])
    made = name_array(given, "node")
    assert made.type == pa.string()
    assert made.to_pylist() == ["a", "b"]


def test_find_gives_the_rank_of_a_name() -> None:
    ordered = pa.array(["007", "7", "z", "é"])
    assert [find(ordered, name, "node") for name in ordered.to_pylist()] == [0, 1, 2, 3]


@pytest.mark.parametrize("name", ["", "0", "zz", "𝄞", "\ud800"])
def test_find_names_what_is_not_there(name: str) -> None:
    with pytest.raises(InputError, match="there is no node"):
        find(pa.array(["007", "7", "z"]), name, "node")


def test_find_refuses_what_is_no_string() -> None:
    with pytest.raises(InputError, match="an int; names are strings"):
        find(pa.array(["7"]), 7, "node")  # type: ignore[arg-type]


def encode(chunks: list[list[str]], kept: list[str]) -> tuple[list[str], list[str]]:
    encoder = NameEncoder("node")
    for chunk in chunks:
        encoder.add(pa.array(chunk, pa.string()).dictionary_encode())
    ids, known = encoder.finish(pa.array(kept, pa.string()))
    return [known[int(i)].as_py() for i in ids], known.to_pylist()


def test_ids_stand_for_the_names_that_came_whenever_the_encoder_flushes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chunks = [["b", "a"], [], ["a", "d", "a"], ["e", "b", "c", "f"], ["a"]]
    flat = [name for chunk in chunks for name in chunk]
    for wait in (1, 3, 100):
        monkeypatch.setattr(names, "_WAIT_FOR_NAMES", wait)
        assert encode(chunks, ["k"]) == (flat, ["a", "b", "c", "d", "e", "f", "k"])


def test_a_name_that_a_dictionary_holds_and_no_row_uses_gets_no_id() -> None:
    encoder = NameEncoder("node")
    encoder.add(pa.DictionaryArray.from_arrays(pa.array([2, 0], pa.int32()), ["c", "b", "a"]))
    ids, known = encoder.finish(pa.array([], pa.string()))
    assert known.to_pylist() == ["a", "c"]
    assert ids.tolist() == [0, 1]


def test_a_dictionary_that_holds_a_name_twice_gives_it_one_id() -> None:
    encoder = NameEncoder("node")
    encoder.add(pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int32()), ["a", "b", "a"]))
    ids, known = encoder.finish(pa.array([], pa.string()))
    assert known.to_pylist() == ["a", "b"]
    assert ids.tolist() == [0, 1, 0]


def test_names_beyond_what_arrow_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "MAX_NAME_BYTES", 5)
    with pytest.raises(CapacityError, match="nodes take more than 5 bytes"):
        encode([["abc", "def"]], [])
    with pytest.raises(CapacityError, match="nodes take more than 5 bytes"):
        name_array(pa.array(["abc", "def"]), "node")


@pytest.mark.parametrize("many", [0, 20_000])
def test_a_near_miss_is_answered_with_the_name_that_was_meant(many: int) -> None:
    known = pa.array(sorted(["Adelaide", "Berlin", *(f"n{number}" for number in range(many))]))
    with pytest.raises(
        InputError, match=r"no node 'adelaide' among the .* nodes; did you mean 'Adelaide'\?$"
    ):
        find(known, "adelaide", "node")
    with pytest.raises(InputError, match=r"nodes$"):
        find(known, "quito", "node")


@given(
    parts=st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=4) | st.text("ab\0é", max_size=30),
        max_size=20,
    ),
    shared=st.sampled_from(["", "user-", "é" * 9]),
    skipped=st.integers(0, 2),
)
def test_names_sort_by_their_bytes_whatever_they_share(parts: list[str], shared: str, skipped: int) -> None:
    given_names = pa.array([shared + part for part in parts], pa.string()).slice(skipped)
    ordered, rank = ranks(given_names)
    assert ordered.to_pylist() == sorted(set(given_names.to_pylist()), key=str.encode)
    assert ordered.take(pa.array(rank)).equals(given_names)
