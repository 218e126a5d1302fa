"""Lets processes that run tests at the same time compile each kernel once."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def compile_once(folder: Path) -> None:
    """From now on a process that needs a kernel which another compiles waits, and reads it from the cache.

    Numba looks into its cache before it compiles, but keeps no lock: three processes that start at the same
    time compile the same kernels three times. One file in `folder` stands for each kernel. A kernel stays
    locked while those that it calls are compiled; that can't end in a circle, since calls do not.
    """
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    compiled: Callable[[Any, Any], Any] = Dispatcher.compile
    held: set[Path] = set()

    def compile_locked(self: Any, sig: Any) -> Any:
        path = folder / f"{self.py_func.__module__}.{self.py_func.__qualname__}"
        with global_compiler_lock, _locked(path, held):
            return compiled(self, sig)

    Dispatcher.compile = compile_locked


@contextmanager
def _locked(path: Path, held: set[Path]) -> Iterator[None]:
    """Hold a lock, unless this process holds it already; `held` changes under Numba's own lock alone."""
    if path in held:
        yield
        return
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        held.add(path)
        try:
            yield
        finally:
            held.discard(path)
