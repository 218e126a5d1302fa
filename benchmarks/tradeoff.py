"""Degree, diameter and time against the number of parts and the size of the bulk set.

    python -m benchmarks.tradeoff [--nodes 10000] [--out docs/images]

Interests: unif, 1,000 topics, 10 to 150 subscriptions by a power law. Prints a line for each overlay, and
draws `tradeoff-parts.svg` and `tradeoff-bulk.svg`.
"""

import argparse
from pathlib import Path
from time import process_time
from typing import Any

import meshwright as mw

_PARTS = (1, 2, 4, 8, 16, 32, 64, 128)
_BULK = (125, 250, 500, 1_000, 2_000, 4_000, 8_000)
_DCBC_PARTS = 8
_PANELS = {"degree": "average degree", "diameter": "greatest topic diameter", "seconds": "processor seconds"}

Row = dict[str, float]
Series = dict[str, dict[int, Row]]


def measure(interests: mw.Interests, name: str, **options: Any) -> Row:
    """Build and evaluate; the time is that of the processors in building, the better of two."""
    seconds = []
    for _ in range(2):
        begin = process_time()
        overlay = mw.build(interests, name, **options)
        seconds.append(process_time() - begin)
    found = mw.evaluate(overlay, bound=False)
    row = {
        "degree": found.average_degree,
        "maximum": found.maximum_degree,
        "diameter": found.maximum_topic_diameter or 0,
        "seconds": min(seconds),
    }
    print(
        f"{name:12} degree {row['degree']:6.2f} maximum {row['maximum']:5,} diameter {row['diameter']:3} "
        f"seconds {row['seconds']:6.2f} {options}",
        flush=True,
    )
    return row


def by_parts(interests: mw.Interests) -> Series:
    """`dc` and `dcbc` for each number of parts."""
    return {name: {p: measure(interests, name, partitions=p) for p in _PARTS} for name in ("dc", "dcbc")}


def by_bulk(interests: mw.Interests) -> Series:
    """`dcbc` and `dcbc-direct` for each size of the bulk set."""
    sizes = [size for size in _BULK if size < interests.node_count]
    limited = {"bulk_share": 1.0, "partitions": _DCBC_PARTS}
    return {
        "dcbc": {size: measure(interests, "dcbc", bulk_limit=size, **limited) for size in sizes},
        "dcbc-direct": {size: measure(interests, "dcbc-direct", bulk_size=size) for size in sizes},
    }


def draw(series: Series, gm: Row, label: str, path: Path) -> None:
    """A panel for each measure, `gm` as a dotted line."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "meshwright"
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(1, len(_PANELS), figsize=(11, 3.4), layout="constrained")
    for axes, (key, title) in zip(panels, _PANELS.items(), strict=True):
        for (name, rows), marker in zip(series.items(), "os", strict=True):
            axes.plot(list(rows), [row[key] for row in rows.values()], f"{marker}-", label=name)
        axes.axhline(gm[key], linestyle=":", color="grey", label="gm")
        axes.set(title=title, xlabel=label, xscale="log", ylim=(0, None))
        axes.set_xticks(list(rows), [f"{x:,}" for x in rows], fontsize=8)
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    panels[1].legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Measure all, and draw both plots."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--out", type=Path, help="the folder to draw the plots in")
    options = parser.parse_args()
    tiny = mw.workloads.unif(50, 10, subscriptions=3)
    for name in ("gm", "dc", "dcbc", "dcbc-direct"):
        mw.evaluate(mw.build(tiny, name))
    interests = mw.workloads.unif(options.nodes, 1_000, min_subscriptions=10, max_subscriptions=150, seed=1)
    gm = measure(interests, "gm")
    parts, bulk = by_parts(interests), by_bulk(interests)
    if options.out:
        draw(parts, gm, "parts", options.out / "tradeoff-parts.svg")
        draw(bulk, gm, "bulk nodes", options.out / "tradeoff-bulk.svg")


if __name__ == "__main__":
    main()
