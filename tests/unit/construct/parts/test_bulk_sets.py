import numpy as np
import pytest

from meshwright import workloads
from meshwright.construct.parts.bulk_sets import bulk_by_size, bulk_by_threshold, choose_threshold
from meshwright.construct.parts.interest_queries import InProcess
from meshwright.model.interests import Interests
from meshwright.runtime.errors import OptionError
from tests.helpers import interests_of


def bulk_subscribers(interests: Interests, bulk: np.ndarray) -> np.ndarray:
    chosen = [interests.topic_ids[interests.indptr[u] : interests.indptr[u + 1]] for u in bulk]
    return np.bincount(np.concatenate([[], *chosen]).astype(int), minlength=interests.topic_count)


def subscribers(interests: Interests) -> np.ndarray:
    return np.bincount(interests.topic_ids, minlength=interests.topic_count)


@pytest.mark.parametrize("at_most", [0, 1, 2, 3, 7, 8, 9])
def test_the_threshold_is_the_smallest_that_few_enough_nodes_exceed(at_most):
    sizes = np.array([3, 0, 5, 5, 2, 9, 2, 5])
    legal = [eta for eta in range(10) if (sizes > eta).sum() <= at_most]
    assert choose_threshold(sizes, at_most) == legal[0]


@pytest.mark.parametrize("share", [0.0, 0.05, 0.2, 1.0])
def test_at_most_the_share_of_the_nodes_is_bulk_before_topics_are_covered(share):
    interests = workloads.unif(200, 40, min_subscriptions=2, max_subscriptions=20, seed=1)
    found = bulk_by_threshold(InProcess(interests), threshold=None, bulk_share=share, bulk_limit=1000)
    assert len(found.bulk) - found.added <= share * 200
    assert (np.diff(interests.indptr) > found.threshold).sum() == len(found.bulk) - found.added


def test_the_limit_holds_where_the_share_would_allow_more():
    interests = workloads.unif(200, 40, min_subscriptions=2, max_subscriptions=20, seed=1)
    found = bulk_by_threshold(InProcess(interests), threshold=None, bulk_share=0.2, bulk_limit=10)
    assert 0 < len(found.bulk) - found.added <= 10


def test_bulk_and_lightweight_nodes_are_all_nodes():
    interests = workloads.zipf(100, 30, subscriptions=4, seed=2)
    found = bulk_by_threshold(InProcess(interests), threshold=None, bulk_share=0.2, bulk_limit=1000)
    assert sorted([*found.bulk.tolist(), *found.light.tolist()]) == list(range(100))


def test_every_topic_of_two_subscribers_is_covered_and_one_of_one_is_not():
    interests = interests_of([{0, 1, 2}, {3, 4}, {3}, {4}, {5}])
    found = bulk_by_threshold(InProcess(interests), threshold=2, bulk_share=0.2, bulk_limit=1000)
    assert found.bulk.tolist() == [0, 1]
    assert found.added == 1


def test_a_threshold_over_the_number_of_topics_is_refused():
    interests = interests_of([{0, 1}, {1}])
    with pytest.raises(OptionError, match="threshold is 3, but there are 2 topics; give at most that many"):
        bulk_by_threshold(InProcess(interests), threshold=3, bulk_share=0.2, bulk_limit=1000)


def test_the_nodes_of_most_topics_are_bulk_and_ties_go_by_the_order():
    interests = interests_of([{0}, {0, 1}, {0, 1}, {0, 1, 2}, {0, 1}])
    order = np.array([0, 4, 3, 2, 1], np.int32)
    found = bulk_by_size(InProcess(interests), order, bulk_size=2, most_topics=100, crowd=100)
    assert found.bulk.tolist() == [3, 4]


def test_nodes_of_too_many_topics_are_bulk_whatever_the_size():
    interests = interests_of([{0, 1, 2, 3}, {0, 1, 2}, {0}])
    found = bulk_by_size(
        InProcess(interests), np.arange(3, dtype=np.int32), bulk_size=1, most_topics=2, crowd=100
    )
    assert found.bulk.tolist() == [0, 1]


@pytest.mark.parametrize("crowd", [1, 3, 10, 1000])
def test_a_topic_has_a_bulk_subscriber_for_every_crowd(crowd):
    interests = workloads.zipf(150, 25, subscriptions=3, seed=4)
    order = np.arange(150, dtype=np.int32)
    found = bulk_by_size(InProcess(interests), order, bulk_size=5, most_topics=100, crowd=crowd)
    crowds = np.ceil(subscribers(interests) / crowd)
    enough = bulk_subscribers(interests, found.bulk) >= crowds
    assert enough[subscribers(interests) > 1].all()
    assert found.added > 0
