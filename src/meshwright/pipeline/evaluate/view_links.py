"""How many links gossip views give every node, from `views/` alone: see `meshwright.evaluate.views`."""

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from meshwright.errors import DatasetError
from meshwright.evaluate.views import LinkCounts
from meshwright.kernels.arrays import Offsets

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def link_counts(views: "DataFrame", nodes: int, where: str) -> LinkCounts:
    """Logical and physical links of all nodes, and in how many views each is; 24 bytes a node come back.

    One shuffle by pairs of a node and its peer, in which logical links are added up before they are sent.
    Ids out of range are refused, and nodes that are in their own view. Whether peers subscribe to the topic
    of a view, only evaluating in process checks: here it would take a join with all interests.
    """
    from pyspark import StorageLevel
    from pyspark.sql import functions as f

    links = views.groupBy("node_id", "peer_id").agg(f.count(f.lit(1)).alias("topics"))
    links = links.persist(StorageLevel.DISK_ONLY)  # read twice
    try:
        _check(links, nodes, where)
        own = links.groupBy("node_id").agg(
            f.sum("topics").alias("logical"), f.count("topics").alias("physical")
        )
        held = links.groupBy("peer_id").agg(f.count("topics").alias("held_by"))
        mine, others = own.toArrow(), held.toArrow()
    finally:
        links.unpersist()
    return LinkCounts(
        logical=_by_id(mine, "node_id", "logical", nodes),
        physical=_by_id(mine, "node_id", "physical", nodes),
        held_by=_by_id(others, "peer_id", "held_by", nodes),
    )


def _check(links: "DataFrame", nodes: int, where: str) -> None:
    ends = ("node_id", "peer_id")
    outside = " OR ".join(f"{end} IS NULL OR {end} < 0 OR {end} >= {nodes}" for end in ends)
    wrong = links.where(f"{outside} OR node_id = peer_id").head(1)
    for node, peer, _ in wrong:
        raise DatasetError(
            f"{where}: views/ has node {node} with peer {peer}; ids go from 0 to {nodes - 1}, and nobody "
            f"is in its own view: write the views again"
        )


def _by_id(rows: pa.Table, key: str, name: str, nodes: int) -> Offsets:
    counts = np.zeros(nodes, np.int64)
    counts[rows[key].to_numpy()] = rows[name].to_numpy()
    return counts
