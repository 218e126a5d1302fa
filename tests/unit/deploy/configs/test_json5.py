"""JSON5 as values with places."""

import json

import pytest

from meshwright.deploy.configs.json5 import read_json5
from meshwright.deploy.configs.source import UnreadableError
from meshwright.deploy.configs.tree import Node


def plain(node: Node) -> object:
    """A value without places."""
    if isinstance(node.value, dict):
        return {key: plain(value) for key, value in node.value.items()}
    return [plain(each) for each in node.value] if isinstance(node.value, list) else node.value


def read(text: str) -> object:
    return plain(read_json5(text, "x.json5").root)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{a: 1, 'b': [2, 3,], \"c\": {},}", {"a": 1, "b": [2, 3], "c": {}}),
        ("// x\n{/* y */ a: null /* , b: 1 */}", {"a": None}),
        ("[0x1F, -0x10, +1, .5, 5., 1e3, true, false]", [31, -16, 1, 0.5, 5.0, 1000.0, True, False]),
        (
            r"""['a\'b', "\u00e9\x41\n", 'two\
lines']""",
            ["a'b", "éA\n", "twolines"],
        ),
        ('"\\ud83d\\ude00"', "😀"),
        ("{$a_1: Infinity}", {"$a_1": float("inf")}),
        ("{\\u0061b: 1}", {"ab": 1}),
        ("\ufeff  []  // end", []),
    ],
)
def test_what_json5_adds_to_json_is_read(text: str, value: object) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "a value is missing"),
        ("{a: 1", 1, "ends too early"),
        ("{a: 1\n b: 2}", 2, "a comma or } is missing"),
        ("[1\n2]", 2, "a comma or ] is missing"),
        ("{a 1}", 1, "a colon must follow the key 'a'"),
        ("{,}", 1, "a key is missing"),
        ("'a\nb'", 1, "a string does not end on its line"),
        ("{}\n\n{}", 3, "goes on after its end"),
        ("/* open", 1, "a value is missing"),
        ("undefined", 1, "a value is missing"),
        ("[" * 500, 1, "nested more than"),
    ],
)
def test_a_text_that_is_none_is_refused_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(UnreadableError, match=words) as caught:
        read_json5(text, "x.json5")
    assert caught.value.place == ("x.json5", line)


def test_an_entry_is_on_the_line_of_its_key() -> None:
    root = read_json5('{\n"a":\n[1,\n2]}', "x").root
    assert root.at("a").place.line == 2
    assert [each.place.line for each in root.at("a").elements] == [3, 4]


def test_of_a_key_given_twice_the_last_counts_as_in_json() -> None:
    text = '{"a": 1, "a": 2}'
    assert read(text) == json.loads(text)


def test_comments_come_with_their_lines() -> None:
    comments = read_json5("// one\n{ /* two */ }\n/// three", "x").comments
    assert [(each.text.strip(), each.place.line) for each in comments] == [
        ("one", 1),
        ("two", 2),
        ("three", 3),
    ]
