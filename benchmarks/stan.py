"""StaN: the paper's first figure, how near rounds come to the limit, what goes wrong, events, and scale.

    python -m benchmarks.stan grid | limit [--out docs/images]
    python -m benchmarks.stan trouble [--rounds 32] [--only churn] [--out docs/images]
    python -m benchmarks.stan universes DIR… [--out docs/images]
    python -m benchmarks.stan size DIR…
    python -m benchmarks.stan events
    python -m benchmarks.stan scale [--nodes 250000] [--topics 10000] [--subscriptions 12] [--growth]
    python -m benchmarks.stan command [DIR] [--nodes 250000] [--topics 10000] [--subscriptions 12]

`grid`: Fig. 6 of [5]: 100 nodes, 16 topics, 8 rounds, five runs in the simulator and in lock step.
`limit`: PVS after 8, 16 and 32 rounds, beside the omniscient choice; with learning and slowing too.
`trouble`: so many rounds under 5, 10 and 20% message loss, and under churn, in the simulator.
`universes`: Fig. 7 to 9 on datasets, such as benchmarks.stan_universes makes; a line for each.
`size`: 8 and 32 rounds, with and without learning, beside the omniscient choice; on datasets of large topics.
`events`: physical messages of an event on several topics, together and apart, and whom it reaches under loss.
`scale`: a large universe by zipf (alpha 1), 8 rounds; wall and processor seconds of each stage, peak memory.
`command`: all of `meshwright gossip` on such a universe, or on a dataset: reading, rounds, measures with
    diameters and without, and writing the overlay; wall and processor seconds and peak memory of each.
"""

import argparse
import os
import resource
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np

import meshwright as mw
from benchmarks.stan_pictures import curve, draw_trouble, draw_universes, logical_curve, plots
from meshwright.metrics.views import count_links
from meshwright.stan.lock_step import draw_views, run_rounds
from meshwright.stan.measures import Gossip
from tests.spreading import draw_publishings, spread

_RUNS = 5
_SEEDS = range(_RUNS)
_EVENTS = 200


def grid(out: Path | None) -> None:
    """Fig. 6."""
    runs = {
        engine: [mw.gossip(mw.workloads.grid(seed=seed), engine=engine, seed=seed) for seed in _SEEDS]
        for engine in ("simulator", "rounds")
    }
    for engine, found in runs.items():
        sizes = " ".join(f"{size:5.2f}" for size in curve(found))
        print(f"{engine:<10} PVS {sizes}; LVS {np.mean([run.logical_view_size for run in found]):.2f}")
    if out is None:
        return
    _, (left, right), write = plots(2)
    left.axhline(np.mean([run.logical_view_size for run in runs["rounds"]]), color="grey", label="LVS")
    for engine, found in runs.items():
        left.plot(curve(found), "o-", label=f"PVS, {engine}")
    left.set(xlabel="round", ylabel="mean view size", ylim=(0, None))
    left.legend(frameon=False)
    for at, name in ((0, "PVS before"), (1, "PVS after")):
        sizes = np.sort(np.concatenate([run.counts[at].physical for run in runs["simulator"]]))
        right.step(sizes, np.arange(1, len(sizes) + 1) / len(sizes), label=name)
    logical = np.sort(np.concatenate([run.counts[0].logical for run in runs["simulator"]]))
    right.step(logical, np.arange(1, len(logical) + 1) / len(logical), color="grey", label="LVS")
    right.set(xlabel="view size", ylabel="share of nodes with at most that")
    right.legend(frameon=False)
    write(out / "stan-grid.svg")


_WAYS: Mapping[str, Mapping[str, Any]] = {
    "walks": {},
    "learning": {"learn": True},
    "slowing": {"slowest": 8},
    "learning and slowing": {"learn": True, "slowest": 8},
}


