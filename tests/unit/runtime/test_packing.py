import numpy as np
import pytest

from meshwright.runtime.packing import first_of, pack, second_of

_MOST = 2**31 - 1


@pytest.mark.parametrize("pair", [(0, 0), (0, _MOST), (_MOST, 0), (_MOST, _MOST), (3, 7)])
def test_a_key_gives_both_ids_back(pair):
    key = pack(*pair)
    assert (first_of(key), second_of(key)) == pair


def test_keys_of_arrays_sort_by_the_first_id_and_then_by_the_second():
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 5, (2, 50)).astype(np.int32)
    keys = np.sort(pack(first, second))
    assert keys.dtype == np.int64
    assert list(zip(first_of(keys), second_of(keys), strict=True)) == sorted(zip(first, second, strict=True))
