"""What a workload will take: seconds of processor time, memory and disk, from constants that were measured.

A measure of a stage is a sum of terms, each a constant times a number that follows from the size. The
constants are in `capacity.json`. `benchmarks.capacity` measured and fitted them, and then compared them with
runs that the fit had not seen; how far off they were is in the same file.
"""

import json
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any, NamedTuple

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

MEASURES = ("seconds", "memory_bytes", "disk_bytes")
EVALUATE, INGEST = "evaluate", "ingest"


class Stage(NamedTuple):
    """What one command takes. `worst_ratio` is how far off a prediction of its seconds was at most."""

    name: str
    seconds: float
    memory_bytes: float
    disk_bytes: float
    worst_ratio: float | None


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
    wanted = (INGEST, f"build {algorithm}", EVALUATE)
    if wanted[1] not in known:
        names = [name.removeprefix("build ") for name in known if name.startswith("build ")]
        raise OptionError(
            f"--algorithm is {algorithm!r}, which was not measured on the engine {engine}; "
            f"{choose(algorithm, names)}",
            option="--algorithm",
        )
    stages = tuple(_stage(name, known[name], size) for name in wanted)
    return Plan(engine, size, stages, processors)


def _stage(name: str, known: Mapping[str, Any], size: Size) -> Stage:
    found = {measure: value_of(known["constants"][measure], size) for measure in MEASURES}
    return Stage(name=name, **found, worst_ratio=known["unseen"].get("seconds"))


def value_of(terms: Mapping[str, float], size: Size) -> float:
    """The sum of constants, each times the number of what it is for."""
    return sum(constant * TERMS[term](size) for term, constant in terms.items())
