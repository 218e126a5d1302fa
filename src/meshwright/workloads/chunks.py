"""Nodes in runs of a fixed length, one random stream each, on all cores."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from meshwright.progress import CANCEL, DONE, Ticks

Result = TypeVar("Result")

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
