import gc
import sys
import weakref
from types import ModuleType

from meshwright.pipeline.spark.python_daemon import collect


class Thing:
    """Something that can be garbage."""


def test_garbage_is_found_and_only_new_imports_are_left_out_of_later_looks(monkeypatch):
    collect()
    left_out = gc.get_freeze_count()
    garbage, kept = Thing(), Thing()
    garbage.itself = garbage
    found = weakref.ref(garbage)
    del garbage
    collect()
    assert found() is None
    assert gc.get_freeze_count() <= left_out
    monkeypatch.setitem(sys.modules, "one more", ModuleType("one more"))
    collect()
    assert gc.get_freeze_count() > left_out
    assert kept not in gc.get_objects()
