"""The process from which Spark forks its Python workers on this machine: Spark's own, with cheaper endings.

After each task, a worker of Spark's looks for garbage among all objects. Those of imported modules are never
garbage, and with Numba there are so many that a look takes 0.1 s: four fifths of the processor time of
workers, measured on builds of a few hundred nodes.
"""

import gc
import sys
from types import SimpleNamespace

from pyspark import daemon

_imported = 0


def collect() -> int:
    """Look for garbage, after the first look at what imports brought among what is newer alone."""
    global _imported  # noqa: PLW0603 (a worker's own, from its fork on)
    found = gc.collect()
    if len(sys.modules) != _imported:
        _imported = len(sys.modules)
        gc.freeze()
    return found


if __name__ == "__main__":
    vars(daemon)["gc"] = SimpleNamespace(collect=collect)
    daemon.manager()
