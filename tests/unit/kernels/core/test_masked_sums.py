import numpy as np

from meshwright.kernels.compiling import kernel
from meshwright.kernels.core.masked_sums import add_where
from meshwright.runtime.arrays import Bytes, Shorts, Words


@kernel
def _add_two(sums: Shorts, counts: Bytes, sets: Words) -> None:
    for word in range(sets.shape[1]):
        places = (word, sets.shape[1] + word)
        add_where(sums, counts, word << 6, sets, places, (np.uint16(1_000), np.uint16(70)))


def test_weights_are_added_exactly_where_their_sets_have_a_bit():
    has = np.random.default_rng(2).random((2, 128)) < 0.4
    sums, counts = np.arange(128, dtype=np.uint16), np.full(128, 3, np.uint8)
    _add_two(sums, counts, np.packbits(has, axis=1, bitorder="little").view(np.uint64))
    assert sums.tolist() == (np.arange(128) + [1_000, 70] @ has).tolist()
    assert counts.tolist() == (3 + has.sum(0)).tolist()
