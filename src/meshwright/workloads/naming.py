"""Generated interests get zero-padded names, so that the rank of a name is its number."""

import numpy as np
import numpy.typing as npt

from meshwright.model.interests import Interests
from meshwright.model.names import numbered


def named_interests(
    indptr: npt.NDArray[np.int64], topic_ids: npt.NDArray[np.int32], topics: int
) -> Interests:
    """Interests of the nodes n000... and the topics t000...; takes the arrays over, without a copy."""
    indptr.setflags(write=False)
    topic_ids.setflags(write=False)
    return Interests.from_arrays(indptr, topic_ids, numbered("n", indptr.size - 1), numbered("t", topics))
