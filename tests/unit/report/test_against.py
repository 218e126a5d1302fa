"""What a page says about overlays that could take the place of today's."""

import re
from dataclasses import replace

import pytest

import meshwright as mw
from meshwright.report.against import change
from meshwright.report.contents import Alternative, Target, TopicPaths
from meshwright.report.report_page import report_page
from tests.unit.report.examples import evaluation_of, report_of

INTERESTS = mw.workloads.unif(20, 6, subscriptions=3, seed=1)


@pytest.fixture(scope="module")
def contents():
    found = report_of(INTERESTS, "ring")
    today = Alternative(
        name="today",
        links=found.evaluation["edges"],
        average_degree=found.evaluation["average_degree"],
        ours=True,
    )
    return replace(found, alternatives=[today, *found.alternatives[1:]])


@pytest.fixture(scope="module")
def target():
    evaluation = evaluation_of(mw.evaluate(mw.build(INTERESTS, "gm")))
    return Target(name="better", evaluation=evaluation, opened=5, closed=40, kept=7)


def words_of(contents, *targets):
    page = report_page(replace(contents, targets=targets))
    section = page[page.index('id="comparison"') :]
    return " ".join(re.sub(r"<[^>]*>", " ", section[: section.index("</section>")]).split())


@pytest.mark.parametrize(
    ("before", "after", "unit", "said"),
    [
        (55, 40, None, "15 fewer (27.3%)"),
        (40, 55, None, "15 more (37.5%)"),
        (0, 5, None, "5 more"),
        (7, 7, None, "no change"),
        (600.0, 400.0, "ms", "200\xa0ms fewer (33.3%)"),
    ],
)
def test_a_change_is_a_number_a_direction_and_a_share(before, after, unit, said):
    assert change(before, after, "fewer", "more", unit) == said


def test_links_degrees_diameters_and_changes_are_told_of_each_target(contents, target):
    words = words_of(contents, target, replace(target, name="again", opened=0, closed=0))
    today, better = contents.evaluation, target.evaluation
    saved = change(today["edges"], better["edges"], "fewer", "more")
    assert f"With better {better['edges']} links instead of {today['edges']}: {saved}" in words
    assert f"busiest node has {better['maximum_degree']} links instead of {today['maximum_degree']}." in words
    assert "To get there, 5 links would be opened and 40 closed; 7 would stay." in words
    assert "With again" in words
    assert "The links are the same: nothing would have to change." in words
    assert f"links {today['edges']} {better['edges']} {better['edges']}" in words
    assert "links to open 5 0" in words
    assert "cost" not in words


def test_costs_have_their_unit_and_else_the_reason_why_there_are_none(contents, target):
    paid = replace(target, cost_today=600.0, cost=150.0, unit_today="ms", unit="ms")
    words = words_of(contents, paid, replace(target, name="other", no_costs="Costs can't be compared: why."))
    assert "They cost 150 ms instead of 600 ms: 450 ms less (75%)" in words
    assert "Costs can&#x27;t be compared: why." in words
    assert "cost 600 ms 150 ms not known" in words


def test_costs_that_were_given_differently_are_shown_and_not_subtracted(contents, target):
    other = replace(target, cost_today=600.0, unit_today="ms", cost=2.5, unit="EUR", no_costs="They differ.")
    words = words_of(contents, other)
    assert "They differ." in words
    assert "cost 600 ms 2.5 EUR" in words
    assert "no difference is computed" in words
    assert "instead of 600" not in words
    assert other.cost_saved is None


def test_paths_are_compared_over_the_topics_that_all_connect(contents, target):
    paths = TopicPaths(topics=9, cut=95, longest=[8, 7], mean=[5.5, 4.25])
    words = words_of(replace(contents, paths=paths), target)
    assert "In the topics that are connected in all overlays, the longest path" in words
    assert "has 7 links instead of 8." in words
    assert "longest path inside a topic 8 7" in words
    assert "longest path, mean over topics 5.5 4.25" in words
    assert "compared over the 9 topics that are connected in all overlays; 95 are not." in words
    whole = words_of(replace(contents, paths=replace(paths, cut=0)), target)
    assert "The longest path inside a topic has 7 links instead of 8." in whole
    assert "compared over" not in whole


def test_links_that_no_topic_uses_have_a_row_if_there_are_some(contents, target):
    words = words_of(replace(contents, idle_links=66), replace(target, idle_links=0))
    assert "links that no topic uses 66 0" in words
    assert "no topic uses" not in words_of(replace(contents, idle_links=0), replace(target, idle_links=0))


def test_cut_topics_are_told_on_either_side(contents, target):
    cut = {**target.evaluation, "topic_connected": False, "disconnected_topics": 2}
    assert "It leaves 2 topics cut; today none is." in words_of(contents, replace(target, evaluation=cut))
    broken = {**contents.evaluation, "topic_connected": False, "disconnected_topics": 3}
    words = words_of(replace(contents, evaluation=broken), target)
    assert "It connects all topics; today 3 topics are cut." in words


def test_today_stands_first_in_the_chart_and_targets_are_no_usual_alternative(contents, target):
    beside = Alternative(name="better", links=target.evaluation["edges"], average_degree=1.0)
    both = replace(contents, alternatives=[*contents.alternatives, beside])
    words = words_of(both, target)
    assert "Better would take" not in words
    assert "A full mesh would take" in words
    label = re.search('aria-label="(Bars: [^"]*)', report_page(replace(both, targets=[target])))
    assert label[1].startswith("Bars: today, ")
    assert f"better, {target.evaluation['edges']} links" in label[1]
