"""One side of `benchmarks.against`: measures this environment's Meshwright, one case at a time.

Started by path with the interpreter of either checkout, so it uses the public face alone. A request is a
line of JSON on stdin, {"case", "scale", "twitter"}; the answer is a line with `processor` and `wall`, in
seconds or for single events in microseconds, and `result`, a fingerprint of the links.
"""

import json
import sys
from collections.abc import Callable
from functools import cache, partial
from hashlib import blake2b
from statistics import median
from time import perf_counter, process_time
from typing import Any

import meshwright as mw

Answer = dict[str, Any]
_EVENTS = 200


def _wide(nodes: int) -> mw.Interests:
    return mw.workloads.unif(nodes, 1_000, min_subscriptions=10, max_subscriptions=150, seed=1)


_LAWS: dict[str, Callable[[int], mw.Interests]] = {
    "unif-1000": _wide,
    "unif-200": lambda nodes: mw.workloads.unif(
        nodes, 200, min_subscriptions=20, max_subscriptions=100, seed=1
    ),
    "expo-1000": lambda nodes: mw.workloads.expo(
        nodes, 1_000, min_subscriptions=50, max_subscriptions=150, seed=1
    ),
}
_BUILDS: dict[str, tuple[str, str, int, dict[str, Any]]] = {
    "gm unif-1000": ("gm", "unif-1000", 10_000, {}),
    "gm unif-200": ("gm", "unif-200", 10_000, {}),
    "gm expo-1000": ("gm", "expo-1000", 10_000, {}),
    "dc 100,000": ("dc", "unif-1000", 100_000, {"part_size": 2_000}),
    "dcbc-direct 100,000": ("dcbc-direct", "unif-1000", 100_000, {}),
}


def _fingerprint(overlay: mw.Overlay) -> str:
    return f"{len(overlay)} {blake2b(overlay.edges.tobytes(), digest_size=8).hexdigest()}"


@cache
def _compile(algorithm: str) -> None:
    mw.build(mw.workloads.unif(50, 10, subscriptions=3), algorithm)


@cache
def _interests(law: str, nodes: int) -> mw.Interests:
    return _LAWS[law](nodes)


@cache
def _twitter(path: str) -> mw.Interests:
    return mw.Interests.from_parquet(path)


def _timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds of the processors and of the clock, and what came out."""
    wall, processor = perf_counter(), process_time()
    result = work()
    return process_time() - processor, perf_counter() - wall, result


def _timed_build(interests: mw.Interests, algorithm: str, options: dict[str, Any]) -> Answer:
    _compile(algorithm)
    processor, wall, overlay = _timed(lambda: mw.build(interests, algorithm, **options))
    return {"processor": processor, "wall": wall, "result": _fingerprint(overlay)}


@cache
def _fleet(nodes: int) -> mw.Overlay:
    workload = mw.workloads.unif(nodes, 200, min_subscriptions=10, max_subscriptions=90, seed=1)
    return mw.build(workload, "low-oda")


def _timed_events(kind: str, nodes: int) -> Answer:
    """The median over nodes that leave and join again, one after the other."""
    overlay = _fleet(nodes)
    live = mw.Maintainer(overlay)
    names = overlay.interests.nodes.to_pylist()
    times = []
    for at in range(_EVENTS):
        node = names[at * 7919 % len(names)]
        topics = sorted(live.topics_of(node))
        leave, join = _timed(partial(live.leave, node)), _timed(partial(live.join, node, topics))
        times.append(leave if kind == "leave" else join)
    processor, wall = (median(own[column] for own in times) * 1e6 for column in (0, 1))
    return {"processor": processor, "wall": wall, "result": _fingerprint(live.overlay)}


def measure(case: str, scale: float, twitter: str | None) -> Answer:
    """Measure a case once, after what it needs is made and compiled."""
    if case in ("leave", "join"):
        return _timed_events(case, round(2_000 * scale))
    if case == "gm twitter":
        assert twitter is not None
        return _timed_build(_twitter(twitter), "gm", {})
    algorithm, law, nodes, options = _BUILDS[case]
    return _timed_build(_interests(law, round(nodes * scale)), algorithm, options)


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(measure(**json.loads(line))), flush=True)
