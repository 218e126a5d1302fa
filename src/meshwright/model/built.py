"""What an algorithm hands back, before it becomes an overlay."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt
import pyarrow as pa


@dataclass(frozen=True, kw_only=True)
class Built:
    """Edges as pairs of node ids in any order, facts about the work, and extra tables."""

    edges: npt.ArrayLike
    facts: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
