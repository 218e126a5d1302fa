from threading import Event

from meshwright.maintain.journal.syncing import _Interval
from tests.patience import PATIENCE


def test_a_close_just_before_a_sync_ends_the_thread():
    synced = Event()
    interval = _Interval(0.001, synced.set)
    clear = interval._dirty.clear

    def close_first():
        interval._over.set()
        interval._dirty.set()
        clear()

    interval._dirty.clear = close_first
    interval.written()
    assert synced.wait(PATIENCE)
    interval._thread.join(PATIENCE)
    assert not interval._thread.is_alive()
