import signal
import threading

import pytest

from meshwright.runtime.interrupts import held_back, is_interruption, noted_signals


def test_a_signal_waits_for_the_end_of_the_block():
    reached = []

    def work():
        with held_back(signal.SIGINT):
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            reached.append("the end")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert reached == ["the end"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_a_signal_nothing_changes_and_errors_come_through():
    with held_back(signal.SIGINT, signal.SIGTERM):
        pass
    with pytest.raises(ValueError, match="of its own"), held_back(signal.SIGINT):
        raise ValueError("of its own")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_that_the_block_sets_is_undone():
    with held_back(signal.SIGINT):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_hold_nothing_back():
    entered = []

    def enter():
        with held_back(signal.SIGINT):
            entered.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert entered == [signal.default_int_handler]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_fails_after_a_noted_signal_is_its_doing(number):
    fault = OSError("Java is gone")
    with noted_signals() as received:
        assert not is_interruption(fault)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        assert is_interruption(fault)
        assert received == [number]
    assert not is_interruption(fault)
    assert is_interruption(KeyboardInterrupt())
