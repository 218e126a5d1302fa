"""Processor time without that of compiling kernels."""

from numba import njit

from meshwright.studies.timing import settled, timed


def test_work_that_compiles_is_done_again_and_other_work_is_not():
    @njit
    def double(number):
        return 2 * number

    calls = []

    def work():
        calls.append(0)
        return double(21)

    assert settled(work) == 42
    assert len(calls) == 2
    assert timed(work)[0] == 42
    assert len(calls) == 3


def test_work_that_always_compiles_comes_to_an_end():
    assert settled(lambda: njit(lambda number: number + 1)(1)) == 2
