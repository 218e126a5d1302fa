"""The heap of numbered prices."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from meshwright.kernels.core.heap import drop_top, make_heap, push, sink


@given(st.lists(st.integers(0, 5)), st.lists(st.integers(0, 9), max_size=20))
def test_the_least_price_comes_first_and_of_equals_the_least_number(prices, later):
    """`later` are raises of what is on top, as the greedy makes them."""
    count = len(prices)
    left = sorted((float(price), code) for code, price in enumerate(prices))
    heap, codes = np.array(prices, float), np.arange(count, dtype=np.int64)
    make_heap(heap, codes, count)
    for more in later if count else []:
        price, code = left.pop(0)
        left = sorted([*left, (price + more, code)])
        sink(heap, codes, count, 0, price + more, code)
    found = []
    while count:
        found.append((heap[0], codes[0]))
        count = drop_top(heap, codes, count)
    assert found == left


@given(st.lists(st.integers(0, 5)))
def test_what_is_pushed_comes_out_sorted(prices):
    heap, codes, count = np.empty(len(prices)), np.empty(len(prices), np.int64), 0
    for code, price in enumerate(prices):
        count = push(heap, codes, count, float(price), code)
    found = []
    while count:
        found.append((heap[0], codes[0]))
        count = drop_top(heap, codes, count)
    assert found == sorted((float(price), code) for code, price in enumerate(prices))
