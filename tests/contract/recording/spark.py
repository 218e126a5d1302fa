"""What commands on Spark say and write, in a process of their own that starts one Java for all of them.

python -m tests.contract.recording.spark FOLDER
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.contract.recording import commands, inputs

# Few rows: half the processor time without Java's second compiler and without compiling queries, measured.
_SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "1",
    "spark.default.parallelism": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
_ON_SPARK = (
    "--master",
    "local[1]",
    *(word for pair in _SETTINGS.items() for word in ("--conf", "=".join(pair))),
)
_ROWS = ("--as", "pairs", "--max-rejected", "0.5")
_COMMANDS: dict[str, tuple[tuple[str, ...], str]] = {
    "run": (
        ("run", "DIR/rows.csv", *_ROWS, "--algorithm", "dc", "--set", "partitions=3", "--seed", "4"),
        "result",
    ),
    "sample": (("sample", "DIR/result/interests", "--universe", "5", "--least-subscribers", "3"), "sample"),
}
CASES = tuple(_COMMANDS)


def run(folder: Path) -> dict[str, Any]:
    """All recordings of commands on Spark, by name; the folder is empty."""
    done = subprocess.run(
        [sys.executable, "-m", __name__, str(folder)], stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _run_here(folder: Path) -> dict[str, Any]:
    lines = [f"{node},{topic}" for node, topic in inputs.interests("zipf").to_pairs()]
    (folder / "rows.csv").write_text("\n".join(["node,topic", *lines, lines[0], "alone", ""]), "utf-8")
    found = {}
    for name, (words, written) in _COMMANDS.items():
        out = ("--out", f"DIR/{written}")
        found[name] = commands.told(commands.call, folder, *words, *out, *_ON_SPARK, "--json")
        found[name]["files"] = commands.tree(folder / written, folder, ordered=False)
    return found


@contextmanager
def _one_java() -> Iterator[None]:
    """Let the commands after the first find its Java, as they do below `spark-submit`."""
    from pyspark import java_gateway

    started = []
    launch = java_gateway.launch_gateway

    def launch_and_keep(*given: Any) -> Any:
        gateway = launch(*given)
        started.append(gateway.proc)
        gateway.proc = None  # whose end is not the commands' business
        return gateway

    with patch.object(java_gateway, "launch_gateway", launch_and_keep):
        yield
    for java in started:
        java.stdin.close()
        java.wait()


if __name__ == "__main__":
    with _one_java():
        print(json.dumps(_run_here(Path(sys.argv[1]))))
