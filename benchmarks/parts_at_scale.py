"""`dc`, `dcbc` and `dcbc-direct` on Spark at ten million nodes: time, and memory against what was predicted.

    python -m benchmarks.parts_at_scale FOLDER [--nodes 10000000] [--shapes even skewed many-topics]
        [--algorithms dc dcbc dcbc-direct] [--engines local cluster] [--evaluate]

Three shapes of interests, each without names:

- even: unif, 1,000 topics, 10 to 150 subscriptions by a power law, 28 on average;
- skewed: the same, and a topic that every node has, and a node that has every topic;
- many-topics: zipf with alpha 0.8, a topic for every ten nodes (1,000,000 at ten million), 1 to 1,000
  subscriptions by a power law: few nodes have many topics, and few topics have many nodes, as in graphs of
  followers (in ego-Twitter, accounts have followers by their rank to the power of -0.5 at the top and -1.0 at
  the end).

The engine `local` is Spark in one Java on this machine; `cluster` is a standalone cluster with two executors
of one core and 1 GiB of heap each. Before each build, the memory of an executor is told as `plan-capacity`
predicts it. Afterwards, what was measured: on the cluster, the most that an executor held, its Java and its
Python together; in local mode, Java has a heap by the memory of the machine, so the most that a Python worker
held is told beside what was predicted for a worker. The overlays of both engines must have the same links.
With --evaluate, the overlay is evaluated on Spark in local mode.
"""

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import meshwright as mw
from benchmarks.capacity import SPARK_OPTIONS
from benchmarks.processes import Peak, watched_memory
from benchmarks.scale import watched
from meshwright.pipeline.capacity import JAVA_BYTES, Size, planned
from tests.spark.cluster import standalone_cluster

_SEED = 1
_EXECUTORS = 2
_CLUSTER = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "1g",
    "spark.executor.cores": "1",
}
_FITS = 2.0


def command(*words: object) -> list[str]:
    """A command of the product, whose answer is JSON."""
    return [sys.executable, "-m", "meshwright", *map(str, words), "--json"]


