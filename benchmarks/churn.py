"""How fast are repairs, how do they grow with the fleet, and does the overlay hold out?

    python -m benchmarks.churn [--only static|speed|growth|scale|endurance] [--policies NAME ...]
        [--events N] [--sizes N ...] [--reoptimise LINKS] [--plot PATH]

Interests as in the paper on churn: unif, 200 topics, 10 to 90 subscriptions by a power law, 2,000 nodes; each
round a node joins or leaves with probability 1/2.

`static`: low-oda beside gm, by rho.
`speed`: medians and 99th percentiles of a thousand rounds; beside them, from the same run, the time in which
a transcription of Algorithm 2 (`benchmarks/paper_low_oda.py`) and `low-oda` build the overlay anew. All
rounds are run three times, and of each the least time counts, since the work is the same each time and what
other programs take is not; the times of builds are those of the processor.
`growth`: the fleet grows by joins; at each size, the time of an event beside the subscribers of a topic.
`scale`: a start, a snapshot and 600 events at 2,000, 20,000, 100,000 and 1,000,000 nodes (or `--sizes`), with
1,000 topics and 28 for each node, on an overlay of dcbc-direct: processor time, and the most memory; drawn
into an SVG file with `--plot`.
`endurance`: many events under `shadow` and `naive`. After every ten thousand, scipy checks that all topics
are connected, and the overlay is compared with the one that low-oda builds for the nodes that are there. It
has not drifted if at each of these times its average degree is at most 1.05 times and its maximum degree at
most 1.5 times as high.
With `--reoptimise`, `scale` and `endurance` have a budget of changed links for each event.
"""

import argparse
import resource
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import meshwright as mw
from benchmarks import paper_low_oda
from meshwright.construct.greedy import tie_order

_TOPICS = 200
_ROUNDS = 1_000
_PASSES = 3
_POLICIES = ["shadow", "naive"]
_GOALS = {"join": (0.5, 2.0), "leave": (1.0, 5.0)}


def interests(nodes: int, seed: int) -> mw.Interests:
    """The paper's workload."""
    return mw.workloads.unif(nodes, _TOPICS, min_subscriptions=10, max_subscriptions=90, seed=seed)


class Fleet:
    """Draws rounds of churn for a maintainer, and applies them."""

    def __init__(self, live: mw.Maintainer, nodes: list[str], newcomers: int, seed: int) -> None:
        self.live = live
        self._nodes = nodes
        self._rng = np.random.default_rng(seed)
        drawn = interests(newcomers, seed + 1)
        names = drawn.topics.to_pylist()
        bounds = zip(drawn.indptr[:-1].tolist(), drawn.indptr[1:].tolist(), strict=True)
        self._newcomers: Iterator[list[str]] = (
            [names[topic] for topic in drawn.topic_ids[start:end].tolist()] for start, end in bounds
        )
        self._count = 0

    def join(self) -> mw.Repair:
        """A new node comes."""
        self._count += 1
        name = f"new {self._count}"
        self._nodes.append(name)
        return self.live.join(name, next(self._newcomers))

    def leave(self) -> mw.Repair:
        """A random node goes."""
        at = self._rng.integers(len(self._nodes))
        self._nodes[at], self._nodes[-1] = self._nodes[-1], self._nodes[at]
        return self.live.leave(self._nodes.pop())

    def round(self) -> tuple[str, mw.Repair]:
        """One of both."""
        kind = "join" if self._rng.random() < 0.5 else "leave"
        return kind, getattr(self, kind)()


def start(nodes: int, policy: str, newcomers: int, seed: int = 1, **options: int) -> Fleet:
    """A fleet on an overlay of low-oda."""
    overlay = mw.build(interests(nodes, seed), "low-oda")
    live = mw.Maintainer(overlay, policy, **options)
    return Fleet(live, overlay.interests.nodes.to_pylist(), newcomers, seed)


def compile_kernels() -> None:
    """Run everything once, so that no time below holds compiling."""
    for policy in _POLICIES:
        fleet = start(60, policy, 40)
        for _ in range(40):
            fleet.round()
    tiny = mw.workloads.unif(30, 10, subscriptions=3)
    mw.build(tiny, "gm")
    paper_low_oda.low_oda(tiny.indptr, tiny.topic_ids, tiny.topic_count, 3.0)


def best_of(times: int, build: str, drawn: mw.Interests, **options: float) -> tuple[float, mw.Overlay]:
    """The least seconds of some builds."""
    seconds = []
    for _ in range(times):
        begin = process_time()
        overlay = mw.build(drawn, build, **options)
        seconds.append(process_time() - begin)
    return min(seconds), overlay


