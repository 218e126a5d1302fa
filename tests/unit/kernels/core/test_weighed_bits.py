import numpy as np
import pytest
from numba import njit

from meshwright.kernels.core.weighed_bits import digits_of, weigh_common


@njit
def weigh(bits, u, v, digits, shifts):
    width, most = bits.shape[1], 0
    for eight in range(len(digits)):
        begin = eight * (width << 2)
        most += weigh_common(bits, u * width, v * width, width >> 1, digits, begin, shifts, eight << 3)
    return most


@pytest.mark.parametrize("topics", [1, 64, 200])
@pytest.mark.parametrize("most", [1, 100, 127, 128, 32_767, 32_768, 2**23])
def test_what_is_weighed_is_the_common_topics_in_which_not_both_are_marked(topics, most):
    rng = np.random.default_rng(topics)
    weights = rng.integers(1, most, topics, dtype=np.int32, endpoint=True)
    weights[-1] = most
    words = -(-topics // 64)
    has = rng.random((6, topics)) < 0.7
    loose = has & (rng.random((6, topics)) < 0.5)
    padded = np.zeros((6, 2, 64 * words), np.uint8)
    padded[:, 0, :topics], padded[:, 1, :topics] = has, loose
    bits = np.packbits(padded, axis=2, bitorder="little").view(np.uint64).reshape(6, -1)
    digits, shifts = digits_of(weights, words)
    for u in range(5):
        gaining = has[u] & has[u + 1] & (loose[u] | loose[u + 1])
        found = weigh(bits, u, u + 1, digits, shifts)
        assert (found >> 32, found % 2**32) == (gaining.sum(), weights[gaining].sum())
