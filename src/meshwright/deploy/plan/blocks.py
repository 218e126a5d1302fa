"""What may cross which link, where brokers choose the ways of messages themselves.

Such brokers bear cycles. A message takes a simple path from its publisher to each subscriber, whichever it
is, so it crosses a block (a part of the overlay that no single broker cuts) only if the ends of some such
path are on different sides of that block.
"""

import networkx as nx

from meshwright.deploy.plan.trees import Trees, part_of_tree
from meshwright.model.overlay import Overlay
from meshwright.routing.trees import FOR_TREES, topic_links
from meshwright.runtime.progress import Progress, stage


def possible_ways(overlay: Overlay, progress: Progress | None = None) -> Trees:
    """By topic, the links of a topic-connected overlay on simple paths between its subscribers.

    Guarantee: no link is left out that some simple path has, and none is there that no simple path has. On a
    tree these are the links of the topic's own tree.

    Cost: O(m) for the blocks of m links, and O(n) for each topic on n nodes.
    """
    topic_links(overlay, progress, FOR_TREES)
    interests = overlay.interests
    numbers = {(u, v): at for at, (u, v) in enumerate(overlay.edges.tolist())}
    blocks = [
        sorted(numbers[min(pair), max(pair)] for pair in block)
        for block in nx.biconnected_component_edges(nx.Graph(list(numbers)))
    ]
    pairs = list(numbers)
    # A tree of nodes and blocks; blocks are numbered after the nodes.
    ends = sorted(
        {
            (end, interests.node_count + at)
            for at, block in enumerate(blocks)
            for link in block
            for end in pairs[link]
        }
    )
    starts, nodes = interests.topic_indptr.tolist(), interests.node_ids.tolist()
    found: list[list[int]] = []
    with stage(progress, "following ways", interests.topic_count) as tell:
        for topic in range(interests.topic_count):
            kept = part_of_tree(ends, range(len(ends)), nodes[starts[topic] : starts[topic + 1]])
            crossed = {ends[link][1] - interests.node_count for link in kept}
            found.append(sorted(link for block in crossed for link in blocks[block]))
            tell(topic)
    return Trees(found, [])
