"""What the links of an overlay's dataset cost together."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from meshwright.metrics.statistics import exact_sum
from meshwright.model.reading.files import part_files, reading
from meshwright.runtime.columns import numpy_of
from meshwright.runtime.errors import DatasetError


def total_cost(overlay: Path) -> float | None:
    """The sum over all links, as if it were computed exactly; None where they have no cost."""
    with reading(overlay / "edges", DatasetError):
        parts = [pq.ParquetFile(part) for part in part_files(overlay / "edges")]
        if not all("cost" in part.schema_arrow.names for part in parts):
            return None
        costs = [numpy_of(part.read(["cost"])["cost"]) for part in parts]
    return exact_sum(np.concatenate([np.empty(0), *costs]))
