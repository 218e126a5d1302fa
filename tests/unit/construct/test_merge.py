import numpy as np
import pytest

import meshwright as mw
from tests.helpers import interests_of

MERGES = ["nm", "sm"]


def clique_of_figure_2(n: int) -> dict[str, list[str]]:
    """[1], III: node i has the topics t_ij and t_ji for all j."""
    return {f"v{i}": [f"t{a}{b}" for a in range(n) for b in range(n) if i in (a, b)] for i in range(n)}


def overlay_of(topics_of, edges=(), costs=None) -> mw.Overlay:
    interests = mw.Interests.from_pairs(
        [(node, topic) for node, own in topics_of.items() for topic in own], nodes=list(topics_of)
    )
    return mw.Overlay.from_edges(interests, edges, costs)


@pytest.fixture(scope="module")
def regions() -> list[mw.Overlay]:
    """Four meshes of 50 nodes each."""
    everything = mw.workloads.unif(200, 30, subscriptions=6, seed=4)
    frame = everything.to_pandas().astype(str)
    chosen = frame["node"].str[1:].astype(int) % 4
    return [mw.build(mw.Interests.from_pandas(frame[chosen == part]), "gm") for part in range(4)]


@pytest.mark.parametrize("algorithm", MERGES)
def test_figure_2_shows_that_a_merge_may_keep_a_clique_where_a_star_would_do(algorithm):
    n = 5
    topics_of = clique_of_figure_2(n)
    everything = {"v_all": sorted({topic for own in topics_of.values() for topic in own})}
    clique = mw.build(overlay_of(topics_of).interests, "gm")
    from_scratch = mw.build(overlay_of(topics_of | everything).interests, "gm")
    merged = mw.merge([clique, overlay_of(everything)], algorithm)
    assert len(clique) == n * (n - 1) // 2
    assert len(merged) == n * (n - 1) // 2 + n
    assert len(from_scratch) == n
    assert merged.degrees().tolist() == [n] * (n + 1)


@pytest.mark.parametrize("algorithm", MERGES)
def test_topic_connected_overlays_become_one(regions, algorithm):
    merged = mw.merge(regions, algorithm)
    assert mw.evaluate(merged).topic_connected
    assert merged.facts["inner_edges"] == sum(map(len, regions))
    assert merged.facts["outer_edges"] == len(merged) - merged.facts["inner_edges"]


def test_star_merge_considers_fewer_neighbours_and_looks_at_fewer_pairs(regions):
    naive, star = (mw.merge(regions, algorithm).facts for algorithm in MERGES)
    assert naive["pn_size"] == 150
    assert naive["pn_ratio"] == 0.75
    assert star["pn_size"] == sum(star["star_set_sizes"]) - min(star["star_set_sizes"])
    assert star["pn_ratio"] == star["pn_size"] / 200
    assert star["average_star_set_size"] == sum(star["star_set_sizes"]) / 4
    assert star["pairs_examined"] < naive["pairs_examined"] / 4


@pytest.mark.parametrize("algorithm", MERGES)
def test_without_bounds_the_overlay_is_the_same(regions, algorithm):
    kept, dropped = (mw.merge(regions, algorithm, keep_bounds=keep) for keep in (True, False))
    assert np.array_equal(kept.edges, dropped.edges)


@pytest.mark.parametrize("algorithm", MERGES)
def test_disjoint_topics_need_no_link(algorithm):
    one, other = overlay_of({"a": "x", "b": "x"}, [("a", "b")]), overlay_of({"c": "yz", "d": "z"})
    merged = mw.merge([one, other], algorithm)
    assert merged.to_pandas()[["source", "target"]].astype(str).to_numpy().tolist() == [["a", "b"]]
    assert merged.interests.topics.to_pylist() == ["x", "y", "z"]


@pytest.mark.parametrize("algorithm", MERGES)
def test_a_shared_topic_that_was_in_pieces_is_connected_and_a_private_one_stays_in_pieces(algorithm):
    pieces = overlay_of({"a": "xp", "b": "x", "c": "xp"})
    merged = mw.merge([pieces, overlay_of({"d": "x"})], algorithm)
    assert merged.edges.tolist() == [[0, 3], [1, 3], [2, 3]]
    assert not mw.evaluate(merged).topic_connected


