from itertools import combinations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

import meshwright as mw
from meshwright.deploy.plan.blocks import possible_ways


@given(st.sets(st.sampled_from(list(combinations("abcdef", 2))), min_size=5), st.data())
def test_a_topic_may_cross_just_the_links_on_simple_paths_between_its_subscribers(
    pairs: set[tuple[str, str]], data: st.DataObject
) -> None:
    """As networkx lists all simple paths; `all` has everybody, so that the overlay is topic-connected."""
    graph = nx.Graph(sorted(pairs))
    nodes = sorted(next(iter(nx.connected_components(graph))))
    own = data.draw(st.lists(st.sampled_from(nodes), min_size=1, unique=True))
    connected = nx.is_connected(graph.subgraph(own))
    wants = [(node, "all") for node in nodes] + ([(node, "some") for node in own] if connected else [])
    edges = sorted(graph.subgraph(nodes).edges)
    overlay = mw.Overlay.from_edges(mw.Interests.from_pairs(wants), edges)
    names = overlay.interests.nodes.to_pylist()
    links = [frozenset((names[u], names[v])) for u, v in overlay.edges.tolist()]
    for topic, found in zip(overlay.interests.topics.to_pylist(), possible_ways(overlay).links, strict=True):
        ways = {
            frozenset(step)
            for one, other in combinations(overlay.interests.nodes_of(topic), 2)
            for path in nx.all_simple_edge_paths(graph, one, other)
            for step in path
        }
        assert {links[link] for link in found} == ways
