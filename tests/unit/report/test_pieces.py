"""Numbers, markup, alternatives and pictures."""

import re

import numpy as np
import pytest

import meshwright as mw
from meshwright.report import figures
from meshwright.report.markup import (
    Html,
    as_text,
    count,
    decimal,
    legible,
    median,
    of_the_least,
    percent,
    seconds,
    spoken,
    table,
    tag,
    tick,
    times,
)
from meshwright.report.summary import alternatives
from tests.shelf import AWKWARD
from tests.unit.report.examples import evaluation_of, profile_of


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (count(1, "link"), "1 link"),
        (count(1_234, "link"), "1,234 links"),
        (count(0, "topic"), "0 topics"),
        (spoken(999_999), "999,999"),
        (spoken(2_456_759_656), "2.46 billion"),
        (decimal(0.012345), "0.0123"),
        (decimal(5.2749), "5.27"),
        (decimal(70_096.0), "70,096"),
        (times(1.395), "1.40"),
        (times(22_372.3), "22,372"),
        (spoken(999_999_999), "1,000 million"),
        (percent(0), "0%"),
        (of_the_least(1.0, "it has"), "it has the least possible. "),
        (of_the_least(1.0001, "it has"), "it has at most 1.01 times the least possible. "),
        (of_the_least(2.5, "it has"), "it has at most 2.50 times the least possible. "),
        (percent(12.345), "1,234%"),
        (percent(0.00001), "under 0.01%"),
        (percent(0.1071), "10.7%"),
        (tick(100), "100"),
        (tick(20_000_000), "20M"),
        (seconds(0.0123), "0.012 s"),
        (seconds(3.25), "3.2 s"),
        (seconds(59.7), "1 min 00 s"),
        (seconds(3_723), "1 h 02 min"),
        (as_text(True), "yes"),
        (as_text(None), "none"),
        (as_text(list(range(20))), "0, 1, 2, 3, 4, 5, 6, 7, … (20 in all)"),
    ],
)
def test_numbers_are_written_for_people(shown: str, expected: str) -> None:
    assert shown == expected


