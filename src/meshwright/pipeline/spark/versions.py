"""Whether the workers run what the driver runs: other versions would compute something else, silently."""

from collections.abc import Callable, Iterable, Iterator
from time import monotonic, sleep
from typing import TYPE_CHECKING

from meshwright.pipeline.spark.settings import is_local_master
from meshwright.runtime.errors import SparkError

if TYPE_CHECKING:
    from pyspark import SparkContext

COMPARED = ("meshwright", "numpy", "numba", "pyarrow", "pandas")
_ROUNDS = 5
_POLL_SECONDS = 0.1
_WAIT = "spark.meshwright.executors.wait"
_WAIT_SECONDS = "300s"

Versions = dict[str, str]


def check_workers(context: "SparkContext") -> None:
    """Refuse a cluster without executors, and executors that run something else than the driver.

    Each executor that is there is asked. It costs one job of a task a slot, which starts the workers' Python
    processes, so the next job need not.
    """
    _wait_for_executors(context)
    ask, ours = question(), versions()
    asked: set[str] = set()
    for _ in range(_ROUNDS):
        slots = max(2, context.defaultParallelism)
        for place, theirs in context.parallelize(range(slots), slots).mapPartitions(ask).collect():
            compare(ours, theirs, place)
            asked.add(place)
        if len(asked) >= executors(context):
            return


def executors(context: "SparkContext") -> int:
    """How many executors there are now; the driver counts only where it is all there is, in local mode."""
    return len(context.statusTracker().getExecutorInfos()) - (not is_local_master(context.master or ""))


def _wait_for_executors(context: "SparkContext") -> None:
    jvm = context._jvm
    assert jvm is not None
    patience = context.getConf().get(_WAIT, _WAIT_SECONDS)
    end = monotonic() + jvm.org.apache.spark.util.Utils.timeStringAsSeconds(patience)
    while executors(context) < 1:
        if monotonic() > end:
            raise SparkError(
                f"{context.master} gave no executor in {patience}: all workers are busy, or have less memory "
                f"or fewer cores than an executor asks for; lower --conf spark.executor.memory, "
                f"or wait longer with --conf {_WAIT}=1h"
            )
        sleep(_POLL_SECONDS)


def versions() -> Versions:
    """What must be the same on driver and workers."""
    return next(question()(()))[1]


def compare(ours: Versions, theirs: Versions, place: str) -> None:
    """Refuse workers that differ, and name the first difference."""
    for name, value in ours.items():
        other = theirs.get(name, "")
        if other != value:
            has = f"{name} {other}" if other else f"no {name}"
            raise SparkError(
                f"the workers at {place} have {has} and the driver has {value}; install the same on all, "
                f"or send the driver's environment along (see docs/cluster.md)"
            )


def question() -> Callable[[Iterable[int]], Iterator[tuple[str, Versions]]]:
    """What a task answers: where it runs, and which versions it finds there.

    A function that is made inside another one is sent as a whole, not as a name to import: so it can answer
    where there is no Meshwright. It reads no more than the names of packages and Meshwright's own files.
    """
    compared = COMPARED

    def answer(_: Iterable[int]) -> Iterator[tuple[str, dict[str, str]]]:
        import hashlib
        import importlib.metadata
        import importlib.util
        import os
        import platform
        from pathlib import Path

        found = {"Python": ".".join(platform.python_version_tuple()[:2])}
        for name in compared:
            try:
                found[name] = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                found[name] = ""
        spec = importlib.util.find_spec("meshwright")
        digest = hashlib.sha256()
        for folder in (spec.submodule_search_locations if spec else None) or []:
            for file in sorted(Path(folder).rglob("*.py")):
                digest.update(str(file.relative_to(folder)).encode() + b"\0" + file.read_bytes())
        found["meshwright's code"] = digest.hexdigest()[:12]
        yield f"{platform.node()}:{os.getcwd()}", found

    return answer
