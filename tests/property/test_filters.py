"""Filters, compared with a matcher that shares no code, over all names of a small alphabet."""

from functools import cache
from random import Random

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given

from meshwright import Interests
from meshwright.filters.classes import classes_of
from meshwright.filters.closure import TooManyMembersError, close
from meshwright.filters.dialects import dialect_of
from meshwright.filters.filter import Filter
from meshwright.filters.parsing import parse_filters
from tests.oracles_filters import SEPARATOR, all_names, matches

DIALECTS = ("mqtt", "nats", "amqp", "zenoh")
BODY = {
    "mqtt": ["a", "b", "", "$a", "+"],
    "nats": ["a", "b", "$a", "*"],
    "amqp": ["a", "b", "", "*", "#"],
    "zenoh": ["a", "ab", "@a", "*", "**", "a$*", "$*b", "a$*b", "$*a$*"],
}
END = {"mqtt": ["#"], "nats": [">"], "amqp": [], "zenoh": []}
LONGEST = {"mqtt": 3, "nats": 3, "amqp": 3, "zenoh": 2}

names_of = cache(all_names)


@st.composite
def filters(draw: st.DrawFn, dialect: str) -> str:
    words = draw(st.lists(st.sampled_from(BODY[dialect]), max_size=LONGEST[dialect] - 1))
    words.append(draw(st.sampled_from(BODY[dialect] + END[dialect])))
    text = SEPARATOR[dialect].join(words)
    return text or "a"


def filter_sets(dialect: str) -> st.SearchStrategy[list[str]]:
    return st.lists(filters(dialect), min_size=1, max_size=6)


in_each_dialect = pytest.mark.parametrize("dialect", DIALECTS)
in_mqtt_and_nats = pytest.mark.parametrize("dialect", ["mqtt", "nats"])


@cache
def matched_by(dialect: str, text: str) -> frozenset[str]:
    return frozenset(name for name in names_of(dialect) if matches(dialect, text, name))


@in_each_dialect
@given(st.data())
def test_a_filter_matches_the_names_that_its_broker_says(dialect: str, data: st.DataObject) -> None:
    text = data.draw(filters(dialect))
    names = data.draw(st.lists(st.sampled_from(names_of(dialect)), max_size=20))
    found = Filter(text, dialect)
    assert [found.matches(name) for name in names] == [matches(dialect, text, name) for name in names]


@in_each_dialect
@given(st.data())
def test_the_canonical_form_matches_the_same_names(dialect: str, data: st.DataObject) -> None:
    text = data.draw(filters(dialect))
    assert matched_by(dialect, Filter(text, dialect).text) == matched_by(dialect, text)


@in_mqtt_and_nats
@given(st.data())
def test_equal_filters_have_one_canonical_form(dialect: str, data: st.DataObject) -> None:
    one, other = data.draw(filters(dialect)), data.draw(filters(dialect))
    if matched_by(dialect, one) == matched_by(dialect, other):
        assert Filter(one, dialect) == Filter(other, dialect)


@in_each_dialect
@given(st.data())
def test_covering_is_inclusion_of_names(dialect: str, data: st.DataObject) -> None:
    one, other = data.draw(filters(dialect)), data.draw(filters(dialect))
    inclusion = matched_by(dialect, one) >= matched_by(dialect, other)
    assert Filter(one, dialect).covers(Filter(other, dialect)) == inclusion


@in_each_dialect
@given(st.data())
def test_an_intersection_matches_what_both_match(dialect: str, data: st.DataObject) -> None:
    one, other = data.draw(filters(dialect)), data.draw(filters(dialect))
    found = Filter(one, dialect).intersect(Filter(other, dialect))
    union = set().union(*(matched_by(dialect, part.text) for part in found))
    assert union - {""} == matched_by(dialect, one) & matched_by(dialect, other) - {""}
    assert Filter(one, dialect).meets(Filter(other, dialect)) == bool(
        matched_by(dialect, one) & matched_by(dialect, other)
    )
    assert dialect in ("amqp", "zenoh") or len(found) <= 1


def signatures(dialect: str, texts: list[str], names: list[str]) -> dict[str, frozenset[str]]:
    """By name, the filters that match it; names that none matches are left out."""
    own = {text: matched_by(dialect, text) for text in texts}
    found = {name: frozenset(text for text in texts if name in own[text]) for name in names}
    return {name: matched for name, matched in found.items() if matched}


