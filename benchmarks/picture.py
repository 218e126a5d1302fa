"""Draw the README's picture of what `meshwright demo` measures: python -m benchmarks.picture [--out PATH]."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

_COLOURS = {"greedy merge": "#2a7f62", "random links": "#c0504d"}


def main() -> None:
    """Draw links and connected topics of the demo's overlays side by side."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/images/demo.svg"))
    options = parser.parse_args()
    words = [sys.executable, "-m", "meshwright", "demo", "--json"]
    found = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    draw(found["overlays"], found["lower_bound_average_degree"], options.out)


def draw(overlays: list[dict], bound: float, path: Path) -> None:
    """Two bars for each overlay: its links, and the share of topics that it keeps connected."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "meshwright", "font.size": 10})
    from matplotlib import pyplot as plt

    names = [row["overlay"] for row in overlays]
    colours = [_COLOURS.get(name, "#9aa5b1") for name in names]
    topics = overlays[0]["topics_connected"]
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9, 2.6), layout="constrained", sharey=True, width_ratios=[3, 1]
    )
    links = [row["links"] for row in overlays]
    left.barh(names, links, color=colours)
    left.bar_label(left.containers[0], [f"{count:,}" for count in links], padding=3)
    nodes = 2 * links[0] / overlays[0]["average_degree"]
    left.axvline(bound * nodes / 2, color="black", linestyle=":", linewidth=1)
    left.annotate("proven lower bound", (bound * nodes / 2, -0.62), fontsize=8, annotation_clip=False)
    left.set(xscale="log", xlim=(1_000, 1e7), title="links")
    shares = [100 * row["topics_connected"] / topics for row in overlays]
    right.barh(names, shares, color=colours)
    right.bar_label(right.containers[0], [f"{share:.0f}%" for share in shares], padding=3)
    right.set(xlim=(0, 130), xticks=[0, 50, 100], title="topics connected")
    left.invert_yaxis()
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
