from concurrent.futures import CancelledError
from threading import Event

import numpy as np
import pytest

from meshwright.runtime import parallel
from meshwright.runtime.machine import cores
from meshwright.runtime.parallel import Beside, balanced_chunks, map_parts, on_all_cores
from meshwright.runtime.progress import CANCEL, DONE


@pytest.fixture(params=[1, 2, 7])
def threads(request, monkeypatch):
    monkeypatch.setattr(parallel, "threads", lambda: request.param)
    return request.param


@pytest.mark.parametrize("work", [[], [0], [5], [0] * 100, [10**9] + [0] * 50, list(range(300))], ids=len)
def test_chunks_cover_everything_once_in_order_and_none_is_empty(threads, work):
    chunks = balanced_chunks(np.array(work, np.int64))
    assert [i for first, last in chunks for i in range(first, last)] == list(range(len(work)))
    assert all(first < last for first, last in chunks)


def test_chunks_hold_about_the_same_work(threads):
    work = np.random.default_rng(0).integers(0, 100, 5_000)
    sums = [work[first:last].sum() for first, last in balanced_chunks(work)]
    assert max(sums) < 1.5 * min(sums)


def test_every_chunk_is_done_by_one_thread(threads):
    chunks = [(i, i + 2) for i in range(0, 200, 2)]
    done = on_all_cores(lambda turns, ticks: list(turns), chunks, "testing")
    assert sorted(chunk for turns in done for chunk in turns) == chunks
    assert len(done) == threads


def test_the_ticks_count_what_is_finished(monkeypatch):
    monkeypatch.setattr(parallel, "threads", lambda: 1)
    seen = on_all_cores(
        lambda turns, ticks: [int(ticks[DONE]) for _ in turns], [(0, 5), (5, 6), (6, 20)], "testing"
    )
    assert seen == [[0, 5, 6]]


def test_without_chunks_the_work_is_called_once_for_its_result(threads):
    assert on_all_cores(lambda turns, ticks: list(turns), [], "testing") == [[]]


def test_after_a_wish_to_stop_no_chunk_is_given_out(threads):
    def stop_at_once(turns, ticks):
        taken = 0
        for _ in turns:
            taken += 1
            ticks[CANCEL] = 1
        return taken

    assert sum(on_all_cores(stop_at_once, [(0, 1)] * 1_000, "testing")) <= threads


def test_an_error_in_a_thread_comes_out(threads):
    def fail(turns, ticks):
        for _ in turns:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        on_all_cores(fail, [(0, 1)] * 10, "testing")


def test_parts_come_back_in_their_order():
    assert map_parts(lambda item, _: item * item, range(9), "testing", 9) == [k * k for k in range(9)]


def test_parts_are_not_begun_after_a_wish_to_stop():
    begun = []

    def stop(item, ticks):
        ticks[CANCEL] = 1
        begun.append(item)

    with pytest.raises(CancelledError):
        map_parts(stop, range(1_000), "testing", 1_000)
    assert len(begun) <= cores()


def test_work_beside_gives_its_result_once_it_is_started_or_asked_for():
    calls = []
    with Beside(lambda progress: calls.append(progress) or len(calls)) as beside:
        assert not calls
        beside.start()
        beside.start()
        assert beside.result() == 1
    with Beside(lambda progress: 2) as beside:
        assert beside.result() == 2


def test_work_beside_stops_when_what_it_is_beside_fails():
    begun, ended = Event(), Event()

    def work(progress):
        try:
            begun.set()
            while True:
                progress.advance(1)
        finally:
            ended.set()

    def fail():
        with Beside(work) as beside:
            beside.start()
            begun.wait()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert ended.is_set()
