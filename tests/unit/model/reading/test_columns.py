import csv
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshwright.model.reading.columns import by_position, listed, place_of, split, written
from meshwright.runtime.errors import InputError


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("user,item", ["user", "item"]),
        ("1,2", [1, 2]),
        ('"1",2', ["1", 2]),
        ('"last, first",item', ["last, first", "item"]),
        ('"",item', ["", "item"]),
        ('"say ""hi""",x', ['say "hi"', "x"]),
        ("Gerät,主题", ["Gerät", "主题"]),
        (" a, b ", [" a", " b "]),
        ('a"b,c', ['a"b', "c"]),
        ("a", ["a"]),
        ("٣,x", ["٣", "x"]),
    ],
)
def test_columns_are_written_as_in_a_csv_file(text, columns):
    assert split(text) == columns


@pytest.mark.parametrize("text", ["", "a,", ",a", "a,,b", '"a', '"a"b,c', '"a" ,b'])
def test_what_is_no_list_of_columns_is_refused(text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        split(text)


names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"))


@given(st.lists(names | st.integers(1, 99), min_size=1, max_size=4))
def test_written_columns_are_read_again(columns):
    assert split(written(columns)) == columns


@given(st.lists(names, min_size=2, max_size=4))
def test_names_are_quoted_as_the_csv_module_reads_them(columns):
    assert next(csv.reader([written(columns)])) == columns


def test_columns_are_found_by_name_or_position():
    found = ["", "User", "a,b", "User"]
    assert [place_of(column, found, "f") for column in ("", "a,b", 2, 4)] == [0, 2, 1, 3]


@pytest.mark.parametrize(
    ("column", "found", "said"),
    [
        ("user", ["User", "x"], "f has no column 'user'; its columns are User, x: did you mean 'User'?"),
        ("user", ["a", "b,c", ""], 'f has no column \'user\'; its columns are a, "b,c", "": name the one'),
        ("x", ["x", "y", "x"], "f has more than one column 'x', at 1, 3; give positions"),
        ("x", ["a;b"], "check the delimiter"),
        ("x", ["a\x1bb"], r"a\\x1bb"),
        (3, ["x", "y"], "f has 2 columns, but column 3 is asked for"),
        (2, ["x"], "f has 1 column, but"),
        ("x", [str(at) for at in range(50)], r'"19", …: name'),
    ],
)
def test_a_column_that_can_not_be_told_is_refused(column, found, said):
    with pytest.raises(InputError, match=said.replace("?", r"\?")):
        place_of(column, found, "f")


def test_names_and_positions_do_not_mix():
    assert by_position([1, 2])
    assert not by_position(["1", "b"])
    with pytest.raises(InputError, match='mix names and positions: 1,"2"'):
        by_position([1, "2"])
    with pytest.raises(InputError, match="positions count from 1"):
        by_position([0, 1])


def test_no_columns_are_listed_as_none():
    assert listed([]) == "none"
