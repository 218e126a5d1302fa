"""From a law to a proof that all topics are connected, at 10^5 to 10^8 nodes, on Spark on this machine.

    python -m benchmarks.scale FOLDER [--nodes 100000 1000000 10000000] [--plot docs/images/scale.svg]
    python -m benchmarks.scale FOLDER --nodes 1000000 --set guide=dual

Interests: unif, 1,000 topics, 10 to 150 subscriptions by a power law, 28 on average, without names. Each
size goes through three commands: generate, build (dcbc-direct) and evaluate, each in processes of its own.
What a command took is noted in FOLDER/rows.jsonl when it ends, so that a run that was cut off goes on behind
the last command that ended. Seconds of processors and memory are those of Java and Python together; disk is
the most that FOLDER held, scratch files of Spark included. The data of a size is removed after it, unless
--keep is given. With --engine local the same is done in one process without Spark. Options of dcbc-direct are
given by --set; rows that were measured with others stay apart.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from time import perf_counter
from typing import Any, NamedTuple

from benchmarks.processes import family, watched_memory

_STAGES = ("generate", "build", "evaluate")
_TOPICS = 1_000
_SEED = 1
_SAMPLE_SECONDS, _DISK_EVERY = 1.0, 5
_KEPT = ("edges", "average_degree", "maximum_degree", "topic_connected", "diameters_exact", "interests")
_KEPT += ("maximum_topic_diameter_lower_bound", "maximum_topic_diameter", "likely_lower_bound_average_degree")


class Way(NamedTuple):
    """On which engine, and with which options of the build."""

    engine: str
    settings: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join([self.engine, *self.settings])


def words_of(stage: str, nodes: int, folder: Path, way: Way) -> list[str]:
    """The command of a stage."""
    interests, overlay = str(folder / f"interests-{nodes}"), str(folder / f"overlay-{nodes}")
    own = {
        "generate": ["unif", "--nodes", str(nodes), "--topics", str(_TOPICS), "--no-names"],
        "build": [interests, "--algorithm", "dcbc-direct", *_given("--set", way.settings)],
        "evaluate": [overlay],
    }[stage]
    if stage != "evaluate":
        own += ["--seed", str(_SEED), "--force", "--out", interests if stage == "generate" else overlay]
    return [sys.executable, "-m", "meshwright", stage, *own, "--engine", way.engine, "--json"]


def _given(option: str, values: Iterable[str]) -> list[str]:
    return [word for value in values for word in (option, value)]


class Watch:
    """The most bytes that a folder held, and what processors work from now on for each process that is seen.

    Workers of Spark's end without anybody who waits for them, so their work must be seen while they run.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self.disk, self._worked = folder, 0, dict[int, int]()
        self.look_at_processes()
        self._before = sum(self._worked.values())

    def look_at_disk(self) -> None:
        """Raise the peak to what is held now."""
        self.disk = max(self.disk, _bytes_below(self._folder))

    def look_at_processes(self) -> None:
        """Note what each has worked by now; what it works after that, before it ends, is not seen."""
        for process in family():
            with suppress(OSError, IndexError):
                text = Path(f"/proc/{process}/stat").read_text("utf-8", "replace")
                self._worked[process] = sum(map(int, text.rpartition(")")[2].split()[11:13]))

    @property
    def busy(self) -> float:
        """The seconds of processors of all processes together."""
        return (sum(self._worked.values()) - self._before) / os.sysconf("SC_CLK_TCK")


@contextmanager
def watched(folder: Path) -> Iterator[Watch]:
    """Look at processes every second, and at the disk every five."""
    watch, over = Watch(folder), Event()

    def look() -> None:
        turn = 0
        while not over.wait(_SAMPLE_SECONDS):
            watch.look_at_processes()
            turn += 1
            if turn % _DISK_EVERY == 0:
                watch.look_at_disk()

    watcher = Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield watch
    finally:
        over.set()
        watcher.join()
        watch.look_at_disk()
        watch.look_at_processes()


def _bytes_below(folder: Path) -> int:
    """What the files of a folder take; one that has two names counts once."""
    held = {}
    for place, _, files in os.walk(folder):
        for name in files:
            try:
                found = os.stat(os.path.join(place, name))
            except OSError:
                continue
            held[found.st_ino] = found.st_blocks * 512
    return sum(held.values())