def transcribed(drawn: mw.Interests) -> tuple[float, int]:
    """Seconds and links of Algorithm 2, with the nodes in the order in which `low-oda` settles ties."""
    order = tie_order(np.diff(drawn.indptr), "shuffled", 0)
    rows = np.split(drawn.topic_ids, drawn.indptr[1:-1])
    indptr = np.concatenate([[0], np.cumsum(np.diff(drawn.indptr)[order])])
    topic_ids = np.concatenate([rows[node] for node in order])
    begin = process_time()
    edges = paper_low_oda.low_oda(indptr, topic_ids, drawn.topic_count, 3.0)
    return process_time() - begin, len(edges)


def static() -> None:
    """Print links, maximum degree and time of gm and of low-oda, by rho."""
    drawn = interests(2_000, 1)
    print(f"{'build':<12} {'links':>7} {'average':>8} {'maximum':>8} {'seconds':>8}")
    for build, options in (("gm", {}), *(("low-oda", {"rho": rho}) for rho in (1, 1.5, 2, 3, 5, 10))):
        seconds, overlay = best_of(3, build, drawn, **options)
        name = build + "".join(f" {value:g}" for value in options.values())
        degrees = f"{2 * len(overlay) / drawn.node_count:8.3f} {overlay.degrees().max():8}"
        print(f"{name:<12} {len(overlay):7,} {degrees} {seconds:8.3f}", flush=True)


def quickest_rounds(policy: str) -> Iterator[tuple[str, mw.Repair]]:
    """Rounds with their repairs, each with the least time of some passes over all of them."""
    passes = []
    for _ in range(_PASSES):
        fleet = start(2_000, policy, _ROUNDS)
        passes.append([fleet.round() for _ in range(_ROUNDS)])
    for same in zip(*passes, strict=True):
        kinds, repairs = zip(*same, strict=True)
        least = {
            field: min(getattr(repair, field) for repair in repairs)
            for field in ("repair_seconds", "backup_seconds")
        }
        yield kinds[0], replace(repairs[0], **least)


def speed(policies: list[str]) -> None:
    """Print the time of repairs at 2,000 nodes, and of building anew."""
    drawn = interests(2_000, 1)
    gm, _ = best_of(5, "gm", drawn)
    low, overlay = best_of(5, "low-oda", drawn)
    paper, links = transcribed(drawn)
    print(f"gm {gm:.3f} s, low-oda {low:.3f} s, {low / gm:.2f} times gm")
    print(f"Algorithm 2 transcribed {paper:.1f} s; {links:,} links, and low-oda {len(overlay):,}")
    head = (
        "policy",
        "event",
        "II ms",
        "p99",
        "goal",
        "III ms",
        "changes",
        "shadows",
        "Alg. 2 /",
        "low-oda /",
    )
    print(("{:<7} {:<6}" + " {:>9}" * 8).format(*head))
    for policy in policies:
        repairs: dict[str, list[mw.Repair]] = {"join": [], "leave": []}
        for kind, repair in quickest_rounds(policy):
            repairs[kind].append(repair)
        for kind, found in repairs.items():
            seconds = np.array([repair.repair_seconds for repair in found])
            middle, high = np.median(seconds), np.percentile(seconds, 99)
            backups = np.median([repair.backup_seconds for repair in found])
            changes = np.mean([len(repair.added) + len(repair.removed) for repair in found])
            shadows = np.mean([repair.shadows for repair in found])
            goal = "{:g}, {:g}".format(*_GOALS[kind]) if policy == "shadow" else ""
            numbers = f"{middle * 1e3:9.3f} {high * 1e3:9.3f} {goal:>9} {backups * 1e3:9.3f}"
            rest = f"{changes:9.2f} {shadows:9.1f} {paper / middle:9,.0f} {low / middle:9,.0f}"
            print(f"{policy:<7} {kind:<6} {numbers} {rest}", flush=True)


def growth(sizes: list[int]) -> None:
    """Print the time of events as the fleet grows by joins."""
    fleet = start(sizes[0], "shadow", sizes[-1] + 2_000)
    print(
        ("{:>8}" + " {:>12}" * 6).format(
            "nodes", "subscribers", "times", "join ms", "times", "leave ms", "times"
        )
    )
    first: list[float] = []
    for size in sizes:
        while len(fleet.live) < size:
            fleet.join()
        joins = [fleet.join().repair_seconds for _ in range(300)]
        leaves = [fleet.leave().repair_seconds for _ in range(300)]
        subscribers = len(fleet.live.overlay.interests) / _TOPICS
        row = [subscribers, float(np.median(joins)) * 1e3, float(np.median(leaves)) * 1e3]
        first = first or row
        cells = " ".join(
            f"{value:12.3f} {value / base:12.2f}" for value, base in zip(row, first, strict=True)
        )
        print(f"{size:8,} {cells}", flush=True)


