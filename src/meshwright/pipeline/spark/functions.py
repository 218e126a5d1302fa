"""The functions of `pyspark.sql.functions`, which is imported when the first is used, and not before."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.functions import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        return getattr(import_module("pyspark.sql.functions"), name)
