"""The Spark session: started quietly, and stopped with all that belongs to it."""

import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any

from meshwright.pipeline.spark.failures import cause_of, last_words, translated
from meshwright.pipeline.spark.java import java_home
from meshwright.pipeline.spark.settings import (
    check_master,
    is_local_master,
    launch_settings,
    session_settings,
)
from meshwright.pipeline.spark.versions import check_workers
from meshwright.runtime.errors import SparkError
from meshwright.runtime.interrupts import held_back, is_interruption

if TYPE_CHECKING:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

_MOST_KEPT = 10_000_000
_SECONDS_TO_END = 10
_ENDING = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def spark_session(
    master: str | None = None, settings: dict[str, str] | None = None
) -> Iterator["SparkSession"]:
    """A session that is stopped at the end; everything that Java says goes to a file, not to the terminal.

    `master` is where to run: `local[*]` unless given, or unless `spark-submit` started this program, whose
    own settings then hold. `settings` override all others. Workers of a cluster are asked for their versions
    first, and refused where these differ from ours.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise SparkError("pyspark is not installed; install meshwright[spark]") from None

    given = dict(settings or {}) | ({"spark.master": master} if master else {})
    check_master(given.get("spark.master", "local[*]"))
    with (
        _environment(given),
        _quiet_python(),
        _log_of_java() as log,
        _java(given, log) as gateway,
        _context(gateway, given, log) as context,
    ):
        session = SparkSession(context)
        try:
            if not is_local_master(context.master or "") or os.environ["PYSPARK_PYTHON"] != sys.executable:
                with translated():
                    check_workers(context)
            _without_checksum_files(context)
            yield session
        finally:
            with suppress(Exception):
                session.stop()


@contextmanager
def _log_of_java() -> Iterator[IO[bytes]]:
    """A file for Java's words that has no name, so that none is left; it gets one if something goes wrong."""
    with tempfile.TemporaryFile() as log:
        try:
            yield log
        except SparkError as error:
            kept = "" if is_interruption(error) else _keep(said(log))
            raise SparkError(f"{error}; Spark's own output is in {kept}" if kept else str(error)) from error


def said(log: IO[bytes]) -> str:
    """The last that Java said; its place in the file is Java's, and is left alone."""
    size = os.fstat(log.fileno()).st_size
    return os.pread(log.fileno(), _MOST_KEPT, max(0, size - _MOST_KEPT)).decode("utf-8", "replace")


def _keep(text: str) -> str:
    """Write Java's words to a file that stays; its name, or nothing if there is nothing to say."""
    with suppress(OSError):
        if text.strip():
            with tempfile.NamedTemporaryFile(
                "w", encoding="utf-8", prefix="meshwright-spark-", suffix=".log", delete=False
            ) as file:
                file.write(text)
            return file.name
    return ""


@contextmanager
def _java(given: dict[str, str], log: IO[bytes]) -> Iterator[Any]:
    """The Java that Spark runs in: `spark-submit`'s where that started this program, else one of our own."""
    from pyspark import SparkContext

    if SparkContext._active_spark_context is not None:
        raise SparkError("there is a Spark session in this process already; use it, or stop it first")
    if SparkContext._gateway is not None:
        yield SparkContext._gateway
        return
    gateway: Any = None
    try:
        # Cut off while it starts, Java would find nobody to talk to, and wait for ever.
        with held_back(*_ENDING):
            gateway = _launched(given, log)
        yield gateway
    finally:
        if gateway is not None:
            _end(gateway)


def _launched(given: dict[str, str], log: IO[bytes]) -> Any:
    from pyspark import SparkConf
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway

    conf = SparkConf(loadDefaults=False).setAll(list(launch_settings(given).items()))
    try:
        return launch_gateway(conf, {"stdout": log, "stderr": log})  # type: ignore[no-untyped-call]
    except (PySparkException, OSError) as error:
        raise SparkError(f"Spark does not start: {last_words(said(log)) or cause_of(str(error))}") from error


@contextmanager
def _quiet_python() -> Iterator[None]:
    """Keep Spark's Python side from printing the errors that it raises as well."""
    from pyspark.logger import PySparkLogger

    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True
    py4j = logging.getLogger("py4j")
    before, py4j.propagate = py4j.propagate, False
    logging.root.addFilter(_is_not_py4j)
    try:
        yield
    finally:
        logging.root.removeFilter(_is_not_py4j)
        py4j.propagate = before


def _is_not_py4j(record: logging.LogRecord) -> bool:
    """Some things py4j tells the root of all loggers, not its own."""
    return not record.pathname.endswith("py4j/java_gateway.py")


@contextmanager
def _environment(given: dict[str, str]) -> Iterator[None]:
    """Tell Spark which Java and which Python to run; the variables are put back at the end."""
    ours = {
        name: os.environ.get(name) or sys.executable for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")
    }
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        ours["JAVA_HOME"] = str(java_home())
    if "spark.pyspark.python" in given:
        # spark-submit reads this setting; Python's side of Spark knows the variable only.
        ours["PYSPARK_PYTHON"] = given["spark.pyspark.python"]
    before = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _end(gateway: Any) -> None:
    """End Java, so that the next session may have other settings; spark-submit's ends with the program."""
    from pyspark import SparkContext

    if gateway.proc is None:
        return
    SparkContext._gateway = SparkContext._jvm = None
    with suppress(Exception):
        gateway.shutdown()
    with suppress(OSError):
        gateway.proc.stdin.close()
    try:
        gateway.proc.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait()


@contextmanager
def _context(gateway: Any, given: dict[str, str], log: IO[bytes]) -> Iterator["SparkContext"]:
    context: SparkContext | None = None
    try:
        # Cut off while it starts, Spark would leave its folders. It also sets a handler of its own, which
        # would cancel jobs and go on; the end of the block puts back ours, which ends the command.
        with held_back(*_ENDING):
            context = _started(gateway, given, log)
        yield context
    finally:
        if context is not None:
            with suppress(Exception):
                context.stop()


def _started(gateway: Any, given: dict[str, str], log: IO[bytes]) -> "SparkContext":
    from py4j.protocol import Py4JError
    from pyspark import SparkContext
    from pyspark.errors import PySparkException

    conf = _conf(gateway, given)
    try:
        return SparkContext(conf=conf, gateway=gateway)
    except (PySparkException, Py4JError, OSError) as error:
        why = cause_of(str(error)) or last_words(said(log))
        raise SparkError(f"Spark does not start on {conf.get('spark.master')}: {why}") from error


def _conf(gateway: Any, given: dict[str, str]) -> "SparkConf":
    """What is given, over what spark-submit and the files of Spark's installation say, over what we say."""
    from pyspark import SparkConf

    conf = SparkConf(_jvm=gateway.jvm)
    conf.setAll([pair for pair in given.items() if pair[0] != "spark.driver.extraJavaOptions"])
    for name, value in session_settings(conf.get("spark.master", "local[*]") or "").items():
        conf.setIfMissing(name, value)
    return conf


def _without_checksum_files(context: "SparkContext") -> None:
    """Let Hadoop write no `.crc` file beside each file on local disk: Parquet has checksums of its own.

    This reaches the tasks in this Java, which are all of them in local mode.
    """
    jvm: Any = context._jvm
    conf = context._jsc.hadoopConfiguration()
    jvm.org.apache.hadoop.fs.FileSystem.getLocal(conf).setWriteChecksum(False)
