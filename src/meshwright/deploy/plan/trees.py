"""A tree for every topic inside an overlay, such that the trees of nested topics are nested.

A line for `a/#` carries `a/b` as well. So the links that carry any filter around a topic must be a tree on
its subscribers, or messages double. Topics are served from the outside in: the tree of a topic has all links
of the topics around it, and as few more as connect its own subscribers. Names and prefixes always have such
trees. Where filters cross, the trees of two topics may close a cycle for the names that both match; then
links with many topics in common are preferred, and if that does not help, the whole group of topics that
cross shares one tree, of which each uses the part that it needs. Brokers in that part that don't want a topic
are its relays.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import chain
from typing import NamedTuple

from meshwright.deploy.plan.nesting import Nesting
from meshwright.model.overlay import Overlay
from meshwright.routing.trees import FOR_TREES, TREES, topic_links
from meshwright.runtime.checks import check_choice
from meshwright.runtime.errors import OptionError
from meshwright.runtime.progress import Progress, stage


class Trees(NamedTuple):
    """By topic, the links that carry it, by number and rising; and who relays what nobody there wants."""

    links: list[list[int]]
    relays: list[tuple[int, int]]
    """Topic and node, sorted."""


class _StuckError(Exception):
    """No link of the overlay connects a topic without a cycle in one inside it."""


def nested_trees(
    overlay: Overlay,
    nesting: Nesting,
    kind: str = "shortest",
    *,
    one_per_group: bool = False,
    before: Sequence[Sequence[int]] = (),
    progress: Progress | None = None,
) -> Trees:
    """A tree for every topic of a topic-connected overlay; another one is refused, with advice.

    Guarantee: the links of a topic are a tree on its subscribers and its relays, and are among the links of
    every topic inside it. There are no relays unless filters cross. Trees that are free to choose are
    `shortest` (fewest hops, or least cost, from the subscriber with most links in the topic; of equal ways
    the one by the broker that carries least so far) or `cheapest` (least cost in all). Deterministic.

    Links that a topic had `before` are taken first, so that a tree changes no more than it must.

    With `one_per_group`, topics that are nested or cross always use parts of one tree: for engines whose
    links can't be told which filters they carry.

    Cost: O(m log m) for a topic of m links, times the topics inside it.
    """
    check_choice("tree", kind, TREES)
    if kind == "cheapest" and overlay.costs is None:
        raise OptionError(
            "the cheapest tree needs the costs of links, but the overlay has none; use --tree shortest, "
            "or build with costs",
            option="tree",
        )
    topic_links(overlay, progress, FOR_TREES)
    work = _Work(overlay, nesting, before)
    links: list[list[int]] = [[] for _ in nesting.around]
    with stage(progress, "growing trees", len(links)) as tell:
        done = 0
        for group in topic_groups(nesting):
            shared = one_per_group and len(group) > 1
            found = _parts_of_one_tree(work, group) if shared else _trees_of_group(work, group, kind)
            for topic, own in found.items():
                links[topic] = own
                work.book(own)
            tell(done := done + len(group))
    return Trees(links, sorted(_relays(work, links)))


def topic_groups(nesting: Nesting) -> Iterator[list[int]]:
    """The topics that are nested or cross, directly or through others; in each group the outer ones first."""
    seen = [False] * len(nesting.around)
    for first in range(len(seen)):
        if seen[first]:
            continue
        seen[first] = True
        group, waiting = [], [first]
        while waiting:
            topic = waiting.pop()
            group.append(topic)
            for other in (*nesting.around[topic], *nesting.inside[topic]):
                if not seen[other]:
                    seen[other] = True
                    waiting.append(other)
        yield sorted(group, key=lambda topic: (len(nesting.around[topic]), topic))


def _trees_of_group(work: "_Work", group: list[int], kind: str) -> dict[int, list[int]]:
    """By topic of a group, its links: freely chosen, or by common topics, or parts of one tree."""
    free = _by_distance if kind == "shortest" else _by_cost
    for candidates in (free, _by_common_topics):
        try:
            return _grown(work, group, candidates)
        except _StuckError:
            continue
    return _parts_of_one_tree(work, group)


class _Work:
    """The overlay as lists, and how much each broker carries so far."""

    def __init__(self, overlay: Overlay, nesting: Nesting, before: Sequence[Sequence[int]]) -> None:
        interests = overlay.interests
        self.nesting = nesting
        self.before: Sequence[Sequence[int]] = before or [()] * interests.topic_count
        self.ends: list[tuple[int, int]] = [(u, v) for u, v in overlay.edges.tolist()]
        self.costs: list[float] = [1.0] * len(self.ends) if overlay.costs is None else overlay.costs.tolist()
        starts, nodes = interests.topic_indptr.tolist(), interests.node_ids.tolist()
        self.subscribers: list[list[int]] = [
            nodes[starts[topic] : starts[topic + 1]] for topic in range(interests.topic_count)
        ]
        bounds, topics = interests.indptr.tolist(), interests.topic_ids.tolist()
        self.topics: list[frozenset[int]] = [
            frozenset(topics[bounds[node] : bounds[node + 1]]) for node in range(interests.node_count)
        ]
        self.links_of: list[list[tuple[int, int]]] = [[] for _ in range(interests.node_count)]
        for number, (one, other) in enumerate(self.ends):
            self.links_of[one].append((other, number))
            self.links_of[other].append((one, number))
        self.load = [0] * interests.node_count

    def book(self, links: Iterable[int]) -> None:
        """Count the topic at both ends of each of its links."""
        for link in links:
            for end in self.ends[link]:
                self.load[end] += 1

    def links_among(self, nodes: Iterable[int]) -> list[int]:
        """The links with both ends among some nodes."""
        own = set(nodes)
        return sorted({link for node in own for other, link in self.links_of[node] if other in own})


class Forest:
    """The links of one topic so far; `root` tells which nodes they connect."""

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}
        self.links: list[int] = []

    def root(self, node: int) -> int:
        """The same for all nodes that are connected."""
        parent = self._parent
        while (above := parent.get(node, node)) != node:
            parent[node] = parent.get(above, above)
            node = above
        return node

    def join(self, link: int, one: int, other: int) -> None:
        """Add a link between nodes that are not connected."""
        self._parent[self.root(one)] = self.root(other)
        self.links.append(link)


_Candidates = Callable[[_Work, Sequence[int], int, Forest], Iterator[int]]


def _grown(work: _Work, group: list[int], candidates: _Candidates) -> dict[int, list[int]]:
    """The trees of a group, from the outside in; each link is taken for all topics inside as well."""
    forests = {topic: Forest() for topic in group}
    for topic in group:
        own = [forests[topic], *(forests[other] for other in work.nesting.inside[topic])]
        wanted = max(len(work.subscribers[topic]) - 1, 0)
        if not wanted:
            continue
        for link in chain(_had_before(work, topic), candidates(work, group, topic, forests[topic])):
            if len(own[0].links) == wanted:
                break
            one, other = work.ends[link]
            if all(forest.root(one) != forest.root(other) for forest in own):
                for forest in own:
                    forest.join(link, one, other)
        if len(own[0].links) != wanted:
            raise _StuckError
    return {topic: sorted(forest.links) for topic, forest in forests.items()}


def _had_before(work: _Work, topic: int) -> Iterator[int]:
    """The links that a topic had, and can have still."""
    nodes = set(work.subscribers[topic])
    return (link for link in work.before[topic] if nodes.issuperset(work.ends[link]))


def _by_distance(work: _Work, group: Sequence[int], topic: int, forest: Forest) -> Iterator[int]:
    """Links in the order of the distance of their far ends from the centre, on the tree that grows."""
    del group
    nodes = set(work.subscribers[topic])
    degrees = {node: sum(other in nodes for other, _ in work.links_of[node]) for node in nodes}
    centre = min(nodes, key=lambda node: (-degrees[node], node))
    given = _neighbours(work.ends, forest.links)
    reached: set[int] = set()
    heap: list[tuple[float, int, int, int]] = []

    def reach(node: int, distance: float) -> None:
        """Reach a node, and all that the links which were there before connect with it."""
        waiting = deque([(node, distance)])
        while waiting:
            here, far = waiting.popleft()
            if here in reached:
                continue
            reached.add(here)
            waiting.extend((other, far + work.costs[link]) for other, link in given.get(here, ()))
            for other, link in work.links_of[here]:
                if other in nodes:
                    heappush(heap, (far + work.costs[link], work.load[here], other, link))

    reach(centre, 0.0)
    while heap:
        far, _, node, link = heappop(heap)
        if node not in reached:
            size = len(forest.links)
            yield link
            if len(forest.links) > size:
                reach(node, far)


def _neighbours(ends: Sequence[tuple[int, int]], links: Iterable[int]) -> dict[int, list[tuple[int, int]]]:
    found: dict[int, list[tuple[int, int]]] = {}
    for link in links:
        one, other = ends[link]
        found.setdefault(one, []).append((other, link))
        found.setdefault(other, []).append((one, link))
    return found


def _by_cost(work: _Work, group: Sequence[int], topic: int, forest: Forest) -> Iterator[int]:
    """The cheapest links first: the tree costs least, whatever it has to begin with."""
    del group, forest
    links = work.links_among(work.subscribers[topic])
    return iter(sorted(links, key=lambda link: (work.costs[link], link)))


def _by_common_topics(work: _Work, group: Sequence[int], topic: int, forest: Forest) -> Iterator[int]:
    """The links first whose ends have most topics of the group in common: trees agree where they can."""
    del forest
    return iter(_most_common_first(work, group, work.links_among(work.subscribers[topic])))


def _most_common_first(work: _Work, group: Sequence[int], links: Iterable[int]) -> list[int]:
    own = frozenset(group)

    def rank(link: int) -> tuple[int, float, int]:
        one, other = work.ends[link]
        return -len(work.topics[one] & work.topics[other] & own), work.costs[link], link

    return sorted(links, key=rank)


def _parts_of_one_tree(work: _Work, group: list[int]) -> dict[int, list[int]]:
    """One tree for all topics of a group, and of it the part that connects the subscribers of each.

    Of all trees, one of most topics in common has the fewest pieces to connect by relays, summed over topics.
    """
    everybody = {node for topic in group for node in work.subscribers[topic]}
    forest = Forest()
    had = sorted({link for topic in group for link in work.before[topic]})
    for link in chain(had, _most_common_first(work, group, work.links_among(everybody))):
        one, other = work.ends[link]
        if forest.root(one) != forest.root(other):
            forest.join(link, one, other)
    return {topic: part_of_tree(work.ends, forest.links, work.subscribers[topic]) for topic in group}


def part_of_tree(ends: Sequence[tuple[int, int]], tree: Iterable[int], wanted: Iterable[int]) -> list[int]:
    """The links of a tree between some of its nodes: leaves that are not wanted are cut, again and again."""
    kept = set(tree)
    around = _neighbours(ends, kept)
    needed, left = set(wanted), {node: len(own) for node, own in around.items()}
    leaves = [node for node, degree in left.items() if degree == 1 and node not in needed]
    while leaves:
        node = leaves.pop()
        for other, link in around[node]:
            if link in kept:
                kept.discard(link)
                left[other] -= 1
                if left[other] == 1 and other not in needed:
                    leaves.append(other)
    return sorted(kept)


def _relays(work: _Work, links: list[list[int]]) -> Iterator[tuple[int, int]]:
    for topic, own in enumerate(links):
        ends = {end for link in own for end in work.ends[link]}
        for node in ends.difference(work.subscribers[topic]):
            yield topic, node
