"""Turn an overlay into another one while it is in use: make before break, a few links at a time."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from meshwright.kernels.repair.mutable_overlay import share_topic
from meshwright.maintain.repairs import Link, Repair, named
from meshwright.maintain.state import MaintainedOverlay, row
from meshwright.runtime.arrays import Ids
from meshwright.runtime.checks import check_whole
from meshwright.runtime.errors import InputError

if TYPE_CHECKING:
    from meshwright.maintain.maintainer import Maintainer


def link_places(state: MaintainedOverlay, links: Iterable[Link], *, linked: bool) -> Ids:
    """The places of links, each once; or, unless `linked`, of pairs that share a topic and have no link."""
    pairs: dict[tuple[int, int], None] = {}
    for a, b in links:
        u, v = sorted((state.find(a), state.find(b)))
        if (v in row(state.live.links, u)) != linked:
            fault = "is not a link" if linked else "is already a link"
            raise InputError(f"{a!r} - {b!r} {fault}; leave it out")
        if not linked and (u == v or not share_topic(state.live.topics, u, v)):
            raise InputError(f"{a!r} and {b!r} have no topic in common; leave the link out")
        pairs[u, v] = None
    return np.array(list(pairs), np.int32).reshape(-1, 2)


_TESTS_A_CHANGE = 4
"""Links tested for each that may be removed in a step: bounds the time of a step."""


class Reoptimisation:
    """Moves an overlay to another one while events go on.

    `target` gives the links of the other one; it runs on another thread. Then each `step` adds some of these
    links, and after that removes some old ones that no topic needs, at most `most_changes` in all. Every
    topic is connected at every moment. Events may come between steps: links of nodes that have left are
    skipped, and links that repairs have added since stay. Without events, the last step leaves exactly the
    other overlay, if that is topic-connected, and resilient where the maintainer is; links that it lacks for
    this stay. Links for which a node has no room wait until it has; some may wait in vain, and with them the
    old links in their place. Iterating takes all steps.
    """

    def __init__(
        self,
        live: Maintainer,
        state: MaintainedOverlay,
        target: Callable[[], tuple[Link, ...]],
        most_changes: int,
    ) -> None:
        check_whole("most_changes", most_changes, 2, required=True)
        self._live = live
        self._state = state
        self._most_changes = most_changes
        pool = ThreadPoolExecutor(1, thread_name_prefix="meshwright")
        self._target = pool.submit(target)
        pool.shutdown(wait=False)
        self._missing: deque[Link] | None = None
        self._doubtful: deque[Link] = deque()
        self._needed_since = 0
        self._waiting = 0
        self._revision = live.revision

    @property
    def ready(self) -> bool:
        """Whether the other overlay is known, so that `step` does not have to wait."""
        return self._target.done()

    def step(self) -> Repair | None:
        """Change some links; None when nothing is left to change."""
        missing = self._begin()
        add = self._next_missing(missing)
        budget = self._most_changes - len(add)
        remove = self._next_doubtful(_TESTS_A_CHANGE * budget)
        if not add and not remove:
            return None
        repair = self._live.relink(add, remove, most_removed=budget)
        gone = set(repair.removed)
        self._doubtful.extend(link for link in remove if link not in gone)
        self._needed_since = 0 if gone or (add and missing) else self._needed_since + len(remove)
        self._waiting = 0 if gone else self._waiting
        self._revision = repair.revision
        return repair

    def __iter__(self) -> Iterator[Repair]:
        while (repair := self.step()) is not None:
            yield repair

    def _begin(self) -> deque[Link]:
        """Wait for the other overlay, and compare it with the present one, the first time."""
        if self._missing is None:
            target = self._target.result()
            present = named(self._state.edges(), self._state.nodes.names)
            self._missing = deque(sorted(set(target) - set(present), key=self._weight))
            old = sorted(set(present) - set(target), key=self._weight, reverse=True)
            self._doubtful = deque(old)
        return self._missing

    def _weight(self, link: Link) -> tuple[int, Link]:
        """The greater degree of the two ends: old links of busy nodes go first, new ones come last."""
        return max(len(self._live.neighbours_of(end)) if end in self._live else 0 for end in link), link

    def _next_missing(self, missing: deque[Link]) -> list[Link]:
        """The next links of the other overlay that can still be made."""
        live, add, taken = self._live, list[Link](), Counter[str]()
        if live.revision != self._revision:  # events may have made room
            self._waiting = 0
        while len(missing) > self._waiting and len(add) < self._most_changes // 2:
            a, b = missing.popleft()
            if a not in live or b not in live or not live.topics_of(a) & live.topics_of(b):
                continue
            if self._linked(a, b):
                continue
            if self._is_full(a, taken[a]) or self._is_full(b, taken[b]):
                missing.append((a, b))
                self._waiting += 1
            else:
                add.append((a, b))
                taken.update((a, b))
        return add

    def _is_full(self, node: str, taken: int) -> bool:
        limit = self._live.max_links_of(node)
        return limit is not None and len(self._live.neighbours_of(node)) + taken >= limit

    def _next_doubtful(self, most: int) -> list[Link]:
        """The next old links to test; none when all were tested and all are needed."""
        found: list[Link] = []
        while self._doubtful and len(found) < most and self._needed_since < len(self._doubtful) + len(found):
            a, b = self._doubtful.popleft()
            if self._linked(a, b):
                found.append((a, b))
        return found

    def _linked(self, a: str, b: str) -> bool:
        return a in self._live and b in self._live.neighbours_of(a)
