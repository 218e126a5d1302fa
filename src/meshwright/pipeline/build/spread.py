"""What the algorithms that are spread over tasks have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from meshwright.kernels.arrays import Ids
from meshwright.machine import cores
from meshwright.pipeline.build.part_rows import Summary, summaries
from meshwright.pipeline.build.source import SparkSource
from meshwright.pipeline.engine.settings import is_local
from meshwright.pipeline.engine.status import spark_stage
from meshwright.pipeline.engine.storage import read_table, url
from meshwright.progress import StageTimer, Ticks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, kw_only=True)
class Job:
    """A build that is under way: its interests, where it may write, and who watches."""

    session: SparkSession
    source: SparkSource
    scratch: Path
    progress: StageTimer

    def keep(self, parts: DataFrame, name: str, label: str) -> Kept:
        """Compute `parts` and write them down, so that nothing before them is ever computed again."""
        folder = self.scratch / name
        with spark_stage(self.session, self.progress, label):
            parts.write.parquet(url(folder))
            found = summaries(read_table(self.session, folder))
        return Kept(folder=folder, parts=found, label=label)

    def threads(self, groups: int) -> int:
        """How many threads a task may use where groups are so few: those of its executor that would idle."""
        local = is_local(self.session.sparkContext.master or "")
        each = cores() if local else int(self.session.conf.get("spark.executor.cores", "1") or 1)
        return max(1, each // max(1, groups))


@dataclass(frozen=True, kw_only=True)
class Kept:
    """Parts that are written down."""

    folder: Path
    parts: list[Summary]
    label: str


@dataclass(frozen=True, kw_only=True)
class Spread:
    """What a spread algorithm hands back: edges in tables and of the driver, and facts."""

    kept: list[Kept]
    edges: Ids
    facts: Mapping[str, Any]


NO_EDGES: Ids = np.empty((0, 2), np.int32)


def no_ticks() -> Ticks:
    """Ticks that nobody looks at: Spark itself shows the progress of tasks, and ends them."""
    return np.zeros(2, np.int64)
