import _thread
import re
import threading
from concurrent.futures import Future
from importlib import import_module
from time import sleep

import pytest

from meshwright.runtime import progress as progress_module
from meshwright.runtime.compilation import COMPILATION, Compilation
from meshwright.runtime.progress import (
    CANCEL,
    COMPILING,
    DONE,
    ProgressBar,
    ProgressLines,
    StageTimer,
    run_with_ticks,
    stage,
)
from tests.patience import PATIENCE


class Recorder:
    """A Progress that remembers what it was told."""

    def __init__(self) -> None:
        self.calls: list[tuple] = []

    def start(self, label: str, total: int) -> None:
        self.calls.append(("start", label, total))

    def advance(self, done: int) -> None:
        self.calls.append(("advance", done))

    def resize(self, total: int) -> None:
        self.calls.append(("resize", total))

    def finish(self) -> None:
        self.calls.append(("finish",))


def test_work_runs_on_another_thread_and_its_result_comes_back():
    seen = run_with_ticks(lambda ticks: threading.current_thread(), "work", 1)
    assert seen is not threading.current_thread()


def test_progress_sees_the_ticks_between_start_and_finish():
    recorder, seen = Recorder(), threading.Event()
    original = recorder.advance
    recorder.advance = lambda done: (original(done), seen.set())

    def work(ticks):
        ticks[DONE] = 7
        assert seen.wait(PATIENCE)

    run_with_ticks(work, "counting", 9, recorder)
    assert recorder.calls[0] == ("start", "counting", 9)
    assert ("advance", 7) in recorder.calls
    assert recorder.calls[-1] == ("finish",)


