"""The bounds of all pairs of a node where subscribers want neighbours, against plain counts."""

import numpy as np
import pytest

from meshwright.construct import greedy, neighbours
from meshwright.kernels.greedy.neighbours import start_rows
from meshwright.kernels.greedy.wants import take_links

NODES, TOPICS = 150, 110


def interests(share: float) -> np.ndarray:
    """Random interests, a row for each node; the first topic has all."""
    has = np.random.default_rng(3).random((NODES, TOPICS)) < share
    has[:, 0] = True
    return has


def bounds(has: np.ndarray, links: np.ndarray, is_fresh: bool) -> tuple[np.ndarray, np.ndarray]:
    """By row, the sums that are counted for later nodes, and the bound of all its pairs."""
    indptr = np.concatenate([[0], np.cumsum(has.sum(1))])
    order = np.arange(NODES, dtype=np.int32)
    problem = greedy.make_problem(indptr, np.nonzero(has)[1].astype(np.int32), TOPICS, order)
    state = greedy.start_state(problem, with_columns=True)
    wanted = neighbours.wanted_by(problem, 2)
    wants = neighbours._start_wants(problem, state, wanted, np.full(NODES, 99))
    state = state._replace(columns=wants.columns[: len(state.columns)])
    room, ticks = neighbours._start_room(problem, wants), np.zeros(2, np.int64)
    take_links(state, wants, links, room.own, ticks)
    pairs = neighbours._start_pairs(problem, int(wanted.sum()))
    sums = np.zeros((NODES, NODES), np.int64)
    for u in range(NODES - 1):
        start_rows(state, wants, pairs, np.array([u]), is_fresh, room, ticks)
        sums[u, u + 1 :] = room.sums[u + 1 :]
        assert not room.own_columns.any()
    return sums, pairs.tops


def exact(has: np.ndarray, links: np.ndarray, is_loose: bool) -> np.ndarray:
    """What pairs contribute; if `is_loose`, joins count unless both ends are in the largest component."""
    found = np.zeros((NODES, NODES), np.int64)
    for topic in range(TOPICS):
        members, names = has[:, topic], np.arange(NODES)
        degrees = np.zeros(NODES, np.int64)
        for u, v in links:
            if members[u] and members[v]:
                names[names == names[v]] = names[u]
                degrees[[u, v]] += 1
        wanting = (degrees < 2).astype(np.int64)
        largest = np.bincount(names[members]).argmax()
        apart = names[:, None] != names
        if is_loose:
            apart |= names[:, None] != largest
        found += (members[:, None] & members) * (apart + wanting[:, None] + wanting)
    return np.triu(found, 1)


LINKS = np.sort(np.random.default_rng(4).integers(0, NODES, (240, 2)), axis=1).astype(np.int32)
LINKS = np.unique(LINKS[LINKS[:, 0] < LINKS[:, 1]], axis=0)


@pytest.mark.parametrize("share", [0.1, 0.6, 0.95])
@pytest.mark.parametrize("is_fresh", [True, False])
def test_before_any_link_every_common_topic_counts_three(share, is_fresh):
    has = interests(share)
    sums, tops = bounds(has, LINKS[:0], is_fresh)
    expected = exact(has, LINKS[:0], False)
    assert np.array_equal(sums, np.minimum(expected, 255))
    assert (tops >= expected.max(axis=1)).all()


@pytest.mark.parametrize("share", [0.1, 0.6, 0.95])
@pytest.mark.parametrize("popular", [1, 32])
def test_a_row_is_exact_but_for_components_of_popular_topics(share, popular, monkeypatch):
    """With `popular` 1 only topics of all nodes are."""
    monkeypatch.setattr(greedy, "_POPULAR", popular)
    has = interests(share)
    sums, tops = bounds(has, LINKS, False)
    low, high = exact(has, LINKS, False), exact(has, LINKS, True)
    assert (np.minimum(low, 255) <= sums).all()
    assert (sums <= np.minimum(high, 255)).all()
    assert (tops >= low.max(axis=1)).all()
