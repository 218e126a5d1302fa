"""Tables that a job needs only while it runs; writing them cuts the lineage of what is computed from them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from meshwright.pipeline.engine.storage import read_table, url
from meshwright.runtime.owned import remove_own_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """A folder inside the draft of a dataset, gone at the end; on an error the whole draft goes."""
    place = folder / "scratch"
    place.mkdir()
    yield place
    remove_own_folder(place)


def kept(session: "SparkSession", frame: "DataFrame", place: Path) -> "DataFrame":
    """`frame` written to `place` and read from there: computed once, and without a past."""
    frame.write.parquet(url(place))
    return read_table(session, place)
