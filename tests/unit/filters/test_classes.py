"""Classes in cases that can be checked by hand, and those that would be too many."""

import pyarrow as pa
import pytest

from meshwright.filters import automaton_classes, closure
from meshwright.filters.classes import classes_of
from meshwright.runtime.errors import CapacityError, InputError


def named(filters: list[str], dialect: str = "mqtt", names: list[str] | None = None) -> dict[str, set[str]]:
    found = classes_of(pa.array(filters), dialect, None if names is None else pa.array(names, pa.string()))
    return {name: set(found.filters_of(at)) for at, name in enumerate(found.names.to_pylist())}


def test_a_class_that_no_name_falls_into_is_dropped() -> None:
    assert set(named(["a/#", "a", "a/+/#"])) == {"a", "a/+/#"}
    assert set(named(["a/#", "a"])) == {"a", "a/#"}
    assert set(named(["#", "+", "+/+", "+/+/+/#"])) == {"+", "+/+", "+/+/+/#"}


def test_crossing_filters_have_a_class_where_they_meet() -> None:
    assert named(["plant/+/temp", "plant/7/#"]) == {
        "plant/+/temp": {"plant/+/temp"},
        "plant/7/#": {"plant/7/#"},
        "plant/7/temp": {"plant/+/temp", "plant/7/#"},
    }


def test_a_closed_and_an_open_filter_meet_in_a_closed_one() -> None:
    assert set(named(["+/+", "a/#"])) == {"+/+", "a/#", "a/+"}
    assert set(named(["a/+/c", "+/b/#"])) == {"a/+/c", "+/b/#", "a/b/c"}


def test_words_that_wildcards_pass_over_have_classes_beside_partial_words() -> None:
    assert named(["@a/*", "b$*/x", "**/x"], "zenoh") == {
        "@a/*": {"@a/*"},
        "b$*/x": {"b$*/x", "**/x"},
        "**/x": {"**/x"},
    }


def test_names_that_begin_with_a_dollar_are_apart_from_leading_wildcards() -> None:
    found = named(["#", "+/up", "$SYS/#", "$SYS/up"])
    assert found["$SYS/up"] == {"$SYS/#", "$SYS/up"}
    assert found["$SYS/#"] == {"$SYS/#"}


def test_a_class_whose_names_would_be_too_long_is_dropped() -> None:
    long = "x" * 40_000
    assert set(named([f"{long}/+", f"+/{long}"])) == {f"{long}/+", f"+/{long}"}


def test_amqp_filters_that_meet_in_several_filters_have_one_class_there() -> None:
    assert named(["a.#", "#.a"], "amqp") == {
        "a.#": {"a.#"},
        "#.a": {"#.a"},
        "#.a & a.#": {"a.#", "#.a"},
    }


def test_the_only_name_of_a_class_that_is_a_filter_itself_leaves_no_class() -> None:
    assert set(named(["a.*", "*.b", "a.b", "#.q"], "amqp")) >= {"a.*", "*.b", "a.b"}
    assert named(["a.*", "*.b", "a.b", "#.q"], "amqp")["a.b"] == {"a.*", "*.b", "a.b"}


def test_a_class_of_a_plain_filter_is_of_the_kind_name() -> None:
    found = classes_of(pa.array(["a/+", "a/b", "+/c"]), "mqtt")
    kinds = dict(zip(found.names.to_pylist(), found.kinds.to_pylist(), strict=True))
    assert kinds == {"a/+": "filter", "a/b": "name", "+/c": "filter", "a/c": "name"}


def test_a_class_that_nobody_asked_for_by_itself_is_of_the_kind_intersection() -> None:
    found = classes_of(pa.array(["a/+/+", "+/b/+"]), "mqtt")
    kinds = dict(zip(found.names.to_pylist(), found.kinds.to_pylist(), strict=True))
    assert kinds["a/b/+"] == "intersection"


def test_a_label_that_looks_like_a_filter_is_made_different() -> None:
    odd = "#.a & a.#"
    found = classes_of(pa.array(["a.#", "#.a", odd]), "amqp").names.to_pylist()
    assert len(found) == len(set(found))
    assert {odd, f"{odd} &"} <= set(found)


EXPLODING = ["/".join("x" if at == place else "+" for at in range(14)) for place in range(14)]


def test_filters_that_overlap_too_much_are_refused_with_their_names_and_ways_out() -> None:
    with pytest.raises(CapacityError, match=r"more than 1,000 classes.*'\+/.*names that exist.*prefix"):
        classes_of(pa.array(["quiet/#", *EXPLODING]), "mqtt", most=1000)
    with pytest.raises(CapacityError) as caught:
        classes_of(pa.array(["quiet/#", *EXPLODING]), "mqtt", most=1000)
    assert "quiet" not in str(caught.value)


def test_filters_that_multiply_are_refused_before_they_are_intersected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(closure, "_run", None)
    columns = [["+", "+", "+"] for _ in range(330)]
    for at, words in enumerate(columns):
        words[at % 3] = f"w{at}"
    for texts in (["/".join(words) for words in columns], [f"a/{'/'.join(words)}/#" for words in columns]):
        with pytest.raises(CapacityError, match=r"'(a/)?\+/\+/w.*'(a/)?\+/w.*'(a/)?w"):
            classes_of(pa.array(texts), "mqtt")


def test_too_many_states_of_an_automaton_are_refused_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(automaton_classes, "_MOST_STEPS", 5_000)
    texts = [f"#.w{at}.#" for at in range(12)]
    with pytest.raises(CapacityError, match=r"'#\.w.*names that exist"):
        classes_of(pa.array(["quiet.#", *texts]), "amqp")


def test_a_catalogue_keeps_exploding_filters_small() -> None:
    names = ["/".join("x" if at < 7 else "y" for at in range(14)), "/".join("y" * 14)]
    assert list(named(EXPLODING, names=names).values()) == [set(EXPLODING[:7])]


def test_a_name_of_a_catalogue_with_a_wildcard_is_refused() -> None:
    with pytest.raises(InputError, match=r"name 2, 'a/\+'"):
        named(["a/#"], names=["a", "a/+"])


def test_deep_filters_of_the_greatest_length_are_read() -> None:
    deep = "/".join(["a"] * 32_768)
    assert set(named([deep, "a/#"])) == {deep, "a/#"}
