import numpy as np
import pytest

from meshwright import Interests, build, workloads
from meshwright.construct.dual import bound
from meshwright.construct.dual.bound import find_certificate
from meshwright.kernels.dual.demands import no_demands
from meshwright.metrics.certificates import as_file
from meshwright.runtime import machine
from meshwright.runtime.errors import CapacityError
from tests import oracles_dual
from tests.helpers import topics_by_node


def proves(interests, certificate):
    return oracles_dual.proves(topics_by_node(interests), as_file(certificate, interests))


@pytest.mark.parametrize("steps", [0, 1, 40, 200])
def test_a_certificate_is_valid_whatever_the_number_of_steps(steps):
    interests = workloads.zipf(60, 20, subscriptions=6, seed=steps)
    found = find_certificate(interests, steps=steps)
    assert proves(interests, found)
    assert found.edges <= len(build(interests, "gm").edges)


def test_a_certificate_stays_valid_where_pairs_are_left_that_exceed_the_scale(monkeypatch):
    interests = workloads.unif(80, 20, subscriptions=6, seed=1)
    monkeypatch.setattr(bound, "CANDIDATES_EACH", 0)
    monkeypatch.setattr(bound, "_MOST_AT_LAST", 1)
    monkeypatch.setattr(bound, "_LAST_ROUNDS", 1)
    scaled = find_certificate(interests, steps=20)
    assert proves(interests, scaled)
    monkeypatch.setattr(bound, "_LAST_ROUNDS", 50)
    assert scaled.edges < find_certificate(interests, steps=20).edges


def test_more_steps_prove_more():
    interests = workloads.expo(200, 100, subscriptions=10, seed=1)
    few, many = (find_certificate(interests, steps=steps).total for steps in (20, 200))
    assert many > 1.02 * few


def test_demands_prove_more_than_trees_where_few_nodes_have_most_topics(monkeypatch):
    interests = workloads.unif(200, 60, min_subscriptions=6, max_subscriptions=45, seed=1)
    forced = find_certificate(interests, steps=150)
    assert proves(interests, forced)
    monkeypatch.setattr(bound, "choose_demands", lambda *_: no_demands(200, 60))
    assert forced.edges > 1.02 * find_certificate(interests, steps=150).edges


def test_threads_change_nothing(monkeypatch):
    interests = workloads.zipf(300, 50, subscriptions=8, seed=1)
    many = find_certificate(interests, steps=50)
    monkeypatch.setattr(machine, "cores", lambda: 1)
    one = find_certificate(interests, steps=50)
    assert np.array_equal(one.gaps, many.gaps)
    assert np.array_equal(one.nodes, many.nodes)


@pytest.mark.parametrize(
    ("pairs", "edges"),
    [
        ([], 0),
        ([("a", "t")], 0),
        ([("a", "t"), ("b", "t"), ("c", "t")], 2),
        ([("a", "t"), ("b", "t"), ("a", "s"), ("b", "s"), ("c", "r")], 1),
    ],
)
def test_interests_that_a_tree_connects(pairs, edges):
    assert find_certificate(Interests.from_pairs(pairs), steps=30).edges == edges


def test_what_does_not_fit_into_memory_is_refused_with_the_way_out(monkeypatch):
    monkeypatch.setattr("meshwright.runtime.memory.free_memory", lambda: 1000)
    with pytest.raises(CapacityError, match=r"candidate links needs about .*; use the quick bound, or gm"):
        find_certificate(workloads.unif(50, 10, subscriptions=3, seed=1), steps=5)
