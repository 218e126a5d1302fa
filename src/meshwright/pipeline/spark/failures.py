"""Spark's errors as ours: one line that says what is wrong with which input, and the way out."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import unquote

from meshwright.runtime import errors
from meshwright.runtime.errors import (
    CapacityError,
    DamagedFileError,
    DatasetError,
    InputError,
    MeshwrightError,
    SparkError,
)

_RAISED_IN_TASK = re.compile(rf"^{re.escape(errors.__name__)}\.(\w+): (.*)", re.MULTILINE)
_FILES = (
    re.compile(r"(?:reading file|does not exist:|rows to) (\S.*?)\. +(?:SQLSTATE|Could not|Data type)"),
    re.compile(r"java\.io\.FileNotFoundException: (?:File )?(\S.*?) (?:\(|does not exist)"),
    re.compile(r"Parent path is not a directory: (\S.*)"),
    re.compile(r"Call From \S+ to (\S+) failed"),
    re.compile(r"Mkdirs failed to create (\S.*?)(?:/_temporary.*)? \(exists="),
)
_JAVA_ERROR = re.compile(r"(?:Caused by: |^: |\): )((?:[a-z]\w*\.)+[A-Z][\w$]*): (.+)", re.MULTILINE)
_NO_NEWS = re.compile(r"Job aborted|Task failed|Failed to execute|Encountered error while reading")
_STACK = re.compile(r"\s|at |\.\.\. |WARN|Caused by|$")

_MORE_MEMORY = "give it more with --conf spark.driver.memory or spark.executor.memory, as in =4g"
_KNOWN = (
    (r"No space left on device|Disk quota exceeded", DatasetError,
     "the disk is full; free some space, or let Spark work elsewhere with --conf spark.local.dir=DIR"),
    (r"PYTHON_VERSION_MISMATCH", SparkError,
     "the workers and the driver run different versions of Python; "
     "set PYSPARK_PYTHON to a Python of the driver's version"),
    (r"No module named 'meshwright", SparkError,
     "the workers have no meshwright; install the driver's version there, or send its environment along "
     "(see docs/cluster.md)"),
    (r'Cannot run program "', SparkError,
     "the workers can't start their Python; set PYSPARK_PYTHON to a path that they have "
     "(see docs/cluster.md)"),
    (r"InvalidClassException|serialVersionUID", SparkError,
     "the cluster and the driver run different versions of Spark; install the cluster's version of pyspark"),
    (r"spark\.driver\.maxResultSize", SparkError,
     "the results are larger than Spark lets one process take; allow more with "
     "--conf spark.driver.maxResultSize=4g, and as much memory with --conf spark.driver.memory"),
    (r"OutOfMemoryError|Java heap space|memoryOverhead|not enough memory", SparkError,
     f"Spark ran out of memory; {_MORE_MEMORY}"),
    (r"Python worker exited unexpectedly|Python worker failed to connect back|Unable to allocate|MemoryError",
     CapacityError, "a task's Python ran out of memory or was killed; use fewer cores at a time, as in "
     "--master local[1], or more and smaller parts"),
    (r"No FileSystem for scheme|(?:FileSystem|Filesystem) not found", InputError,
     "Spark has no driver for this kind of address; "
     "add it with --conf spark.jars.packages (see docs/cluster.md)"),
    (r"Unexpected end of input stream|not a gzip|incorrect header check|invalid.*stored block|"
     r"invalid distance|invalid code lengths|incorrect data check|gzip.*CRC", DamagedFileError,
     "a compressed file is cut off or damaged; fetch it again"),
    (r"Permission denied|AccessControlException", InputError, "access is denied; check who may read it"),
    (r"PATH_NOT_FOUND|Path does not exist|FileNotFoundException|FILE_NOT_EXIST", InputError,
     "there is no such file; check the path"),
    (r"Mkdirs failed|is not a directory|Read-only file system", DatasetError,
     "it can't be written there; check the path and who may write there"),
    (r"DATA_TYPE_MISMATCH|CANNOT_MERGE_SCHEMA", InputError,
     "its columns differ in type from those of the other files; give files of one kind"),
    (r"FAILED_READ_FILE|is not a Parquet file|ParquetDecodingException|CRC32", DamagedFileError,
     "the file is damaged or has another format; fetch or write it again"),
    (r"All masters are unresponsive", SparkError, "the cluster's master does not answer; check --master"),
    (r"stopped SparkContext|SparkContext was shut ?down", SparkError,
     "Spark has stopped, after an error of its own"),
    (r"ConnectException|UnknownHostException|NoRouteToHost", InputError,
     "the storage can't be reached; check the address"),
)  # fmt: skip
_JAVA_IS_GONE = (
    "the Java process that Spark runs in has ended: it was killed, or ran out of memory; "
    f"if its output says so, {_MORE_MEMORY}"
)


@contextmanager
def translated() -> Iterator[None]:
    """Raise what Spark raises in here as an error of ours."""
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JNetworkError, ConnectionError) as error:
        raise SparkError(_JAVA_IS_GONE) from error
    except (PySparkException, Py4JError) as error:
        raise as_ours(str(error)) from error


def as_ours(said: str) -> MeshwrightError:
    """The error that a message of Spark's stands for; one that was raised in a task comes out as it was."""
    in_task = _RAISED_IN_TASK.search(said)
    if in_task and isinstance(getattr(errors, in_task[1], None), type):
        found: MeshwrightError = getattr(errors, in_task[1])(in_task[2].strip())
        return found
    for pattern, kind, advice in _KNOWN:
        if re.search(pattern, said):
            return kind(f"{_file_in(said)}{advice}")
    return SparkError(f"a Spark job failed: {cause_of(said)}")


def names_no_input(said: str) -> bool:
    """Whether a message may be about an input, and what `as_ours` makes of it does not name one."""
    if _RAISED_IN_TASK.search(said):
        return False
    kinds = [kind for pattern, kind, _ in _KNOWN if re.search(pattern, said)]
    return not kinds or (issubclass(kinds[0], InputError) and not _file_in(said))


def _file_in(said: str) -> str:
    """The file that a message is about, as a user writes it, and a colon; nothing if it names none."""
    for pattern in _FILES:
        named = pattern.search(said)
        if named:
            # Hadoop writes file:/a b, and Spark file:///a%20b, for the same file.
            path = named[1].removeprefix("file:") if named[1].startswith("file:/") else named[1]
            of_spark = path.startswith("///") or (named[0].startswith("reading file") and "://" in path)
            return f"{unquote(path) if of_spark else path}: ".replace("///", "/", 1)
    return ""


def cause_of(said: str) -> str:
    """The one line of a message of Spark's that tells most: Python's own, else the deepest of Java's."""
    lines = [line for line in said.splitlines() if line.strip()] or ["no reason given"]
    if "Traceback (most recent call last)" in said:
        return next(line for line in reversed(lines) if not _STACK.match(line))
    causes = [(kind.rpartition(".")[2], text.strip()) for kind, text in _JAVA_ERROR.findall(said)]
    telling = [f"{kind}: {text}" for kind, text in causes if not _NO_NEWS.match(text)]
    return telling[-1] if telling else lines[0].strip()


def last_words(log: str) -> str:
    """The line of Java's log that tells most about why it ended; nothing if the log is empty."""
    lines = [line.strip() for line in log.splitlines() if not _STACK.match(line)]
    telling = [line for line in lines if re.search(r"\b(?:Error|Exception|error)\b|Exception:|Error:", line)]
    return (telling or lines or [""])[-1]
