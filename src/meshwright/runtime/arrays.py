"""Names for the arrays that kernels take and give."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]
# Whole numbers of any other kind: counts, sums, keys.
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
# Floats of which a kernel reads many.
Singles = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]
# How far a kernel is, and whether it should stop: see `runtime.progress`.
Ticks = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Shorts = npt.NDArray[np.uint16]
# Indices inside a kernel's own graph. Unsigned: Numba lets signed ones count from the end, which costs time.
Vertices = npt.NDArray[np.uint32]

int64 = cast(Callable[[Any], int], np.int64)
"""For numbers that kernels hand to kernels: an int32 or a literal is a type of its own to Numba, which would
compile what is called, and all that it calls in turn, once more for it."""
