"""A standalone cluster of Spark on loopback, made of nothing but the installed pyspark."""

import ctypes
import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

from meshwright.pipeline.engine.java import java_home

# Jobs of a few rows are over before Java's second compiler pays: half the processor time, measured.
FOR_SHORT_JOBS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
PATIENCE = 300
_NEWS_SECONDS = 0.5


class Cluster(NamedTuple):
    """Where its master listens, and the process of each worker."""

    master: str
    workers: tuple[int, ...]

    def executors(self) -> dict[str, int]:
        """The process of each executor that runs now, by its id."""
        listing = subprocess.run(
            ["ps", "-A", "-ww", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True
        )
        lines = [line.split(None, 2) for line in listing.stdout.splitlines()]
        named = [
            (re.search(r"--executor-id (\d+)", args), pid)
            for pid, ppid, args in lines
            if int(ppid) in self.workers
        ]
        return {found[1]: int(pid) for found, pid in named if found}

    def lose_an_executor(self, ui: int, label: str) -> bool:
        """Kill an executor that is in the middle of a task of the jobs with a label.

        It is stopped first: if it is still said to be at work when the news of what it finished before must
        have arrived, then it is, and the task is lost with it.
        """
        for executor in sorted(at_work(ui, label) & self.executors().keys()):
            pid = self.executors()[executor]
            os.kill(pid, signal.SIGSTOP)
            time.sleep(_NEWS_SECONDS)
            if executor in at_work(ui, label):
                os.kill(pid, signal.SIGKILL)
                return True
            os.kill(pid, signal.SIGCONT)
        return False


def at_work(ui: int, label: str) -> set[str]:
    """The executors that run tasks of the jobs with a label, as Spark's web page at port `ui` says."""
    try:
        (application,) = _asked(ui, "")
        base = f"/{application['id']}"
        jobs = [job for job in _asked(ui, f"{base}/jobs?status=running") if job.get("description") == label]
        wanted = {stage for job in jobs for stage in job["stageIds"]}
        stages = [stage for stage in _asked(ui, f"{base}/stages?status=active") if stage["stageId"] in wanted]
        lists = [
            f"{base}/stages/{one['stageId']}/{one['attemptId']}/taskList?status=running" for one in stages
        ]
        return {task["executorId"] for path in lists for task in _asked(ui, path)}
    except (OSError, ValueError):
        return set()  # not there yet, or not any more


def _asked(ui: int, path: str) -> list[dict[str, Any]]:
    with urlopen(f"http://127.0.0.1:{ui}/api/v1/applications{path}", timeout=10) as answer:
        found: list[dict[str, Any]] = json.load(answer)
    return found


def free_port() -> int:
    """A port that nobody listens at; the system does not give it to others at once."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def wait_for(condition: Callable[[], object], what: str) -> object:
    """What `condition` gives as soon as that is something."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, f"waited for {what} in vain"
        time.sleep(0.02)
    return found


@contextmanager
def standalone_cluster(folder: Path, workers: int) -> Iterator[Cluster]:
    """A master and some workers of one core each; all of their processes are gone afterwards."""
    with ExitStack() as running:
        log = folder / "master.log"
        running.enter_context(_daemon(log, "master.Master", "--port", "0"))
        started = wait_for(lambda: re.search(r"Starting Spark master at (\S+)", _read(log)), "the master")
        master = started[1]
        pids = tuple(
            running.enter_context(
                _daemon(
                    folder / f"worker-{number}.log", "worker.Worker", "--port", "0", "--cores", "1",
                    "--memory", "1g", "--work-dir", str(folder / f"worker-{number}"), master,
                )
            )
            for number in range(workers)
        )  # fmt: skip
        wait_for(lambda: _read(log).count("Registering worker") == workers, "the workers")
        yield Cluster(master, pids)


def _read(log: Path) -> str:
    return log.read_text("utf-8", "replace")


@contextmanager
def _daemon(log: Path, name: str, *arguments: str) -> Iterator[int]:
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
        yield process.pid
    finally:
        # Executors belong to their worker's group, and workers' Pythons end with their executor.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _end_with_parent() -> None:
    """Ask Linux to kill this process when the one that started it ends, however that comes about."""
    with suppress(AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
