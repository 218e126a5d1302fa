"""Memory and work of this process and all that it started: Java and Python together."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from time import perf_counter

_SAMPLE_SECONDS = 0.5


class Peak:
    """The most bytes that were seen; pages that processes share count once, a part with each.

    Attributes:
        total: of all processes together.
        java: of all Javas together.
        driver: of this process.
        worker: of any other process but Java.
        executor: of any executor of a cluster, with the workers that it started.
    """

    def __init__(self) -> None:
        self.total = self.java = self.driver = self.worker = self.executor = 0

    def look(self) -> None:
        """Raise the peaks to what is held now."""
        held = {process: _proportional_bytes(process) for process in family()}
        javas = {process for process in held if _is_java(process)}
        workers = held.keys() - javas - {os.getpid()}
        self.total = max(self.total, sum(held.values()))
        self.java = max(self.java, sum(held[process] for process in javas))
        self.driver = max(self.driver, held[os.getpid()])
        self.worker = max([self.worker, *(held[process] for process in workers)])
        for executor in filter(_is_executor, javas):
            own = sum(held.get(process, 0) for process in family(executor))
            self.executor = max(self.executor, own)


@contextmanager
def watched_memory() -> Iterator[Peak]:
    """The peak while the body runs, by looking twice a second."""
    peak, over = Peak(), Event()

    def watch() -> None:
        while not over.wait(_SAMPLE_SECONDS):
            peak.look()

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        over.set()
        watcher.join()


class Stopwatch:
    """A `Progress` that notes the label of every stage, its seconds, and those that processors worked."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, float, float]] = []

    def start(self, label: str, total: int) -> None:
        """Note when the stage begins."""
        del total
        self._begin = (label, perf_counter(), busy_seconds())

    def advance(self, done: int) -> None:
        """Nothing to note."""

    def resize(self, total: int) -> None:
        """Nothing to note."""

    def finish(self) -> None:
        """Note what the stage took."""
        label, clock, busy = self._begin
        self.stages.append((label, perf_counter() - clock, busy_seconds() - busy))


def family(of: int | None = None) -> set[int]:
    """A process and its descendants; this one, unless another is given."""
    parents = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            parents[int(entry.name)] = int(_status(int(entry.name))[1])
    found, new = set[int](), {os.getpid() if of is None else of}
    while new:
        found |= new
        new = {child for child, parent in parents.items() if parent in new} - found
    return found


def busy_seconds() -> float:
    """The seconds that processors worked for this process and its descendants, those that ended included."""
    ticks = 0
    for process in family():
        with suppress(OSError):
            ticks += sum(map(int, _status(process)[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _status(process: int) -> list[str]:
    """The fields behind the name, the state of the process first."""
    return Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()


def _proportional_bytes(process: int) -> int:
    with suppress(OSError):
        lines = Path(f"/proc/{process}/smaps_rollup").read_text("ascii").splitlines()
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return 0


def _is_java(process: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{process}/comm").read_text("utf-8", "replace").strip() == "java"
    return False


def _is_executor(process: int) -> bool:
    with suppress(OSError):
        return b"CoarseGrainedExecutorBackend" in Path(f"/proc/{process}/cmdline").read_bytes()
    return False
