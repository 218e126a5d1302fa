"""Random streams: every random choice comes from `SeedSequence([seed, stage, part])`.

A stage is a word; its stream does not depend on the order in which stages run, on threads or on the
engine, so the same seed gives the same result on one core, on two, and on a cluster.
"""

from zlib import crc32

import numpy as np

from meshwright.runtime.errors import OptionError


def generator(seed: int, stage: str, part: int = 0) -> np.random.Generator:
    """The random generator of one part of one stage under `seed`, a non-negative integer."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise OptionError(f"seed is {seed!r}; give a whole number of at least 0", option="seed")
    return np.random.default_rng(np.random.SeedSequence([int(seed), crc32(stage.encode()), part]))