class Latency(NamedTuple):
    """What a fleet of one size takes, in seconds of the processor and megabytes."""

    nodes: int
    start: float
    restore: float
    joins: list[float]
    leaves: list[float]
    memory: float


def scale(sizes: list[int], reoptimise: int, plot: Path | None) -> None:
    """Print the time of a start, a snapshot and events in large fleets."""
    head = ("nodes", "start s", "restore s", "join ms", "p99", "leave ms", "p99", "MB")
    print(("{:>9}" + " {:>9}" * 7).format(*head))
    found = []
    for size in sizes:
        found.append(_latency(size, reoptimise))
        cells = [f"{found[-1].start:9.2f} {found[-1].restore:9.2f}"]
        for times in (found[-1].joins, found[-1].leaves):
            cells.append(f"{np.median(times) * 1e3:9.2f} {np.percentile(times, 99) * 1e3:9.2f}")
        print(f"{size:9,} {' '.join(cells)} {found[-1].memory:9,.0f}", flush=True)
    if plot is not None:
        draw_latencies(found, plot)


def _latency(size: int, reoptimise: int) -> Latency:
    overlay = mw.build(_equal_fleet(size), "dcbc-direct", seed=1)
    begin = process_time()
    live = mw.Maintainer(overlay, reoptimise=reoptimise)
    started, saved = process_time() - begin, live.snapshot()
    begin = process_time()
    live = mw.Maintainer.restore(saved)
    restored = process_time() - begin
    joins, leaves = _alternating(live, overlay, 300)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return Latency(size, started, restored, joins, leaves, memory)


