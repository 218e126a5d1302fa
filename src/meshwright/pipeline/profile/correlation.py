"""The Pearson correlation of topics, from the numbers of their common subscribers ([5], Fig. 5)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from meshwright.pipeline.engine.id_lists import entries, places

if TYPE_CHECKING:
    import pyarrow as pa

Counts = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

STRONG = 0.1
_DIGITS = 4


@dataclass(frozen=True, kw_only=True)
class Correlation:
    """How alike topics are: the correlation of columns in the matrix of nodes by topics, of zeros and ones.

    Attributes:
        topics: their names, ordered such that like ones stand together: as the leaves of a hierarchical
            clustering (average linkage over 1 - correlation).
        subscribers: of each.
        matrix: a row for each topic, rounded to four digits. A topic that all nodes or none subscribe to does
            not vary; its correlations are 0 by definition, that with itself too.
        sampled: whether there are more topics than these.
        chosen: how they were chosen, in words.
        mean, mean_absolute, maximum: over pairs of different topics; None where there are none.
        share_strong: the share of pairs whose correlation is over 0.1.
    """

    topics: tuple[str, ...]
    subscribers: tuple[int, ...]
    matrix: tuple[tuple[float, ...], ...]
    sampled: bool
    chosen: str
    mean: float | None
    mean_absolute: float | None
    maximum: float | None
    share_strong: float | None

    @classmethod
    def of(cls, common: Counts, nodes: int, names: Sequence[str], *, sampled: bool, chosen: str) -> Self:
        """Of the numbers of common subscribers among `nodes` nodes; the diagonal counts each topic's own."""
        found = pearson(common, nodes)
        order = clustered(found)
        off = found[np.triu_indices(len(found), 1)]
        return cls(
            topics=tuple(names[at] for at in order),
            subscribers=tuple(int(common[at, at]) for at in order),
            matrix=tuple(tuple(row) for row in np.round(found[np.ix_(order, order)], _DIGITS).tolist()),
            sampled=sampled,
            chosen=chosen,
            mean=float(off.mean()) if len(off) else None,
            mean_absolute=float(np.abs(off).mean()) if len(off) else None,
            maximum=float(off.max()) if len(off) else None,
            share_strong=float((off > STRONG).mean()) if len(off) else None,
        )

    def to_json(self) -> dict[str, Any]:
        """In JSON's types."""
        lists = {"topics": list(self.topics), "subscribers": list(self.subscribers)}
        return asdict(self) | lists | {"matrix": [list(row) for row in self.matrix]}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """What `to_json` gave."""
        tuples = {"topics": tuple(found["topics"]), "subscribers": tuple(found["subscribers"])}
        return cls(**{**found, **tuples, "matrix": tuple(tuple(row) for row in found["matrix"])})


def pearson(common: Counts, nodes: int) -> Reals:
    """(n c - a b) / sqrt(a (n - a) b (n - b)), c being common to a and b of n; 0 where a or b is 0 or n."""
    own = np.diagonal(common).astype(np.float64)
    deviation = np.sqrt(own * (nodes - own))
    scale = np.outer(deviation, deviation)
    covariance = nodes * common.astype(np.float64) - np.outer(own, own)
    found: Reals = np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0)
    return found


def clustered(correlations: Reals) -> list[int]:
    """An order in which like topics stand together; O(topics²) memory."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(correlations) < 3:
        return list(range(len(correlations)))
    apart = np.clip(1 - (correlations + correlations.T) / 2, 0, 2)
    np.fill_diagonal(apart, 0)
    order: list[int] = leaves_list(linkage(squareform(apart, checks=False), "average")).tolist()
    return order


def common_subscribers(
    topic_ids: npt.NDArray[np.int32],
) -> Callable[[Iterator["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]:
    """For mapInArrow over `lists/`: a row a task, the numbers of common subscribers of `topic_ids` as bytes.

    `topic_ids` rise. The time is the sum of the squares of how many of them each node has.
    """

    def count(batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        import pyarrow as pa

        total = np.zeros((len(topic_ids), len(topic_ids)), np.int64)
        for batch in batches:
            total += _common(batch.column("topic_ids"), topic_ids)
        yield pa.record_batch([pa.array([total.tobytes()], pa.binary())], names=["counts"])

    return count


def _common(lists: "pa.ListArray", topic_ids: npt.NDArray[np.int32]) -> Counts:
    from scipy.sparse import csr_array

    rows, values = entries(lists)
    at, among = places(topic_ids, values)
    ones = np.ones(int(among.sum()), np.int64)
    chosen = csr_array((ones, (rows[among], at[among])), shape=(len(lists), len(topic_ids)))
    found: Counts = (chosen.T @ chosen).toarray()
    return found


def summed(batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
    """For mapInArrow: the sum of a task's rows of `common_subscribers`."""
    import pyarrow as pa

    total: Counts | None = None
    for batch in batches:
        for row in batch.column("counts"):
            counts = np.frombuffer(row.as_buffer(), np.int64)
            total = counts.copy() if total is None else total + counts
    if total is not None:
        yield pa.record_batch([pa.array([total.tobytes()], pa.binary())], names=["counts"])
