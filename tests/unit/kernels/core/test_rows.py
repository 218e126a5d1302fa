import numpy as np
import pytest

from meshwright.kernels.core.rows import append, grown, holds, make_rows, packed_items, remove, replace_row


def rows_of(*lists):
    indptr = np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)
    return make_rows(indptr, np.concatenate(lists).astype(np.int32), len(lists))


def as_lists(rows):
    return [
        rows.items[start : start + count].tolist()
        for start, count in zip(rows.starts, rows.counts, strict=True)
    ]


def test_rows_keep_their_ids_whatever_is_appended_removed_or_replaced():
    rng = np.random.default_rng(1)
    rows, model = rows_of([1, 2], [], [3]), [[1, 2], [], [3]]
    for step in range(2000):
        at, value = int(rng.integers(0, 3)), step + 10
        choice = rng.integers(0, 3)
        if choice == 0:
            while not append(rows, at, value):
                rows = grown(rows, 3, 8)
            model[at].append(value)
        elif choice == 1 and model[at]:
            gone = model[at][rng.integers(0, len(model[at]))]
            assert remove(rows, at, gone)
            model[at][model[at].index(gone)] = model[at][-1]
            model[at].pop()
        elif choice == 2 and step % 50 == 0:
            new = rng.integers(0, 9, 5).astype(np.int32)
            while not replace_row(rows, at, new):
                rows = grown(rows, 3, len(new))
            model[at] = new.tolist()
        assert as_lists(rows) == model
    assert packed_items(rows).tolist() == [value for row in model for value in row]


def test_growing_adds_empty_rows_and_room():
    rows = grown(rows_of([1, 2], [3]), 4, 10)
    assert as_lists(rows) == [[1, 2], [3], [], []]
    assert len(rows.items) - rows.used[0] >= 10


def test_what_finds_no_room_changes_nothing():
    rows = make_rows(np.array([0, 2]), np.array([1, 2], np.int32), 1)._replace(
        items=np.array([1, 2], np.int32)
    )
    assert not append(rows, 0, 3)
    assert not replace_row(rows, 0, np.array([4, 5, 6], np.int32))
    assert as_lists(rows) == [[1, 2]]


def test_removing_what_is_not_there_changes_nothing():
    rows = rows_of([1, 2])
    assert not remove(rows, 0, 3)
    assert as_lists(rows) == [[1, 2]]


@pytest.mark.parametrize("size", range(9))
def test_a_sorted_row_holds_what_it_holds(size):
    items = np.arange(10, 10 + 3 * size, 3, dtype=np.int32)
    padded = np.concatenate([[5], items, [40]]).astype(np.int32)
    assert [value for value in range(60) if holds(padded, 1, size, value)] == items.tolist()
