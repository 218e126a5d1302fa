"""The decorators of kernels: machine code that stays on disk for as long as it fits its source.

Numba's own cache checks the file of a kernel, but not the files of what the kernel calls: after an update it
runs old machine code, and it can't read its index once a NamedTuple has another name. Here the names of the
cache's files carry a digest of the kernel's module and of all modules that it imports from this package.
Changed sources therefore find no machine code and are compiled; what was made from other sources is removed
when the new machine code is saved.
"""

import hashlib
import inspect
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

from numba import njit
from numba.core import caching

from meshwright.runtime.compilation import COMPILATION

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

_PACKAGE = __name__.partition(".")[0]
_IMPORTED = re.compile(rf"^from ({_PACKAGE}\.[\w.]+) import", re.MULTILINE)


def kernel(function: Kernel) -> Kernel:
    """Compile a function that Python calls; other kernels may call it too."""
    return cast(Kernel, _compiled(function))


def inner(function: Kernel) -> Kernel:
    """Compile a function that only kernels call: without an entry for Python it compiles faster."""
    return cast(Kernel, _without_entry(function))


def inlined(function: Kernel) -> Kernel:
    """Copy a function into every kernel that calls it: for a few lines in a hot loop."""
    return cast(Kernel, _compiled(function, inline="always"))


def lean_kernel(function: Kernel) -> Kernel:
    """As `kernel`, without counting the references to arrays: for a function that makes no array.

    Otherwise a call counts every array of a tuple, which takes a fifth of a microsecond (measured), longer
    than most calls.
    """
    return cast(Kernel, _compiled(function, _nrt=False))


def lean(function: Kernel) -> Kernel:
    """As `inner`, without counting the references to arrays: for a function that makes no array."""
    return cast(Kernel, _without_entry(function, _nrt=False))


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    # Numba's stubs leave the options out that drop the entries for C and for Python.
    dispatcher = cast(Any, njit)(nogil=True, no_cfunc_wrapper=True, **options)(function)
    try:
        dispatcher._cache = _KernelCache(function)
    except RuntimeError:
        # No folder can be written: every process compiles for itself.
        return dispatcher
    return dispatcher


def _without_entry(function: Callable[..., Any], **options: Any) -> Any:
    dispatcher = _compiled(function, no_cpython_wrapper=True, **options)

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise TypeError(f"{function.__name__} has no entry for Python; decorate it with @kernel to call it")

    def add_overload(compiled: Any) -> None:
        dispatcher.overloads[tuple(compiled.signature.args)] = compiled

    # Otherwise a call from Python would jump to an address that does not exist.
    dispatcher._compile_for_args, dispatcher.add_overload = refuse, add_overload
    return dispatcher


# Numba has no types for its cache.
_NumbaFiles: Any = caching.CompileResultCacheImpl
_NumbaCache: Any = caching.FunctionCache


class _KernelFiles(_NumbaFiles):  # type: ignore[misc]
    """The machine code of a kernel, where Numba would put it, with the digest of its sources in its name."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.module = function.__module__.rpartition(".")[2]
        self.digest = source_digest(function.__module__)
        super().__init__(function)

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        """The name without its ending: the module and the function, the digest, and what Numba adds."""
        return str(super().get_filename_base(f"{fullname}-{self.digest}", abiflags))


class _KernelCache(_NumbaCache):  # type: ignore[misc]
    _impl_class = _KernelFiles

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code of a signature; None where it must be compiled, which is noted."""
        found = super().load_overload(sig, target_context)
        if found is None:
            COMPILATION.begin(_name(self._py_func), _called(self._py_func))
        else:
            COMPILATION.load(_name(self._py_func))
        return found

    def _save_overload(self, sig: Any, data: Any) -> None:
        super()._save_overload(sig, data)
        _remove_others(self.cache_path, self._impl.module, self._impl.digest)
        COMPILATION.end(_name(self._py_func))


def _called(function: Any) -> frozenset[str]:
    """The names of the functions not compiled yet that a kernel calls, and that these call in turn."""
    found: dict[str, Any] = {}
    ahead = [function]
    while ahead:
        caller = ahead.pop()
        for name in caller.__code__.co_names:
            called = caller.__globals__.get(name)
            if isinstance(getattr(called, "_cache", None), _KernelCache) and not called.overloads:
                if _name(called.py_func) not in found:
                    ahead.append(called.py_func)
                found[_name(called.py_func)] = called
    return frozenset(name for name, called in found.items() if "inline" not in called.targetoptions)


def _name(function: Any) -> str:
    return f"{function.__module__}.{function.__qualname__}"


@cache
def source_digest(module: str) -> str:
    """A digest of the source of an imported module, and of all modules that it imports from this package.

    Measured: 9 ms for all kernels together.
    """
    found, ahead = {module}, [module]
    while ahead:
        imported = set(_IMPORTED.findall(_source(ahead.pop()))) - found
        found |= imported
        ahead += imported
    whole = "\0".join(_source(name) for name in sorted(found))
    return hashlib.blake2b(whole.encode(), digest_size=8).hexdigest()


@cache
def _source(module: str) -> str:
    return inspect.getsource(sys.modules[module])


@cache
def _remove_others(folder: str, module: str, digest: str) -> None:
    """Remove a module's machine code of other sources; once a process, and as far as the folder allows."""
    for file in Path(folder).glob(f"{module}.*.nb[ci]"):
        if f"-{digest}-" not in file.name:
            try:
                file.unlink()
            except OSError:
                continue
