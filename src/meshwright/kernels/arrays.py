"""Names for the arrays that kernels take and give."""

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]
# Indices inside a kernel's own graph. Unsigned: Numba lets signed ones count from the end, which costs time.
Vertices = npt.NDArray[np.uint32]
