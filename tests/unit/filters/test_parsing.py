"""What each dialect forbids, and its canonical form."""

import pyarrow as pa
import pytest

from meshwright.filters.classes import classes_of
from meshwright.filters.dialects import dialect_of
from meshwright.filters.filter import Filter
from meshwright.filters.parsing import parse_filters
from meshwright.runtime.errors import InputError, OptionError

LONG = "x" * 65_535


@pytest.mark.parametrize(
    ("dialect", "text", "words"),
    [
        ("mqtt", "a/#/b", "# may only be the last word"),
        ("mqtt", "a#", "must be a whole level"),
        ("mqtt", "a/+b", "must be a whole level"),
        ("mqtt", "a\0b", "control character"),
        ("mqtt", "a/b\n", "control character"),
        ("mqtt", "\x7f", "control character"),
        ("mqtt", "a\x9f/b", "control character"),
        ("mqtt", "a/\ufdd0", "Unicode reserves"),
        ("mqtt", "a/\U0001ffff", "Unicode reserves"),
        ("nats", "a\0b", "NUL"),
        ("mqtt", LONG + "x", "more than 65,535 bytes"),
        ("mqtt", "é" * 32_768, "more than 65,535 bytes"),
        ("mqtt", "$share/g", r"\$share/GROUP/FILTER"),
        ("mqtt", "$share//a", r"\$share/GROUP/FILTER"),
        ("mqtt", "$share/+/a", r"\$share/GROUP/FILTER"),
        ("mqtt", "$share/g/a/#/b", "# may only be the last word"),
        ("mqtt", "", "empty"),
        ("nats", "a.>.b", "> may only be the last word"),
        ("nats", "a..b", "a word is empty"),
        ("nats", ".a", "a word is empty"),
        ("nats", "a.", "a word is empty"),
        ("nats", "a.b\tc", "white space"),
        ("nats", "a q r", "queue group"),
        ("nats", "a ", "queue group"),
        ("amqp", "x" * 256, "more than 255 bytes"),
        ("amqp", "", "empty"),
        ("zenoh", "a//b", "a word is empty"),
        ("zenoh", "/a", "a word is empty"),
        ("zenoh", "a/", "a word is empty"),
        ("zenoh", "a#", "reserved"),
        ("zenoh", "a?b", "reserved"),
        ("zenoh", "a$b", r"\$ may only stand in"),
        ("zenoh", "a*", "must be a whole chunk"),
        ("zenoh", "***", "must be a whole chunk"),
        ("zenoh", "@a$*", "matched literally"),
    ],
)
def test_a_forbidden_filter_is_refused_with_its_reason(dialect: str, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        Filter(text, dialect)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("dialect", "text", "canonical"),
    [
        ("mqtt", "+/#", "#"),
        ("mqtt", "/+/#", "/#"),
        ("mqtt", "a/+/#", "a/+/#"),
        ("mqtt", "$share/group/a/+", "a/+"),
        ("mqtt", "/", "/"),
        ("mqtt", LONG, LONG),
        ("mqtt", "é/日本/🙂", "é/日本/🙂"),
        ("mqtt", "a b/'\"\u2028", "a b/'\"\u2028"),
        ("amqp", "a\nb.\x07'\"", "a\nb.\x07'\""),
        ("nats", "a q\x1fr", "a"),
        ("nats", "*.>", "*.>"),
        ("nats", "orders.> workers", "orders.>"),
        ("nats", "a*b.c>", "a*b.c>"),
        ("amqp", "#.#", "#"),
        ("amqp", "#.*", "*.#"),
        ("amqp", "a.#.*.#.b", "a.*.#.b"),
        ("amqp", "a#.b*", "a#.b*"),
        ("zenoh", "**/**", "**"),
        ("zenoh", "*/**", "**"),
        ("zenoh", "a/**/*", "a/*/**"),
        ("zenoh", "a/$*/b$*$*c", "a/*/b$*c"),
        ("zenoh", "a@b/@c", "a@b/@c"),
    ],
)
def test_a_filter_has_a_canonical_form(dialect: str, text: str, canonical: str) -> None:
    assert Filter(text, dialect).text == canonical
    assert Filter(canonical, dialect).text == canonical