def limit(out: Path | None) -> None:
    """How much of the way to the omniscient choice is made."""
    interests = mw.workloads.grid(1_000, 64, min_radius=1.2, seed=0)
    best = mw.gossip(interests, mw.StanOptions(links="omniscient"), diameters=False)
    start, end = best.initial_physical_view_size, best.final_physical_view_size
    print(f"{interests}: PVS {start:.1f}, omniscient {end:.1f}, LVS {best.logical_view_size:.1f}")
    curves = {}
    for name, options in _WAYS.items():
        found = mw.gossip(interests, mw.StanOptions(rounds=32, **options), diameters=False)
        curves[name] = curve([found])
        reached = [(start - curves[name][at]) / (start - end) for at in (8, 16, 32)]
        print(
            f"{name:<22} after 8, 16, 32 rounds {' '.join(f'{share:6.1%}' for share in reached)} of the way; "
            f"{found.walk_messages / len(interests):.0f} messages and "
            f"{found.walk_ids / len(interests):.0f} ids an interest; unreached interests "
            f"{found.initial_unreached_interests} before, {found.unreached_interests} after",
            flush=True,
        )
    if out is not None:
        _, (panel,), write = plots(1)
        for name, sizes in curves.items():
            panel.plot(sizes, label=name)
        panel.axhline(end, color="grey", linestyle="--", label="omniscient")
        panel.set(xlabel="round", ylabel="mean PVS", ylim=(0, None))
        panel.legend(frameon=False)
        write(out / "stan-limit.svg")


_TROUBLE: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "none": ({}, {}),
    "none, keep-alive": ({}, {"keep_alive": True}),
    "5% loss": ({"loss": 0.05}, {}),
    "10% loss": ({"loss": 0.1}, {}),
    "20% loss": ({"loss": 0.2}, {}),
    "20% loss, keep-alive": ({"loss": 0.2}, {"keep_alive": True}),
    "20% loss, learning": ({"loss": 0.2, "learn": True}, {}),
    "churn 2%": ({}, {"churn": 0.02}),
    "churn 2%, learning": ({"learn": True}, {"churn": 0.02}),
    "churn 5%": ({}, {"churn": 0.05}),
    "churn 5%, 5% loss": ({"loss": 0.05}, {"churn": 0.05}),
    "churn 5%, 5% loss, learning": ({"learn": True, "loss": 0.05}, {"churn": 0.05}),
    "churn 5%, 20% loss": ({"loss": 0.2}, {"churn": 0.05}),
    "churn 5%, 20% loss, learning": ({"learn": True, "loss": 0.2}, {"churn": 0.05}),
}


def trouble(rounds: int, only: str, out: Path | None) -> None:
    """Loss and churn, on the grid of Fig. 6."""
    curves = {}
    for name, (options, conditions) in _TROUBLE.items():
        if only not in name:
            continue
        found = [
            mw.gossip(
                mw.workloads.grid(seed=seed),
                mw.StanOptions(rounds=rounds, **options),
                mw.SimulationOptions(**conditions),
                engine="simulator",
                diameters=False,
                seed=seed,
            )
            for seed in _SEEDS
        ]
        curves[name] = curve(found), logical_curve(found)
        _tell_trouble(name, found, *curves[name])
    if out is not None:
        draw_trouble(curves, out)


def _tell_trouble(name: str, found: Sequence[Gossip], pvs: Sequence[float], lvs: Sequence[float]) -> None:
    rounds = len(pvs) - 1
    moments = sorted({0, 8, 16, 32, rounds} & {*range(len(pvs))})
    node_rounds = found[0].before.interests.node_count * rounds
    upkeep = np.mean([run.upkeep_messages for run in found]) / node_rounds
    print(
        f"{name:<28} PVS after {', '.join(map(str, moments))} rounds "
        f"{' '.join(f'{pvs[at]:5.2f}' for at in moments)}; "
        f"LVS {' '.join(f'{lvs[at]:5.2f}' for at in moments)}; "
        f"PVS/LVS {' '.join(f'{pvs[at] / lvs[at]:.1%}' for at in moments)}; "
        f"disconnected topics {sum(run.disconnected_topics for run in found)} of {16 * _RUNS}; "
        f"unreached interests {sum(run.unreached_interests for run in found)}; "
        f"upkeep messages {upkeep:.1f} a node and round",
        flush=True,
    )


