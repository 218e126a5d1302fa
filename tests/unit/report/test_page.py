"""The pages: whole, by themselves, safe with any name, and right about every empty state."""

import re
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import meshwright as mw
from meshwright.report.contents import Contents, Drawing, Quality, Repriced
from meshwright.report.page import write_page
from meshwright.report.report_page import profile_page, report_page
from meshwright.report.words import GLOSSARY, WHAT_CUT_MEANS, measures
from tests.shelf import AWKWARD
from tests.unit.report.examples import profile_of, report_of, report_of_overlay, through_json
from tests.unit.report.pages import Page

SMALL = mw.workloads.unif(20, 8, subscriptions=3, seed=1)
AWKWARD_NAMES = (
    "<script>alert(1)</script>",
    "</svg></style><img src=http://example.org/x onerror=alert(1)>",
    "\"'&amp;$title ${style} $x^2$",
    "x" * 5_000,
    "موضوع",
    "\u202eevil\u2066",
    "line\nbreak\x00\x1b[0m",
    "👩‍👩‍👧 family",
    "نمی‌خواهم",
)
SHOWN = (
    "<script>alert(1)</script>",
    "onerror=alert(1)>",
    "\"'&amp;$title ${style} $x^2$",
    "x" * 70,
    "موضوع",
    "\\u202eevil",
    "line\\nbreak\\x00\\x1b[0m",
    "👩‍👩‍👧 family",
    "نمی‌خواهم",
)


@pytest.fixture(scope="module")
def small() -> Contents:
    return report_of(SMALL)


@pytest.fixture(scope="module")
def broken() -> Contents:
    interests = mw.workloads.unif(100, 30, subscriptions=5, seed=1)
    overlay = mw.build(interests, "gm")
    return report_of_overlay(mw.Overlay.from_arrays(interests, overlay.edges[:20]), "imported")


@pytest.fixture(scope="module")
def small_page(small: Contents) -> str:
    return report_page(small)


@pytest.fixture(scope="module")
def broken_page(broken: Contents) -> str:
    return report_page(broken)


def check_whole(text: str) -> Page:
    """What every page must be: well-formed, offline, without scripts, each id once, each reference met."""
    page = Page(text)
    assert not page.tags() & {"script", "link", "iframe", "object", "embed", "img", "form"}
    assert not [name for _, found in page.elements for name in found if name.startswith("on")]
    for name in ("src", "href", "action", "data", "poster", "xlink:href"):
        assert all(value.startswith(("#", "data:image/png;base64,")) for value in page.values(name))
    style = text[text.index("<style>") : text.index("</style>")]
    assert not re.search(r"url\(|@import", style)
    linked = re.findall(r"url\(([^)]*)\)", " ".join(page.values("style") + page.values("clip-path")))
    ids = page.values("id")
    assert len(set(ids)) == len(ids)
    met = {f"#{found}" for found in ids}
    assert set(linked) <= met
    assert {value for value in page.values("href") if value.startswith("#")} <= met
    return page


@pytest.mark.parametrize("name", AWKWARD)
def test_both_pages_are_whole_for_every_awkward_dataset(name: str) -> None:
    contents = report_of(AWKWARD[name])
    check_whole(report_page(contents))
    check_whole(profile_page(profile_of(AWKWARD[name])))


def test_a_page_needs_no_address_of_the_network(small_page: str) -> None:
    assert not re.search("https?:", small_page)


