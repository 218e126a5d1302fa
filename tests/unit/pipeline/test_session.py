import os
import subprocess
import sys

_INTERRUPTED = """
import sys
from meshwright.pipeline.spark.session import spark_session

try:
    with spark_session("local[1]"):
        pass
except KeyboardInterrupt:
    sys.exit(7)
"""


def test_ctrl_c_while_java_starts_waits_until_it_is_known_and_can_be_ended(tmp_path):
    """A stand-in for spark-submit interrupts the command that starts it, and goes on for a while."""
    stand_in = tmp_path / "bin" / "spark-submit"
    stand_in.parent.mkdir()
    stand_in.write_text(f"#!/bin/sh\nkill -INT $PPID\nsleep 0.5\ntouch {tmp_path}/went-on\nexit 1\n")
    stand_in.chmod(0o755)
    environment = {**os.environ, "SPARK_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", _INTERRUPTED], env=environment, check=False)
    assert done.returncode == 7
    assert (tmp_path / "went-on").exists()
