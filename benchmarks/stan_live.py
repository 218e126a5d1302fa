"""Fig. 6 of [5] for real: StaN over sockets and in the simulator, on the same grids, from the same views.

    python -m benchmarks.stan_live [--seconds 1.0] [--processes 2] [--runs 5] [--out docs/images]

100 nodes, 16 topics, 8 rounds, five runs of each. Two grids: the calibrated one, and one whose interests
overlap more (`CLOSE_GRID` of `studies.stan.study`); both start at a PVS of about 25. Prints the mean LVS
and PVS after each round, the greatest difference between the two curves in percent of the simulated one, the
greatest distance between the two distributions of PVS after the last round (Kolmogorov and Smirnov's), and
what sockets took.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import ks_2samp

import meshwright as mw
from benchmarks.stan_pictures import curve, plots
from meshwright.stan.live import LiveEngine
from meshwright.stan.measures import Gossip
from meshwright.studies.stan.study import CLOSE_GRID

_GRIDS: Mapping[str, Mapping[str, Any]] = {"calibrated grid": {}, "close grid": CLOSE_GRID}
Runs = Mapping[str, Sequence[Gossip]]


def run(grid: Mapping[str, Any], engine: LiveEngine, count: int) -> Runs:
    """Both ways, from the same seeds; what sockets took is printed on the way."""
    found: dict[str, list[Gossip]] = {"simulated": [], "live": []}
    for seed in range(count):
        interests = mw.workloads.grid(100, 16, seed=seed, **grid)
        found["simulated"].append(mw.gossip(interests, engine="simulator", seed=seed))
        found["live"].append(mw.gossip(interests, engine=engine, seed=seed))
        pairs = len(found["live"][-1].after.edges())
        facts = ", ".join(f"{name.removeprefix('live_')} {value:,}" for name, value in engine.facts.items())
        print(f"  run {seed}: {facts}, pairs linked by views {pairs:,}", flush=True)
    return found


def tell(name: str, runs: Runs) -> None:
    """The curves, and how far they are from each other."""
    for way, found in runs.items():
        lvs = [[at.logical_view_size for at in run.by_round] for run in found]
        sizes = " ".join(f"{size:5.2f}" for size in curve(found))
        change = max(max(sizes) - min(sizes) for sizes in lvs)
        print(f"{name}, {way:<9} PVS {sizes}; LVS {np.mean(lvs):.2f}, changes by at most {change:g}")
        messages = np.mean([run.walk_messages for run in found])
        print(f"{name}, {way:<9} {messages:,.0f} messages of walks, {lost(found):,.0f} of them lost, a run")
    simulated, live = (np.array(curve(runs[way])) for way in ("simulated", "live"))
    distance = ks_2samp(final(runs["simulated"]), final(runs["live"])).statistic
    print(
        f"{name}: the curves differ by at most {np.max(np.abs(live / simulated - 1)):.1%}, "
        f"the distributions by at most {distance:.3f}"
    )


def lost(found: Sequence[Gossip]) -> float:
    """Messages that did not arrive."""
    return float(np.mean([run.lost_messages for run in found]))


def final(found: Sequence[Gossip]) -> Any:
    """The PVS of all nodes in all runs after the last round."""
    return np.concatenate([run.counts[1].physical for run in found])


def draw(every: Mapping[str, Runs], out: Path) -> None:
    """Fig. 6a for each grid, and Fig. 6b for the last."""
    _, panels, write = plots(len(every) + 1)
    for panel, (name, runs) in zip(panels, every.items(), strict=False):
        lvs = np.mean([[at.logical_view_size for at in run.by_round] for run in runs["live"]], axis=0)
        panel.plot(lvs, color="grey", label="LVS, both")
        panel.plot(curve(runs["simulated"]), "o--", label="PVS, simulated")
        panel.plot(curve(runs["live"]), "s-", label="PVS, live")
        panel.set(title=name, xlabel="round", ylabel="mean view size", ylim=(0, None))
        panel.legend(frameon=False)
    name, runs = list(every.items())[-1]
    before = np.concatenate([run.counts[0].physical for run in runs["live"]])
    logical = np.concatenate([run.counts[0].logical for run in runs["live"]])
    distributions = {
        "LVS, both": (logical, "-"),
        "PVS before, both": (before, "-"),
        "PVS after, simulated": (final(runs["simulated"]), "--"),
        "PVS after, live": (final(runs["live"]), "-"),
    }
    for label, (sizes, style) in distributions.items():
        shares = np.arange(1, len(sizes) + 1) / len(sizes)
        colour = {"color": "grey"} if label.startswith("LVS") else {}
        panels[-1].step(np.sort(sizes), shares, style, label=label, **colour)
    panels[-1].set(title=name, xlabel="view size", ylabel="share of nodes with at most that")
    panels[-1].legend(frameon=False)
    write(out / "stan-live.svg")


def main() -> None:
    """Run all, print, and draw where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=1.0, help="how long a round takes")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    every = {}
    for name, grid in _GRIDS.items():
        print(name, flush=True)
        engine = LiveEngine(seconds=options.seconds, processes=options.processes)
        every[name] = run(grid, engine, options.runs)
        tell(name, every[name])
    if options.out is not None:
        draw(every, options.out)


if __name__ == "__main__":
    main()
