"""Views as a model: what they hold, and what is refused."""

import numpy as np
import pyarrow as pa
import pytest

import meshwright as mw


@pytest.fixture
def interests():
    return mw.Interests.from_pairs([(node, topic) for node in "abc" for topic in "xy"] + [("d", "x")])


def table(*rows):
    columns = zip(*rows, strict=True) if rows else ([], [], [])
    return pa.table(dict(zip(("topic_id", "node_id", "peer_id"), map(list, columns), strict=True)))


def test_views_come_back_from_their_table_in_order_of_preference(interests):
    views = mw.Views.from_table(interests, table((1, 2, 0), (0, 3, 2), (0, 3, 0), (0, 0, 1)))
    assert views.by_node() == [{0: (1,), 1: ()}, {0: (), 1: ()}, {0: (), 1: (0,)}, {0: (2, 0)}]
    assert mw.Views.from_table(interests, views.to_table()).by_node() == views.by_node()
    assert views.edges().tolist() == [[0, 1], [0, 2], [0, 3], [2, 3]]


def test_an_overlay_of_stan_keeps_its_views_on_disk(interests, tmp_path):
    overlay = mw.build(interests, "stan", seed=3)
    overlay.write(tmp_path / "o")
    read = mw.Overlay.read(tmp_path / "o")
    views = mw.Views.of(read)
    assert read == overlay
    assert views.by_node() == mw.Views.of(overlay).by_node()
    assert np.array_equal(np.unique(views.edges(), axis=0), overlay.edges)


def test_another_overlay_has_no_views(interests):
    with pytest.raises(mw.InputError, match="the overlay of ring has no views; build one with stan"):
        mw.Views.of(mw.build(interests, "ring"))


@pytest.mark.parametrize("row", [(1, 3, 0), (9, 0, 1), (-1, 0, 1), (0, 9, 1), (0, -1, 1)])
def test_a_view_of_a_topic_that_is_not_the_nodes_is_refused(interests, row):
    with pytest.raises(
        mw.InputError, match=r"views/ has a view of node -?\d in topic -?\d, to which the node does"
    ):
        mw.Views.from_table(interests, table(row))


@pytest.mark.parametrize(
    "rows", [[(0, 0, 0)], [(1, 0, 3)], [(0, 0, 9)], [(0, 0, -1)], [(0, 0, 1), (0, 0, 1)]]
)
def test_a_peer_that_is_no_other_subscriber_or_comes_twice_is_refused(interests, rows):
    with pytest.raises(
        mw.InputError,
        match=r"the view of node 0 in topic [01] has a peer that appears twice, or is not another",
    ):
        mw.Views.from_table(interests, table(*rows))


@pytest.mark.parametrize("indptr", [[0], [0] * 9, [0] * 7 + [1], [1] * 8, [0, 2, 1, 1, 1, 1, 1, 1]])
def test_offsets_that_do_not_fit_are_refused(interests, indptr):
    said = "there are .* views for .* interests|offsets of the views go from|offsets of views decrease"
    with pytest.raises(mw.InputError, match=said):
        mw.Views(
            interests, indptr, np.zeros(indptr[-1] if len(indptr) == 8 and indptr[2] == 1 else 0, np.int32)
        )


def test_columns_are_checked(interests):
    with pytest.raises(mw.DatasetError, match="views/ has no column 'peer_id'"):
        mw.Views.from_table(interests, table((0, 0, 1)).drop_columns("peer_id"))
