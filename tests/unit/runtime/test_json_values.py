"""Values that JSON can hold, and a file as well."""

import pandas as pd
import pytest

import meshwright as mw
from meshwright.runtime.json_values import plain, records


def test_text_of_any_script_stays_as_it_is():
    assert plain({"ключ": ["ä", "\U0001f600", "\x1b"]}, "facts") == {"ключ": ["ä", "\U0001f600", "\x1b"]}


def test_what_no_file_could_hold_or_no_reader_could_read_is_refused():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    for value in ("\ud800", {"\udfff": 1}, float("nan"), {1, 2}, deep):
        with pytest.raises(mw.InputError, match=r"^facts can't be written as JSON"):
            plain(value, "facts")


def test_records_of_a_frame_keep_types_and_digits_and_have_none_for_what_is_missing():
    columns = {
        "name": ["a", None],
        "whole": pd.array([1, None], "Int64"),
        "yes": pd.array([None, True], "boolean"),
        "number": [1 / 3, float("nan")],
    }
    assert records(pd.DataFrame(columns)) == [
        {"name": "a", "whole": 1, "yes": None, "number": 1 / 3},
        {"name": None, "whole": None, "yes": True, "number": None},
    ]
    assert records(pd.DataFrame({"a": []})) == []


def test_records_of_what_is_no_frame_are_refused():
    with pytest.raises(mw.InputError, match="records got a list; give a pandas frame"):
        records([1])
