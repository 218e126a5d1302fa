"""Small worlds and routing: speed, the sweeps of the paper at its scale, and one table to choose by.

    python -m benchmarks.small_world speed | sweeps [--out docs/images] | table [--topics 2000] | options

`speed`: small worlds beside gm on the same interests (10,000 nodes, 2,000 topics, 20 each; unif and zipf),
100,000 publications by each protocol, and the simulator beside the kernels; wall and processor seconds, the
best of three.
`sweeps`: Fig. 2 and 3 of [4]: NSMF on three overlays, ten points each, 10,000 publications per point;
in the setting that fits the paper's numbers best, and to its letter (`studies/small_world/statements.py`).
`table`: the same 10,000 publications over overlays that connect every topic and over small worlds.
`options`: what each option of gr-swico changes, where topics are popular, as in the paper, and rare.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from time import perf_counter, process_time
from types import MappingProxyType
from typing import Any, NamedTuple

import meshwright as mw
from meshwright.studies.small_world.statements import (
    FITTED,
    NODES,
    OVERLAYS,
    SIZES,
    TO_THE_LETTER,
    TOPICS,
    Found,
    Point,
    SweepSetting,
    measure_point,
)

_TIMES = 3
_PUBLICATIONS = 10_000
_SETTINGS = {"fitted": FITTED, "to the letter": TO_THE_LETTER}
_PANELS: dict[str, tuple[str, Callable[[Found], float]]] = {
    "forwards": ("pure forwards over GrSwico's", lambda found: found.forwards),
    "path": ("average path length, hops", lambda found: found.path),
    "support": ("TCO support ratio", lambda found: found.support),
}


class Way(NamedTuple):
    """An overlay, and how publications are carried over it."""

    algorithm: str
    protocol: str
    building: Mapping[str, Any] = MappingProxyType({})
    routing: Mapping[str, Any] = MappingProxyType({})

    def __str__(self) -> str:
        told = ", ".join([f"{name}={value}" for name, value in self.building.items()] + [*self.routing])
        return f"{self.algorithm} {self.protocol}" + (f" ({told})" if told else "")


_WAYS = (
    Way("gm", "flood"),
    Way("gm", "tree"),
    Way("dcbc", "flood"),
    Way("dcbc", "tree"),
    Way("low-oda", "flood"),
    Way("low-oda", "tree"),
    Way("ring", "flood"),
    Way("chord", "nsmf"),
    Way("random-sw", "nsmf"),
    Way("gr-swico", "nsmf"),
    Way("gr-swico", "nsmf", {"fill": "random"}),
    Way("gr-swico", "nsmf", {}, {"both_ways": True}),
)


_OPTIONS: tuple[Mapping[str, Any], ...] = (
    {},
    {"ties": "random"},
    {"ties": "farthest"},
    {"fill": "random"},
    {"ties": "farthest", "fill": "random"},
    {"target_slot": "never"},
    {"target_slot": "required"},
    {"whole_phases": True},
    {"bits": 32},
)


def best(work: Callable[[], object], times: int = _TIMES) -> tuple[float, float]:
    """Wall and processor seconds, the best of a few."""
    walls, processors = [], []
    for _ in range(times):
        wall, processor = perf_counter(), process_time()
        work()
        walls.append(perf_counter() - wall)
        processors.append(process_time() - processor)
    return min(walls), min(processors)


def speed() -> None:
    """Build beside gm, where topics are alike and where some are popular, and route many publications."""
    small_worlds = OVERLAYS.values()
    tiny = mw.workloads.unif(60, 20, subscriptions=3)
    for name, protocol in (("gm", "flood"), ("gm", "tree"), ("gr-swico", "nsmf")):
        mw.route(mw.build(tiny, name), protocol, 10)
    interests = mw.workloads.unif(10_000, TOPICS, subscriptions=20, seed=1)
    compare_building("unif", interests, ("gm", *small_worlds))
    popular = mw.workloads.zipf(10_000, TOPICS, subscriptions=20, seed=1)
    compare_building("zipf", popular, ("gm", *small_worlds))
    for name, protocol in (("gm", "flood"), ("gm", "tree"), *((name, "nsmf") for name in small_worlds)):
        overlay = mw.build(interests, name)
        wall, processor = best(lambda overlay=overlay, way=protocol: mw.route(overlay, way, 100_000))
        print(f"{name:<10} {protocol:<6} 100,000 publications {wall:6.2f} s, {processor:6.2f}", flush=True)
    compare_simulator()


def compare_building(label: str, interests: mw.Interests, names: Sequence[str]) -> None:
    """A line for each algorithm, with its time as a multiple of the first one's."""
    first: tuple[float, float] | None = None
    for name in names:
        wall, processor = best(lambda name=name: mw.build(interests, name))
        first = first or (wall, processor)
        print(
            f"{label} {name:<10} built in {wall:6.2f} s, {processor:6.2f} of the processors; "
            f"{wall / first[0]:.2f} and {processor / first[1]:.2f} times {names[0]}",
            flush=True,
        )


