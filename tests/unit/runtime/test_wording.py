import pytest

from meshwright.runtime.wording import choose, count, counts, meant, near, type_of


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 links"), (1, "1 link"), (2, "2 links"), (1_000, "1,000 links")]
)
def test_one_is_singular_and_all_else_plural(number, words):
    assert count(number, "link") == words


def test_irregular_plurals_and_numbers_alone():
    assert count(1, "node has", "nodes have") == "1 node has"
    assert count(2, "node has", "nodes have") == "2 nodes have"
    assert count(12_345) == "12,345"
    assert counts({"nodes": 2, "topics": 1}) == "2 nodes, 1 topic"


@pytest.mark.parametrize(
    ("given", "question"),
    [
        ("rign", "did you mean ring? "),
        ("RING", "did you mean ring? "),
        ("dcbc_direct", "did you mean dcbc-direct? "),
        ("gn", "did you mean gm? "),
        ("zebra", ""),
        (7, ""),
        ("", ""),
    ],
)
def test_a_near_miss_is_asked_about_whatever_its_case(given, question):
    assert meant(given, ["gm", "ring", "dcbc-direct"]) == question


def test_choices_follow_the_question():
    assert choose("rign", ["gm", "ring"]) == "did you mean ring? Otherwise choose among gm, ring"
    assert choose("zebra", ["gm", "ring"]) == "choose among gm, ring"
    assert choose("zebra", []) == "there is none to choose"


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


def test_a_type_has_the_article_that_is_said():
    assert [type_of(value) for value in (1, "a", [], Exception())] == [
        "an int",
        "a str",
        "a list",
        "an Exception",
    ]
