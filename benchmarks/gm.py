"""How much faster is Greedy Merge than the paper's Algorithm 1, at what cost in links, and with weights?

    python -m benchmarks.gm [--peer PaperGM.java] [--twitter ego-twitter.txt.gz] [--workload NAME ...]

Every rival runs beside ours on the same interests in this one run. Ours is the median of five, a rival runs
once, since it takes minutes. `transcription` is Algorithm 1 compiled by Numba (`benchmarks/paper_gm.py`);
`peer` is a Java file started by `java`, which gets a line of topic numbers per node. Ratios are given by the
clock, which counts on a quiet machine, and by processor time, which counts on a busy one.

Then, for each workload, what the machine allows: the processor time of one look at every pair from the first
state, each row by the fastest way, and of one pass over the bounds (a byte for each pair) at the bandwidth of
memory, which is measured in the same run; both can be shared by all cores. Then that of the unions which the
edges of `gm` make, edge by edge, on one core. Together they are the least that this way of building takes by
the clock: `gm` also has to look at pairs again, and passes over a row's bounds at each level that it
reaches. Last, `gm` with weights from 1 to 100 for the topics, drawn with seed 1, over `gm` without.
"""

import argparse
import re
import resource
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Any, NamedTuple

import numpy as np

import meshwright as mw
from benchmarks import paper_gm
from benchmarks.social import follows_sample
from meshwright.construct import greedy
from meshwright.kernels.core.topic_components import take_all_edges
from meshwright.kernels.greedy.bounds import bound_rows
from meshwright.runtime.machine import cores

_TIMES = 5
_WEIGHTS = (1, 100)


class Taken(NamedTuple):
    """What a run took and gave: seconds by the clock, processor seconds, links."""

    seconds: float
    processor: float
    links: int


_LAWS: dict[str, Callable[[], mw.Interests]] = {
    "unif-1000": lambda: mw.workloads.unif(
        10_000, 1_000, min_subscriptions=10, max_subscriptions=150, seed=1
    ),
    "unif-200": lambda: mw.workloads.unif(10_000, 200, min_subscriptions=20, max_subscriptions=100, seed=1),
    "expo-1000": lambda: mw.workloads.expo(
        10_000, 1_000, min_subscriptions=50, max_subscriptions=150, seed=1
    ),
}


def topics_by_node(interests: mw.Interests) -> Iterator[np.ndarray]:
    """The topics of each node that has any: the others play no part, and the peer can't read them."""
    for u in np.flatnonzero(np.diff(interests.indptr)):
        yield interests.topic_ids[interests.indptr[u] : interests.indptr[u + 1]]


