"""A command on a cluster that loses an executor in the middle of a build."""

import os
import subprocess
import sys
from pathlib import Path

from tests.helpers import without_progress
from tests.patience import PATIENCE
from tests.spark.cluster import FOR_SHORT_JOBS

# The first task that has a part done kills its executor, the parent of its Python's daemon: the part is lost.
_LOSING = """
import os, pathlib, signal, time
from meshwright.pipeline.build import part_rows

give = part_rows.row_of

def row_of(*part):
    try:
        with open({lost!r}, "x") as lost:
            executor = pathlib.Path(f"/proc/{{os.getppid()}}/stat").read_text().rpartition(")")[2].split()[1]
            lost.write(executor)
    except FileExistsError:
        return give(*part)
    os.kill(int(executor), signal.SIGKILL)
    time.sleep({patience})

part_rows.row_of = row_of
"""
_SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.driver.defaultJavaOptions": FOR_SHORT_JOBS,
    "spark.executor.defaultJavaOptions": FOR_SHORT_JOBS,
    "spark.default.parallelism": "2",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.python.daemon.module": "meshwright.pipeline.spark.python_daemon",
    "spark.meshwright.executors.wait": f"{PATIENCE:.0f}s",
}


def run_with_a_lost_executor(master: str, folder: Path, *words: object) -> tuple[int, str, bool]:
    """Run a command on the cluster: its exit code, its stderr, and whether an executor was lost meanwhile."""
    lost = folder / "lost"
    (folder / "sitecustomize.py").write_text(_LOSING.format(lost=str(lost), patience=PATIENCE))
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    settings = _SETTINGS | {"spark.executorEnv.PYTHONPATH": path}
    conf = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    command = [sys.executable, "-m", "meshwright", *map(str, words), "--master", master, *conf]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.returncode, without_progress(done.stderr), lost.exists() and lost.read_text().isdecimal()
