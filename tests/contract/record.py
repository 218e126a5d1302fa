"""Record what the code gives now, for `test_recorded.py` to compare with.

    python -m tests.contract.record [GROUP ...]

Writes `recorded/GROUP.json`: overlays, measures, maintenance, commands, spark; all of them unless some are
named. Run it when results change on purpose, and say in the commit why they do; the diff shows which. The
recordings are the same on every machine: seconds, versions, paths and prose are masked, see
`recording/values.py`. They use the public face alone (`import meshwright`, and the commands), so that they
hold while modules move.
"""

import argparse
import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from tests.contract.recording import commands, maintenance, measures, overlays, spark

FOLDER = Path(__file__).parent / "recorded"
ONE_BY_ONE = {"overlays": overlays.CASES, "measures": measures.CASES, "maintenance": maintenance.CASES}
TOGETHER: dict[str, tuple[tuple[str, ...], Callable[[Path], dict[str, Any]]]] = {
    "commands": (commands.CASES, commands.run),
    "spark": (spark.CASES, spark.run),
}


@cache
def recorded(group: str) -> dict[str, Any]:
    """What was recorded, by the name of the case."""
    found: dict[str, Any] = json.loads((FOLDER / f"{group}.json").read_text("utf-8"))
    return found


def current(group: str) -> dict[str, Any]:
    """What the code gives now."""
    if group in ONE_BY_ONE:
        return {name: make() for name, make in ONE_BY_ONE[group].items()}
    with tempfile.TemporaryDirectory() as folder:
        return TOGETHER[group][1](Path(folder).resolve())


def _write(group: str) -> None:
    """One case a line, so that a diff names the cases that changed."""
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in current(group).items()]
    (FOLDER / f"{group}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def main() -> None:
    """Write the recordings."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    groups = [*ONE_BY_ONE, *TOGETHER]
    parser.add_argument("group", nargs="*", metavar="GROUP", help=f"one of {', '.join(groups)}")
    FOLDER.mkdir(exist_ok=True)
    for group in parser.parse_args().group or groups:
        _write(group)


if __name__ == "__main__":
    main()
