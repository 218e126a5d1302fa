import numpy as np

from meshwright.construct.parts.topic_lists import Lists, join_lists, split_lists, take_lists

LISTS = Lists(
    nodes=np.array([4, 7, 9], np.int32),
    indptr=np.array([0, 2, 2, 5], np.int64),
    topic_ids=np.array([0, 3, 1, 2, 3], np.int32),
)


def plain(lists: Lists) -> list[tuple[int, list[int]]]:
    ends = zip(lists.nodes.tolist(), lists.indptr[:-1], lists.indptr[1:], strict=True)
    return [(node, lists.topic_ids[a:b].tolist()) for node, a, b in ends]


def test_taken_rows_keep_their_topics_in_the_order_asked_for():
    assert plain(take_lists(LISTS, np.array([2, 1, 0], np.int32))) == [(9, [1, 2, 3]), (7, []), (4, [0, 3])]


def test_no_rows_are_lists_too():
    assert plain(take_lists(LISTS, np.empty(0, np.int32))) == []


def test_joined_lists_follow_each_other():
    first = take_lists(LISTS, np.array([0], np.int32))
    rest = take_lists(LISTS, np.array([1, 2], np.int32))
    assert plain(join_lists([first, rest])) == plain(LISTS)


def test_every_row_is_in_the_list_of_its_part_and_parts_may_be_empty():
    parts = split_lists(LISTS, np.array([2, 0, 2], np.int32), 4)
    assert [plain(part) for part in parts] == [[(7, [])], [], [(4, [0, 3]), (9, [1, 2, 3])], []]
