"""Draw how the three policies fare under churn: python -m benchmarks.churn_picture [--out PATH].

The setting of the study on shadows: 2,000 nodes, 200 topics, 1,000 rounds. Low-ODA is run anew in five of
every fifty rounds. All is run three times, and of each repair the least time counts.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from meshwright.studies.shadows.runs import ChurnSetting, Run, Way, rebuilds, run

_PASSES = 3
_COLOURS = {"shadow": "#2a7f62", "naive": "#9aa5b1", "rebuild": "#c0504d"}


def quickest(make: Any, *arguments: Any) -> Run:
    """A run with the least time of each of its repairs in some passes; the work is the same each time."""
    passes: list[Run] = [make.__wrapped__(*arguments) for _ in range(_PASSES)]
    return replace(passes[0], seconds=np.min([own.seconds for own in passes], axis=0))


def runs(seed: int) -> dict[str, Run]:
    """What each policy did, with ties settled as they are unless told."""
    setting = ChurnSetting()
    ways = {policy: Way(policy=policy, ties="few-links") for policy in ("shadow", "naive")}
    found = {policy: quickest(run, setting, way, seed) for policy, way in ways.items()}
    return {**found, "rebuild": quickest(rebuilds, setting, seed)}


def draw_degrees(axes: Any, found: dict[str, Run]) -> None:
    """The maximum degree by round."""
    for policy, own in found.items():
        axes.step(own.rounds, own.maximum, color=_COLOURS[policy], label=policy, where="post")
    axes.set(xlabel="round", ylabel="the most links of a node", ylim=(0, None))
    axes.legend(frameon=False)


def draw_shares(axes: Any, found: dict[str, Run], measure: str, scale: float, words: str) -> None:
    """The share of repairs that are at most so large."""
    for policy, own in found.items():
        values = np.sort(scale * getattr(own, measure))
        axes.step(values, 100 * np.arange(1, len(values) + 1) / len(values), color=_COLOURS[policy])
    axes.set(xscale="log", xlabel=words, ylabel="share of repairs, %")


def main() -> None:
    """Three pictures beside each other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("docs/images/churn.svg"))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "meshwright", "font.size": 9})
    from matplotlib import pyplot as plt

    found = runs(options.seed)
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
    draw_degrees(left, found)
    draw_shares(middle, found, "changes", 1, "links changed by a repair")
    draw_shares(right, found, "seconds", 1e3, "milliseconds until all topics are connected")
    for axes in (left, middle, right):
        axes.spines[["top", "right"]].set_visible(False)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out, metadata={"Date": None})


if __name__ == "__main__":
    main()
