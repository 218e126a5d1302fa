"""Progress and cancellation of long work: one mechanism for the library, the command line and the pipeline.

A long kernel runs on another thread and shares a small array of ticks with this one: it writes how far it
is, and looks now and then whether it should stop. The calling thread turns the ticks into calls of a
`Progress`, and Ctrl-C into the wish to stop. Nothing is shown unless the caller hands in a `Progress`.
"""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from threading import Event, Lock, Thread
from time import perf_counter
from typing import TYPE_CHECKING, Protocol, TypeVar

from meshwright.runtime.compilation import COMPILATION

if TYPE_CHECKING:
    from rich.progress import TaskID

    from meshwright.runtime.arrays import Ticks

Result = TypeVar("Result")

DONE = 0
CANCEL = 1

COMPILING = "compiling kernels (only when first used)"

_POLL_SECONDS = 0.05
_SHOWN_AFTER_SECONDS = 1.0


class Progress(Protocol):
    """Something that shows how far a stage is. A stage may begin inside another, and ends before it."""

    def start(self, label: str, total: int) -> None:
        """A stage of `total` units begins; 0 means that their number is unknown."""

    def advance(self, done: int) -> None:
        """`done` units of the present stage are finished."""

    def resize(self, total: int) -> None:
        """The present stage turns out to have `total` units: Spark learns of its tasks as it goes."""

    def finish(self) -> None:
        """The present stage has ended, well or not; the one around it, if any, is present again."""


@contextmanager
def stage(progress: Progress | None, label: str, total: int = 0) -> Iterator[Callable[[int], None]]:
    """Announce a stage to `progress` and yield the function that reports how far it is."""
    if progress is None:
        yield lambda done: None
        return
    progress.start(label, total)
    try:
        yield progress.advance
    finally:
        progress.finish()


def run_with_ticks(
    work: "Callable[[Ticks], Result]", label: str, total: int, progress: Progress | None = None
) -> Result:
    """Run `work(ticks)` on another thread, show `ticks[DONE]` and stop it on Ctrl-C.

    `work` has to look at `ticks[CANCEL]` often enough and return soon after it is set; what it returns
    then is thrown away, and the KeyboardInterrupt goes on to the caller.
    """
    import numpy as np

    ticks = np.zeros(2, np.int64)
    with (
        stage(progress, label, total) as advance,
        _compiling_stage(progress) as is_compiling,
        ThreadPoolExecutor(1, thread_name_prefix="meshwright") as pool,
    ):
        try:
            future = pool.submit(work, ticks)
            # Not `result` with a timeout: work may end just after that, or in a TimeoutError of its own.
            while not wait([future], timeout=_POLL_SECONDS).done:
                if not is_compiling():
                    advance(int(ticks[DONE]))
            return future.result()
        except BaseException:
            ticks[CANCEL] = 1
            raise


@contextmanager
def _compiling_stage(progress: Progress | None) -> Iterator[Callable[[], bool]]:
    """Yield a function that shows a stage while kernels are compiled, and says whether it does.

    Called now and then, it begins the stage once a compilation has taken a second, and ends it with the
    compilation. A kernel may turn out to need more functions, and another may follow between two calls.
    """
    with ExitStack() as shown:
        since: float | None = None
        total = reached = 0  # of the stage that is shown; 0 while there is none

        def look() -> bool:
            nonlocal since, total, reached
            needed, done = len(COMPILATION.needed), len(COMPILATION.done)
            if not needed or done < reached:
                shown.close()
                since, total, reached = since if needed else None, 0, 0
            if not needed:
                return False
            since = since or perf_counter()
            if not total and perf_counter() - since >= _SHOWN_AFTER_SECONDS:
                shown.enter_context(stage(progress, COMPILING, needed))
                total = needed
            if total and progress is not None:
                if needed != total:
                    progress.resize(needed)
                total, reached = needed, done
                progress.advance(done)
            return bool(total)

        yield look


