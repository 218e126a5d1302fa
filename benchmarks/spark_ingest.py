"""What ingest takes: seconds by stage, of the clock and of the processors, and the peak memory.

    python -m benchmarks.spark_ingest [--nodes 1000000] [--topics 1000]
    python -m benchmarks.spark_ingest twitter.txt.gz --as follows

Without files, interests are made up (unif, 10 to 150 subscriptions by a power law) and written as Parquet
pairs beforehand. Memory is that of Java and of all Pythons: the sum of proportional set sizes, at its peak.
"""

import argparse
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from time import perf_counter

import meshwright as mw
from meshwright.pipeline.engine.session import spark_session
from meshwright.pipeline.ingest.job import IngestOptions, ingest

_TICKS = os.sysconf("SC_CLK_TCK")


def family() -> list[int]:
    """This process and all below it."""
    below: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            below.setdefault(int(_stat(int(entry.name))[1]), []).append(int(entry.name))
    found = [os.getpid()]
    for process in found:
        found += below.get(process, [])
    return found


def _stat(process: int) -> list[str]:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()


def busy_seconds() -> float:
    """Seconds of the processors so far, those of processes that are gone included."""
    total = 0
    for process in family():
        with suppress(OSError):
            total += sum(map(int, _stat(process)[11:15]))
    return total / _TICKS


class Watch:
    """The peak memory by kind of process, and the seconds of each stage."""

    def __init__(self) -> None:
        self.peaks = {"java": 0, "python": 0, "together": 0}
        self.stages: list[tuple[str, float, float]] = []
        self._over = Event()
        Thread(target=self._sample, daemon=True).start()

    def start(self, label: str, total: int) -> None:
        """Note when the stage begins."""
        self._begin = (label, perf_counter(), busy_seconds())

    def advance(self, done: int) -> None:
        """Nothing to note."""

    def resize(self, total: int) -> None:
        """Nothing to note."""

    def finish(self) -> None:
        """Note what the stage took."""
        label, clock, busy = self._begin
        self.stages.append((label, perf_counter() - clock, busy_seconds() - busy))

    def _sample(self) -> None:
        while not self._over.wait(0.5):
            now = {"java": 0, "python": 0}
            for process in family():
                with suppress(OSError):
                    kind = "java" if "java" in Path(f"/proc/{process}/comm").read_text() else "python"
                    rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
                    pss = next(line for line in rollup.splitlines() if line.startswith("Pss:"))
                    now[kind] += int(pss.split()[1]) * 1024
            for kind, value in {**now, "together": sum(now.values())}.items():
                self.peaks[kind] = max(self.peaks[kind], value)

    def stop(self) -> None:
        """Look no more."""
        self._over.set()


def measure(inputs: list[str], options: IngestOptions, folder: Path, memory: str) -> None:
    """Ingest and print the table."""
    begin = perf_counter()
    with spark_session(None, {"spark.driver.memory": memory}) as session:
        session.range(10).count()
        print(f"{'starting Spark':16} {perf_counter() - begin:8.1f}")
        watch = Watch()
        manifest = ingest(session, inputs, folder / "out", options, progress=watch)
        watch.stop()
    stages = [*watch.stages, ("together", *(sum(stage[at] for stage in watch.stages) for at in (1, 2)))]
    print(f"{'stage':16} {'seconds':>8} {'busy':>8}")
    for label, clock, busy in stages:
        print(f"{label:16} {clock:8.1f} {busy:8.1f}")
    for kind, peak in watch.peaks.items():
        print(f"peak memory, {kind}: {peak / 2**30:.2f} GiB")
    rows = manifest["facts"]["rows"]
    print(f"{rows:,} rows, {manifest['counts']}, {rows / stages[-1][1] / 1e6:.2f} million rows a second")


def main() -> None:
    """Measure the files given, or a workload that is made up."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*")
    parser.add_argument("--as", dest="relation", default="pairs")
    parser.add_argument("--columns")
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--topics", type=int, default=1_000)
    parser.add_argument("--memory", default="2g", help="of Java")
    parser.add_argument("--scratch", type=Path, help="a folder to work in")
    given = parser.parse_args()
    columns = tuple(given.columns.split(",")) if given.columns else None
    folder = Path(tempfile.mkdtemp(prefix="ingest-", dir=given.scratch))
    try:
        inputs = given.files or [_made_up(given.nodes, given.topics, folder)]
        measure(inputs, IngestOptions(relation=given.relation, columns=columns), folder, given.memory)
    finally:
        shutil.rmtree(folder)


def _made_up(nodes: int, topics: int, folder: Path) -> str:
    interests = mw.workloads.unif(nodes, topics, min_subscriptions=10, max_subscriptions=150, seed=1)
    interests.write(folder / "made-up")
    return str(folder / "made-up" / "interests")


if __name__ == "__main__":
    main()
