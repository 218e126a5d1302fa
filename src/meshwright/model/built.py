"""What an algorithm hands back, before it becomes an overlay."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt
import pyarrow as pa


@dataclass(frozen=True, kw_only=True)
class Built:
    """Edges as pairs of node ids in any order, facts about the work, and extra tables.

    `in_order` says that the edges come in the order in which they were taken, so that reverse delete may look
    at the last of them first.
    """

    edges: npt.ArrayLike
    facts: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    in_order: bool = False