def draw_latencies(found: list[Latency], path: Path) -> None:
    """Medians and 99th percentiles of events, and the time of starts, by the size of the fleet."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "meshwright", "font.size": 9})
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    sizes = [own.nodes for own in found]
    for kind, colour in (("leaves", "#c0504d"), ("joins", "#2a7f62")):
        times = [1e3 * np.array(getattr(own, kind)) for own in found]
        middle, high = (np.array([np.percentile(own, share) for own in times]) for share in (50, 99))
        left.plot(sizes, middle, color=colour, marker="o", label=f"{kind}, median")
        left.plot(sizes, high, color=colour, marker="o", linestyle=":", label=f"{kind}, 99%")
    for name, colour in (("start", "#9aa5b1"), ("restore", "#3b6ea5")):
        right.plot(sizes, [getattr(own, name) for own in found], color=colour, marker="o", label=name)
    left.set(xscale="log", yscale="log", xlabel="nodes", ylabel="milliseconds of an event")
    right.set(xscale="log", yscale="log", xlabel="nodes", ylabel="seconds")
    for axes in (left, right):
        axes.legend(frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def _equal_fleet(nodes: int) -> mw.Interests:
    return mw.workloads.unif(nodes, 1_000, subscriptions=28, seed=1)


def _alternating(live: mw.Maintainer, overlay: mw.Overlay, rounds: int) -> tuple[list[float], list[float]]:
    """The processor time of joins and of leaves, in turns; those that join have topics as all others."""
    rng, nodes = np.random.default_rng(3), overlay.interests.nodes.to_pylist()
    topics = overlay.interests.topics.to_pylist()
    joins, leaves = [], []
    for at, leaver in enumerate(rng.choice(len(nodes), rounds, replace=False).tolist()):
        own = [topics[topic] for topic in rng.choice(len(topics), 28, replace=False)]
        begin = process_time()
        live.join(f"new {at}", own)
        joined = process_time()
        live.leave(nodes[leaver])
        leaves.append(process_time() - joined)
        joins.append(joined - begin)
    return joins, leaves


def disconnected_topics(overlay: mw.Overlay) -> int:
    """How many topics scipy finds in more than one piece."""
    drawn, edges = overlay.interests, overlay.edges
    graph = csr_array((np.ones(len(edges), np.int8), edges.T), shape=(drawn.node_count, drawn.node_count))
    members = np.split(drawn.node_ids, drawn.topic_indptr[1:-1])
    return sum(connected_components(graph[own][:, own], directed=False)[0] > 1 for own in members)


class Drifted(NamedTuple):
    """An overlay after so many events, beside a fresh one."""

    events: int
    nodes: int
    average: float
    fresh_average: float
    maximum: int
    fresh_maximum: float
    repaired: float  # links that repairs changed, for each event since the row before
    reoptimised: float  # the same of re-optimisation
    milliseconds: float  # of the processor, for each event since the row before
    memory: float  # MB in use

    @property
    def holds(self) -> bool:
        """Whether it has not drifted."""
        return self.average <= 1.05 * self.fresh_average and self.maximum <= 1.5 * self.fresh_maximum


_CHECK = 10_000


def endurance(policies: list[str], events: int, reoptimise: int) -> None:
    """Apply random events, and print how the overlay fares; stop where a topic is not connected."""
    for policy in policies:
        fleet = start(2_000, policy, events, reoptimise=reoptimise)
        rows = []
        print(("{:>14}" * 10).format(*Drifted._fields))
        for at in range(0, events, _CHECK):
            rows.append(_endured(fleet, at, min(_CHECK, events - at)))
            cells = (f"{value:14,.3f}" if isinstance(value, float) else f"{value:14,}" for value in rows[-1])
            print("".join(cells), flush=True)
        worst = max(row.average / row.fresh_average for row in rows)
        most = max(row.maximum / row.fresh_maximum for row in rows)
        held = sum(row.holds for row in rows)
        gm = mw.build(fleet.live.overlay.interests, "gm")
        print(
            f"{policy}, reoptimise={reoptimise}: all topics connected at {len(rows)} checks; average at most "
            f"{worst:.3f} times and maximum at most {most:.2f} times fresh; held at {held} of {len(rows)}; "
            f"at the end, gm has an average of {2 * len(gm) / len(fleet.live):.3f}"
        )
        if policy == "shadow" and not reoptimise:
            _reoptimise(fleet.live)


def _endured(fleet: Fleet, before: int, events: int) -> Drifted:
    """Apply some events, check the overlay and compare it with a fresh one."""
    begin, changes, reoptimised = process_time(), 0, 0
    for _ in range(events):
        repair = fleet.round()[1]
        changes += len(repair.added) + len(repair.removed)
        reoptimised += len(repair.reoptimised)
    seconds = process_time() - begin
    broken = disconnected_topics(fleet.live.overlay)
    if broken:
        raise SystemExit(f"{broken} topics are not connected after {before + events:,} events")
    drift = fleet.live.drift(measure=True)
    return Drifted(
        before + events,
        len(fleet.live),
        drift.average_degree,
        drift.fresh_average_degree,
        drift.maximum_degree,
        drift.fresh_maximum_degree,
        (changes - reoptimised) / events,
        reoptimised / events,
        1e3 * seconds / events,
        _memory_in_use(),
    )


def _memory_in_use() -> float:
    """Megabytes of this process that are in memory, on Linux."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def _reoptimise(live: mw.Maintainer) -> None:
    """Go to a fresh overlay, and print what the way took."""
    begin = perf_counter()
    steps, most, changes = 0, live.average_degree, 0
    for repair in live.reoptimise():
        steps += 1
        changes += len(repair.added) + len(repair.removed)
        most = max(most, live.average_degree)
    print(
        f"re-optimised in {steps:,} steps and {changes:,} changes, {perf_counter() - begin:.1f} s: "
        f"d at most {most:.3f} on the way, {live.average_degree:.3f} at the end, D {live.maximum_degree}; "
        f"{disconnected_topics(live.overlay)} topics disconnected"
    )


def main() -> None:
    """Run the sections asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=["static", "speed", "growth", "scale", "endurance"])
    parser.add_argument("--policies", choices=_POLICIES, nargs="+", default=_POLICIES)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--sizes", type=int, nargs="+", default=None)
    parser.add_argument("--reoptimise", type=int, default=0)
    parser.add_argument("--plot", type=Path, default=None)
    options = parser.parse_args()
    compile_kernels()
    if options.only in (None, "static"):
        static()
    if options.only in (None, "speed"):
        speed(options.policies)
    if options.only in (None, "growth"):
        growth(options.sizes or [2_000, 5_000, 10_000, 20_000, 50_000])
    if options.only == "scale":
        scale(options.sizes or [2_000, 20_000, 100_000, 1_000_000], options.reoptimise, options.plot)
    if options.only in (None, "endurance"):
        endurance(options.policies, options.events, options.reoptimise)


if __name__ == "__main__":
    main()