_SIZES: Mapping[str, Mapping[str, Any]] = {
    "8 rounds": {},
    "8 rounds, learning": {"learn": True},
    "32 rounds": {"rounds": 32},
    "32 rounds, learning": {"rounds": 32, "learn": True},
    "omniscient": {"links": "omniscient"},
}


def size(folders: Iterable[Path]) -> None:
    """How near walks come to the limit where topics are large."""
    for folder in folders:
        interests = mw.Interests.read(folder)
        for name, options in _SIZES.items():
            found = mw.gossip(interests, mw.StanOptions(**options), diameters=False)
            print(
                f"{folder.name}, {name:<20} PVS {found.initial_physical_view_size:.1f} to "
                f"{found.final_physical_view_size:.1f}; over 40%: {found.strongly_improved_nodes:.1%}; "
                f"unreached interests {found.initial_unreached_interests:,} to {found.unreached_interests:,} "
                f"of {len(interests):,}",
                flush=True,
            )


def universes(folders: Iterable[Path], out: Path | None) -> None:
    """Fig. 7 to 9."""
    shown = []
    for folder in folders:
        found = mw.gossip(mw.Interests.read(folder), diameters=True)
        shown.append((folder.name, found))
        interests = found.before.interests
        worse = found.worse_initial_physical_view_size
        print(
            f"{folder.name:<14} {interests.node_count:6,} nodes {interests.topic_count:5,} topics "
            f"{len(interests) / interests.node_count:5.1f} each; "
            f"IPVS {found.initial_physical_view_size:6.1f} FPVS {found.final_physical_view_size:6.1f} "
            f"LVS {found.logical_view_size:6.1f}; over 40%: {found.strongly_improved_nodes:5.1%}, "
            f"worse {found.worse_nodes:5.1%}"
            f"{'' if worse is None else f' (IPVS {worse:.1f})'}; "
            f"disconnected {found.initial_disconnected_topics} > {found.disconnected_topics}, "
            f"weakly {found.initial_weakly_disconnected_topics} > {found.weakly_disconnected_topics}; "
            f"clustering {found.initial_clustering_coefficient:.4f} > {found.clustering_coefficient:.4f}; "
            f"diameter {found.initial_diameter or 0:.3f} > {found.diameter or 0:.3f}; "
            f"in-view deviation {found.initial_in_view_deviation:.1f} > {found.in_view_deviation:.1f}",
            flush=True,
        )
    if out is not None and shown:
        draw_universes(shown, out)


def events() -> None:
    """Dissemination over the views before and after."""
    found = mw.gossip(
        mw.workloads.grid(300, 24, seed=0), mw.StanOptions(rounds=32, learn=True), diameters=False
    )
    print(
        f"{found.before.interests}; PVS {found.initial_physical_view_size:.1f} before, "
        f"{found.final_physical_view_size:.1f} after; {_EVENTS} events each"
    )
    for topics in (1, 2, 4):
        drawn = draw_publishings(found.before.interests, _EVENTS, topics, 1)
        for name, views in (("before", found.before), ("after", found.after)):
            whole, apart = spread(views, drawn), spread(views, drawn, apart=True)
            lossy = [spread(views, drawn, loss=loss).reached_fraction for loss in (0.05, 0.1, 0.2)]
            print(
                f"{topics} topics, {name:<6} {whole.messages / _EVENTS:8.1f} messages per event, "
                f"{whole.messages / apart.messages:5.1%} of those apart; "
                f"reached {whole.reached_fraction:.2%}, foreign {whole.foreign}; under 5, 10, 20% loss "
                f"{' '.join(f'{share:.2%}' for share in lossy)}",
                flush=True,
            )


