"""Fingers: what is checked, and what is kept on disk."""

import numpy as np
import pyarrow as pa
import pytest

import meshwright as mw
from meshwright.model.fingers import NONE, phase_count, phases


def test_phases_of_a_full_ring_that_is_no_power_of_two_end_where_the_ring_does():
    starts, ends = phases(np.arange(11), 11, phase_count(11))
    assert starts[0].tolist() == [1, 2, 4, 8]
    assert ends[0].tolist() == [2, 4, 8, 11]
    assert starts[9].tolist() == [10, 11, 13, 17]
    assert ends[9].tolist() == [10 + 1, 13, 17, 20]


@pytest.mark.parametrize(
    ("space", "count", "whole"),
    [(0, 0, 0), (1, 0, 0), (2, 1, 1), (3, 2, 1), (4, 2, 2), (5, 3, 2), (1023, 10, 9), (2**62, 62, 62)],
)
def test_phases_reach_the_greatest_distance_unless_the_last_is_cut_short_and_left_out(space, count, whole):
    assert (phase_count(space), phase_count(space, whole=True)) == (count, whole)


def test_on_a_sparse_ring_phases_may_be_empty_and_the_first_other_holds_the_next_node_alone():
    starts, ends = phases(np.array([0, 5, 6, 7, 12]), 16, 4)
    assert (ends - starts)[0].tolist() == [0, 0, 1, 1]  # 5, 6 and 7 are in phase 2, 12 in phase 3
    assert starts[0].tolist() == [1, 1, 1, 4]


@pytest.fixture(scope="module")
def overlay():
    return mw.build(mw.workloads.unif(20, 6, subscriptions=2, seed=1), "random-sw", bits=7, seed=3)


def test_fingers_survive_the_disk(overlay, tmp_path):
    overlay.write(tmp_path / "o")
    once, again = (mw.Fingers.of(found) for found in (overlay, mw.Overlay.read(tmp_path / "o")))
    assert np.array_equal(once.positions, again.positions)
    assert np.array_equal(once.targets, again.targets)
    assert once.space == again.space == 128
    assert repr(once) == "Fingers(20 nodes on a ring of 128 identifiers)"


def test_the_table_of_fingers_has_the_columns_of_the_dataset(overlay):
    table = overlay.tables["fingers"]
    assert table.column_names == ["node_id", "position", "phase", "target_id"]
    assert table.num_rows == np.count_nonzero(mw.Fingers.of(overlay).targets != NONE)


def test_an_overlay_without_fingers_is_refused_with_what_has_them():
    interests = mw.workloads.unif(6, 3, subscriptions=2)
    with pytest.raises(
        mw.InputError, match="the overlay of gm has no fingers; build one with chord, random-sw"
    ):
        mw.Fingers.of(mw.build(interests, "gm"))
    with pytest.raises(mw.InputError, match="the overlay has no fingers"):
        mw.Fingers.of(mw.Overlay.from_arrays(interests, [(0, 1)]))


def ring_of_four(**changes):
    """Chord on four identifiers: node v has the fingers v + 1 and v + 2."""
    given = {"positions": np.arange(4), "space": 4, "targets": np.array([[1, 2], [2, 3], [3, 0], [0, 1]])}
    return mw.Fingers(**{**given, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"targets": np.array([[1, 2], [2, 3], [3, 0], [0, 0]])}, "the finger of node 3 in phase 1 is 0"),
        ({"targets": np.array([[1, 2], [2, -1], [3, 0], [0, 1]])}, "the finger of node 1 in phase 1 is -1"),
        ({"targets": np.array([[1, 2], [2, 3], [3, 0], [0, 4]])}, "targets must lie between 0 and 3"),
        ({"targets": np.zeros((4, 3), int)}, r"targets has shape \(4, 3\); give \(4, 2\), nodes by phases"),
        ({"positions": np.array([0, 1, 2, 2])}, "positions must be different and lie between 0 and 3"),
        ({"positions": np.array([0, 1, 2, 4])}, "positions must be different and lie between 0 and 3"),
        ({"space": 3}, "4 nodes have 3 identifiers; give at least one per node"),
    ],
)
def test_what_is_no_small_world_is_refused(changes, message):
    ring_of_four()
    with pytest.raises(mw.InputError, match=message):
        ring_of_four(**changes)


def test_on_a_sparse_ring_the_first_finger_must_lead_to_the_next_node():
    positions, targets = np.array([0, 2, 3]), np.array([[NONE, 2], [2, 0], [0, 1]])
    with pytest.raises(mw.InputError, match="a node's first finger must lead to the next node"):
        mw.Fingers(positions, 4, targets)
    targets[0, 1] = 1
    mw.Fingers(positions, 4, targets)


def changed(table, **columns):
    for name, values in columns.items():
        table = table.set_column(table.column_names.index(name), name, pa.array(values))
    return table


def test_rows_that_contradict_each_other_are_refused():
    table = ring_of_four().to_table()
    read = mw.Fingers.from_table
    assert np.array_equal(read(table, 4, 4, 2).targets, ring_of_four().targets)
    with pytest.raises(mw.InputError, match="a node has two positions"):
        read(changed(table, position=[0, 1, 1, 1, 2, 2, 3, 3]), 4, 4, 2)
    with pytest.raises(mw.InputError, match="a node has two fingers in one phase"):
        read(changed(table, phase=[0, 0, 0, 1, 0, 1, 0, 1]), 4, 4, 2)
    with pytest.raises(mw.InputError, match="outside of 4 nodes and 2 phases"):
        read(changed(table, phase=[0, 2, 0, 1, 0, 1, 0, 1]), 4, 4, 2)
    with pytest.raises(mw.DatasetError, match="fingers/ has no column 'phase'"):
        read(table.drop(["phase"]), 4, 4, 2)


@pytest.mark.parametrize("fact", ["identifiers", "phases"])
@pytest.mark.parametrize("value", [None, True, "7", 1.5, [], {}, -1, 10**30])
def test_facts_of_another_type_or_size_are_refused(overlay, fact, value):
    wrong = mw.Overlay(overlay.interests, overlay.edges, None, {**overlay.facts, fact: value}, overlay.tables)
    with pytest.raises((mw.DatasetError, mw.InputError)):
        mw.Fingers.of(wrong)
