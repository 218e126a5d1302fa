"""The counts of a profile in this process, with all interests in memory."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager

import numpy as np

from meshwright.model.dense import rows_of
from meshwright.model.interests import Interests
from meshwright.pipeline.profile.job import common_of
from meshwright.pipeline.ranks import ranks
from meshwright.runtime.arrays import Ids, Longs
from meshwright.runtime.progress import Progress, stage


class InProcess:
    """See `Counts`."""

    def __init__(self, interests: Interests) -> None:
        self._interests = interests
        self._subscribers = np.bincount(interests.topic_ids, minlength=interests.topic_count)
        self._known = np.flatnonzero(self._subscribers).astype(np.int32)

    def stage(self, progress: Progress | None, label: str) -> AbstractContextManager[object]:
        """See `Counts`."""
        return stage(progress, label)

    def close(self) -> None:
        """See `Counts`."""

    def subscribers(self) -> Iterable[tuple[int, int]]:
        """See `Counts`."""
        return _tally(self._subscribers)

    def sizes(self) -> Iterable[tuple[int, int]]:
        """See `Counts`."""
        return _tally(np.diff(self._interests.indptr))

    def popular(self, most: int) -> dict[int, int]:
        """See `Counts`."""
        first = self._known[np.lexsort((self._known, -self._subscribers[self._known]))][:most]
        return dict(zip(first.tolist(), self._subscribers[first].tolist(), strict=True))

    def drawn(self, most: int, least_subscribers: int, salted: int) -> Ids:
        """See `Counts`."""
        enough = np.flatnonzero(self._subscribers >= least_subscribers).astype(np.int32)
        return enough[np.lexsort((enough, ranks(salted, enough)))][:most]

    def most_popular(self, most: int, salted: int) -> Ids:
        """See `Counts`."""
        known = self._known
        order = np.lexsort((known, ranks(salted, known), -self._subscribers[known]))
        return known[order][:most]

    def common(self, topics: Ids) -> Longs:
        """See `Counts`."""
        own = self._interests
        return common_of(rows_of(own.indptr).astype(np.int64), own.topic_ids, own.node_count, topics)

    def names(self, topics: Sequence[int]) -> Mapping[int, str]:
        """See `Counts`."""
        return {topic: self._interests.topics[topic].as_py() for topic in set(topics)}


def _tally(numbers: Longs) -> list[tuple[int, int]]:
    values, counts = np.unique(numbers, return_counts=True)
    return list(zip(values.tolist(), counts.tolist(), strict=True))