def run_peer(peer: Path, interests: mw.Interests) -> Taken:
    """The Java peer, by its own clock; its processor time has the start of Java and reading in it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "interests.txt"
        file.write_text("".join(" ".join(map(str, topics)) + "\n" for topics in topics_by_node(interests)))
        before = _children_seconds()
        done = subprocess.run(
            ["java", "-Xmx8g", str(peer), str(file)], check=True, capture_output=True, text=True
        )
    found = re.search(r"edges=(\d+) .*seconds=([\d.]+)", done.stdout)
    if found is None:
        raise SystemExit(f"{peer} printed no edges and seconds: {done.stdout!r}")
    return Taken(float(found[2]), _children_seconds() - before, int(found[1]))


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_transcription(interests: mw.Interests) -> Taken:
    """The compiled transcription."""
    begin, began = perf_counter(), process_time()
    edges = paper_gm.greedy_merge(interests.indptr, interests.topic_ids, interests.topic_count)
    return Taken(perf_counter() - begin, process_time() - began, len(edges))


def run_ours(interests: mw.Interests, **options: Any) -> Taken:
    """`gm`, the medians of some runs."""
    runs = []
    for _ in range(_TIMES):
        begin, began = perf_counter(), process_time()
        overlay = mw.build(interests, "gm", **options)
        runs.append((perf_counter() - begin, process_time() - began))
    seconds, processor = (statistics.median(column) for column in zip(*runs, strict=True))
    return Taken(seconds, processor, len(overlay))


class Floor(NamedTuple):
    """Least processor seconds of what every greedy of this kind has to do, each on one thread."""

    look: float
    pairs: int
    scan: float
    unite: float
    unions: int

    @property
    def by_clock(self) -> float:
        """With looks and the pass over the bounds on all cores, and unions one after the other."""
        return (self.look + self.scan) / cores() + self.unite

    @property
    def bandwidth(self) -> float:
        """Gigabytes that one thread reads in a second."""
        return self.pairs / self.scan / 1e9


def find_floor(interests: mw.Interests) -> Floor:
    """The time of one look at every pair from the first state, and of the unions that the edges make."""
    order = greedy.tie_order(np.diff(interests.indptr), "shuffled", 0)
    problem = greedy.make_problem(interests.indptr, interests.topic_ids, interests.topic_count, order)
    ticks = np.zeros(2, np.int64)
    place = np.empty(interests.node_count, np.int32)
    place[problem.nodes] = np.arange(len(problem.nodes))
    edges = place[greedy.run_greedy(problem, ticks, cores()).edges]
    looks, scans, unites = [], [], []
    for _ in range(_TIMES):
        state = greedy.start_state(problem, with_columns=True)
        room = greedy.start_room(problem, state)
        pairs = greedy.start_pairs(problem, state, [room], ticks)
        began = thread_time()
        looked = bound_rows(state, pairs, np.arange(len(problem.nodes)), room, ticks)
        looks.append(thread_time() - began)
        began = thread_time()
        pairs.store.max()
        scans.append(thread_time() - began)
        began = thread_time()
        take_all_edges(state, edges, ticks)
        unites.append(thread_time() - began)
    return Floor(min(looks), looked, min(scans), min(unites), problem.to_unite)


def drawn_weights(interests: mw.Interests) -> dict[str, int]:
    """A weight for each topic."""
    low, high = _WEIGHTS
    drawn = np.random.default_rng(1).integers(low, high + 1, interests.topic_count)
    return dict(zip(interests.topics.to_pylist(), drawn.tolist(), strict=True))


def compile_kernels() -> float:
    """Seconds until small builds and the transcription have run once: compiling, or loading the cache."""
    tiny = mw.workloads.unif(50, 10, subscriptions=3)
    begin = perf_counter()
    mw.build(tiny, "gm")
    seconds = perf_counter() - begin
    mw.build(tiny, "gm", weights=drawn_weights(tiny))
    run_transcription(tiny)
    return seconds


def main() -> None:
    """Print a table with a line for each rival."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer", type=Path, help="PaperGM.java")
    parser.add_argument("--twitter", type=Path, help="a file of follower followee lines")
    parser.add_argument("--workload", action="append", choices=[*_LAWS, "twitter"])
    parser.add_argument("--no-transcription", action="store_true")
    options = parser.parse_args()
    laws = dict(_LAWS)
    if options.twitter:
        laws["twitter"] = lambda: follows_sample(options.twitter, 10_000, seed=1)
    print(f"kernels ready after {compile_kernels():.1f} s (compiled once a machine, then read from a cache)")
    print(
        f"{'workload':<10} {'rival':<14} {'rival s':>8} {'cpu s':>7} {'gm s':>6} {'cpu s':>6} "
        f"{'ratio':>6} {'by cpu':>6} {'links':>8} {'more':>7}"
    )
    for name in options.workload or laws:
        interests = laws[name]()
        ours = run_ours(interests)
        rivals = {} if options.no_transcription else {"transcription": run_transcription}
        if options.peer:
            rivals["peer"] = lambda interests: run_peer(options.peer, interests)
        for rival, run in rivals.items():
            theirs = run(interests)
            print(
                f"{name:<10} {rival:<14} {theirs.seconds:8.1f} {theirs.processor:7.1f} {ours.seconds:6.2f} "
                f"{ours.processor:6.2f} {theirs.seconds / ours.seconds:6.0f} "
                f"{theirs.processor / ours.processor:6.0f} {ours.links:8,} "
                f"{ours.links / theirs.links - 1:+7.2%}",
                flush=True,
            )
        floor = find_floor(interests)
        weighted = run_ours(interests, weights=drawn_weights(interests))
        print(
            f"{name:<10} one look at {floor.pairs:,} pairs: {floor.look:.3f} cpu s; one pass over "
            f"their bounds: {floor.scan:.3f} cpu s ({floor.bandwidth:.0f} GB/s); {floor.unions:,} unions: "
            f"{floor.unite:.3f} cpu s; at least {floor.by_clock:.2f} s, gm takes "
            f"{ours.seconds / floor.by_clock:.1f} times that\n"
            f"{name:<10} weighted: {weighted.seconds:.2f} s, {weighted.processor:.2f} cpu s; gm takes "
            f"{ours.seconds:.2f} s, {ours.processor:.2f} cpu s; ratio {weighted.seconds / ours.seconds:.2f}, "
            f"by cpu {weighted.processor / ours.processor:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
