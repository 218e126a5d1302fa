"""Using all cores, by threads that run kernels without the GIL; results don't depend on how many there are.

`on_all_cores` is for many small chunks of one array, whose kernels mostly wait for memory: it starts at most
`MOST_THREADS`. `map_parts` is for a few independent problems: it starts a thread for each core.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from itertools import pairwise
from threading import Lock
from typing import Generic, Self, TypeVar

import numpy as np

from meshwright.runtime.arrays import Offsets, Ticks
from meshwright.runtime.machine import cores, threads
from meshwright.runtime.progress import CANCEL, DONE, Progress, run_with_ticks

Chunk = tuple[int, int]
Item = TypeVar("Item")
Result = TypeVar("Result")


def balanced_chunks(work: Offsets, chunks_a_thread: int = 8) -> list[Chunk]:
    """Cut 0 to len(work) into ranges of about the same sum of `work`; none is empty."""
    reached = np.cumsum(work + 1)
    parts = np.linspace(0, 1, threads() * chunks_a_thread + 1)[1:-1]
    cuts = np.searchsorted(reached, parts * reached[-1]) if len(work) else []
    return list(pairwise(np.unique([0, *cuts, len(work)]).tolist()))


def on_all_cores(
    work: Callable[[Iterator[Chunk], Ticks], Result],
    chunks: Sequence[Chunk],
    label: str,
    progress: Progress | None = None,
) -> list[Result]:
    """Call `work` once a thread, each with the chunks that it gets to before the others do, as one stage.

    On Ctrl-C no more chunks are given out, and kernels see it in the ticks. All of this is off the main
    thread, where kernels that give several arrays must not run: Numba crashes if Ctrl-C comes while it hands
    them over.
    """
    waiting, lock = deque(chunks), Lock()

    def turns(ticks: Ticks) -> Iterator[Chunk]:
        while not ticks[CANCEL]:
            try:
                first, last = waiting.popleft()
            except IndexError:
                return
            yield first, last
            with lock:
                ticks[DONE] += last - first

    def run(ticks: Ticks) -> list[Result]:
        count = max(1, min(threads(), len(chunks)))
        with ThreadPoolExecutor(count) as pool:
            futures = [pool.submit(work, turns(ticks), ticks) for _ in range(count)]
            return [future.result() for future in futures]

    return run_with_ticks(run, label, sum(last - first for first, last in chunks), progress)


def map_parts(
    work: Callable[[Item, Ticks], Result],
    parts: Sequence[Item],
    label: str,
    total: int,
    progress: Progress | None = None,
) -> list[Result]:
    """`work` of each part, in order, on a thread for each core, until its ticks say to stop."""

    def run(ticks: Ticks) -> list[Result]:
        def unless_cancelled(part: Item) -> Result:
            if ticks[CANCEL]:
                raise CancelledError
            return work(part, ticks)

        with ThreadPoolExecutor(max(1, min(cores(), len(parts)))) as pool:
            return list(pool.map(unless_cancelled, parts))

    return run_with_ticks(run, label, total, progress)


class Beside(Generic[Result]):
    """Work on a thread of its own, beside what this one does: for cores that would be idle meanwhile.

    In a `with` block: if the block fails, the work is told to stop, by the progress that it is given.
    """

    def __init__(self, work: Callable[[Progress], Result]) -> None:
        self._work, self._pool, self._stopping = work, ThreadPoolExecutor(1), _Stopping()
        self._found: Future[Result] | None = None

    def start(self) -> None:
        """Begin, unless that was done before."""
        if self._found is None:
            self._found = self._pool.submit(self._work, self._stopping)

    def result(self) -> Result:
        """What the work gives, when it is done."""
        self.start()
        assert self._found is not None
        return self._found.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._stopping.is_stopped = kind is not None
        self._pool.shutdown(wait=True, cancel_futures=True)


class _Stopping:
    """A `Progress` that shows nothing, and raises once it `is_stopped`."""

    is_stopped = False

    def start(self, label: str, total: int) -> None:
        """Raise if the work should stop."""
        del label, total
        self._look()

    def advance(self, done: int) -> None:
        """Raise if the work should stop."""
        del done
        self._look()

    def resize(self, total: int) -> None:
        """Nothing is shown."""

    def finish(self) -> None:
        """Nothing is shown."""

    def _look(self) -> None:
        if self.is_stopped:
            raise CancelledError


def threads_each(parts: int) -> int:
    """How many threads each part may use when `map_parts` runs them."""
    return max(1, cores() // max(1, parts))
