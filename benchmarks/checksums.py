"""What checksums and forcing files to disk cost, beside reading and writing a dataset.

    python -m benchmarks.checksums [--nodes N]

Reads an overlay with and without the check of its files, best of five each, and writes it with and without
forcing it to disk. All files are in the page cache.
"""

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from unittest.mock import patch

import meshwright as mw
from meshwright.model import dataset


def best(work: Callable[[], object], times: int = 5) -> float:
    """The seconds of the fastest of several tries."""
    taken = []
    for _ in range(times):
        begin = perf_counter()
        work()
        taken.append(perf_counter() - begin)
    return min(taken)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=200_000)
    nodes = parser.parse_args().nodes
    interests = mw.workloads.unif(nodes, nodes // 20, min_subscriptions=10, max_subscriptions=50, seed=1)
    overlay = mw.build(interests, "dcbc-direct")
    with tempfile.TemporaryDirectory(prefix="meshwright-") as name:
        folder = Path(name) / "overlay"
        overlay.write(folder)
        size = sum(path.stat().st_size for path in folder.rglob("*.parquet")) / 1e6
        checked = best(lambda: mw.Overlay.read(folder))
        with patch.object(dataset, "check_files", lambda *_: None):
            unchecked = best(lambda: mw.Overlay.read(folder))
        forced = best(lambda: overlay.write(folder, force=True), 3)
        with patch.object(os, "fsync", lambda _: None):
            unforced = best(lambda: overlay.write(folder, force=True), 3)
    print(f"{nodes:,} nodes, {len(interests):,} interests, {len(overlay):,} links, {size:.1f} MB")
    print(f"read  {checked:.3f} s, without checks {unchecked:.3f} s: {checked / unchecked - 1:+.1%}")
    print(f"write {forced:.3f} s, not forced to disk {unforced:.3f} s: {forced / unforced - 1:+.1%}")


if __name__ == "__main__":
    main()
