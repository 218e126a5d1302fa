"""Values that every task needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import SparkSession


@contextmanager
def broadcast(session: SparkSession, value: Any) -> Iterator[Broadcast[Any]]:
    """`value` on all executors, until the end; jobs that use it must be over by then."""
    held = session.sparkContext.broadcast(value)
    try:
        yield held
    finally:
        held.destroy()
