"""Columns between Arrow and NumPy: the same as PyArrow's own ways, which import pandas."""

import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from meshwright.runtime.columns import arrow_of, numpy_of

KINDS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "?"]


def numbers(kind: str) -> st.SearchStrategy[np.ndarray[Any, Any]]:
    return arrays.arrays(np.dtype(kind), st.integers(0, 40))


@given(data=st.data(), kind=st.sampled_from(KINDS))
def test_an_array_becomes_the_column_that_arrow_makes_of_it(data: st.DataObject, kind: str) -> None:
    array = data.draw(numbers(kind))[:: data.draw(st.sampled_from([1, 2, -1]))]
    column = arrow_of(array)
    column.validate(full=True)
    assert column.type == pa.array(array).type
    assert column.equals(pa.array(array)) or np.isnan(array).any()
    np.testing.assert_array_equal(column.to_numpy(zero_copy_only=False), array)


@given(data=st.data(), kind=st.sampled_from(KINDS))
def test_a_slice_becomes_the_array_that_arrow_makes_of_it(data: st.DataObject, kind: str) -> None:
    column = pa.array(data.draw(numbers(kind))).slice(data.draw(st.integers(0, 12)))
    column = column.slice(0, data.draw(st.integers(0, 30)))
    assert_same(numpy_of(column), column.to_numpy(zero_copy_only=False))


@given(data=st.data(), kind=st.sampled_from(KINDS))
def test_chunks_become_the_array_that_arrow_makes_of_them(data: st.DataObject, kind: str) -> None:
    chunks = [pa.array(chunk) for chunk in data.draw(st.lists(numbers(kind), max_size=4))]
    column = pa.chunked_array(chunks, pa.from_numpy_dtype(np.dtype(kind)))
    column = column.slice(data.draw(st.integers(0, 12)))
    assert_same(numpy_of(column), column.to_numpy())


def assert_same(found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> None:
    assert found.dtype == wanted.dtype
    assert found.flags.writeable == wanted.flags.writeable
    np.testing.assert_array_equal(found, wanted)


def test_numbers_are_not_copied() -> None:
    array = np.arange(9)
    column = arrow_of(array)
    assert np.shares_memory(numpy_of(column), array)
    assert np.shares_memory(numpy_of(pa.chunked_array([column.slice(2)])), array)


def test_a_column_outlives_the_array_that_it_was_made_of() -> None:
    column = arrow_of(np.arange(100_000))
    again = numpy_of(column)
    del column
    assert again.sum() == sum(range(100_000))


def test_a_column_that_had_nulls_filled_has_none() -> None:
    filled = pa.array([1, None, 3], pa.int32()).fill_null(2)
    assert numpy_of(filled).tolist() == [1, 2, 3]


def test_nulls_are_refused() -> None:
    with pytest.raises(ValueError, match="1 nulls"):
        numpy_of(pa.array([1, None]))


@pytest.mark.parametrize(
    "array", [np.zeros((2, 2)), np.array(["a"]), np.array([1], np.dtype(np.int32).newbyteorder())]
)
def test_what_is_no_column_of_numbers_is_refused(array: np.ndarray[Any, Any]) -> None:
    with pytest.raises(ValueError, match="no column"):
        arrow_of(array)


def test_pandas_is_not_imported() -> None:
    program = (
        "import sys, numpy as np, pyarrow as pa\n"
        "from meshwright.runtime.columns import arrow_of, numpy_of\n"
        "for kind in (np.int32, np.float64, np.bool_):\n"
        "    column = arrow_of(np.zeros(9, kind))\n"
        "    numpy_of(column), numpy_of(pa.chunked_array([column, column]))\n"
        "print('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
