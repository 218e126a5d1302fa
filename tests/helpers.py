"""Small things that several tests need."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from meshwright import Interests
from meshwright.model.storage.manifest import write_manifest


def arrays(interests: Interests) -> tuple[Any, Any, int]:
    """The interests as the greedy takes them."""
    return interests.indptr, interests.topic_ids, interests.topic_count


def topics_by_node(interests: Interests) -> dict[int, set[int]]:
    """The topics of each node, by id."""
    bounds = zip(interests.indptr[:-1], interests.indptr[1:], strict=True)
    return {u: set(interests.topic_ids[a:b].tolist()) for u, (a, b) in enumerate(bounds)}


def interests_of(topics: list[set[int]]) -> Interests:
    """Of the topics of each node, by number: node 3 is "n3", topic 4 is "t4"."""
    names = [f"n{u}" for u in range(len(topics))]
    return Interests.from_pairs(
        [(f"n{u}", f"t{t}") for u, own in enumerate(topics) for t in own], nodes=names
    )


def reseal(dataset: Path, change: Callable[[dict[str, Any]], Any] = lambda manifest: None) -> None:
    """Write the manifest of a dataset again, for the files as they are now, after `change` has changed it.

    So that what is wrong with a dataset can be tried, and not only that it was changed.
    """
    manifest = json.loads((dataset / "manifest.json").read_text("utf-8"))
    change(manifest)
    (dataset / "manifest.json").unlink()
    write_manifest(dataset, manifest)


def scatter(dataset: Path, *tables: str, parts: int = 3) -> None:
    """Cut tables of one file into several, whose rows are in no order."""
    for name in tables:
        table = pq.read_table(dataset / name / "part-00000.parquet")
        order = np.random.default_rng(1).permutation(table.num_rows)
        for part, rows in enumerate(np.array_split(order, parts)):
            pq.write_table(table.take(rows), dataset / name / f"part-{part:05}.parquet")
    reseal(dataset)


def without_checksums(dataset: Path) -> None:
    """Make a dataset one of an older Meshwright, which wrote no checksums."""
    manifest = json.loads((dataset / "manifest.json").read_text("utf-8"))
    del manifest["files"], manifest["checksum"]
    (dataset / "manifest.json").write_text(json.dumps(manifest), "utf-8")


def without_progress(said: str) -> str:
    """What a command said on stderr, without the dated lines about stages that take long."""
    return "".join(line for line in said.splitlines(keepends=True) if not re.match(r"\d{4}-\d\d-\d\d ", line))