def test_headings_never_skip_a_level(broken_page: str) -> None:
    levels = [int(tag[1]) for tag, _ in Page(broken_page).elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_every_picture_says_in_words_what_it_shows(small_page: str) -> None:
    page = Page(small_page)
    pictures = [found for tag, found in page.elements if tag == "svg"]
    assert len(pictures) == 7
    assert all(found["role"] == "img" and found["aria-label"] for found in pictures)
    assert sum(tag == "figcaption" for tag, _ in page.elements) == len(pictures)
    assert ("html", {"lang": "en"}) in page.elements


def test_a_name_from_the_data_is_text_wherever_it_stands(small: Contents, broken: Contents) -> None:
    page = report_page(named(AWKWARD_NAMES, small, broken))
    found = check_whole(page)
    assert found.tags() == Page(report_page(named(("plain", "names"), small, broken))).tags()
    for shown in SHOWN:
        assert found.text.count(shown) >= 8, shown
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", page)
    assert "xxx" * 100 not in page


def named(names: tuple[str, ...], small: Contents, broken: Contents) -> Contents:
    """A report with these names in all places where data has names."""
    assert small.profile is not None
    matrix = np.full((len(names), len(names)), 0.5).tolist()
    rows = [{"file": name, "line": 1, "reason": name, "text": name} for name in names]
    return replace(
        small,
        title=" ".join(names[:2]),
        parameters={name: {name: [name]} for name in names},
        seconds=dict.fromkeys(names, 1.0),
        facts=dict(zip(names, names, strict=True)),
        profile={
            **small.profile,
            "popular_topics": [[name, 3] for name in names],
            "correlation": {"topics": names, "matrix": matrix, "sampled": False},
        },
        drawing=Drawing(
            names=names, degrees=[9] + [1] * (len(names) - 1), edges=[[0, 1]], of_nodes=len(names)
        ),
        evaluation={**broken.evaluation, "disconnected_topic_components": dict.fromkeys(names, 2)},
        quality=Quality(
            rows=1,
            rejected=dict.fromkeys(names, 1),
            rejected_examples=rows,
            look_alikes=2,
            look_alike_examples=[names],
        ),
    )


def test_the_same_contents_give_the_same_bytes_also_after_json(small: Contents, small_page: str) -> None:
    assert report_page(through_json(small)) == small_page


def test_the_largest_page_is_under_a_million_and_a_half_bytes(small: Contents) -> None:
    random = np.random.default_rng(1)
    assert small.profile is not None
    many = {"values": list(range(1, 100_001)), "counts": random.integers(1, 10**6, 100_000).tolist()}
    profile = {
        **small.profile,
        "subscribers_per_topic": many,
        "topics_per_node": many,
        "correlation": {
            "topics": [f"topic {at}" for at in range(900)],
            "matrix": random.random((900, 900)).tolist(),
            "sampled": True,
        },
    }
    pairs = np.column_stack(np.triu_indices(150, 1)).tolist()
    drawing = Drawing(names=["node" * 30] * 150, degrees=[149] * 150, edges=pairs, of_nodes=150)
    evaluation = {
        **small.evaluation,
        "degree_distribution": random.integers(0, 1000, 50_000).tolist(),
        "diameter_distribution": [[at, 1 + at] for at in range(5_000)],
        "disconnected_topic_components": {f"topic {at}": 2 for at in range(10_000)},
        "topic_connected": False,
        "disconnected_topics": 10_000,
    }
    page = report_page(replace(small, profile=profile, drawing=drawing, evaluation=evaluation))
    check_whole(page)
    assert len(page.encode()) < 1_500_000


def test_the_headline_states_links_degree_alternatives_bound_and_verdict(
    small: Contents, small_page: str
) -> None:
    text = Page(small_page).text
    found = small.evaluation
    assert "✓ Topic-connected" in text
    assert f"{found['edges']} links connect the subscribers of every one of 8 topics" in text
    assert f"{found['average_degree']:.3g} links per node on average" in text
    assert "and a full mesh 19. No topic-connected" in text
    assert f"overlay has fewer than {found['lower_bound_average_degree']:.3g} links per node." in text


def test_an_overlay_that_is_not_topic_connected_says_so_and_lists_twenty_topics(broken_page: str) -> None:
    page = Page(broken_page)
    assert "✗ Not topic-connected" in page.text
    assert "leave 30 of 30 topics cut" in page.text
    assert page.text.index(WHAT_CUT_MEANS) < page.text.index("Cut topics")
    assert "and 10 more topics." in page.text
    assert "No path was measured." in page.text
    assert ("section", {"id": "broken"}) in page.elements


def test_nothing_at_all_is_said_in_sentences() -> None:
    text = Page(report_page(report_of(AWKWARD["none"]))).text
    for sentence in (
        "There is no interest in any topic, so there is nothing to connect.",
        "No topic has any subscriber.",
        "No node has any topic.",
        "Fewer than two topics: there is nothing to correlate.",
        "There are no links.",
        "There are no nodes to draw.",
    ):
        assert sentence in text


def test_an_overlay_without_links_has_no_drawing(broken: Contents) -> None:
    assert broken.drawing is not None
    bare = replace(broken.drawing, degrees=[0] * len(broken.drawing.names), edges=[])
    page = report_page(replace(broken, drawing=bare))
    assert "There are no links to draw." in page
    assert 'class="drawing"' not in page


def test_a_clean_input_is_said_to_be_clean(small: Contents) -> None:
    text = Page(report_page(replace(small, quality=Quality(rows=60, files=2)))).text
    assert "60 rows read from 2 files. None was rejected." in text
    assert "Nothing: no row came twice" in text


def test_rejected_rows_are_shown_by_reason_and_by_example(small_page: str) -> None:
    text = Page(small_page).text
    assert "3 rejected" in text
    assert "likes.csv:7: the topic is empty" in text
    assert "“news␣”" in text


def test_what_is_not_known_is_left_out() -> None:
    bare = Contents(title="bare", evaluation={**mw.evaluate(mw.build(SMALL, "gm")).to_json()})
    page = check_whole(report_page(bare))
    sections = {found["id"] for tag, found in page.elements if tag == "section"}
    assert sections == {"overlay", "making", "reading"}
    assert "No times are known." in page.text


def drawn_and_said(values: list[int], counts: list[int], **fit: float | None) -> tuple[bool, str]:
    """Whether a line is drawn for the topics of a node, and what the page says about it."""
    profile = profile_of(SMALL, exponent=False)
    found = {"values": values, "counts": counts, "exponent": None, "x_min": None, **fit}
    page = profile_page({**profile, "topics_per_node": found})
    return "var(--fit)" in page.partition("</style>")[2], " ".join(Page(page).text.split())


def test_a_line_is_in_the_legend_and_said_to_be_a_power_law() -> None:
    fit = {"exponent": 2.5, "x_min": 2, "ks_distance": 0.02, "tail": 90}
    drawn, text = drawn_and_said([1, 2, 9], [10, 60, 30], **fit)
    assert drawn
    assert "The line is a power law of exponent 2.50, fitted from 2 topics on." in text


@pytest.mark.parametrize(
    ("values", "counts", "fit", "why"),
    [
        ([1, 2], [3, 4], {}, "No power law is fitted: a fit needs at least 50 nodes, and there are 7."),
        ([3], [400], {}, "No power law is fitted: all nodes have the same number."),
        ([1, 2], [30, 40], {}, "No line is drawn: no power law fits these numbers."),
        (
            [1, 2, 3],
            [300, 400, 500],
            {"exponent": 1.5, "x_min": 1, "ks_distance": 0.31, "tail": 1_200},
            "even the nearest one (exponent 1.50) misses the counts by up to 31%.",
        ),
    ],
)
def test_without_a_line_the_page_says_why(
    values: list[int], counts: list[int], fit: dict[str, float], why: str
) -> None:
    drawn, text = drawn_and_said(values, counts, **fit)
    assert not drawn
    assert why in text


def test_a_poor_fit_to_few_values_is_left_to_chance_and_drawn() -> None:
    fit = {"exponent": 1.5, "x_min": 1, "ks_distance": 0.15, "tail": 60}
    assert drawn_and_said([1, 2, 3], [20, 20, 20], **fit)[0]


def test_upper_bounds_of_diameters_are_called_so(small: Contents, small_page: str) -> None:
    bounds = {"diameters_exact": False, "maximum_topic_diameter_lower_bound": 2}
    loose = Page(report_page(replace(small, evaluation={**small.evaluation, **bounds}))).text
    assert "count with an upper bound. The longest of all has 2 links or more." in loose
    assert "count with an upper bound" not in Page(small_page).text


def test_paths_are_told_of_connected_topics_alone_if_others_are_cut(small: Contents, small_page: str) -> None:
    assert "Two subscribers of a topic are never more than" in Page(small_page).text
    cut = {**small.evaluation, "topic_connected": False, "disconnected_topics": 2}
    text = Page(report_page(replace(small, evaluation=cut))).text
    assert "In the topics that are connected, two subscribers are never more than" in text
    assert "Two subscribers of a topic" not in text


def test_notices_of_an_ingest_stand_in_the_section_on_quality(small: Contents) -> None:
    assert small.quality is not None
    told = replace(
        small.quality, duplicates=0, look_alikes=0, notices=["Warning: 2 <topics> have wildcards."]
    )
    page = report_page(replace(small, quality=told))
    section = page[page.index('id="quality"') : page.index('id="interests"')]
    assert "<li>Warning: 2 &lt;topics&gt; have wildcards.</li>" in section


def test_every_measure_of_the_overlay_is_explained() -> None:
    explained = (*(word.lower() for word in GLOSSARY), "longest path")
    plain = {"nodes", "topics", "interests", "links", "topic-connected"}
    found = mw.evaluate(mw.build(SMALL, "gm")).to_json()
    shown = [words.lower() for words, _, _ in measures(found) if words not in plain]
    assert [words for words in shown if not words.startswith(explained)] == []
    assert "longest path inside a topic, at least" not in shown


def test_the_options_of_a_report_and_costs_that_gave_way_are_told(small: Contents) -> None:
    gave_way = [Repriced(name="today", links=3, of_links=9, cost_before=1_234.0, unit_before="ms")]
    text = Page(report_page(replace(small, asked={"costs": "rtt.csv"}, repriced=gave_way))).text
    assert "count for all links, in place of costs in the overlays." in text
    assert "today: 3 of 9 links had other costs; all its links cost 1,234\xa0ms before." in text
    assert text.index("Options of this report") < text.index("rtt.csv")


def test_links_that_no_topic_uses_are_counted_on_the_page(small: Contents) -> None:
    said = "66 links join nodes that have no topic in common; no topic uses them."
    assert said in Page(report_page(replace(small, idle_links=66))).text
    assert "no topic in common; no" not in Page(report_page(replace(small, idle_links=0))).text


def test_the_facts_of_an_ingest_become_the_section_on_quality() -> None:
    facts = {
        "rows": 70,
        "rejected": 3,
        "rejected_reasons": {"the topic is empty": 3},
        "duplicates": 7,
        "look_alikes": {
            "nodes": {"count": 2, "examples": [["A", "a"]]},
            "topics": {"count": 0, "examples": []},
        },
        "files": 4,
    }
    profile = profile_of(AWKWARD["a topic of one"])
    found = Quality.from_ingest(facts, profile, [{"file": "f", "line": 1}])
    assert found == Quality(
        rows=70,
        rejected={"the topic is empty": 3},
        rejected_examples=[{"file": "f", "line": 1}],
        duplicates=7,
        look_alikes=2,
        look_alike_examples=[["A", "a"]],
        nodes_without_topics=0,
        topics_of_one=1,
        files=4,
    )


def test_a_page_is_written_whole_or_not_at_all(small: Contents, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(KeyError):
        write_page(path, report_page(replace(small, evaluation={})))
    assert path.read_text() == "old"
    write_page(path, report_page(small))
    assert path.read_text("utf-8").endswith("</html>\n")
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_can_not_be_written_is_an_error_of_ours(small: Contents, tmp_path: Path) -> None:
    with pytest.raises(mw.DatasetError, match="can't be written"):
        write_page(tmp_path / "missing" / "profile.html", profile_page(small.profile or {}))


def test_importing_the_report_loads_neither_matplotlib_nor_spark_nor_networkx() -> None:
    code = (
        "import sys, meshwright.report\n"
        "print({'matplotlib', 'pyspark', 'networkx', 'numba', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "set()\n"
