"""Packages that can be called like the function that they are named for: `mw.evaluate`, and others."""

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any


class CallablePackage(ModuleType):
    """A package that can be called: what `__wrapped__` is gets the arguments, and gives its signature."""

    __wrapped__: Callable[..., Any]

    def __call__(self, *values: Any, **named: Any) -> Any:
        """What the function says."""
        return self.__wrapped__(*values, **named)

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        """Pickled by its name, as a function is."""
        return import_module, (self.__name__,)


def callable_package(parent: str, function: Callable[..., Any]) -> CallablePackage:
    """The package inside `parent` that has the function's name, which calls it from now on."""
    package = sys.modules[f"{parent}.{function.__name__}"]
    package.__class__ = CallablePackage
    assert isinstance(package, CallablePackage)
    package.__wrapped__ = function
    return package