@pytest.mark.parametrize(
    ("dialect", "text", "name", "is_match"),
    [
        ("mqtt", "#", "$SYS/a", False),
        ("mqtt", "+/a", "$SYS/a", False),
        ("mqtt", "$SYS/#", "$SYS/a", True),
        ("mqtt", "a/+", "a/$SYS", True),
        ("mqtt", "a/#", "a", True),
        ("mqtt", "a/+", "a/", True),
        ("mqtt", "a/+", "a", False),
        ("nats", ">", "$SYS.a", True),
        ("nats", "a.>", "a", False),
        ("amqp", "a.#", "a", True),
        ("amqp", "#", "", True),
        ("amqp", "*", "", False),
        ("zenoh", "a/**", "a/@b", False),
        ("zenoh", "a/**/@b", "a/x/@b", True),
        ("zenoh", "$*b", "@b", False),
        ("zenoh", "x$*", "x@y", True),
    ],
)
def test_a_filter_matches_by_the_rules_of_its_broker(
    dialect: str, text: str, name: str, is_match: bool
) -> None:
    assert Filter(text, dialect).matches(name) == is_match


@pytest.mark.parametrize(
    ("dialect", "one", "other", "both"),
    [
        ("mqtt", "a/#", "+/b", ["a/b"]),
        ("mqtt", "#", "$SYS/#", []),
        ("mqtt", "a/+", "a", []),
        ("nats", "a.>", "*.b.>", ["a.b.>"]),
        ("amqp", "a.#", "#.a", ["a", "a.#.a"]),
        ("amqp", "#.a.#", "#.b.#", ["#.a.#.b.#", "#.b.#.a.#"]),
        ("zenoh", "a$*", "$*a", ["a", "a$*a"]),
        ("zenoh", "$*@y", "$*y", ["$*@y"]),
        ("zenoh", "**/@b", "a/**", []),
    ],
)
def test_two_filters_intersect_in_these(dialect: str, one: str, other: str, both: list[str]) -> None:
    assert [found.text for found in Filter(one, dialect).intersect(Filter(other, dialect))] == both
    assert [found.text for found in Filter(other, dialect).intersect(Filter(one, dialect))] == both


@pytest.mark.parametrize(("dialect", "name"), [("mqtt", "a/+"), ("nats", "a.>"), ("zenoh", "a/b$*")])
def test_a_name_with_a_wildcard_is_refused(dialect: str, name: str) -> None:
    with pytest.raises(InputError, match="a name has no wildcards"):
        Filter("a", dialect).matches(name)


def test_the_error_names_the_first_of_several_and_shows_control_characters_as_escapes() -> None:
    with pytest.raises(InputError, match=r"filter 2, 'a\\n#', .*\(and 1 more like it\)") as caught:
        classes_of(pa.array(["a", "a\n#", "b+"]), "mqtt")
    assert caught.value.row == 2


def test_faults_are_listed_and_the_rest_is_kept_where_asked_for() -> None:
    found = classes_of(pa.array(["a", "b+", "a/#"]), "mqtt", lenient=True)
    assert found.names.to_pylist() == ["a", "a/#"]
    assert found.number_of.tolist() == [0, -1, 1]
    assert [(fault.row, fault.text) for fault in found.faults] == [(1, "b+")]


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(InputError, match="lone surrogate"):
        Filter("a\ud800", "mqtt")
    with pytest.raises(InputError, match="give a string"):
        Filter(b"\xff", "mqtt")  # type: ignore[arg-type]


def test_an_unknown_dialect_is_refused_with_those_that_exist() -> None:
    with pytest.raises(OptionError, match="mqtt, nats, amqp, zenoh"):
        Filter("a", "kafka")


def test_filters_of_two_dialects_are_not_compared() -> None:
    with pytest.raises(InputError, match="one dialect"):
        Filter("a", "mqtt").covers(Filter("a", "nats"))


def test_texts_that_mean_the_same_are_one_filter() -> None:
    parsed = parse_filters(pa.array(["#", "+/#", "$share/g/#", "a"]), dialect_of("mqtt"))
    assert parsed.number_of.tolist() == [0, 0, 0, 1]
    assert parsed.patterns.texts.to_pylist() == ["#", "a"]


def test_no_filters_have_no_classes() -> None:
    for dialect in ("mqtt", "nats", "amqp", "zenoh"):
        assert len(classes_of(pa.array([], pa.string()), dialect)) == 0
        assert len(classes_of(pa.array(["a"]), dialect, pa.array([], pa.string()))) == 0
