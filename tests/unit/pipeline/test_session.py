import gc
import os

import pytest

from meshwright.pipeline.spark.session import spark_session


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_while_java_starts_waits_until_it_is_known_and_can_be_ended(tmp_path, monkeypatch):
    """A stand-in for spark-submit interrupts the command that starts it, and goes on for a while."""
    stand_in = tmp_path / "bin" / "spark-submit"
    stand_in.parent.mkdir()
    stand_in.write_text(f"#!/bin/sh\nkill -INT {os.getpid()}\nsleep 0.5\ntouch {tmp_path}/went-on\nexit 1\n")
    stand_in.chmod(0o755)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    with pytest.raises(KeyboardInterrupt), spark_session("local[1]"):
        pass
    assert (tmp_path / "went-on").exists()
    gc.collect()  # PySpark leaves the pipe to a Java that did not start to the collector