@pytest.mark.parametrize("sizes", [[1], [1, 1, 2], [1, 2, 3, 4], [5, 5, 1, 9, 2]])
def test_the_median_is_one_that_half_have_at_most(sizes: list[int]) -> None:
    values, counts = np.unique(sizes, return_counts=True)
    assert median(values.tolist(), counts.tolist()) == sorted(sizes)[(len(sizes) - 1) // 2]


def test_text_is_escaped_and_html_is_not() -> None:
    assert tag("p", "a<b", Html("<b>c</b>"), class_='x"y', id=None) == (
        '<p class="x&quot;y">a&lt;b<b>c</b></p>'
    )


def test_what_can_not_be_seen_is_made_visible_and_what_is_long_is_cut() -> None:
    assert legible("a\u202eb\n\ud800") == "a\\u202eb\\n\\ud800"
    assert legible("x" * 5_000) == "x" * 79 + "…"
    assert [legible(text) for text in (" a b ", "a  ", " ", "")] == ["␣a b␣", "a␣␣", "␣", ""]


def test_a_table_has_headings_for_rows_and_columns() -> None:
    found = table("Label", ("a", "b"), [("x", "1")], {1})
    assert '<th scope="col">a</th><th scope="col" class="number">b</th>' in found
    assert '<th scope="row">x</th><td class="number">1</td>' in found


@pytest.mark.parametrize("name", AWKWARD)
def test_rings_have_at_most_the_links_that_are_said(name: str) -> None:
    interests = AWKWARD[name]
    found = evaluation_of(mw.evaluate(mw.build(interests, "gm")))
    ours, rings, mesh = alternatives(found, profile_of(interests), "gm")
    built = len(mw.build(interests, "ring"))
    assert (ours.links, ours.ours) == (found["edges"], True)
    assert built <= rings.links <= mesh.links == interests.node_count * (interests.node_count - 1) // 2
    assert mesh.average_degree == max(interests.node_count - 1, 0)


def test_rings_that_share_no_link_have_exactly_the_links_that_are_said() -> None:
    pairs = [
        (f"{topic}{node}", topic)
        for topic, size in zip("abcd", (1, 2, 3, 7), strict=True)
        for node in range(size)
    ]
    interests = mw.Interests.from_pairs(pairs)
    found = evaluation_of(mw.evaluate(mw.build(interests, "gm")))
    rings = alternatives(found, profile_of(interests), "gm")[1]
    assert rings.links == len(mw.build(interests, "ring")) == 0 + 1 + 3 + 7


PICTURES = {
    "bars": lambda key: figures.bars(key, "label", [("a", 3, "ours"), ("b", 10**9, "others")], "links"),
    "few bars": lambda key: figures.bars(key, "label", [("a", 0, "ours"), ("b", 0, "bound")], "links"),
    "log-log": lambda key: figures.log_log(key, "label", [1, 2, 900], [50, 9, 1], ("x", "y"), (2.5, 2)),
    "one point": lambda key: figures.log_log(key, "label", [1], [1], ("x", "y"), (2.5, 1)),
    "histogram": lambda key: figures.histogram(key, "label", [(0, 5), (3, 900)], ("x", "y")),
    "wide histogram": lambda key: figures.histogram(key, "label", [(0, 5), (10**6, 1)], ("x", "y")),
    "heat": lambda key: figures.heat_map(key, "label", np.array([[1, np.nan], [-0.3, 1]]), 0.5),
    "large heat": lambda key: figures.heat_map(key, "label", np.eye(1_001), 1.0),
}


@pytest.mark.parametrize("kind", PICTURES)
def test_a_picture_fits_into_a_page_beside_itself(kind: str) -> None:
    one, other = PICTURES[kind]("one"), PICTURES[kind]("other")
    assert one == PICTURES[kind]("one")
    assert one.startswith('<svg viewBox="0 0 340 ')
    assert "http" not in one
    assert "xmlns" not in one
    assert not set(re.findall(r' id="([^"]+)', one)) & set(re.findall(r' id="([^"]+)', other))
    assert not re.search("#0000", one)
    assert len(one) < 400_000


def test_colours_of_a_picture_are_those_of_the_page() -> None:
    picture = PICTURES["log-log"]("one")
    assert {"var(--ink)", "var(--line)", "var(--ours)", "var(--fit)"} <= set(
        re.findall(r"var\([^)]*\)", picture)
    )


def test_without_matplotlib_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(mw.OptionError, match=r"meshwright\[report\]"):
        PICTURES["bars"]("one")


def test_labels_of_bars_keep_every_digit():
    assert "ring: 0.00786" in figures.bars("k", "l", [("ring: 0.00786", 0.00786, "ours")], "seconds")


def test_points_count_those_that_have_at_least_as_much_and_the_line_begins_at_one_of_them() -> None:
    values, counts = [1, 2, 5, 900], [50, 30, 6, 2]
    at_least = np.array([88, 38, 8, 2])
    x, y = figures._power_law(values, at_least, 2.5, 2)
    assert (x[0], y[0]) == (2, 38)
    assert x[-1] == 900
    whole = sum(k**-2.5 for k in range(2, 200_000))
    expected = [38 * sum(k**-2.5 for k in range(at, 200_000)) / whole for at in (2, 40)]
    assert np.interp([2, 40], x, y) == pytest.approx(expected, rel=0.02)
    picture = figures.log_log("k", "l", values, counts, ("x", "y"), (2.5, 2))
    line, points = picture.index("var(--fit)"), picture.index("var(--ours)")
    assert points < line
    assert ">counted<" in picture
    assert ">power law<" in picture
    assert ">power law<" not in figures.log_log("k", "l", values, counts, ("x", "y"))
