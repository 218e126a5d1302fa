"""The section on what single failures cut."""

import meshwright as mw
from tests.unit.report.examples import report_of
from tests.unit.report.test_load import section_of


def test_the_worst_nodes_are_named_with_what_they_cut_off():
    star = mw.Interests.from_pairs([(node, "news") for node in ("a", "b", "c", "hub")])
    contents = report_of(star)
    section = section_of(contents, "failures")
    worst = contents.evaluation["worst_node"]
    assert "1 topic (100%) would be cut by the failure of some one node" in section
    assert f"{worst} 1 {contents.evaluation['worst_node_cuts_off']}" in section


def test_topics_of_two_have_no_cut_node_and_one_link_to_lose():
    pair = mw.Interests.from_pairs([("a", "news"), ("b", "news")])
    section = section_of(report_of(pair), "failures")
    assert "No failure of one node cuts a topic." in section
    assert "The failure of some one link would cut 1 topic" in section
