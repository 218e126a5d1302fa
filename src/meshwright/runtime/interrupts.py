"""Signals that end a command: noted when they come, and held back from what must not be cut in the middle."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_received: list[int] = []


@contextmanager
def noted_signals() -> Iterator[list[int]]:
    """Let SIGTERM interrupt as Ctrl-C does, with all that is cleaned up then; holds those that came."""

    def interrupt(number: int, _: Any) -> None:
        _received.append(number)
        raise KeyboardInterrupt

    wanted = [signal.SIGTERM]
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else somebody chose to ignore it
        wanted.append(signal.SIGINT)
    before = {number: signal.signal(number, interrupt) for number in wanted}
    try:
        yield _received
    finally:
        _received.clear()
        for number, handler in before.items():
            signal.signal(number, handler)


def is_interruption(error: BaseException) -> bool:
    """Whether an error is Ctrl-C, or came after a noted signal: what fails then is its doing."""
    return isinstance(error, KeyboardInterrupt) or bool(_received)


@contextmanager
def held_back(*numbers: int) -> Iterator[None]:
    """The signals wait for the end of the block, and are raised there.

    Python hands signals to the main thread alone; in others there is nothing to hold back.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers = {number: signal.signal(number, lambda own, _: came.append(own)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler or signal.SIG_DFL)
        for number in came[:1]:
            signal.raise_signal(number)
