"""What a workload will take: seconds of processor time, memory and disk, from constants that were measured.

A measure of a stage is a sum of terms, each a constant times a number that follows from the size. The
constants are in `capacity.json`. `benchmarks.capacity` measured and fitted them, and then compared them with
runs that the fit had not seen; how far off they were is in the same file.
"""

import json
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any, NamedTuple

from meshwright.metrics.condensed import FEWEST_INTERESTS
from meshwright.runtime.checks import check_whole
from meshwright.runtime.errors import OptionError
from meshwright.runtime.wording import choose


class Size(NamedTuple):
    """How many nodes, topics and interests there are."""

    nodes: int
    topics: int
    interests: int


TERMS: Mapping[str, Callable[[Size], float]] = {
    "once": lambda size: 1.0,
    "node": lambda size: size.nodes,
    "topic": lambda size: size.topics,
    "interest": lambda size: size.interests,
    "pair of nodes": lambda size: size.nodes**2 / 2,
    "word of a pair of nodes": lambda size: size.nodes**2 / 2 * (size.topics / 64),
}
"""What the constants are for each of; bits of topics are compared by words of 64."""

MEASURES: Mapping[str, tuple[str, ...]] = {
    "local": ("seconds", "memory_bytes", "disk_bytes"),
    "spark": ("seconds", "worker_bytes", "driver_bytes", "disk_bytes"),
}
"""What was measured on each engine; a worker is a Python process that runs one task at a time."""

PART_SIZE = 2_000
"""The `part_size` of dc and dcbc on Spark, and the `bulk_limit` of dcbc, that predictions hold for."""

JAVA_HEAP = 1 << 30
"""The heap of an executor, and of the driver, as Spark sets it."""

EVALUATE, AROUND_HUBS, INGEST = "evaluate", "evaluate around hubs", "ingest"
_WITH_HUBS = ("dcbc-direct",)
"""The algorithms whose large overlays are condensed when they are evaluated."""

JAVA_BYTES = 1.5 * JAVA_HEAP
"""What Java takes with that heap, at most: code, threads and buffers are outside of it."""


class Stage(NamedTuple):
    """What one command takes.

    Attributes:
        name: of the command.
        seconds: of processors.
        memory_bytes: of all processes together.
        disk_bytes: what it writes.
        worst_ratio: how far off a prediction of its seconds was at most.
        executor_bytes: the memory of each executor, Java and Python together; None in this process.
    """

    name: str
    seconds: float
    memory_bytes: float
    disk_bytes: float
    worst_ratio: float | None
    executor_bytes: float | None = None


class Plan(NamedTuple):
    """What ingest, build and evaluate take, one after the other, on one engine."""

    engine: str
    size: Size
    stages: tuple[Stage, ...]
    processors: int

    @property
    def seconds(self) -> float:
        """Seconds of the clock, if processors do nothing else; in this process, one is counted on."""
        return sum(stage.seconds for stage in self.stages) / self.processors

    @property
    def memory_bytes(self) -> float:
        """The most that a stage takes, all processes of it together."""
        return max(stage.memory_bytes for stage in self.stages)

    @property
    def executor_bytes(self) -> float | None:
        """The most that a stage takes in an executor; None in this process."""
        return max((stage.executor_bytes for stage in self.stages if stage.executor_bytes), default=None)

    @property
    def disk_bytes(self) -> float:
        """What all stages write, scratch files of Spark included."""
        return sum(stage.disk_bytes for stage in self.stages)


def constants() -> dict[str, Any]:
    """The table that was measured: by engine and stage, and about the machine."""
    found: dict[str, Any] = json.loads((files("meshwright.pipeline") / "capacity.json").read_text("utf-8"))
    return found


def planned(size: Size, algorithm: str, *, executors: int | None = None, cores: int | None = None) -> Plan:
    """What an overlay of that size takes; on Spark if `executors` are given, each with so many `cores`."""
    for name, number in size._asdict().items():
        check_whole(f"--{name}", number, 1)
    if size.interests > size.nodes * size.topics:
        raise OptionError(
            f"--interests is {size.interests:,}, but {size.nodes:,} nodes and {size.topics:,} topics have "
            f"at most {size.nodes * size.topics:,}; give fewer",
            option="--interests",
        )
    engine = "local" if executors is None else "spark"
    processors = 1 if executors is None else executors * (cores or 1)
    known = constants()["engines"].get(engine)
    if known is None:
        raise OptionError(
            "--executors asks for Spark, which the table of constants does not have; measure it with "
            "python -m benchmarks.capacity --spark, or leave --executors out",
            option="--executors",
        )
    evaluate = AROUND_HUBS if algorithm in _WITH_HUBS and size.interests >= FEWEST_INTERESTS else EVALUATE
    wanted = (INGEST, f"build {algorithm}", evaluate)
    if wanted[1] not in known:
        names = [name.removeprefix("build ") for name in known if name.startswith("build ")]
        raise OptionError(
            f"--algorithm is {algorithm!r}, which was not measured on the engine {engine}; "
            f"{choose(algorithm, names)}",
            option="--algorithm",
        )
    stages = tuple(_stage(name, known[name], size, executors, cores or 1) for name in wanted)
    return Plan(engine, size, stages, processors)


def _stage(name: str, known: Mapping[str, Any], size: Size, executors: int | None, cores: int) -> Stage:
    found = {measure: value_of(terms, size) for measure, terms in known["constants"].items()}
    executor = None
    if executors is not None:
        executor = JAVA_BYTES + cores * found["worker_bytes"]
        found["memory_bytes"] = JAVA_BYTES + found["driver_bytes"] + executors * executor
    return Stage(
        name=name,
        seconds=found["seconds"],
        memory_bytes=found["memory_bytes"],
        disk_bytes=found["disk_bytes"],
        worst_ratio=known["unseen"].get("seconds"),
        executor_bytes=executor,
    )


def value_of(terms: Mapping[str, float], size: Size) -> float:
    """The sum of constants, each times the number of what it is for."""
    return sum(constant * TERMS[term](size) for term, constant in terms.items())
