"""Random choices inside Spark that depend on the seed and on ids alone, never on partitions or their order.

Spark's own `rand()` depends on how rows lie in partitions. Here every row gets a rank, the 64-bit hash
`xxhash64(salt, id, …)` over long integers, and who has the least ranks is chosen. The salt comes from the
seed and the name of the stage. XXH64 is a published function (Spark's has the seed 42), so any engine can
compute the same ranks.
"""

from typing import TYPE_CHECKING

from meshwright.seeds import generator

if TYPE_CHECKING:
    from pyspark.sql import Column


def salt(seed: int, stage: str) -> int:
    """What makes the ranks of a stage its own under `seed`."""
    return int(generator(seed, stage).integers(2**63))


def rank(salt: int, *ids: str) -> "Column":
    """The rank of a row by its columns of ids; equal ranks of different ids are settled by the ids."""
    from pyspark.sql import functions as f

    return f.xxhash64(f.lit(salt).cast("long"), *(f.col(name).cast("long") for name in ids))
