"""Interests that have the same least overlays, and fewer nodes and topics. Each rule is proved.

*Topics* of less than two nodes need no link, and of topics with the same nodes one stands for all.

*A node v of at most two topics, all of which another node u has,* can be linked to u alone: some least
overlay does so. Take a least overlay, and let v have the neighbours N. If u is among them, move the other
links of v to u: whoever shares a topic with v shares it with u. If u is not, then in each topic i of v a path
leads from u to v, and let w(i) in N be the last node on it before v. If w(1) has no topic 2, or w(1) = w(2),
it is connected to u without v in all topics that it shares with v: remove its link, move the other links of v
to u and link v to u; likewise for w(2). Otherwise both have both topics, and are two nodes. Replace their
links to v by one between them: in topic 1, w(1) is connected to u without v, and w(2) to w(1); in topic 2 the
other way round. Move the other links to u, and link v to u. The number of links never rises.

With three topics this fails (`docs/algorithms/exact.md` has an example), and so does it if links cost.
"""

from collections import deque
from dataclasses import dataclass

import numpy as np

from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Ids

_MOST_TOPICS = 2


@dataclass(frozen=True)
class Reduced:
    """Interests without the nodes that were linked at once, whose links are `edges`; ids stay."""

    interests: Interests
    edges: Ids


def reduced(interests: Interests, *, link_nodes: bool) -> Reduced:
    """Apply the rules until none applies; `link_nodes` only where all links cost the same."""
    topics_of = [set(_of(interests.indptr, interests.topic_ids, v)) for v in range(interests.node_count)]
    members = [set(_of(interests.topic_indptr, interests.node_ids, t)) for t in range(interests.topic_count)]
    edges: list[tuple[int, int]] = []
    changed = True
    while changed:
        _drop_topics(topics_of, members)
        changed = link_nodes and _link_small(topics_of, members, edges)
    indptr = np.concatenate([[0], np.cumsum([len(own) for own in topics_of])]).astype(np.int64)
    topic_ids = np.array([topic for own in topics_of for topic in sorted(own)], np.int32)
    left = Interests(indptr, topic_ids, interests.nodes, interests.topics)
    return Reduced(left, np.array(edges, np.int32).reshape(-1, 2))


def _of(indptr: np.ndarray, ids: Ids, at: int) -> list[int]:
    return [int(one) for one in ids[indptr[at] : indptr[at + 1]]]


def _drop_topics(topics_of: list[set[int]], members: list[set[int]]) -> None:
    """Drop topics of less than two nodes, and of those with the same nodes all but one."""
    seen: set[frozenset[int]] = set()
    for topic, own in enumerate(members):
        nodes = frozenset(own)
        if len(nodes) < 2 or nodes in seen:
            for node in nodes:
                topics_of[node].discard(topic)
            own.clear()
        seen.add(nodes)


def _link_small(topics_of: list[set[int]], members: list[set[int]], edges: list[tuple[int, int]]) -> bool:
    """Link nodes of one or two topics to one that has them all; say whether there were some."""
    before = len(edges)
    hosts: dict[frozenset[int], deque[int]] = {}
    for node, own in enumerate(topics_of):
        if 0 < len(own) <= _MOST_TOPICS:
            key = frozenset(own)
            if key not in hosts:
                hosts[key] = _hosts(key, topics_of, members)
            host = _next_host(node, key, hosts[key], topics_of)
            if host is not None:
                edges.append((node, host))
                for topic in key:
                    members[topic].discard(node)
                own.clear()
    return len(edges) > before


def _hosts(topics: frozenset[int], topics_of: list[set[int]], members: list[set[int]]) -> deque[int]:
    """The nodes that have all these topics; without those that may be linked at once too, if others do."""
    having = sorted(set.intersection(*(members[topic] for topic in topics)))
    staying = [node for node in having if len(topics_of[node]) > _MOST_TOPICS]
    return deque(staying or having)


def _next_host(node: int, topics: frozenset[int], hosts: deque[int], topics_of: list[set[int]]) -> int | None:
    """The next of the hosts, which take turns, so that none gets all links."""
    for _ in range(len(hosts)):
        host = hosts.popleft()
        if topics <= topics_of[host]:
            hosts.append(host)
            if host != node:
                return host
    return None
