"""The reasons that the study gives where our figures differ."""

from math import comb

from meshwright.studies.divide_and_conquer.merging import _more_degree, _overlays


def test_star_merge_adds_more_to_naive_merge_the_fewer_topics_a_node_has():
    more = [_more_degree(_overlays("unif", topics, seed=1), "sm", than="nm") for topics in (50, 20, 10)]
    assert more == sorted(more)
    assert more[0] < 0.15 < more[-1]


def test_star_merge_may_link_under_one_in_a_hundred_of_all_pairs():
    sizes = _overlays("unif", 20, seed=1)["sm"].facts["star_set_sizes"]
    between_parts = comb(sum(sizes), 2) - sum(comb(size, 2) for size in sizes)
    assert between_parts / comb(1_000, 2) < 0.01