@in_each_dialect
@given(st.data())
def test_classes_are_the_sets_of_filters_that_names_have(dialect: str, data: st.DataObject) -> None:
    texts = data.draw(filter_sets(dialect))
    found = classes_of(pa.array(texts), dialect)
    canonical = found.filters.to_pylist()
    by_name = signatures(dialect, canonical, names_of(dialect))
    ours = [frozenset(found.filters_of(number)) for number in range(len(found))]
    assert len(set(ours)) == len(ours)
    assert set(ours) == set(by_name.values())


@in_each_dialect
@given(st.data())
def test_an_example_is_in_its_class(dialect: str, data: st.DataObject) -> None:
    texts = data.draw(filter_sets(dialect))
    found = classes_of(pa.array(texts), dialect)
    for number, example in enumerate(found.examples.to_pylist()):
        matched = {text for text in found.filters.to_pylist() if matches(dialect, text, example)}
        assert matched == set(found.filters_of(number))


@in_mqtt_and_nats
@given(st.data())
def test_the_class_of_a_name_is_the_least_filter_that_matches_it(dialect: str, data: st.DataObject) -> None:
    texts = data.draw(filter_sets(dialect))
    found = classes_of(pa.array(texts), dialect)
    labels = {frozenset(found.filters_of(at)): name for at, name in enumerate(found.names.to_pylist())}
    names_by_class = {label: matched_by(dialect, label) for label in labels.values()}
    for name, matched in signatures(dialect, found.filters.to_pylist(), names_of(dialect)).items():
        own = labels[matched]
        assert name in names_by_class[own]
        assert all(names_by_class[own] <= other for other in names_by_class.values() if name in other)


@in_each_dialect
@given(st.data(), st.randoms(use_true_random=False))
def test_with_a_catalogue_only_names_that_exist_have_classes(
    dialect: str, data: st.DataObject, random: Random
) -> None:
    texts = data.draw(filter_sets(dialect))
    names = [name for name in random.sample(names_of(dialect), 12) if name]
    found = classes_of(pa.array(texts), dialect, pa.array(names))
    ours = {frozenset(found.filters_of(number)) for number in range(len(found))}
    assert ours == set(signatures(dialect, found.filters.to_pylist(), names).values())
    assert set(found.examples.to_pylist()) <= set(names)


@in_each_dialect
@given(st.data())
def test_names_of_classes_are_unique_and_in_byte_order(dialect: str, data: st.DataObject) -> None:
    texts = data.draw(filter_sets(dialect))
    names = classes_of(pa.array(texts), dialect).names.to_pylist()
    assert names == sorted(set(names), key=str.encode)


@in_each_dialect
def test_all_names_tell_more_than_the_words_of_filters(dialect: str) -> None:
    words = {word for name in names_of(dialect) for word in name.split(SEPARATOR[dialect])}
    assert words - {word for text in BODY[dialect] for word in text.split("$*")}


@in_each_dialect
@given(st.data())
def test_the_class_of_a_name_has_the_nodes_whose_filters_match_it(dialect: str, data: st.DataObject) -> None:
    texts = data.draw(filter_sets(dialect))
    known = [name for name in names_of(dialect) if name]
    names = data.draw(st.lists(st.sampled_from(known), min_size=1, max_size=5))
    catalogue = data.draw(st.sampled_from([None, names]))
    pairs = [(f"b{at}", text) for at, text in enumerate(texts)]
    interests = Interests.from_filters(pairs, dialect, catalogue)
    for name in names:
        found = interests.class_of(name)
        wanted = [node for node, text in pairs if matches(dialect, text, name)]
        assert (interests.nodes_of(found) if found is not None else []) == wanted


@in_mqtt_and_nats
@given(st.data())
def test_filters_are_refused_if_and_only_if_their_closure_is_larger(
    dialect: str, data: st.DataObject
) -> None:
    rules = dialect_of(dialect)
    patterns = parse_filters(pa.array(data.draw(filter_sets(dialect))), rules).patterns
    new = len(close(patterns, rules, 1000).open) - len(patterns)
    assert len(close(patterns, rules, new).open) == len(patterns) + new
    if new:
        with pytest.raises(TooManyMembersError):
            close(patterns, rules, new - 1)
