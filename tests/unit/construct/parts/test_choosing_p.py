import numpy as np
import pytest

import meshwright as mw
from meshwright.construct.options import CRITERIA
from meshwright.construct.parts.interest_queries import InProcess, choose_partitions, partitions_by, search
from tests.shelf import AWKWARD


@pytest.mark.parametrize("least_at", [2, 3, 4, 5, 7, 12, 31, 32, 33, 64])
@pytest.mark.parametrize("most", [64, 100])
def test_a_doubling_and_a_bisection_end_within_the_octave_of_the_least_value(least_at, most):
    found = search(lambda p: abs(np.log(p / least_at)), most)
    assert least_at / 2 <= found <= least_at * 2


@pytest.mark.parametrize("least_at", [2, 4, 6, 12, 24, 28, 96])
def test_the_best_value_tried_is_the_one_returned(least_at):
    tried = {}

    def value(p: int) -> float:
        tried[p] = abs(p - least_at)
        return tried[p]

    found = search(value, 100)
    assert tried[found] == min(tried.values())


@pytest.mark.parametrize("most", [0, 1, 2, 3, 5, 1000])
def test_the_search_stays_between_its_ends(most):
    tried = []

    def value(p: int) -> float:
        tried.append(p)
        return -p

    assert search(value, most) == max(1, most)
    assert all(2 <= p <= most for p in tried)


def test_the_search_ends_on_a_constant():
    assert search(lambda p: 1.0, 10**6) == 2


def test_the_search_tries_few_values():
    tried = set()

    def value(p: int) -> float:
        tried.add(p)
        return abs(p - 1000)

    search(value, 10**6)
    assert len(tried) <= 2 * np.log2(1000) + 3


@pytest.mark.parametrize("criterion", CRITERIA)
def test_what_a_criterion_chooses_is_close_to_the_best_of_all_p(criterion):
    interests = mw.workloads.unif(120, 40, subscriptions=8, seed=5)
    formula = {
        "pn-size": lambda p, stars: 120 / p + stars,
        "time": lambda p, stars: 1 / p + (stars / 120) ** 2,
        "parallel-time": lambda p, stars: 1 / p**2 + (stars / 120) ** 2,
    }[criterion]
    values = {p: formula(p, InProcess(interests).count_stars(p, seed=5)) for p in range(2, 121)}
    assert values[partitions_by(InProcess(interests), criterion, seed=5)] <= 1.25 * min(values.values())


def test_parts_on_machines_of_their_own_are_fewer_than_parts_in_turn():
    interests = mw.workloads.unif(400, 40, subscriptions=8, seed=5)
    assert partitions_by(InProcess(interests), "parallel-time", 0) <= partitions_by(
        InProcess(interests), "time", 0
    )


@pytest.mark.parametrize("criterion", [*CRITERIA, "elbow"])
@pytest.mark.parametrize("shelf", AWKWARD)
def test_every_criterion_gives_a_legal_number_on_awkward_interests(criterion, shelf):
    interests = AWKWARD[shelf]
    found = choose_partitions(
        InProcess(interests), partitions=None, part_size=None, criterion=criterion, seed=0
    )
    assert 1 <= found <= max(1, interests.node_count)


@pytest.mark.parametrize(("part_size", "partitions"), [(1, 10), (3, 4), (5, 2), (10, 1), (99, 1)])
def test_no_part_is_larger_than_the_part_size(part_size, partitions):
    interests = mw.workloads.unif(10, 4, subscriptions=2, seed=0)
    chosen = {"partitions": None, "part_size": part_size, "criterion": "pn-size", "seed": 0}
    assert choose_partitions(InProcess(interests), **chosen) == partitions


@pytest.mark.parametrize("nodes", [0, 3])
def test_more_parts_than_nodes_are_refused(nodes):
    interests = mw.workloads.unif(nodes, 4, subscriptions=2, seed=0)
    with pytest.raises(mw.OptionError, match=rf"partitions is 4, but there are {nodes} nodes; give 1 to"):
        mw.build(interests, "dc", partitions=4)


def test_private_topics_do_not_make_every_node_a_part():
    shared = [(f"n{u:03}", f"t{(u * k) % 20:02}") for u in range(200) for k in (1, 3, 7)]
    private = [(f"n{u:03}", f"own {u:03}") for u in range(200)]
    overlay = mw.build(mw.Interests.from_pairs(shared + private), "dc")
    assert overlay.facts["partitions"] < 100
