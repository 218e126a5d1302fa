import numpy as np
import pytest
from numba import njit

from meshwright.kernels.core.bits import popcount, trailing_zeros


@njit
def count_both(words, set_bits, zeros):
    for i in range(words.size):
        set_bits[i] = popcount(words[i])
        zeros[i] = trailing_zeros(words[i])


@pytest.fixture(scope="module")
def words():
    edges = [0, 1, 2, 2**31, 2**32, 2**63, 2**63 + 1, 2**64 - 1]
    return np.array(edges + list(np.random.default_rng(0).integers(0, 2**64, 100, np.uint64)), np.uint64)


def test_bits_are_counted_as_python_counts_them(words):
    set_bits, zeros = np.empty((2, words.size), np.int64)
    count_both(words, set_bits, zeros)
    assert set_bits.tolist() == [int(word).bit_count() for word in words]
    assert zeros.tolist() == [
        64 if word == 0 else (int(word) & -int(word)).bit_length() - 1 for word in words
    ]
