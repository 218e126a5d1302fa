import pytest

from meshwright.runtime.near_misses import meant, near


@pytest.mark.parametrize(
    ("name", "known", "found"),
    [
        ("user", ["User", "item"], ["User"]),
        ("user", [" user ", "users", "item"], [" user ", "users"]),
        ("ITEM_ID", ["item id", "item_id"], ["item_id", "item id"]),
        ("euclid", ["great-circle", "euclidean", "manhattan"], ["euclidean"]),
        ("größe", ["GRÖSSE", "x"], ["GRÖSSE"]),
        ("xyz", ["node", "topic"], []),
        ("node", ["node"], []),
        ("", ["a"], []),
        ("a", [], []),
    ],
)
def test_names_that_look_alike_come_first_and_at_most_two(name, known, found):
    assert near(name, known) == found


def test_the_question_is_empty_without_a_guess():
    assert meant("xyz", ["node"]) == ""
    assert meant("nod", ["node"]) == "did you mean 'node'? Otherwise "
