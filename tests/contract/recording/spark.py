"""What commands on Spark say and write, one after the other in one session."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from meshwright.pipeline.spark.session import spark_session
from tests.contract.recording import commands, inputs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
    """All recordings of commands on Spark, by name, on a session of their own; the folder is empty."""
    with spark_session("local[1]") as session:
        return run_on(session, folder)


def run_on(session: "SparkSession", folder: Path) -> dict[str, Any]:
    """The same on a session that is there already."""
    lines = [f"{node},{topic}" for node, topic in inputs.interests("zipf").to_pairs()]
    (folder / "rows.csv").write_text("\n".join(["node,topic", *lines, lines[0], "alone", ""]), "utf-8")

    @contextmanager
    def this_session(*_: object) -> Iterator["SparkSession"]:
        yield session

    found = {}
    for name, (words, written) in _COMMANDS.items():
        with patch("meshwright.cli.common.spark_command", this_session):
            call = (*words, "--engine", "spark", "--out", f"DIR/{written}", "--json")
            found[name] = commands.told(commands.call, folder, *call)
        found[name]["files"] = commands.tree(folder / written, folder, ordered=False)
    return found