def make(shape: str, nodes: int, out: Path) -> None:
    """Write the interests of a shape, unless they are there."""
    if out.exists():
        return
    if shape == "skewed":
        skewed(nodes).write(out, names=False)
        return
    law = ["unif", "--topics", 1_000]
    if shape == "many-topics":
        sizes = ["--min-subscriptions", 1, "--max-subscriptions", 1_000]
        law = ["zipf", "--topics", nodes // 10, *sizes, "--set", "alpha=0.8"]
    words = ["generate", *law, "--nodes", nodes, "--no-names", "--seed", _SEED, "--engine", "spark"]
    subprocess.run(command(*words, "--out", out), check=True, stdout=subprocess.DEVNULL)


def skewed(nodes: int) -> mw.Interests:
    """Even interests, a topic that all nodes have, and a node that has all topics."""
    even = mw.workloads.unif(nodes, 1_000, seed=_SEED)
    ends = even.indptr[1:] + np.arange(1, nodes + 1)
    ids = np.empty(ends[-1], np.int32)
    is_new = np.zeros(len(ids), np.bool_)
    is_new[ends - 1] = True
    ids[is_new], ids[~is_new] = even.topic_count, even.topic_ids
    every = np.arange(even.topic_count + 1, dtype=np.int32)
    indptr = np.concatenate([[0], ends - ends[0] + len(every)])
    topics = [*even.topics.to_pylist(), "~everybody"]
    return mw.Interests.from_arrays(indptr, np.concatenate([every, ids[ends[0] :]]), even.nodes, topics)


def size_of(interests: Path) -> Size:
    """The counts of a dataset."""
    counts = json.loads((interests / "manifest.json").read_text("utf-8"))["counts"]
    return Size(counts["nodes"], counts["topics"], counts["interests"])


def digest(overlay: Path) -> str:
    """Of the edges, whatever files they are in."""
    found = hashlib.blake2b(digest_size=8)
    table = mw.Overlay.read(overlay).edges
    found.update(np.ascontiguousarray(table).tobytes())
    return found.hexdigest()


@contextmanager
def engine_words(engine: str, folder: Path) -> Iterator[list[str]]:
    """What says where a command runs; the cluster is there for as long as the body."""
    if engine == "local":
        yield ["--engine", "spark"]
        return
    place = folder / "cluster"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    with standalone_cluster(place, _EXECUTORS) as master:
        settings = _CLUSTER | {"spark.local.dir": str(place)}
        conf = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
        yield ["--engine", "spark", "--master", master, *conf]
    shutil.rmtree(place)


def held(peak: Peak, engine: str, executor_bytes: float) -> tuple[float, float]:
    """What was predicted and what was measured: of an executor, or of a worker in local mode."""
    if engine == "cluster":
        return executor_bytes, peak.executor
    return executor_bytes - JAVA_BYTES, peak.worker


def build(folder: Path, interests: Path, algorithm: str, engine: str) -> dict[str, Any]:
    """Predict, build, measure."""
    out = folder / f"{interests.name}-{algorithm}-{engine}"
    plan = planned(size_of(interests), algorithm, executors=_EXECUTORS, cores=1)
    stage = next(stage for stage in plan.stages if stage.name == f"build {algorithm}")
    assert stage.executor_bytes is not None
    said = f"{stage.executor_bytes / 1e9:.2f} GB an executor, {stage.seconds:,.0f} processor s"
    print(f"{interests.name}, {algorithm}, {engine}: predicted {said}", flush=True)
    options = [f"--set={name}={value}" for name, value in SPARK_OPTIONS.get(algorithm, {}).items()]
    words = ["build", interests, "--algorithm", algorithm, "--seed", _SEED, *options, "--force", "--out", out]
    begin = perf_counter()
    with engine_words(engine, folder) as where, watched_memory() as peak, watched(folder) as watch:
        done = subprocess.run(command(*words, *where), check=True, stdout=subprocess.PIPE)
    told, true = held(peak, engine, stage.executor_bytes)
    answer = json.loads(done.stdout)
    return {
        "interests": interests.name,
        "algorithm": algorithm,
        "engine": engine,
        "seconds": round(perf_counter() - begin, 1),
        "busy": round(watch.busy, 1),
        "predicted_busy": round(stage.seconds, 1),
        "predicted_bytes": told,
        "bytes": true,
        "java_bytes": peak.java,
        "all_bytes": peak.total,
        "disk": watch.disk,
        "average_degree": answer["average_degree"],
        "links": digest(out),
        "fits": true <= _FITS * told,
    }


def evaluate(overlay: Path) -> dict[str, Any]:
    """The proof that topics are connected, on Spark in local mode."""
    begin = perf_counter()
    with watched_memory() as peak, watched(overlay.parent) as watch:
        done = subprocess.run(
            command("evaluate", overlay, "--engine", "spark"), check=True, stdout=subprocess.PIPE
        )
    names = (
        "topic_connected",
        "average_degree",
        "maximum_degree",
        "maximum_topic_diameter",
        "diameters_exact",
    )
    answer = json.loads(done.stdout)
    took = {"seconds": round(perf_counter() - begin, 1), "busy": round(watch.busy, 1), "bytes": peak.total}
    return {"evaluated": overlay.name, **took, **{name: answer[name] for name in names}}


def noted(folder: Path, row: dict[str, Any]) -> dict[str, Any]:
    """Print and keep what was measured, at once, so that a run that is cut off leaves what it has."""
    with open(folder / "rows.jsonl", "a", encoding="utf-8") as notes:
        notes.write(json.dumps(row) + "\n")
    print(json.dumps(row), flush=True)
    return row


def main() -> None:
    """Build everything that is asked for, and compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=10_000_000)
    parser.add_argument("--shapes", nargs="+", default=["even", "skewed", "many-topics"])
    parser.add_argument("--algorithms", nargs="+", default=["dc", "dcbc", "dcbc-direct"])
    parser.add_argument("--engines", nargs="+", default=["local", "cluster"])
    parser.add_argument("--evaluate", action="store_true")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for shape in asked.shapes:
        interests = asked.folder / f"{shape}-{asked.nodes}"
        make(shape, asked.nodes, interests)
        for algorithm in asked.algorithms:
            overlays = [asked.folder / f"{interests.name}-{algorithm}-{engine}" for engine in asked.engines]
            rows = [
                noted(asked.folder, build(asked.folder, interests, algorithm, engine))
                for engine in asked.engines
            ]
            if asked.evaluate:
                noted(asked.folder, evaluate(overlays[0]))
            wrong += len({row["links"] for row in rows}) > 1 or not all(row["fits"] for row in rows)
            for overlay in overlays:
                shutil.rmtree(overlay)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
