"""Gossip, naively: written after the paper, without the package's kernels."""

from hashlib import blake2b

import networkx as nx

_WORD = 2**64


def mixed(word):
    """SplitMix64's finaliser."""
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % _WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % _WORD
    return word ^ (word >> 31)


def key(name, salt=0):
    return int.from_bytes(
        blake2b(name.encode(), digest_size=8, salt=salt.to_bytes(8, "little")).digest(), "little"
    )


def weight(own, other):
    return mixed(mixed((own + 0x9E3779B97F4A7C15) % _WORD) ^ other)


def sorted_by_weight(names, node, others, salt=0):
    """`others` as `node` prefers them; all by id, with the names by id."""
    return sorted(others, key=lambda other: weight(key(names[node], salt), key(names[other], salt)))


def topic_graph(views, topic):
    """The directed graph of a topic's views."""
    graph = nx.DiGraph()
    for node, own in enumerate(views.by_node()):
        if topic in own:
            graph.add_node(node)
            graph.add_edges_from((node, peer) for peer in own[topic])
    return graph


def clustering(graph):
    """Mean over the nodes of the share of ordered pairs of successors that are linked."""
    shares = []
    for node in graph:
        peers = set(graph.successors(node))
        pairs = len(peers) * (len(peers) - 1)
        linked = sum(other in peers for peer in peers for other in graph.successors(peer))
        shares.append(linked / pairs if pairs else 0.0)
    return sum(shares) / len(shares) if shares else 0.0