def test_an_error_in_the_work_reaches_the_caller_and_ends_the_stage():
    recorder = Recorder()
    with pytest.raises(ZeroDivisionError):
        run_with_ticks(lambda ticks: 1 // 0, "failing", 1, recorder)
    assert recorder.calls[-1] == ("finish",)


def test_ctrl_c_asks_the_work_to_stop_and_goes_on_to_the_caller():
    recorder, waiting, stopped = Recorder(), threading.Event(), threading.Event()
    recorder.advance = lambda done: waiting.set()

    def work(ticks):
        assert waiting.wait(PATIENCE)
        _thread.interrupt_main()
        while not ticks[CANCEL]:
            pass
        stopped.set()

    with pytest.raises(KeyboardInterrupt):
        run_with_ticks(work, "endless", 1, recorder)
    assert stopped.is_set()


def test_a_time_out_raised_by_the_work_itself_is_not_taken_for_waiting():
    def work(ticks):
        raise TimeoutError("mine")

    with pytest.raises(TimeoutError, match="mine"):
        run_with_ticks(work, "timing out", 1)


class EndsLate(Future):
    """Ends between a look at it that times out and the next question."""

    def result(self, timeout=None):
        if timeout is not None and not self.done():
            self.set_result(7)
            raise TimeoutError
        return super().result(timeout)


class LatePool:
    def __init__(self, *_, **__):
        self.future = EndsLate()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def submit(self, *_):
        threading.Timer(0.1, lambda: self.future.done() or self.future.set_result(7)).start()
        return self.future


def test_work_that_ends_while_it_is_looked_at_is_not_taken_for_late(monkeypatch):
    monkeypatch.setattr(progress_module, "ThreadPoolExecutor", LatePool)
    assert run_with_ticks(lambda ticks: 7, "short", 1) == 7


def test_a_stage_without_a_progress_is_silent(capfd):
    with stage(None, "nothing", 3) as advance:
        advance(2)
    assert capfd.readouterr() == ("", "")


def test_a_timer_passes_everything_on_and_adds_up_stages():
    recorder = Recorder()
    timer = StageTimer(recorder)
    for _ in range(2):
        with stage(timer, "twice", 3) as advance:
            advance(1)
    assert recorder.calls == [("start", "twice", 3), ("advance", 1), ("finish",)] * 2
    assert list(timer.seconds) == ["twice"]
    assert timer.seconds["twice"] >= 0


def test_a_timer_alone_is_silent():
    timer = StageTimer(None)
    run_with_ticks(lambda ticks: None, "quiet", 1, timer)
    assert "quiet" in timer.seconds


def test_a_stage_inside_another_is_timed_and_shown_by_itself():
    recorder = Recorder()
    timer = StageTimer(recorder)
    with stage(timer, "outer"), stage(timer, "inner"):
        pass
    assert [call[1] for call in recorder.calls if call[0] == "start"] == ["outer", "inner"]
    assert list(timer.seconds) == ["outer", "inner"]


def test_no_second_is_counted_twice(monkeypatch):
    clock = iter([0.0, 1.0, 3.0, 6.0])
    monkeypatch.setattr("meshwright.runtime.progress.perf_counter", lambda: next(clock))
    timer = StageTimer(None)
    with stage(timer, "outer"), stage(timer, "inner"):
        pass
    assert timer.seconds == {"outer": 1.0 + 3.0, "inner": 2.0}


def test_bars_nest_and_an_error_takes_all_of_them_away():
    bar = ProgressBar()

    def work():
        with stage(bar, "outer"), stage(bar, "inner", 3) as advance:
            advance(2)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    with stage(bar, "again"):
        pass


def test_a_log_has_dated_lines_about_stages_that_take_long_and_no_others(capsys, monkeypatch):
    monkeypatch.setattr(progress_module, "FIRST_LINE_SECONDS", 0.05)
    lines, said = ProgressLines(), ""
    with stage(lines, "outer", 10) as advance:
        with stage(lines, "inner", 2_000):
            lines.resize(3_000)
            lines.advance(1_500)
            while "inner" not in said:
                sleep(0.01)
                said += capsys.readouterr().err
        advance(10)
    with stage(lines, "short"):
        pass
    said += capsys.readouterr().err
    day = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
    assert re.match(rf"{day} inner: 1,500 of 3,000\n", said)
    assert re.search(rf"{day} inner: ended after 0 s\n", said)
    assert "short" not in said


def test_a_kernel_that_needs_more_functions_than_were_known_is_counted_to_them(monkeypatch):
    monkeypatch.setattr(progress_module, "_SHOWN_AFTER_SECONDS", 0.0)
    recorder, compilation = Recorder(), Compilation()
    monkeypatch.setattr(progress_module, "COMPILATION", compilation)
    with progress_module._compiling_stage(recorder) as look:
        compilation.begin("one", frozenset())
        assert look()
        compilation.begin("two", frozenset({"three"}))
        compilation.begin("three", frozenset())
        compilation.end("three")
        compilation.end("two")
        assert look()
        compilation.end("one")
        compilation.begin("four", frozenset())
        assert look()
        compilation.end("four")
        assert not look()
    assert recorder.calls == [
        ("start", COMPILING, 1),
        ("advance", 0),
        ("resize", 3),
        ("advance", 2),
        ("finish",),
        ("start", COMPILING, 1),
        ("advance", 0),
        ("finish",),
    ]


_KERNELS = """
from meshwright.kernels.compiling import inner, kernel
@inner
def twice(number):
    return 2 * number
@inner
def thrice(number):
    return 3 * number
@kernel
def five_times(number):
    return twice(number) + thrice(number)
"""


def test_kernels_that_must_be_compiled_are_a_stage_of_their_own(tmp_path, monkeypatch):
    tmp_path.joinpath("cold_kernels.py").write_text(_KERNELS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(progress_module, "_SHOWN_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(progress_module, "_POLL_SECONDS", 0.001)
    recorder = Recorder()
    five_times = import_module("cold_kernels").five_times
    assert run_with_ticks(lambda ticks: five_times(4), "work", 1, recorder) == 20
    stages = [call for call in recorder.calls if call[0] != "advance"]
    assert stages == [("start", "work", 1), ("start", COMPILING, 3), ("finish",), ("finish",)]
    assert not COMPILATION.needed


def test_nothing_is_said_about_kernels_where_none_is_compiled(monkeypatch):
    monkeypatch.setattr(progress_module, "_SHOWN_AFTER_SECONDS", 0.0)
    recorder = Recorder()
    run_with_ticks(lambda ticks: None, "work", 1, recorder)
    assert ("start", "work", 1) in recorder.calls
    assert not any(COMPILING in call for call in recorder.calls)