def scale(nodes: int, topics: int, subscriptions: int) -> None:
    """One large universe, stage by stage."""
    tiny = mw.workloads.zipf(200, 20, subscriptions=3, alpha=1.0)
    count_links(run_rounds(draw_views(tiny, mw.StanOptions(), 0), mw.StanOptions(rounds=1), 0)[0])
    interests = mw.workloads.zipf(nodes, topics, subscriptions=subscriptions, alpha=1.0)
    options, wall, processor = mw.StanOptions(), perf_counter(), process_time()
    views = draw_views(interests, options, 0)
    drawn = perf_counter() - wall
    after, traffic = run_rounds(views, options, 0)
    wall, processor = perf_counter() - wall, process_time() - processor
    sizes = [count_links(own).physical.mean() for own in (views, after)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{interests}, {len(views.slots):,} logical links: views in {drawn:.1f} s, "
        f"with {options.rounds} rounds {wall:.1f} s, {processor:.1f} of the processors, "
        f"{processor / len(views.slots) * 1e6:.2f} µs per link; {traffic.messages:,} messages; "
        f"PVS {sizes[0]:.1f} to {sizes[1]:.1f}; peak {peak:.2f} GiB",
        flush=True,
    )


_COMMANDS: Mapping[str, Sequence[str]] = {
    "without diameters": ("--no-diameters",),
    "with diameters, overlay written": ("--out", "overlay"),
}


def command(folders: Sequence[Path], nodes: int, topics: int, subscriptions: int) -> None:
    """`meshwright gossip` as a process of its own."""
    with TemporaryDirectory(prefix="meshwright-") as place:
        folder = folders[0].absolute() if folders else Path(place) / "workload"
        if not folders:
            mw.workloads.zipf(nodes, topics, subscriptions=subscriptions, alpha=1.0).write(folder)
        for name, words in _COMMANDS.items():
            call = [sys.executable, "-m", "meshwright", "gossip", str(folder), "--json", *words]
            began = perf_counter()
            with subprocess.Popen(call, cwd=place, stdout=subprocess.DEVNULL) as process:
                _, code, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(code)
            if process.returncode:
                raise SystemExit(process.returncode)
            print(
                f"{name:<32} {perf_counter() - began:7.1f} s, {used.ru_utime + used.ru_stime:6.1f} of the "
                f"processors, peak {used.ru_maxrss / 2**20:.2f} GiB",
                flush=True,
            )


def main() -> None:
    """Run one of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    alone = {"grid": grid, "limit": limit}
    others = ("trouble", "universes", "size", "events", "scale", "command")
    parser.add_argument("what", choices=(*alone, *others))
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--rounds", type=int, default=32, help="of trouble")
    parser.add_argument("--only", default="", help="of trouble: what has this in its name")
    parser.add_argument("--out", type=Path, help="the folder to draw in")
    parser.add_argument("--nodes", type=int, default=250_000)
    parser.add_argument("--topics", type=int, default=10_000)
    parser.add_argument("--subscriptions", type=int, default=12)
    parser.add_argument("--growth", action="store_true", help="a sixteenth and a quarter of the nodes first")
    options = parser.parse_args()
    if options.what == "universes":
        universes(options.folders, options.out)
    elif options.what == "trouble":
        trouble(options.rounds, options.only, options.out)
    elif options.what == "size":
        size(options.folders)
    elif options.what == "events":
        events()
    elif options.what == "command":
        command(options.folders, options.nodes, options.topics, options.subscriptions)
    elif options.what == "scale":
        for part in (16, 4, 1) if options.growth else (1,):
            scale(options.nodes // part, options.topics // part, options.subscriptions)
    else:
        alone[options.what](options.out)


if __name__ == "__main__":
    main()
