import numpy as np
import pytest

import meshwright as mw
from meshwright.construct.dual.candidates import arrays_of
from meshwright.kernels.dual.by_cost import cheapest_edges, find_too_cheap
from meshwright.kernels.dual.lines import Exceeding, Lines, slots_of
from tests.helpers import topics_by_node
from tests.oracles_dual import line_distance, members

INTERESTS = mw.workloads.unif(20, 7, subscriptions=3, seed=4)
MATRIX = 1.0 + (7 * np.add.outer(np.arange(20), np.arange(20))) % 11
COSTS = mw.Costs.from_matrix(MATRIX, INTERESTS.nodes.to_pylist()).of(INTERESTS).arrays()
TICKS = np.zeros(2, np.int64)


@pytest.mark.parametrize("most", [0, 3, 100])
def test_candidates_are_the_cheapest_partners_for_each_shared_topic(most):
    topics_of = topics_by_node(INTERESTS)
    for node, own in topics_of.items():
        chosen = cheapest_edges(*arrays_of(INTERESTS), COSTS, (node, node + 1), most, TICKS)
        partners = {int(u + v - node) for u, v in chosen}
        prices = {v: MATRIX[node, v] / len(own & topics_of[v]) for v in topics_of if own & topics_of[v]}
        del prices[node]
        in_topics = [min(p for v, p in prices.items() if topic in topics_of[v]) for topic in own]
        rest = sorted(prices.values())[:most]
        assert sorted(prices[v] for v in partners)[: len(rest)] == rest
        assert all(
            price in {prices[v] for v in partners if topic in topics_of[v]}
            for topic, price in zip(own, in_topics, strict=True)
        )
        assert len(partners) <= most + len(own)


def test_pairs_further_apart_than_they_cost_are_found_with_their_share():
    random, scale, parts_of_one = np.random.default_rng(1), 1000, 333.3
    topics_of, by_topic = topics_by_node(INTERESTS), members(topics_by_node(INTERESTS))
    lines = {
        t: (list(random.permutation(own)), [0, *random.integers(0, 900, len(own) - 1)])
        for t, own in by_topic.items()
    }
    nodes = np.concatenate([lines[t][0] for t in sorted(lines)]).astype(np.int32)
    gaps = np.concatenate([lines[t][1] for t in sorted(lines)]).astype(np.int64)
    indptr, topic_ids, topic_indptr, _ = arrays_of(INTERESTS)
    found = Exceeding(np.empty((400, 2), np.int32), np.empty(400, np.int64), np.zeros(3, np.int64))
    as_arrays = Lines(topic_indptr, nodes, gaps, slots_of(indptr, topic_indptr, nodes))
    find_too_cheap(indptr, topic_ids, as_arrays, COSTS, parts_of_one, scale, (0, 20), 20, found, TICKS)
    expected = {}
    for u in range(20):
        for v in range(u + 1, 20):
            far = sum(line_distance(*lines[t], u, v) for t in topics_of[u] & topics_of[v])
            limit = int(MATRIX[u, v] * parts_of_one)
            if far > limit:
                expected[u, v] = max(scale + 1, -(-far * scale // limit))
    listed = int(found.counts[0])
    pairs = map(tuple, found.pairs[:listed].tolist())
    assert dict(zip(pairs, found.totals[:listed].tolist(), strict=True)) == expected
    assert found.counts[1:].tolist() == [len(expected), max(expected.values())]
