"""What a manifest states, by its type."""

import pytest

import meshwright as mw
from meshwright.model.storage.manifest import counted, stated


@pytest.mark.parametrize(
    ("value", "kind"), [("a", str), (3, int), (1.5, float), ({"a": 1}, dict), ([1], list)]
)
def test_what_has_the_type_is_taken_as_it_is(value, kind):
    assert stated({"key": value}, "key", kind, "x") is value


@pytest.mark.parametrize(
    ("held", "kind", "words"),
    [
        ({}, int, "x has no 'key'; 'key' must be a whole number: write the dataset again"),
        ({"key": None}, dict, "x states 'key' as None; 'key' must be an object"),
        ({"key": True}, int, "x states 'key' as True; 'key' must be a whole number"),
        ({"key": 3}, str, "x states 'key' as 3; 'key' must be text"),
        ({"key": "y" * 1000}, list, f"x states 'key' as 'y{'y' * 58}; 'key' must be a list"),
    ],
)
def test_what_has_another_type_is_refused_with_what_came_and_what_is_legal(held, kind, words):
    with pytest.raises(mw.DatasetError, match=words):
        stated(held, "key", kind, "x")


def test_counts_are_whole_numbers_from_0_on():
    assert counted({"counts": {"a": 1, "b": 0, "c": "?"}}, ("a", "b"), "x") == {"a": 1, "b": 0}


@pytest.mark.parametrize(
    "counts", [None, [], {}, {"a": -1}, {"a": "1"}, {"a": 1.0}, {"a": True}, {"a": 10**30}]
)
def test_other_counts_are_refused(counts):
    with pytest.raises(mw.DatasetError, match=r"^x"):
        counted({"counts": counts}, ("a",), "x")
