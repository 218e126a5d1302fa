"""The sync policy: force the log to disk after every write, every few milliseconds, or never.

`Log.sync` in `log.py` does the forcing.
"""

from collections.abc import Callable
from threading import Event, Thread
from typing import NamedTuple

from meshwright.runtime.errors import OptionError

ALWAYS, NEVER = "always", "never"


class Syncing(NamedTuple):
    """When the log is forced to disk."""

    written: Callable[[], None]
    """A step was written."""
    close: Callable[[], None]
    """No more will be written."""


def _nothing() -> None:
    pass


def check_sync(policy: str | int) -> None:
    """Refuse a value that is not a policy."""
    milliseconds = isinstance(policy, int) and not isinstance(policy, bool) and policy > 0
    if policy not in (ALWAYS, NEVER) and not milliseconds:
        raise OptionError(
            f"sync is {policy!r}; give {ALWAYS}, {NEVER}, or a number of milliseconds, at least 1",
            option="sync",
        )


def start_syncing(policy: str | int, sync: Callable[[], None]) -> Syncing:
    """Call `sync` according to `policy`: `always`, `never`, or a number of milliseconds.

    With `always`, `written` raises the errors of `sync`. With milliseconds, `sync` runs on another thread and
    has to remember its errors.
    """
    check_sync(policy)
    if policy in (ALWAYS, NEVER):
        return Syncing(sync if policy == ALWAYS else _nothing, _nothing)
    interval = _Interval(int(policy) / 1000, sync)
    return Syncing(interval.written, interval.close)


class _Interval:
    """Waits for a write, then for the interval, then calls `sync`."""

    def __init__(self, seconds: float, sync: Callable[[], None]) -> None:
        self._seconds, self._sync = seconds, sync
        self._dirty, self._over = Event(), Event()
        self._thread = Thread(target=self._run, name="meshwright-sync", daemon=True)
        self._thread.start()

    def written(self) -> None:
        self._dirty.set()

    def close(self) -> None:
        self._over.set()
        self._dirty.set()
        self._thread.join()

    def _run(self) -> None:
        # Asked anew in each round: `close` may come just before `clear`, which then takes its wake-up away.
        while not self._over.is_set():
            self._dirty.wait()
            if self._over.wait(self._seconds):
                return
            self._dirty.clear()
            self._sync()
