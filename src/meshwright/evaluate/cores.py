"""Sharing kernels that release the GIL among the cores, in chunks, with results that don't depend on it."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Lock
from typing import TypeVar

import numpy as np

from meshwright.kernels.arrays import Offsets
from meshwright.machine import threads
from meshwright.progress import CANCEL, DONE, Progress, Ticks, run_with_ticks

Chunk = tuple[int, int]
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
