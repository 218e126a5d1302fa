"""How fast a million nodes with 30 million interests are written and read, and in how much memory.

    .venv/bin/python benchmarks/loading.py [--nodes 1000000] [--folder DIR]

Every step runs in a process of its own, so that its peak is its own; the memory that Python and the imports
take is taken off. The last step is what one would write by hand with pandas and scipy, for the ratio.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from meshwright.model.interests import Interests
from meshwright.model.names import numbered

TOPICS = 10_000
TOPICS_A_NODE = 30
ROWS_A_BATCH = 1 << 20


def make(nodes: int) -> Interests:
    """Every node takes one topic of each of 30 equal stretches: sorted and unique as drawn."""
    stretch = TOPICS // TOPICS_A_NODE
    rng = np.random.default_rng(0)
    topic_ids = rng.integers(0, stretch, (nodes, TOPICS_A_NODE), np.int32)
    topic_ids += np.arange(TOPICS_A_NODE, dtype=np.int32) * stretch
    indptr = np.arange(nodes + 1) * TOPICS_A_NODE
    return Interests.from_arrays(indptr, topic_ids.ravel(), numbered("n", nodes), numbered("t", TOPICS))


def write(folder: Path, nodes: int) -> None:
    """The dataset, all four tables."""
    make(nodes).write(folder / "dense", force=True)


def shuffle(folder: Path, nodes: int) -> None:
    """The pairs in random order, as a log has them: what is hardest to encode."""
    interests = make(nodes)
    rng = np.random.default_rng(1)
    order = rng.permutation(len(interests))
    owners = (order // TOPICS_A_NODE).astype(np.int32)
    schema = pa.schema([("node", pa.string()), ("topic", pa.string())])
    with (
        pq.ParquetWriter(folder / "shuffled.parquet", schema) as parquet,
        pyarrow.csv.CSVWriter(folder / "shuffled.csv", schema) as text,
    ):
        for start in range(0, len(order), ROWS_A_BATCH):
            rows = slice(start, start + ROWS_A_BATCH)
            names = interests.nodes.take(pa.array(owners[rows]))
            topics = interests.topics.take(pa.array(interests.topic_ids[order[rows]]))
            batch = pa.record_batch([names, topics], schema=schema)
            parquet.write_batch(batch)
            text.write_batch(batch)


def read(folder: Path, _: int) -> Interests:
    """The dense tables."""
    return Interests.read(folder / "dense")


def transpose(folder: Path, _: int) -> Interests:
    """The dense tables, and the other direction."""
    interests = Interests.read(folder / "dense")
    assert len(interests.node_ids) == len(interests)
    return interests


def sorted_pairs(folder: Path, _: int) -> Interests:
    """The strings that the dataset has for everybody."""
    return Interests.from_parquet(folder / "dense" / "interests")


def shuffled_pairs(folder: Path, _: int) -> Interests:
    """The strings in random order."""
    return Interests.from_parquet(folder / "shuffled.parquet")


def csv_pairs(folder: Path, _: int) -> Interests:
    """The strings in random order, as text."""
    return Interests.from_csv(folder / "shuffled.csv")


def by_hand(folder: Path, _: int) -> Any:
    """The shuffled pairs by pandas and scipy."""
    import pandas as pd
    from scipy.sparse import coo_array

    frame = pd.read_parquet(folder / "shuffled.parquet")
    node_ids, nodes = pd.factorize(frame["node"], sort=True)
    topic_ids, topics = pd.factorize(frame["topic"], sort=True)
    ones = np.ones(len(frame), np.int8)
    return coo_array((ones, (node_ids, topic_ids)), shape=(len(nodes), len(topics))).tocsr(), nodes, topics


STEPS: dict[str, tuple[str, Callable[[Path, int], Any]]] = {
    "write": ("make and write the dataset", write),
    "shuffle": ("(write the shuffled pairs)", shuffle),
    "read": ("read the dataset", read),
    "transpose": ("read it, and the nodes of every topic", transpose),
    "sorted": ("from_parquet, pairs sorted by node", sorted_pairs),
    "shuffled": ("from_parquet, pairs shuffled", shuffled_pairs),
    "csv": ("from_csv, pairs shuffled", csv_pairs),
    "hand": ("pandas and scipy by hand, pairs shuffled", by_hand),
}


def peak_bytes() -> int:
    """The most that this process ever had in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def resident_bytes() -> int:
    """What this process has in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def run_step(step: str, folder: Path, nodes: int) -> dict[str, float]:
    """Seconds, and bytes above what the process had before: at the peak, and while the result is held."""
    np.asarray(pa.array([0]))  # The first exchange with numpy makes Arrow import pandas.
    before = resident_bytes()
    start = time.perf_counter()
    result = STEPS[step][1](folder, nodes)
    seconds = time.perf_counter() - start
    pa.default_memory_pool().release_unused()
    held = resident_bytes() - before
    del result
    return {"seconds": seconds, "peak": peak_bytes() - before, "held": held}


def in_own_process(step: str, folder: Path, nodes: int) -> dict[str, float]:
    """What `run_step` says when nothing ran before it."""
    command = [sys.executable, __file__, "--step", step, "--folder", str(folder), "--nodes", str(nodes)]
    outcome: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return outcome


def run_all(folder: Path, nodes: int) -> None:
    """Every step, and the ratios."""
    interests = nodes * TOPICS_A_NODE
    print(f"{nodes:,} nodes, {TOPICS:,} topics, {interests:,} interests; bytes are for each interest")
    print(f"{'step':42} {'seconds':>8} {'peak MB':>8} {'peak B':>7} {'held B':>7}")
    outcomes = {}
    for step, (label, _) in STEPS.items():
        outcome = outcomes[step] = in_own_process(step, folder, nodes)
        peak, held = outcome["peak"], outcome["held"]
        print(
            f"{label:42} {outcome['seconds']:8.2f} {peak / 1e6:8.0f} "
            f"{peak / interests:7.1f} {held / interests:7.1f}",
            flush=True,
        )
    for step in ("read", "shuffled"):
        seconds, peak = (outcomes["hand"][key] / outcomes[step][key] for key in ("seconds", "peak"))
        print(f"{STEPS[step][0]}: {seconds:.1f} times faster and {peak:.1f} times less memory than by hand")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="where the files go; default: a temporary folder")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        print(json.dumps(run_step(options.step, options.folder, options.nodes)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        run_all(folder, options.nodes)


if __name__ == "__main__":
    main()
