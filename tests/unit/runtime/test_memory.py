import os

import pytest

from meshwright.runtime import memory
from meshwright.runtime.errors import CapacityError


def test_free_memory_is_positive_and_at_most_that_of_the_machine():
    assert 0 < memory.free_memory() <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def test_a_container_with_a_limit_has_less(monkeypatch, tmp_path):
    (tmp_path / "memory.max").write_text("5000000\n")
    (tmp_path / "memory.current").write_text("1500000\n")
    (tmp_path / "memory.stat").write_text("anon 1000000\ninactive_file 500000\n")
    monkeypatch.setattr(memory, "_CONTAINER", tmp_path)
    assert memory.free_memory() == 4_000_000


def test_a_container_without_a_limit_has_what_the_machine_has(monkeypatch, tmp_path):
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("1000000\n")
    (tmp_path / "memory.stat").write_text("inactive_file 0\n")
    monkeypatch.setattr(memory, "_CONTAINER", tmp_path)
    monkeypatch.setattr(memory, "_free_on_machine", lambda: 123)
    assert memory.free_memory() == 123


def test_more_than_four_fifths_of_the_free_memory_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 10_000_000_000)
    memory.check_memory("a small job", 8_000_000_000, "do less")
    with pytest.raises(
        CapacityError, match=r"a big job needs about 8\.1 GB, but the limit is 8\.0 GB; do less"
    ):
        memory.check_memory("a big job", 8_100_000_000, "do less")


def test_a_limit_that_is_given_counts_alone():
    memory.check_memory("a job", 10, "do less", limit=10)
    with pytest.raises(CapacityError):
        memory.check_memory("a job", 11, "do less", limit=10)


def test_an_estimate_adds_what_the_table_says_of_each_thing_and_leaves_out_the_rest():
    per = memory.BYTES["fetching"]
    assert memory.needed("fetching", nodes=3, interests=5, edges=7) == 3 * per["nodes"] + 5 * per["interests"]


def test_work_fits_if_it_and_reading_leave_a_fifth_of_the_free_memory(monkeypatch):
    counts = {"nodes": 10, "topics": 10, "interests": 100}
    estimate = memory.needed("reading", **counts) + memory.needed("building", **counts)
    monkeypatch.setattr(memory, "free_memory", lambda: estimate * 5 // 4)
    assert memory.fits("building", counts)
    assert not memory.fits("building", counts | {"interests": 101})
