"""A standalone cluster of Spark on loopback, made of nothing but the installed pyspark."""

import ctypes
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from meshwright.pipeline.spark.java import java_home
from meshwright.pipeline.spark.settings import short_settings
from tests.patience import wait_for

# Jobs of a few rows are over before Java's second compiler pays: half the processor time, measured.
FOR_SHORT_JOBS = short_settings(None)["spark.driver.defaultJavaOptions"]


@contextmanager
def standalone_cluster(folder: Path, executors: int) -> Iterator[str]:
    """A master, whose address is given, and a worker for executors of one core each; gone afterwards."""
    with ExitStack() as running:
        log, work = folder / "master.log", folder / "worker"
        running.enter_context(_daemon(log, "master.Master", "--port", "0"))
        started = wait_for(lambda: re.search(r"Starting Spark master at (\S+)", _read(log)), "a master")
        limits = ("--cores", str(executors), "--memory", f"{executors}g", "--work-dir", str(work))
        running.enter_context(
            _daemon(work.with_suffix(".log"), "worker.Worker", "--port", "0", *limits, started[1])
        )
        wait_for(lambda: "Registering worker" in _read(log), "a worker")
        yield started[1]


def _read(log: Path) -> str:
    return log.read_text("utf-8", "replace")


@contextmanager
def _daemon(log: Path, name: str, *arguments: str) -> Iterator[None]:
    import pyspark

    spark_class = Path(pyspark.__file__).parent / "bin" / "spark-class"
    command = [
        spark_class,
        f"org.apache.spark.deploy.{name}",
        "--host",
        "127.0.0.1",
        "--webui-port",
        "0",
        *arguments,
    ]
    env = os.environ | {
        "JAVA_HOME": str(java_home()),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": FOR_SHORT_JOBS,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command,
            env=env,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
            preexec_fn=_end_with_parent,  # noqa: PLW1509 (no thread of ours holds a lock)
        )
    try:
        yield
    finally:
        # Executors belong to their worker's group, and workers' Pythons end with their executor.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _end_with_parent() -> None:
    """Ask Linux to kill this process when the one that started it ends, however that comes about."""
    with suppress(AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