def measure(stage: str, nodes: int, folder: Path, way: Way) -> dict[str, Any]:
    """Run a stage; what it took, and what it said."""
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(scratch)}
    begin = perf_counter()
    with watched_memory() as memory, watched(folder) as watch:
        words = words_of(stage, nodes, folder, way)
        done = subprocess.run(words, check=True, stdout=subprocess.PIPE, env=environment)
    said = json.loads(done.stdout)
    return {
        "nodes": nodes,
        "engine": str(way),
        "stage": stage,
        "seconds": round(perf_counter() - begin, 1),
        "busy": round(watch.busy, 1),
        "memory": memory.total,
        "disk": watch.disk,
        "said": {name: said[name] for name in _KEPT if name in said},
    }


def all_rows(folder: Path) -> list[dict[str, Any]]:
    """What was measured so far."""
    notes = folder / "rows.jsonl"
    return [json.loads(line) for line in notes.read_text("utf-8").splitlines()] if notes.exists() else []


def left_to_do(sizes: list[int], folder: Path, way: Way) -> list[tuple[int, str]]:
    """The sizes and stages that were not measured yet, in order."""
    done = {(row["nodes"], row["stage"]) for row in all_rows(folder) if row["engine"] == str(way)}
    return [(nodes, stage) for nodes in sizes for stage in _STAGES if (nodes, stage) not in done]


def run(nodes: int, stage: str, folder: Path, way: Way, keep: bool) -> None:
    """Measure a stage and note it; after the last, the data of the size goes."""
    row = measure(stage, nodes, folder, way)
    with open(folder / "rows.jsonl", "a", encoding="utf-8") as notes:
        notes.write(json.dumps(row) + "\n")
    print(_line(row), flush=True)
    if stage == _STAGES[-1] and not keep:
        for name in ("interests", "overlay"):
            shutil.rmtree(folder / f"{name}-{nodes}", ignore_errors=True)


def _line(row: dict[str, Any]) -> str:
    numbers = (
        f"{row['seconds']:9,.1f} {row['busy']:9,.1f} {row['memory'] / 1e9:7.2f} {row['disk'] / 1e9:7.2f}"
    )
    return f"{row['nodes']:12,} {row['engine']:6} {row['stage']:9} {numbers}  {json.dumps(row['said'])}"


def per_million(rows: list[dict[str, Any]], nodes: int) -> dict[str, float]:
    """What all stages of a size take for each million nodes; memory and disk are the most of any."""
    own = [row for row in rows if row["nodes"] == nodes]
    each = 1e6 / nodes
    return {
        "seconds": sum(row["seconds"] for row in own) * each,
        "processor seconds": sum(row["busy"] for row in own) * each,
        "GB of memory": max(row["memory"] for row in own) / 1e9 * each,
        "GB of disk": max(row["disk"] for row in own) / 1e9 * each,
    }


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Plot what a million nodes take against the number of nodes."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "meshwright"
    from matplotlib import pyplot as plt

    sizes = sorted({row["nodes"] for row in rows})
    found = [per_million(rows, nodes) for nodes in sizes]
    figure, axes = plt.subplots(1, 4, figsize=(12, 3.2), layout="constrained")
    for own, name in zip(axes, found[0], strict=True):
        values = [row[name] for row in found]
        own.loglog(sizes, values, "o-")
        own.set(title=name, xlabel="nodes", ylim=(min(values) / 2, max(values) * 2.5))
        own.yaxis.set_major_formatter("{x:g}")
        own.yaxis.set_minor_formatter("")
        for size, value in zip(sizes, values, strict=True):
            own.annotate(f"{value:.3g}", (size, value), (0, 7), textcoords="offset points", ha="center")
        own.margins(x=0.15)
        own.grid(alpha=0.3)
    figure.suptitle("for each million nodes")
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Print a line for each stage, and what a million nodes take at each size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--engine", choices=["spark", "local"], default="spark")
    parser.add_argument("--commands", type=int, help="stop after this many commands")
    parser.add_argument("--keep", action="store_true", help="leave the data of each size")
    parser.add_argument("--plot", type=Path, help="where to draw the plot, by its suffix")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="an option of the build"
    )
    options = parser.parse_args()
    way = Way(options.engine, tuple(options.set))
    options.folder.mkdir(parents=True, exist_ok=True)
    print(f"{'nodes':>12} {'engine':6} {'stage':9} {'seconds':>9} {'busy':>9} {'GB':>7} {'disk':>7}")
    for nodes, stage in left_to_do(options.nodes, options.folder, way)[: options.commands]:
        run(nodes, stage, options.folder, way, options.keep)
    rows = [row for row in all_rows(options.folder) if row["engine"] == str(way)]
    for nodes in sorted({row["nodes"] for row in rows}):
        found = per_million(rows, nodes)
        print(
            f"{nodes:12,} per million: " + ", ".join(f"{name} {value:.3g}" for name, value in found.items())
        )
    if options.plot:
        draw(rows, options.plot)


if __name__ == "__main__":
    main()
