"""The configuration language of NATS servers, as `nats-server -t` of version 2.15.1 takes it."""

import time
from pathlib import Path

import pytest

from meshwright.deploy.configs.nats_syntax import read_nats
from meshwright.deploy.configs.source import UnreadableError
from meshwright.deploy.configs.tree import Node, Outside


def plain(node: Node) -> object:
    """A value without places."""
    if isinstance(node.value, dict):
        return {key: plain(value) for key, value in node.value.items()}
    return [plain(each) for each in node.value] if isinstance(node.value, list) else node.value


def read(folder: Path, text: str) -> object:
    (folder / "nats.conf").write_bytes(text.encode())
    return plain(read_nats(folder / "nats.conf").root)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("port: 4222\nhost = h\nname x", {"port": 4222, "host": "h", "name": "x"}),
        ("port: 4222; host: 127.0.0.1, http: 8222", {"port": 4222, "host": "127.0.0.1", "http": 8222}),
        ('{ "port": 4222, "host": "localhost" }', {"port": 4222, "host": "localhost"}),
        ('{\n "a": 1,\n "b": {"c": [1, 2]}\n}\n', {"a": 1, "b": {"c": [1, 2]}}),
        ("a {b: 1}\nc {\n d\t2 }", {"a": {"b": 1}, "c": {"d": 2}}),
        ("a [1\n 2, 3 # x\n 4]", {"a": [1, 2, 3, 4]}),
        ("a {b: \n 1\n}", {"a": {"b": 1}}),
        ("a: x#y // comment\n# c: 1\n// d: 1", {"a": "x#y"}),
        (
            "u: nats://h:1,\nv: [nats://h:1, nats://i:1]",
            {"u": "nats://h:1", "v": ["nats://h:1", "nats://i:1"]},
        ),
        (
            "a: 10k\nb: 10KB\nc: 2g\nd: -3\ne: 1.5\nf: 2s",
            {"a": 10_000, "b": 10_240, "c": 2_000_000_000} | {"d": -3, "e": 1.5, "f": "2s"},
        ),
        ("a: true\nb: OFF\nc: 'true'", {"a": True, "b": False, "c": "true"}),
        ('a: "x\\ty\\"z\\x41"\nb: \'x\\ty\'\nc: x\\x41', {"a": 'x\ty"zA', "b": "x\\ty", "c": "xA"}),
        ("a: (\n one\n two\n)\nb: 1", {"a": "\n one\n two\n", "b": 1}),
        ("a: 1\r\nb: {\r\n c: 2\r\n}\r\n", {"a": 1, "b": {"c": 2}}),
        ("x: 5\na: $x\nb {x: 6, c: $x}", {"x": 5, "a": 5, "b": {"x": 6, "c": 6}}),
        ("a: $NOWHERE", {"a": Outside("NOWHERE")}),
        ("password: $2a$11$abc", {"password": "$2a$11$abc"}),
        ("a: ;\nb: 1", {"a": "", "b": 1}),
        ("a\n  b", {"a": "b"}),
        ("a: 1\na: 2", {"a": 2}),
        ("a: \"# no 'comment'\"", {"a": "# no 'comment'"}),
        ("", {}),
    ],
)
def test_what_the_server_reads_is_read_alike(tmp_path: Path, text: str, value: object) -> None:
    assert read(tmp_path, text) == value


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nleafnodes {\n port: 1\n", 4, "a } is missing"),
        ("a: [1, 2", 1, "a ] is missing"),
        ("a {b: 1} c: 2", 1, "after a value comes a new line"),
        ("a: 1 b: 2", 1, "after a value comes a new line"),
        ("a [ {b: 1} {b: 2} ]", 1, "a comma or ] is missing"),
        ("a: \n b", 1, "'a' has no value"),
        ("a {b: , c: 1}", 1, "'b' has no value"),
        ("a", 1, "'a' has no value"),
        ("= 1", 1, "a key is missing"),
        ("a: 'x", 1, "a string does not end"),
        ('a: "x', 1, "a string does not end"),
        ("a: " + "[" * 200, 1, "nested more than"),
        ("a {" * 200, 1, "nested more than"),
    ],
)
def test_half_a_configuration_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    with pytest.raises(UnreadableError, match=words) as caught:
        read(tmp_path, text)
    assert caught.value.place == (str(tmp_path / "nats.conf"), line)


def test_includes_are_read_from_the_folder_of_their_file(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "users.conf").write_text("users: [a]\ninclude deeper.conf\n")
    (tmp_path / "more" / "deeper.conf").write_text("x: 1\n")
    text = "accounts {\n A {\n include './more/users.conf'\n y: $x }\n}\ninclude \"more/deeper.conf\"\n"
    assert read(tmp_path, text) == {"accounts": {"A": {"users": ["a"], "x": 1, "y": 1}}, "x": 1}


def test_what_is_included_has_its_own_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "more.conf").write_text("\n\nport: 1\n")
    (tmp_path / "nats.conf").write_text("include more.conf\n")
    config = read_nats(tmp_path / "nats.conf")
    assert config.root.at("port").place == (str(tmp_path / "more.conf"), 3)
    assert config.files == [str(tmp_path / "nats.conf"), str(tmp_path / "more.conf")]


def test_an_included_file_does_not_see_the_variables_of_the_outer_one(tmp_path: Path) -> None:
    (tmp_path / "more.conf").write_text("y: $x\n")
    assert read(tmp_path, "x: 1\ninclude more.conf\n") == {"x": 1, "y": Outside("x")}


def test_a_loop_of_includes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "more.conf").write_text("a: 1\ninclude nats.conf\n")
    with pytest.raises(UnreadableError, match=r"'nats.conf' is included inside itself") as caught:
        read(tmp_path, "include more.conf\n")
    assert caught.value.place == (str(tmp_path / "more.conf"), 2)


def test_an_include_that_is_missing_is_told_where_it_is_written(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"the included 'none.conf': the file can't be read") as caught:
        read(tmp_path, "\ninclude none.conf\n")
    assert caught.value.place.line == 2


def test_a_long_chain_of_includes_is_refused(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"{number}.conf").write_text(f"include {number + 1}.conf\n")
    (tmp_path / "300.conf").write_text("a: 1\n")
    with pytest.raises(UnreadableError, match="too many files"):
        read(tmp_path, "include 0.conf\n")


def test_the_environment_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_MINE", "1")
    assert read(tmp_path, "a: $SECRET_OF_MINE") == {"a": Outside("SECRET_OF_MINE")}


def test_variables_that_stand_for_ever_more_values_are_refused_in_short_time(tmp_path: Path) -> None:
    lines = ['a0: ["x","x"]', *(f"a{n}: [{', '.join([f'$a{n - 1}'] * 10)}]" for n in range(1, 12))]
    begin = time.monotonic()
    with pytest.raises(UnreadableError, match="more than 100,000 values") as refused:
        read(tmp_path, "\n".join([*lines, "leafnodes { remotes: $a11 }"]))
    assert refused.value.place.line < 12
    assert time.monotonic() - begin < 2


def test_a_variable_may_be_used_often(tmp_path: Path) -> None:
    users = ", ".join(["$u"] * 20_000)
    assert read(tmp_path, f"u: [a, b]\nv: [{users}]") == {"u": ["a", "b"], "v": [["a", "b"]] * 20_000}
