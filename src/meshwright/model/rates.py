"""Publication rates: how often topics are published on, by the column `rate` of `topics/`."""

import numpy as np
import pyarrow as pa

from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Floats
from meshwright.runtime.errors import InputError

_RATE = "rate"


def has_rates(interests: Interests) -> bool:
    """Whether it is said of any topic how often it is published on."""
    return interests.topic_attributes is not None and _RATE in interests.topic_attributes.column_names


def rates_of(interests: Interests, unknown: float = 1.0) -> Floats:
    """How often each topic is published on; `unknown` where it is not said. One below 0 is refused."""
    table = interests.topic_attributes
    if table is None or not has_rates(interests):
        return np.full(interests.topic_count, unknown)
    rates: Floats = table[_RATE].cast(pa.float64()).fill_null(unknown).to_numpy()
    wrong = np.flatnonzero(~(np.isfinite(rates) & (rates >= 0)))
    if len(wrong):
        name = interests.topics[int(wrong[0])].as_py()
        raise InputError(f"the rate of topic {name!r} is {rates[wrong[0]]}; give a number of at least 0")
    return rates


def node_rates(interests: Interests) -> Floats:
    """By node: how many messages it is interested in, those of all its topics."""
    sums = np.concatenate([[0.0], np.cumsum(rates_of(interests)[interests.topic_ids])])
    found: Floats = sums[interests.indptr[1:]] - sums[interests.indptr[:-1]]
    return found
