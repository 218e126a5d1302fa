"""Compile the kernels that tests call, on all cores, before the tests begin.

    python -m tests.compile_kernels

The recorded cases call most kernels, with the types that users give. Processes that run tests would compile
the same ones, but one of them mostly waits for the others. Nothing is done where the sources, Numba and NumPy
are those of the last time.
"""

import hashlib
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numba
import numpy

from tests.compile_once import compile_once
from tests.contract.record import ONE_BY_ONE

_ROOT = Path(__file__).parent.parent
_FOLDER = _ROOT / ".pytest_cache" / "d" / "kernels"
_STAMP = _FOLDER.parent / "kernels-compiled"


def _sources() -> str:
    found = hashlib.sha256(f"{numba.__version__} {numpy.__version__} {sys.version}".encode())
    for path in sorted((_ROOT / "src" / "meshwright").rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()


def _compile(share: int, shares: int) -> None:
    """Run one of `shares` equal shares of the recorded cases, for what they compile."""
    _FOLDER.mkdir(parents=True, exist_ok=True)
    compile_once(_FOLDER)
    cases = [make for group in ONE_BY_ONE.values() for make in group.values()]
    for make in cases[share::shares]:
        make()


def main() -> None:
    """Compile what is not compiled yet."""
    sources = _sources()
    if _STAMP.is_file() and _STAMP.read_text() == sources:
        return
    print("compiling kernels for the tests (first run only): about two minutes", flush=True)
    # Spawned, since a fork would not have the threads of its parent.
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        for done in [pool.submit(_compile, share, 2) for share in range(2)]:
            done.result()
    _STAMP.write_text(sources)


if __name__ == "__main__":
    main()
