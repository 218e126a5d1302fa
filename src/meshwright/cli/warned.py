"""Warnings on the command line: a line on stderr each, like errors."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Say a warning in one line on stderr, without where in the program it arose."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        print("meshwright: " + " ".join(str(message).split()), file=sys.stderr, flush=True)

    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = show
        yield
