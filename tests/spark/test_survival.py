"""What happens when somebody presses Ctrl-C or kills a process in the middle of a job."""

import os
import signal
import subprocess
import sys
import textwrap
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.helpers import without_progress
from tests.patience import PATIENCE, wait_for
from tests.spark.cluster import FOR_SHORT_JOBS

COMMAND = """
    import os, sys, time
    from pathlib import Path
    from meshwright import cli
    from meshwright.cli.common import spark_command, progress_bar
    from meshwright.pipeline.spark.status import spark_stage

    folder = Path(sys.argv.pop())

    def wait(batches):
        part = folder / f"{os.getpid()}.part"
        part.touch()
        part.rename(folder / "worker" / str(os.getpid()))
        time.sleep(%(patience)s)
        yield from batches

    @cli.app.command()
    def hang() -> None:
        conf = ["spark.driver.memory=512m", "spark.driver.defaultJavaOptions=%(java)s"]
        with spark_command("local[1]", conf) as session:
            java = session.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
            (folder / "java" / str(java)).touch()
            with spark_stage(session, progress_bar(), "hanging"):
                session.sparkContext.parallelize([0], 1).mapPartitions(wait).count()

    sys.exit(cli.main())
"""


class Hanging(NamedTuple):
    """A command in the middle of a job: its process, its Java and a worker."""

    process: subprocess.Popen[str]
    java: int
    worker: int


@pytest.fixture(scope="module")
def all_hanging(tmp_path_factory):
    """A command for each test, started together: Java spends much of its start waiting."""
    with ExitStack() as opened:
        started = [opened.enter_context(started_in(tmp_path_factory.mktemp("hanging"))) for _ in range(3)]
        yield [wait_until_hanging(*each) for each in started]


@pytest.fixture
def hanging(all_hanging):
    return all_hanging.pop()


@contextmanager
def started_in(folder):
    (folder / "command.py").write_text(
        textwrap.dedent(COMMAND) % {"java": FOR_SHORT_JOBS, "patience": PATIENCE}
    )
    for name in ("java", "worker"):
        (folder / name).mkdir()
    command = [sys.executable, str(folder / "command.py"), "hang", str(folder)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process, folder
        finally:
            # Java and its workers end with the command; a test says so below.
            process.kill()


def wait_until_hanging(process, folder):
    wait_for(lambda: any((folder / "worker").iterdir()) or process.poll() is not None, "the job runs")
    return Hanging(process, *(int(next((folder / name).iterdir()).name) for name in ("java", "worker")))


def is_gone(pid: int) -> bool:
    try:
        # A process that has ended and waits for its parent to notice is gone, too.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_ctrl_c_ends_the_command_its_java_and_its_workers(hanging):
    hanging.process.send_signal(signal.SIGINT)
    _, said = hanging.process.communicate(timeout=PATIENCE)
    assert hanging.process.returncode == 130
    assert without_progress(said) == "meshwright: interrupted; nothing unfinished was kept\n"
    assert is_gone(hanging.java)
    wait_for(lambda: is_gone(hanging.worker), "the worker ends")


def test_a_killed_command_takes_its_java_and_its_workers_along(hanging):
    hanging.process.kill()
    wait_for(lambda: is_gone(hanging.java) and is_gone(hanging.worker), "Java and the worker end")


def test_a_killed_java_is_one_line_that_says_so(hanging):
    os.kill(hanging.java, signal.SIGKILL)
    _, said = hanging.process.communicate(timeout=PATIENCE)
    assert hanging.process.returncode == 2
    assert without_progress(said).startswith("meshwright: the Java process that Spark runs in has ended")
    assert without_progress(said).count("\n") == 1
    wait_for(lambda: is_gone(hanging.worker), "the worker ends")
