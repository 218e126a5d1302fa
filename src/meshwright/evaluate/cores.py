"""Sharing kernels that release the GIL among the cores, in chunks, with results that don't depend on it."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Lock
from typing import TypeVar

import numpy as np

from meshwright.kernels.arrays import Offsets
from meshwright.machine import cores
from meshwright.progress import CANCEL, DONE, Ticks

Chunk = tuple[int, int]
Result = TypeVar("Result")

_MOST_THREADS = 8


def threads() -> int:
    """How many threads `on_all_cores` starts at most."""
    return min(cores(), _MOST_THREADS)


def balanced_chunks(work: Offsets, chunks_a_thread: int = 8) -> list[Chunk]:
    """Cut 0 to len(work) into ranges of about the same sum of `work`; none is empty."""
    reached = np.cumsum(work + 1)
    parts = np.linspace(0, 1, threads() * chunks_a_thread + 1)[1:-1]
    cuts = np.searchsorted(reached, parts * reached[-1]) if len(work) else []
    return list(pairwise(np.unique([0, *cuts, len(work)]).tolist()))


def on_all_cores(
    work: Callable[[Iterator[Chunk]], Result], chunks: Sequence[Chunk], ticks: Ticks, *, counted: bool = True
) -> list[Result]:
    """Call `work` once a thread, each with the chunks that it gets to before the others do.

    `ticks` counts the finished items where `counted`; after a wish to stop no more chunks are given out.
    """
    waiting, lock = deque(chunks), Lock()

    def turns() -> Iterator[Chunk]:
        while not ticks[CANCEL]:
            try:
                first, last = waiting.popleft()
            except IndexError:
                return
            yield first, last
            if counted:
                with lock:
                    ticks[DONE] += last - first

    count = min(threads(), len(chunks))
    if count <= 1:
        return [work(turns())]
    with ThreadPoolExecutor(count) as pool:
        return [future.result() for future in [pool.submit(work, turns()) for _ in range(count)]]
