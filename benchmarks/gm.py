"""How much faster is Greedy Merge than the paper's Algorithm 1, and what does it cost in links?

    python -m benchmarks.gm [--peer PaperGM.java] [--twitter ego-twitter.txt.gz] [--workload NAME ...]

Every rival runs beside ours on the same interests in this one run; ours is the best of three, since a rival
takes minutes. `transcription` is Algorithm 1 compiled by Numba (`benchmarks/paper_gm.py`); `peer` is a Java
file started by `java`, which gets a line of topic numbers per node.
"""

import argparse
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

import numpy as np

import meshwright as mw
from benchmarks import paper_gm
from benchmarks.social import follows_sample

_TIMES = 3
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


def run_peer(peer: Path, interests: mw.Interests) -> tuple[float, int]:
    """Seconds and edges of the Java peer."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "interests.txt"
        file.write_text("".join(" ".join(map(str, topics)) + "\n" for topics in topics_by_node(interests)))
        done = subprocess.run(
            ["java", "-Xmx16g", str(peer), str(file)], check=True, capture_output=True, text=True
        )
    found = re.search(r"edges=(\d+) .*seconds=([\d.]+)", done.stdout)
    if found is None:
        raise SystemExit(f"{peer} printed no edges and seconds: {done.stdout!r}")
    return float(found[2]), int(found[1])


def run_transcription(interests: mw.Interests) -> tuple[float, int]:
    """Seconds and edges of the compiled transcription."""
    begin = perf_counter()
    edges = paper_gm.greedy_merge(interests.indptr, interests.topic_ids, interests.topic_count)
    return perf_counter() - begin, len(edges)


def run_ours(interests: mw.Interests) -> tuple[float, int]:
    """Seconds and edges of `gm`, the best of a few runs."""
    times = []
    for _ in range(_TIMES):
        begin = perf_counter()
        overlay = mw.build(interests, "gm")
        times.append(perf_counter() - begin)
    return min(times), len(overlay)


def compile_kernels() -> float:
    """Seconds until a small build and the transcription have run once: compiling, or loading the cache."""
    tiny = mw.workloads.unif(50, 10, subscriptions=3)
    begin = perf_counter()
    mw.build(tiny, "gm")
    seconds = perf_counter() - begin
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
    print(f"{'workload':<10} {'rival':<14} {'rival s':>8} {'gm s':>7} {'ratio':>6} {'links':>8} {'more':>7}")
    for name in options.workload or laws:
        interests = laws[name]()
        seconds, links = run_ours(interests)
        rivals = {} if options.no_transcription else {"transcription": run_transcription}
        if options.peer:
            rivals["peer"] = lambda interests: run_peer(options.peer, interests)
        for rival, run in rivals.items():
            theirs, their_links = run(interests)
            more = links / their_links - 1
            print(
                f"{name:<10} {rival:<14} {theirs:8.1f} {seconds:7.2f} {theirs / seconds:6.0f} "
                f"{links:8,} {more:+7.2%}",
                flush=True,
            )


if __name__ == "__main__":
    main()
