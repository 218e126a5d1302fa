"""The Spark session: started quietly, with settings that suit one machine or leave a cluster's alone."""

import importlib.metadata
import os
import platform
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from meshwright.errors import SparkError
from meshwright.machine import cores, free_memory
from meshwright.pipeline.java import java_home

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

_LOG_SETTINGS = Path(__file__).with_name("log4j2.properties")
_COMPARED = ("meshwright", "numpy", "numba", "pyarrow", "pandas", "pyspark")
_MEGABYTE = 1 << 20
_SHARE_OF_MEMORY = 0.25
_LEAST_HEAP, _MOST_HEAP = 1 << 30, 6 << 30


@contextmanager
def spark_session(
    master: str | None = None, settings: dict[str, str] | None = None
) -> Iterator["SparkSession"]:
    """A session that is stopped at the end; everything that Java says goes to a file, not to the terminal.

    `master` is where to run: `local[*]` unless given, or unless `spark-submit` started this program, whose
    own settings then hold. `settings` override ours. Workers on other machines are asked for their versions
    first, and refused where these differ from ours.
    """
    with _log_file() as log:
        session = _start(_conf(master, settings or {}), log)
        try:
            check_versions(session)
            yield session
        finally:
            _stop(session)


@contextmanager
def _log_file() -> Iterator[Path]:
    """Where Java writes to; it stays only if something goes wrong."""
    handle, name = tempfile.mkstemp(prefix="meshwright-spark-", suffix=".log")
    os.close(handle)
    try:
        yield Path(name)
    except SparkError as error:
        if Path(name).stat().st_size:
            raise SparkError(f"{error}; Spark's own words are in {name}") from error
        raise
    finally:
        if not isinstance(sys.exception(), SparkError) or not Path(name).stat().st_size:
            Path(name).unlink(missing_ok=True)


def _conf(master: str | None, settings: dict[str, str]) -> "SparkConf":
    from pyspark import SparkConf

    submitted = "PYSPARK_GATEWAY_PORT" in os.environ or "PYSPARK_SUBMIT_ARGS" in os.environ
    conf = SparkConf(loadDefaults=submitted)
    place = master or conf.get("spark.master", "local[*]") or "local[*]"
    ours = _general_settings() | (_local_settings() if place.startswith("local") else {})
    for name, value in (ours | {"spark.master": place}).items():
        if not conf.contains(name) or (master and name == "spark.master"):
            conf.set(name, value)
    for name, value in settings.items():
        conf.set(name, value)
    return conf


def _general_settings() -> dict[str, str]:
    """Settings for every master, each for a reason."""
    return {
        "spark.app.name": "meshwright",
        # No web server, so no port is fought for; the command line shows the progress itself.
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # Java's warnings and errors only, and those to the log file.
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_LOG_SETTINGS.as_uri()}",
        # Kernels of one task use one core: Spark fills the cores with tasks.
        "spark.executorEnv.NUMBA_NUM_THREADS": "1",
        # Rows of lists are long; fewer in a batch keep batches of Arrow at some megabytes.
        "spark.sql.execution.arrow.maxRecordsPerBatch": "8192",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # A task's Python ends with a traceback that names the line at fault, not with Java's.
        "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "true",
        # The manifest says what is finished; files that are no table would only be in the way.
        "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
        "spark.sql.parquet.compression.codec": "zstd",
        "spark.sql.session.timeZone": "UTC",
    }


def _local_settings() -> dict[str, str]:
    """Settings for Spark inside this process's machine."""
    heap = min(max(int(_SHARE_OF_MEMORY * free_memory()), _LEAST_HEAP), _MOST_HEAP)
    return {
        # Nothing listens beyond this machine, whatever its host name resolves to.
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        # Java holds shuffles and joins; kernels and Arrow live in Python beside it and need the larger share.
        "spark.driver.memory": f"{heap // _MEGABYTE}m",
        # 200, the default, is for clusters; here each task would be over in milliseconds.
        "spark.sql.shuffle.partitions": str(4 * cores()),
        "spark.default.parallelism": str(2 * cores()),
    }


def _start(conf: "SparkConf", log: Path) -> "SparkSession":
    from py4j.protocol import Py4JError
    from pyspark import SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    os.environ["JAVA_HOME"] = str(java_home())
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    handler = signal.getsignal(signal.SIGINT)
    try:
        with log.open("ab") as stream:
            gateway = launch_gateway(conf, {"stdout": stream, "stderr": stream})
        context = SparkContext(conf=conf, gateway=gateway)
        return SparkSession(context)
    except (PySparkException, Py4JError, OSError) as error:
        raise SparkError(
            f"Spark does not start on {conf.get('spark.master')}: {_first_line(error)}"
        ) from error
    finally:
        # Spark's own handler would cancel jobs and go on; ours, Python's, ends the command.
        with suppress(ValueError):
            signal.signal(signal.SIGINT, handler)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _stop(session: "SparkSession") -> None:
    """Stop the session and its Java, so that the next one may have other settings."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    with suppress(Exception):
        session.stop()
    if gateway is not None and "PYSPARK_GATEWAY_PORT" not in os.environ:
        with suppress(Exception):
            gateway.shutdown()
        with suppress(Exception):
            gateway.proc.stdin.close()
            gateway.proc.wait(10)
        SparkContext._gateway = SparkContext._jvm = None


def check_versions(session: "SparkSession") -> None:
    """Refuse workers whose Python or packages are not ours: kernels and pickles would differ silently.

    Local workers are this Python, so they are not asked.
    """
    context = session.sparkContext
    if context.master.startswith("local"):
        return
    slots = max(2, context.defaultParallelism)
    ours = versions()
    for theirs in context.parallelize(range(slots), slots).map(lambda _: versions()).distinct().collect():
        different = [
            (name, value, dict(theirs).get(name)) for name, value in ours if dict(theirs).get(name) != value
        ]
        if different:
            name, value, other = different[0]
            raise SparkError(
                f"the workers have {name} {other or 'not at all'} and the driver has {value}; install the same "
                f"on all, or send the driver's environment along (see docs/cluster.md)"
            )


def versions() -> tuple[tuple[str, str], ...]:
    """What must be the same on driver and workers."""
    found = [("python", ".".join(platform.python_version_tuple()[:2]))]
    for name in _COMPARED:
        with suppress(importlib.metadata.PackageNotFoundError):
            found.append((name, importlib.metadata.version(name)))
    return tuple(found)
