import os

from meshwright.runtime import machine


def test_cores_are_those_that_this_process_may_use():
    assert 1 <= machine.cores() <= (os.cpu_count() or 1)
