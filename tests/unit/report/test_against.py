"""What a page says about overlays that could take the place of today's."""

import re
from dataclasses import replace

import pytest

import meshwright as mw
from meshwright.report.against import change
from meshwright.report.contents import Alternative, Target
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
    paid = replace(target, cost_today=600.0, cost=150.0, unit="ms")
    words = words_of(contents, paid, replace(target, name="other", no_costs="Costs can't be compared: why."))
    assert "They cost 150 ms instead of 600 ms: 450 ms less (75%)" in words
    assert "Costs can&#x27;t be compared: why." in words
    assert "cost 600 ms 150 ms not known" in words


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
