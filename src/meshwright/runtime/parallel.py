"""Share work among the cores, with results that do not depend on how many there are."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Lock
from typing import TypeVar

import numpy as np

from meshwright.runtime.arrays import Offsets, Ticks
from meshwright.runtime.machine import threads
from meshwright.runtime.progress import CANCEL, DONE, Progress, run_with_ticks

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


# Part of what a seed means: another length gives other interests. At this one a million nodes are 245
# runs of about ten milliseconds, which is how long Ctrl-C waits.
NODES_PER_STREAM = 4096


def map_chunks(nodes: int, work: Callable[[int, slice], Result], ticks: Ticks) -> list[Result]:
    """The results of work(part, run of nodes) for all runs, made in threads, in order.

    `ticks` count the nodes that are done. Once they say to stop, what is there already is returned.
    """
    starts = range(0, nodes, NODES_PER_STREAM)
    runs = [slice(start, min(start + NODES_PER_STREAM, nodes)) for start in starts]
    results = []
    with ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="meshwright") as pool:
        for run, result in zip(runs, pool.map(work, range(len(runs)), runs), strict=True):
            results.append(result)
            ticks[DONE] = run.stop
            if ticks[CANCEL]:
                pool.shutdown(cancel_futures=True)
                break
    return results