def compare_simulator() -> None:
    """The protocols themselves beside the kernels that count the same."""
    interests = mw.workloads.unif(1_000, TOPICS, subscriptions=20, seed=1)
    for name, protocol in (("gm", "flood"), ("gr-swico", "nsmf")):
        carry = partial(mw.route, mw.build(interests, name), protocol, 20_000)
        swept, simulated = (best(partial(carry, simulate=flag))[1] for flag in (False, True))
        print(
            f"{name:<10} {protocol:<6} 20,000 publications over 1,000 nodes {swept:.2f} s of the processors, "
            f"{simulated / swept:.0f} times as long in the simulator",
            flush=True,
        )


def print_point(label: str, point: Point) -> None:
    """A line for each overlay."""
    for name, found in point.items():
        more = found.forwards / point["GrSwico"].forwards
        print(
            f"{label:<28} {name:<9} {found.forwards:8.2f} {more:6.3f} {found.path:7.2f} {found.support:7.3f}",
            flush=True,
        )


def sweep(points: list[tuple[int, int]], setting: SweepSetting, label: str) -> list[Point]:
    """Measure the points (nodes, topics), and print them and what the paper averages."""
    found = [measure_point(*point, setting, 1, _PUBLICATIONS) for point in points]
    for (nodes, topics), point in zip(points, found, strict=True):
        print_point(f"{label}, {nodes:,} x {topics:,}", point)
    for name in OVERLAYS:
        ratio = fmean(at[name].forwards / at["GrSwico"].forwards for at in found)
        path, support = (fmean(getattr(at[name], what) for at in found) for what in ("path", "support"))
        print(f"{label + ', average':<28} {name:<9} {'':>8} {ratio:6.3f} {path:7.2f} {support:7.3f}")
    return found


