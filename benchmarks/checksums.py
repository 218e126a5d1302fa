"""What checksums and forcing files to disk cost, beside reading and writing a dataset.

    python -m benchmarks.checksums [--nodes N]

Reads an overlay fifteen times, and tells the median share of the time that goes into checking its files.
Writes it with and without forcing it to disk, by turns, best of five each. All files are in the page cache.
"""

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from unittest.mock import patch

import meshwright as mw
from meshwright.model.storage import dataset


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    begin = perf_counter()
    work()
    return perf_counter() - begin


def share_of_checks(folder: Path) -> tuple[float, float]:
    """Seconds of reading an overlay, and the share of them in which its files are checked."""
    checks: list[float] = []
    real = dataset.check_files
    with patch.object(dataset, "check_files", lambda *given: checks.append(seconds(lambda: real(*given)))):
        whole = seconds(lambda: mw.Overlay.read(folder))
    return whole, sum(checks) / whole


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
        reads = [share_of_checks(folder) for _ in range(15)]
        forced, unforced = [], []
        for _ in range(5):
            forced.append(seconds(lambda: overlay.write(folder, force=True)))
            with patch.object(os, "fsync", lambda _: None):
                unforced.append(seconds(lambda: overlay.write(folder, force=True)))
    print(f"{nodes:,} nodes, {len(interests):,} interests, {len(overlay):,} links, {size:.1f} MB")
    whole, share = (median(values) for values in zip(*reads, strict=True))
    print(f"read  {whole:.3f} s, of which checks {share:.1%}")
    print(f"write {min(forced):.3f} s, not forced to disk {min(unforced):.3f} s")


if __name__ == "__main__":
    main()
