"""Compile the kernels that tests call, on all cores, before the tests begin.

    python -m tests.compile_kernels

The recorded cases call most kernels, with the types that users give; a few cases here call more. Processes
that run tests would compile the same ones, but one of them mostly waits for the others. Nothing is done where
the sources, Numba and NumPy are those of the last time.
"""

import hashlib
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numba
import numpy

import meshwright as mw
from tests.compile_once import compile_once
from tests.contract.record import ONE_BY_ONE
from tests.contract.recording import inputs

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
    cases += [_robust, _backed_up, _migrated, _filtered, _weighed, _bounded]
    for make in cases[share::shares]:
        make()


def _robust() -> None:
    who = inputs.interests("zipf")
    for algorithm in ("gm", "dc", "gr-maw"):
        inputs.build(who, algorithm, resilience=2, max_links=60)
    live = mw.Maintainer(inputs.build(who, "gm", resilience=2), resilience=2, max_links=60)
    for node in who.nodes.to_pylist()[:9]:
        live.leave(node)


def _backed_up() -> None:
    who = inputs.interests("zipf")
    for backups in ("primal-dual", "greedy", "greedy-cover"):
        live = mw.Maintainer(inputs.build(who, "gm"), keep_backups=True, backups=backups)
        live.leave(who.nodes[0].as_py())
        live.join("new", who.topics.to_pylist()[:3])


def _migrated() -> None:
    who = inputs.interests("zipf")
    mw.migrate(inputs.build(who, "ring"), inputs.build(who, "gm"))


def _filtered() -> None:
    mw.Interests.from_filters([("a", "x/#"), ("b", "x/+/y"), ("c", "x/1/+")])


def _weighed() -> None:
    who = inputs.interests("zipf")
    mw.build(who, "dcbc-direct", bulk_size=5, guide="dual", resilience=2)
    cheap = inputs.build(who, "gr-maw")
    mw.evaluate(cheap)
    for live in (mw.Maintainer(cheap), mw.Maintainer(inputs.build(who, "gm"), reoptimise=4)):
        for node in who.nodes.to_pylist()[:9]:
            live.leave(node)


def _bounded() -> None:
    mw.evaluate(inputs.build(inputs.interests("zipf"), "gm"), bound="tight")


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
