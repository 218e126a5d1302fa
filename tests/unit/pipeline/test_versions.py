import pickle
import subprocess
import sys

import pytest

from meshwright.pipeline.spark.versions import COMPARED, compare, question, versions
from meshwright.runtime.errors import SparkError


def test_the_driver_agrees_with_itself():
    ours = versions()
    assert set(ours) == {"Python", "meshwright's code", *COMPARED}
    assert all(ours.values())
    compare(ours, versions(), "here")


def test_a_worker_with_another_version_is_named_with_both():
    with pytest.raises(SparkError, match="workers at h:/w have numpy 1 and the driver has 2; install"):
        compare({"numpy": "2"}, {"numpy": "1"}, "h:/w")


def test_a_worker_without_a_package_is_named():
    with pytest.raises(SparkError, match="workers at h:/w have no meshwright and the driver has 1"):
        compare({"meshwright": "1"}, {"meshwright": ""}, "h:/w")
    with pytest.raises(SparkError, match="have no meshwright"):
        compare({"meshwright": "1"}, {}, "h:/w")


def test_a_machine_without_meshwright_can_answer():
    from pyspark.cloudpickle import dumps

    script = (
        "import importlib.metadata, pickle, sys\n"
        "sys.path = [entry for entry in sys.path if 'packages' not in entry and 'src' not in entry]\n"
        "ask = pickle.loads(bytes.fromhex(sys.argv[1]))\n"
        "(place, found), = ask(())\n"
        "sys.stdout.buffer.write(pickle.dumps((found, 'meshwright' in sys.modules)))\n"
    )
    # cloudpickle itself comes with Spark, which every worker has.
    with_spark = f"import pyspark.cloudpickle\n{script}"
    command = [sys.executable, "-c", with_spark, dumps(question()).hex()]
    said = subprocess.run(command, capture_output=True, check=True, cwd="/", env={}).stdout
    found, imported = pickle.loads(said)
    assert (found["meshwright"], found["numpy"], imported) == ("", "", False)
    assert found["Python"] == versions()["Python"]