def draw(found: list[Point], label: str, path: Path) -> None:
    """A panel for each measure, as in the paper's figures."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "meshwright"
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(1, len(_PANELS), figsize=(11, 3.2), layout="constrained")
    for axes, (measure, (title, value)) in zip(panels, _PANELS.items(), strict=True):
        for name, marker in zip(OVERLAYS, "os^", strict=True):
            units = [value(at["GrSwico"]) if measure == "forwards" else 1.0 for at in found]
            heights = [value(at[name]) / unit for at, unit in zip(found, units, strict=True)]
            axes.plot(list(SIZES["paper"].node_steps), heights, f"{marker}-", label=name)
        axes.set(title=title, xlabel=label, ylim=(0, None))
        axes.grid(alpha=0.3)
    panels[1].legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def sweeps(out: Path | None) -> None:
    """Fig. 2 and 3."""
    heads = f"{'nodes x topics':<28} {'overlay':<9} {'forwards':>8} {'times':>6} {'hops':>7} {'support':>7}"
    print(heads)
    for label, setting in _SETTINGS.items():
        nodes = sweep([(nodes, TOPICS) for nodes in SIZES["paper"].node_steps], setting, label)
        topics = sweep([(NODES, topics) for topics in SIZES["paper"].node_steps], setting, label)
        if out and setting is FITTED:
            draw(nodes, "nodes (2,000 topics)", out / "small-world-nodes.svg")
            draw(topics, "topics (1,023 nodes)", out / "small-world-topics.svg")


def table(nodes: int, topics: int, subscriptions: int) -> None:
    """The same publications over every overlay."""
    interests = mw.workloads.unif(nodes, topics, subscriptions=subscriptions, seed=1)
    heads = ("links", 8), ("degree", 7), ("most", 6), ("messages", 9), ("forwards", 9), ("twice", 6)
    heads += ("hops", 6), ("most", 5), ("load", 7), ("1% loss", 8), ("5% failed", 10)
    print(f"{'overlay and protocol':<28}", *(f"{head:>{width}}" for head, width in heads))
    for way in _WAYS:
        overlay = mw.build(interests, way.algorithm, **way.building)
        found = mw.route(overlay, way.protocol, _PUBLICATIONS, **way.routing)
        lossy = mw.route(overlay, way.protocol, _PUBLICATIONS, loss=0.01, **way.routing)
        failing = mw.route(overlay, way.protocol, _PUBLICATIONS, failed=0.05, **way.routing)
        print(
            f"{way!s:<28} {len(overlay):8,} {2 * len(overlay) / nodes:7.2f} {overlay.degrees().max():6,} "
            f"{found.messages / _PUBLICATIONS:9.1f} {found.pure_forwards / _PUBLICATIONS:9.1f} "
            f"{found.duplicates / _PUBLICATIONS:6.1f} {found.average_path_length:6.1f} "
            f"{found.maximum_path_length:5} {found.maximum_load:7,} "
            f"{lossy.delivered_fraction:8.1%} {failing.delivered_fraction:10.1%}",
            flush=True,
        )


def compare_options() -> None:
    """Pure forwards and hops of nsmf on gr-swico with each option."""
    heads = ("degree", "filled", "forwards", "times", "hops", "support")
    for nodes, topics in ((10_000, 200), (10_000, TOPICS), (NODES, 10_000)):
        print(f"{f'{nodes:,} nodes, {topics:,} topics':<28}", *(f"{head:>9}" for head in heads))
        interests = mw.workloads.unif(nodes, topics, subscriptions=20, seed=1)
        unit = 0
        for given in _OPTIONS:
            overlay = mw.build(interests, "gr-swico", **given)
            found = mw.route(overlay, "nsmf", _PUBLICATIONS)
            unit = unit or found.pure_forwards
            filled = overlay.facts["fingers_filled"] / overlay.tables["fingers"].num_rows
            told = ", ".join(f"{name}={value}" for name, value in given.items())
            support = mw.evaluate(overlay, diameters=False, bound=False).tco_support_ratio
            print(
                f"{told:<28} {2 * len(overlay) / nodes:9.2f} {filled:9.1%} "
                f"{found.pure_forwards / _PUBLICATIONS:9.2f} {found.pure_forwards / unit:9.3f} "
                f"{found.average_path_length:9.2f} {support:9.3f}",
                flush=True,
            )


def main() -> None:
    """Run one of the four."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("speed", "sweeps", "table", "options"))
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--topics", type=int, default=TOPICS)
    parser.add_argument("--subscriptions", type=int, default=20)
    parser.add_argument("--out", type=Path, help="the folder to draw the sweeps in")
    options = parser.parse_args()
    if options.what == "speed":
        speed()
    elif options.what == "sweeps":
        sweeps(options.out)
    elif options.what == "options":
        compare_options()
    else:
        table(options.nodes, options.topics, options.subscriptions)


if __name__ == "__main__":
    main()
