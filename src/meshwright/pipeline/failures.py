"""Spark's errors as ours: one line that says what is wrong with which input, and the way out."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from meshwright import errors
from meshwright.errors import DatasetError, InputError, MeshwrightError, SparkError

_RAISED_IN_TASK = re.compile(r"meshwright\.errors\.(\w+): (.*)")
_FILE = r"(?:file|path|reading)\s+(\S+?)[.\s]*(?:\[|$|SQLSTATE)"
_KNOWN = (
    (r"No space left on device|Disk quota exceeded", DatasetError, "the disk is full; free some space"),
    (r"Unexpected end of input stream|EOFException|not a gzip|incorrect header check|invalid.*stored block",
     InputError, "a compressed file is cut off or damaged; fetch it again"),
    (r"PATH_NOT_FOUND|Path does not exist|FileNotFoundException", InputError, "there is no such file; check the path"),
    (r"Permission denied|AccessControlException", InputError, "it may not be read; check who may read it"),
    (r"OutOfMemoryError|Java heap space|memoryOverhead", SparkError,
     "Spark ran out of memory; give it more with --conf spark.driver.memory or spark.executor.memory"),
    (r"Initial job has not accepted|All masters are unresponsive|Connection refused", SparkError,
     "the cluster can't be reached or gives no workers; check --master"),
)  # fmt: skip


@contextmanager
def translated() -> Iterator[None]:
    """Raise what Spark raises in here as an error of ours."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise as_ours(str(error)) from error


def as_ours(said: str) -> MeshwrightError:
    """The error that a message of Spark's stands for; one that was raised in a task comes out as it was."""
    in_task = _RAISED_IN_TASK.search(said)
    if in_task and isinstance(getattr(errors, in_task[1], None), type):
        found: MeshwrightError = getattr(errors, in_task[1])(in_task[2].strip())
        return found
    named = re.search(_FILE, said)
    where = f"{named[1]}: " if named else ""
    for pattern, kind, advice in _KNOWN:
        if re.search(pattern, said):
            return kind(f"{where}{advice}")
    lines = said.strip().splitlines() or ["no word of why"]
    return SparkError(f"a Spark job failed: {lines[0]}")