def test_stars_cover_only_the_topics_that_others_have():
    one = overlay_of({"a": "xy", "b": "pqrx"}, [("a", "b")])
    other = overlay_of({"c": "xy"})
    merged = mw.merge([one, other], "sm")
    assert merged.facts["star_set_sizes"] == [1, 1]
    assert merged.edges.tolist() == [[0, 1], [0, 2]]


@pytest.mark.parametrize("algorithm", MERGES)
def test_one_overlay_and_empty_overlays_are_merged_with_nothing(algorithm):
    one = overlay_of({"a": "x", "b": "x", "c": ""}, [("a", "b")])
    empty = overlay_of({})
    alone, beside = mw.merge([one], algorithm), mw.merge([empty, one, empty], algorithm)
    assert np.array_equal(alone.edges, one.edges)
    assert alone.interests == beside.interests == one.interests
    assert np.array_equal(beside.edges, one.edges)
    assert (alone.facts["pn_size"], beside.facts["parts"]) == (0, 3)
    assert len(mw.merge([empty, empty], algorithm)) == 0


@pytest.mark.parametrize("algorithm", MERGES)
def test_single_nodes_are_merged_into_an_overlay_of_greedy_merge_quality(algorithm):
    """With a part for each node a merge is Greedy Merge, up to ties: [1], III."""
    interests = interests_of([{0, 1, 2}, {1, 2}, {2, 3}, {0, 3}, {3}, {1}])
    single = [overlay_of({name: interests.topics_of(name)}) for name in interests.nodes.to_pylist()]
    merged = mw.merge(single, algorithm)
    assert mw.evaluate(merged).topic_connected
    assert merged.facts["inner_edges"] == 0
    assert len(merged) == len(mw.build(interests, "gm"))


@pytest.mark.parametrize("algorithm", MERGES)
def test_costs_are_kept_and_new_links_cost_what_is_said(algorithm):
    one = overlay_of({"a": "x", "c": "x"}, [("a", "c")], [2.0])
    other = overlay_of({"b": "x", "d": "x"}, [("b", "d")], [3.0])
    merged = mw.merge([one, other], algorithm, link_cost=40)
    costs = {tuple(edge): cost for edge, cost in zip(merged.edges.tolist(), merged.costs, strict=True)}
    assert costs[0, 2] == 2.0
    assert costs[1, 3] == 3.0
    assert sorted(costs.values()) == [2.0, 3.0, 40.0]


def test_a_cost_of_new_links_that_is_missing_needless_or_no_cost_is_refused():
    plain = overlay_of({"a": "x", "c": "x"}, [("a", "c")])
    priced = overlay_of({"a": "x", "c": "x"}, [("a", "c")], [2.0])
    with pytest.raises(mw.OptionError, match=r"have costs; set link_cost \(--link-cost\) to"):
        mw.merge([priced], "sm")
    with pytest.raises(mw.OptionError, match=r"link_cost is 1.5, but the overlays have no costs"):
        mw.merge([plain], "sm", link_cost=1.5)
    for wrong in (0, -1.0, float("inf"), float("nan")):
        with pytest.raises(mw.OptionError, match="a cost is a positive finite number"):
            mw.merge([priced], "sm", link_cost=wrong)


def test_a_common_node_is_refused(regions):
    with pytest.raises(mw.InputError, match="overlays 2 and 5 both have the node 'n001'"):
        mw.merge([*regions, regions[1]], "sm")


def test_too_little_memory_is_refused_with_what_to_do_instead(regions):
    with pytest.raises(mw.CapacityError, match=r"use sm, or set keep_bounds=no"):
        mw.merge(regions, "nm", memory_limit=1_000)
    with pytest.raises(mw.OptionError, match="memory_limit is 0"):
        mw.merge(regions, "nm", memory_limit=0)