class StageTimer:
    """Passes everything on to another `Progress`, if any, and notes the seconds that each stage took.

    The time of a stage inside another is its own alone, so that all together are not more than there was.
    """

    def __init__(self, progress: Progress | None) -> None:
        self.seconds: dict[str, float] = {}
        self._progress = progress
        self._open: list[str] = []
        self._since = 0.0

    def start(self, label: str, total: int) -> None:
        """Note when the stage begins."""
        self._book()
        self._open.append(label)
        if self._progress is not None:
            self._progress.start(label, total)

    def advance(self, done: int) -> None:
        """Pass it on."""
        if self._progress is not None:
            self._progress.advance(done)

    def resize(self, total: int) -> None:
        """Pass it on."""
        if self._progress is not None:
            self._progress.resize(total)

    def finish(self) -> None:
        """Note how long the stage took; one that comes again is added up."""
        self._book()
        self._open.pop()
        if self._progress is not None:
            self._progress.finish()

    def _book(self) -> None:
        """Give the time since the last change to the present stage."""
        now = perf_counter()
        if self._open:
            self.seconds[self._open[-1]] = self.seconds.get(self._open[-1], 0.0) + now - self._since
        self._since = now


class ProgressLines:
    """Dated lines on stderr about stages that take long, for logs: nothing is said of what takes two seconds.

    A thread says how far the present stage is, after 2 seconds, then 4 later, 8, and so on up to 60. What was
    said to have begun is said to have ended.
    """

    def __init__(self) -> None:
        self._open: list[_Stage] = []
        self._lock = Lock()
        self._over = Event()

    def start(self, label: str, total: int) -> None:
        """Watch the stage; the first one wakes the thread that speaks."""
        with self._lock:
            if not self._open:
                self._over = Event()
                Thread(target=self._speak, args=(self._over,), daemon=True).start()
            self._open.append(_Stage(label, total, perf_counter()))

    def advance(self, done: int) -> None:
        """Remember it, for the next line."""
        self._open[-1].done = done

    def resize(self, total: int) -> None:
        """Remember it, for the next line."""
        self._open[-1].total = total

    def finish(self) -> None:
        """Say that the stage has ended, if it was spoken of."""
        with self._lock:
            ended = self._open.pop()
            if not self._open:
                self._over.set()
            if ended.said:
                _say(f"{ended.label}: ended after {perf_counter() - ended.since:.0f} s")

    def _speak(self, over: Event) -> None:
        pause = FIRST_LINE_SECONDS
        while not over.wait(pause):
            with self._lock:
                if over.is_set() or not self._open:
                    return
                present = self._open[-1]
                if perf_counter() - present.since >= FIRST_LINE_SECONDS:
                    present.said = True
                    _say(f"{present.label}{present.reached()}")
                    pause = min(2 * pause, _MOST_SECONDS_APART)


FIRST_LINE_SECONDS = 2.0
"""How long a stage lasts before `ProgressLines` speaks of it."""

_MOST_SECONDS_APART = 60.0


@dataclass
class _Stage:
    label: str
    total: int
    since: float
    done: int = 0
    said: bool = False

    def reached(self) -> str:
        return f": {self.done:,} of {self.total:,}" if self.total else ""


def _say(text: str) -> None:
    print(f"{datetime.now():%Y-%m-%d %H:%M:%S} {text}", file=sys.stderr, flush=True)


class ProgressBar:
    """A bar on stderr, by rich. Nothing is drawn where stderr is no terminal."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        console = Console(stderr=True)
        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._tasks: list[TaskID] = []

    def start(self, label: str, total: int) -> None:
        """Show a new bar; one without a total pulses."""
        self._bar.start()
        self._tasks.append(self._bar.add_task(label, total=total or None))

    def advance(self, done: int) -> None:
        """Move the present bar."""
        self._bar.update(self._tasks[-1], completed=done)

    def resize(self, total: int) -> None:
        """Give the present bar another length."""
        self._bar.update(self._tasks[-1], total=total or None)

    def finish(self) -> None:
        """Take the present bar away."""
        self._bar.remove_task(self._tasks.pop())
        if not self._tasks:
            self._bar.stop()
